"""Focus: which words of a query name the attribute, where no list knows it.

Above: `question`. Below: `tokens`, `lexicon`. Pure. Word order tells: ``attribute of subject``, ``subject's
attribute``, ``subjectの attribute``, ``which attribute does …``; without any of these every word may be (``crane
brake``), and only the hits can tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from callosum_mcp.reconcile.lexicon.asking import ASKS
from callosum_mcp.reconcile.lexicon.markers import VERBS
from callosum_mcp.reconcile.tokens import Token, unknown

_OF = frozenset(
    """
    of for on in at by behind from to with vom von für auf im in am des du de d'une di del della dello da do dos das
    dla na w para por pour des sur dans en
    """.split()
)
_HEAD_FIRST = frozenset("de du d'une di del della dello da do dos das dla des w na".split())
_MODALS = frozenset(
    """
    can could may might must shall should will would kann können darf dürfen muss müssen soll sollen peut peuvent doit
    doivent puede pueden debe deben può possono deve devono pode podem devem może mogą musi muszą
    """.split()
)
_AUXILIARIES = frozenset("is are does do did has have was were ist sind est sont es son jest são é è".split()) | _MODALS
_YES_NO = frozenset("may might should must is are does do did has have can ist läuft está est è czy".split())
WHICH = frozenset("which what welche welcher welches quel quelle qual quale qué cuál jaki jaka jakie".split())
_CONTENT = ("word", "cjk", "ver")


class Focus(NamedTuple):
    """The words of the attribute, and the one that names it above all.

    Attributes:
        heads: Stems any of which names the attribute above all; empty if the query has no word that could.
        words: Stems of the attribute's words.
        rest: Stems of the other words: the subject, its scope.
        concepts: What the head means, where a list knows it.
        plural: The head is the plural of a word no list knows.
    """

    heads: frozenset[str]
    words: frozenset[str]
    rest: frozenset[str]
    concepts: frozenset[str] = frozenset()
    plural: bool = False


NO_FOCUS = Focus(frozenset(), frozenset(), frozenset())
"""Of a query without words."""


def focus_of(tokens: Sequence[Token]) -> Focus:
    """The focus of a query."""
    content = [at for at, token in enumerate(tokens) if _counts(token)]
    if not content:
        return NO_FOCUS
    if tokens[0].low in ASKS or tokens[0].low in WHICH:
        content = [at for at in content if tokens[at].low not in VERBS] or content
    chosen, heads = _chosen(tokens, content)
    known = frozenset(sense.name for at in heads for sense in tokens[at].senses if sense.role in ("attr", "state"))
    plural = bool(heads) and tokens[0].low not in ASKS and all(_is_plural(tokens[at]) for at in heads)
    return Focus(
        _stems(tokens, heads), _stems(tokens, chosen), _stems(tokens, set(content) - set(chosen)), known, plural
    )


def _is_plural(token: Token) -> bool:
    return unknown(token) and token.low.endswith("s") and not token.low.endswith(_SINGULAR)


_SINGULAR = ("ss", "us", "is", "os", "as", "ws")


def _stems(tokens: Sequence[Token], chosen: Iterable[int]) -> frozenset[str]:
    return frozenset(tokens[at].stem or tokens[at].low for at in chosen)


def _counts(token: Token) -> bool:
    return token.kind in _CONTENT and not token.light and token.low not in ASKS and token.low not in _AUXILIARIES


def _chosen(tokens: Sequence[Token], content: list[int]) -> tuple[list[int], list[int]]:
    """Positions of the attribute's words, and of those that name it above all."""
    possessor = next((at for at in content if tokens[at].owns), None)
    if possessor is not None and possessor != content[-1]:
        return [at for at in content if at > possessor], content[-1:]
    particle = max((at for at, token in enumerate(tokens) if "の" in token.gap), default=0)
    if particle:
        return [at for at in content if at >= particle], content[-1:]
    counted = next((at for at, token in enumerate(tokens) if "number" in ASKS.get(token.low, ())), None)
    if counted is not None and any(at > counted for at in content):
        return [at for at in content if at > counted], [_noun(tokens, counted + 1, content)]
    last = tokens[content[-1]]
    stated = content[-1] == len(tokens) - 1 and last.named("state") is not None and not last.named("attr")
    if len(content) == 1 or tokens[0].low in _YES_NO or stated:
        return [], []  # a subject, and any attribute of it; a state
    return _asked(tokens, content) or _before_of(tokens, content) or (content, content)


def _noun(tokens: Sequence[Token], at: int, content: list[int]) -> int:
    """What is counted: the word after the question word, however common (``how many jobs``)."""
    plain = tokens[at].kind in _CONTENT and tokens[at].low not in _AUXILIARIES and tokens[at].low not in _OF
    return at if plain else next(near for near in content if near >= at)


def _asked(tokens: Sequence[Token], content: list[int]) -> tuple[list[int], list[int]] | None:
    """``which car does … drive``: what stands before the auxiliary, and the verb; ``who insures …``: the verb."""
    if tokens[0].low in WHICH:
        end = next((at for at, token in enumerate(tokens) if token.low in _AUXILIARIES), 0)
        ahead = [at for at in content if at < end]
        if ahead:
            return ahead + content[-1:], ahead[-1:]
    if tokens[0].low in ASKS and content[0] == 1:
        return content[:1], content[:1]
    return None


def _before_of(tokens: Sequence[Token], content: list[int]) -> tuple[list[int], list[int]] | None:
    """What stands before the first ``of``: the last word is its head, the first in languages that put it there."""
    of = next((at for at, token in enumerate(tokens) if at > content[0] and token.low in _OF), None)
    if of is None or of > content[-1]:
        return None
    ahead = [at for at in content if at < of]
    return ahead, ahead[:1] if tokens[of].low in _HEAD_FIRST else ahead[-1:]
