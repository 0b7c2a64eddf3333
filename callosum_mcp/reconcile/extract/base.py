"""What an extractor yields, and the look-arounds they share.

Above: the extractors. Below: `sentences`, `values`. Pure.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from callosum_mcp.reconcile.extract.joints import JOINTS, joined_words
from callosum_mcp.reconcile.sentences import Sentence
from callosum_mcp.reconcile.tokens import Token
from callosum_mcp.reconcile.values import Value


class Found(NamedTuple):
    """A value, the position of the token that carries it, and for a phrase the position after its last token.

    Attributes:
        named: First and last position of what names it, where that is not what stands before it.
    """

    value: Value
    at: int
    end: int = 0
    named: tuple[int, int] = (0, 0)


_BEFORE, _AFTER = 3, 2  # how far a negation reaches to the right and, in verb-last languages, to the left
_LATE = frozenset("nicht kein keine ていない でない ではない ません じゃない しない いない ない".split())


_TOWARDS = re.compile("^(?:さん|氏)?[にへ]")


def negated(sentence: Sentence, at: int) -> bool:
    """Whether a negation of the same clause governs the token at this position."""
    if "negation" not in sentence.marks:
        return False
    tokens, clauses = sentence.tokens, sentence.clauses
    flips = 0
    for near in range(max(0, at - _BEFORE), at):
        flips += clauses[near] == clauses[at] and tokens[near].marked("negation")
    for near in range(at + 1, min(len(tokens), at + 1 + _AFTER)):
        flips += clauses[near] == clauses[at] and tokens[near].low in _LATE
    return flips % 2 == 1 if flips < 2 else not _double(tokens, at)


def _double(tokens: list[Token], at: int) -> bool:
    """``ne … pas`` and ``nie … nicht`` are one negation, ``not un…`` is none of this function's business."""
    return {token.low for token in tokens[max(0, at - _BEFORE) : at]}.isdisjoint({"ne", "n", "pas", "non", "não"})


def before(tokens: list[Token], at: int) -> Token | None:
    """The token before, None at the start."""
    return tokens[at - 1] if at else None


def after(tokens: list[Token], at: int) -> Token | None:
    """The token after, None at the end."""
    return tokens[at + 1] if at + 1 < len(tokens) else None


_PARTINGS = frozenset({"dismiss", "removed", "change"})


def dismissed(sentence: Sentence, at: int) -> bool:
    """Whether the text says that this value is the one that went: ``replaced X``, ``the old X``, ``X was dropped``."""
    if sentence.marks.isdisjoint(_PARTINGS):
        return False
    tokens, clauses = sentence.tokens, sentence.clauses
    here = clauses[at]
    if "dismiss" in sentence.marks and any(
        tokens[near].marked("dismiss") and clauses[near] == here for near in range(max(0, at - 2), at)
    ):
        return not _target(tokens, at)
    if here in sentence.removed:
        return not _target(tokens, at)
    return "change" in sentence.marks and _left_behind(tokens, at)


def _target(tokens: list[Token], at: int) -> bool:
    """Whether a word of direction stands just before: ``to X``, ``with X``."""
    return any(token.marked("into") for token in tokens[max(0, at - 3) : at]) and not any(
        token.marked("dismiss") for token in tokens[max(0, at - 1) : at]
    )


_FROM = frozenset("from von vom de du da dal dalla desde z ze od from".split())


def _left_behind(tokens: list[Token], at: int) -> bool:
    """``from X to Y`` with a word of change: X is left behind."""
    if at + 1 < len(tokens) and tokens[at + 1].gap.startswith("から"):
        return True
    return any(token.low in _FROM for token in tokens[max(0, at - 2) : at]) and any(
        token.marked("into") for token in tokens[at + 1 : at + 4]
    )


def arrived(sentence: Sentence, at: int) -> bool:
    """Whether a word of change sends the subject to this value: ``moved … to X``, ``auf X umgestellt``."""
    tokens = sentence.tokens
    if tokens[at].kind == "cjk" and sentence.changed:
        following = after(tokens, at)
        return following is not None and _TOWARDS.search(following.gap) is not None and following.marked("change")
    return sentence.changed and any(
        token.marked("into") and sentence.clauses[i] == sentence.clauses[at]
        for i, token in enumerate(tokens[:at])
        if i >= at - 5
    )


def gone(sentence: Sentence) -> frozenset[str]:
    """The words a sentence says goodbye to: what it replaces or drops, and all of its clauses about the past."""
    if not sentence.changed and not sentence.past and "removed" not in sentence.marks:
        return frozenset()
    clauses, tokens = sentence.clauses, sentence.tokens
    ended = {clauses[at]: at for at, token in enumerate(tokens) if token.low in _NO and tokens[at].marked("dismiss")}
    finished = {clause for clause, at in ended.items() if clauses[at + 2 :].count(clause) <= 1}
    return frozenset(
        word
        for word, at in joined_words(tokens)
        if (not tokens[at].light or tokens[at].gap in JOINTS)
        and (
            clauses[at] in sentence.past
            or (clauses[at] in finished and at < ended[clauses[at]])
            or dismissed(sentence, at)
            or ended.get(clauses[at], at) < at
        )
    )


_NO = frozenset("no nicht ne ya non już não".split())
"""First words of ``no longer``: what follows is over."""
