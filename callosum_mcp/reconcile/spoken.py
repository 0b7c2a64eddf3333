"""The words of a value that no list knows: which of them count, whether two are one, who mentions them.

Above: `contrast`, `superseding`. Below: `claims`, `wording`. Pure.
"""

from __future__ import annotations

import re
from functools import lru_cache

from callosum_mcp.reconcile.claims import Claim, Statement
from callosum_mcp.reconcile.lexicon import senses_of
from callosum_mcp.reconcile.question import Question
from callosum_mcp.reconcile.stems import stem
from callosum_mcp.reconcile.wording import alike, named_in

OPEN = frozenset({"open", "loose"})
"""Slots of values that no list knows: assigned ones, and phrases."""

MENTION = 3
"""Letters of a word that may be found inside another."""

_PIECES = re.compile(r"[^\W_]+")


def said(claim: Claim, question: Question) -> frozenset[str]:
    """The words of a value, joined ones whole, without those of the query."""
    return beyond(claim.value.data, question.stems)


@lru_cache(maxsize=8_192)
def beyond(data: tuple[object, ...], asked: frozenset[str]) -> frozenset[str]:
    """The words of a value that are not made of those asked."""
    return frozenset(word for word in map(str, data) if not all(named_in(piece, asked) for piece in _pieces(word)))


@lru_cache(maxsize=8_192)
def _pieces(word: str) -> tuple[str, ...]:
    return tuple(stem(piece) for piece in _PIECES.findall(word.lower()))


@lru_cache(maxsize=65_536)
def same_value(a: str, b: str) -> bool:
    """Whether two words of values are one, or one refines the other (``standard``, ``standard-hdd``)."""
    mine, theirs = set(_pieces(a)), set(_pieces(b))
    if mine <= theirs or theirs <= mine:
        return True
    return not _meant(a).isdisjoint(_meant(b)) or (a.isalpha() and b.isalpha() and alike(a, b))


@lru_cache(maxsize=8_192)
def _meant(word: str) -> frozenset[tuple[str, str, str]]:
    return frozenset(sense for sense in senses_of(word) if sense.value)


def mentions(statement: Statement, words: frozenset[str], own: Claim) -> bool:
    """Whether a hit knows a value of the other, other than as the one that went."""
    if own.arrived:
        return False
    return any(_mentioned(word, statement) for word in words if word not in statement.gone)


@lru_cache(maxsize=8_192)
def _joined(word: str) -> str:
    return "".join(_PIECES.findall(word))


def _mentioned(word: str, statement: Statement) -> bool:
    """Whether a hit has a word: as one of its own, or, if it is long enough, anywhere in its letters."""
    joined = _joined(word)
    return joined in statement.squeezed if len(joined) >= MENTION else joined in statement.words


def members(claim: Claim) -> frozenset[str]:
    """The members of classes that a value is, as written, whatever they are kinds of."""
    return _members(claim.value.text)


@lru_cache(maxsize=8_192)
def _members(text: str) -> frozenset[str]:
    return frozenset(
        sense.value.split(">")[0]
        for word in text.lower().split()
        for sense in senses_of(word)
        if sense.role == "choice"
    )
