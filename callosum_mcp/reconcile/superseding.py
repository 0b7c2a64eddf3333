"""Superseding: hits that say goodbye to a value, and hits that still assert it.

Above: `answering`, `align`. Below: `spoken`, `claims`. Pure. ``ported from X to Y`` contradicts whoever says X, by
whatever name the attribute goes there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from callosum_mcp.reconcile.claims import Claim, Statement
from callosum_mcp.reconcile.question import Question
from callosum_mcp.reconcile.spoken import MENTION, OPEN, beyond, mentions, said, same_value


class Change(NamedTuple):
    """A hit that tells of a change: a claim that it makes instead, and the words of what went."""

    statement: Statement
    claim: Claim
    left: frozenset[str]


def changes(statements: Sequence[Statement], question: Question) -> list[Change]:
    """The hits that say goodbye to a value and name another."""
    found: list[Change] = []
    for statement in statements:
        left = frozenset(w for w in beyond(tuple(statement.gone), question.stems) if len(w) > MENTION)
        if statement.changed and left:
            kept = [
                claim
                for claim in statement.claims
                if (claim.changed or claim.value.slot in OPEN) and left.isdisjoint(map(str, claim.value.data))
            ]
            kept.sort(key=lambda claim: (not claim.changed, claim.value.slot not in OPEN))
            found.extend(Change(statement, claim, left) for claim in kept[:1])
    return found


def still_asserted(change: Change, old: Statement, question: Question) -> Claim | None:
    """The claim of another hit that asserts what went, and not what came; None if it makes none."""
    words = change.left - old.gone
    if not words or mentions(old, said(change.claim, question), change.claim):
        return None
    return next(
        (
            claim
            for claim in old.claims
            if claim.value.slot in OPEN
            and any(same_value(word, word_said) for word_said in said(claim, question) for word in words)
        ),
        None,
    )


def gave_way(a: Claim, b: Claim, sides: tuple[Statement, Statement], question: Question) -> bool:
    """Whether one hit says goodbye to the words of the other's claim."""
    return _left(sides[0], b, sides[1], question) or _left(sides[1], a, sides[0], question)


def _left(new: Statement, claim: Claim, old: Statement, question: Question) -> bool:
    return any(same_value(word, word_said) for word_said in said(claim, question) - old.gone for word in new.gone)
