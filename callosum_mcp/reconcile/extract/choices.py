"""Choices: members of a class of which a subject has one.

Above: `extract`. Below: `base`, `lexicon`. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from callosum_mcp.reconcile.extract.base import Found, dismissed, negated
from callosum_mcp.reconcile.lexicon import Sense, fits
from callosum_mcp.reconcile.lexicon.choices import CASED
from callosum_mcp.reconcile.sentences import Sentence
from callosum_mcp.reconcile.values import Value

_SHELLS = frozenset("sh bash zsh fish ksh dash tcsh nologin".split())
_LETTERS = 2  # a language code of two letters is a value only where a key or a word of language stands before it


def choices(sentence: Sentence) -> Iterator[Found]:
    """Every member of a class that a sentence names, as (member, holds); those it says goodbye to are left out."""
    tokens = sentence.tokens
    listed = _listed(sentence)
    for at, token in enumerate(tokens):
        if token.kind == "path" and (program := token.low.rsplit("/", 1)[-1]) in _SHELLS:
            yield Found(Value("choice:shell", (program, True), token.text), at)
        for sense in token.senses:
            if sense.role != "choice" or len(listed[sense.name]) >= _SEVERAL:
                continue
            if _meant(sentence, at, sense) and not dismissed(sentence, at):
                yield Found(Value(f"choice:{sense.name}", (sense.value, not negated(sentence, at)), token.text), at)


def _meant(sentence: Sentence, at: int, sense: Sense) -> bool:
    """Whether a word that is also a plain word, or only two letters, is meant as the member of a class."""
    token = sentence.tokens[at]
    if (
        sense.name == "format"
        and token.gap == "/"
        and at + 1 < len(sentence.tokens)
        and sentence.tokens[at + 1].gap == "."
    ):
        return False  # the name of a file: ``parser/csv.go``
    if len(token.low) <= _LETTERS and sense.name == "human_language":
        return _coded(sentence, at)
    if any(
        fits(near.name, f"choice:{sense.name}")
        for word in sentence.tokens
        for near in word.senses
        if near.role == "attr"
    ):
        return True
    return (
        token.low not in CASED
        or not token.text.islower()
        or sentence.tokens[at - 1].low == "="
        or token.gap.strip() == ":"
    )


_SEVERAL = 3  # members of a class are a list (``levels are debug, info, warning``): what there is to choose


def _listed(sentence: Sentence) -> Mapping[str, set[str]]:
    """The members that a sentence names, by class."""
    listed: dict[str, set[str]] = defaultdict(set)
    for token in sentence.tokens:
        for sense in token.senses:
            if sense.role == "choice":
                listed[sense.name].add(sense.value.split(">")[0])
    return listed


def _coded(sentence: Sentence, at: int) -> bool:
    return any(token.named("attr", "language") for token in sentence.tokens[max(0, at - 4) : at])
