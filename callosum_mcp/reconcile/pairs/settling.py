"""Settling: which conflicts stand once every pair of hits is weighed.

Above: `reconciliation`. Below: `weighing`, `kinds`. Pure. A conflict that the rules found stands unless it is hardly
likely; one that they did not find is added if it is likely enough. A false alarm costs more trust than a miss.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from callosum_mcp.reconcile.align import Answer
from callosum_mcp.reconcile.claims import Statement
from callosum_mcp.reconcile.kinds import kind_by, reason_of
from callosum_mcp.reconcile.pairs.weighing import Pair
from callosum_mcp.reconcile.question import Question
from callosum_mcp.reconcile.values import relation
from callosum_mcp.reconcile.verdicts import Conflict

KEPT = 0.3
"""Probability below which a conflict of the rules is dropped."""

ADDED = 0.6
"""Probability from which two hits contradict each other though the rules are silent."""


@dataclass(frozen=True, slots=True)
class Court:
    """What every step needs to know.

    Attributes:
        question: The query.
        scores: The authority of each hit by address.
        now: Unix seconds.
    """

    question: Question
    scores: Mapping[str, float]
    now: float


class Ruling(NamedTuple):
    """What the rules made of the hits.

    Attributes:
        statements: The hits, read, in the order of their addresses.
        found: What they answer, slot by slot.
        conflicts: The conflicts among these answers.
    """

    statements: Sequence[Statement]
    found: Sequence[Answer]
    conflicts: tuple[Conflict, ...]


def settled(ruling: Ruling, weights: Mapping[Pair, float], court: Court) -> tuple[Conflict, ...]:
    """The conflicts that stand: those of the rules first, without losers that hardly contradict the winner."""
    statements = {one.hit.address: one for one in ruling.statements}
    judged = (_kept(conflict, weights, statements, court) for conflict in ruling.conflicts)
    kept = [conflict for conflict in judged if conflict is not None]
    taken = {address for conflict in kept for address in (conflict.winner, *conflict.losers)}
    likely = [pair for pair, weight in weights.items() if weight >= ADDED]
    joined = [_joined(conflict, likely, taken, court) for conflict in kept]
    taken.update(address for conflict in joined for address in conflict.losers)
    return (*joined, *_added(likely, taken, statements, court))


def _kept(
    conflict: Conflict, weights: Mapping[Pair, float], statements: Mapping[str, Statement], court: Court
) -> Conflict | None:
    losers = tuple(loser for loser in conflict.losers if weights.get(frozenset((conflict.winner, loser)), 1.0) >= KEPT)
    if losers == conflict.losers:
        return conflict
    if not losers:
        return None
    dropped = set(conflict.losers) - set(losers)
    return replace(
        conflict,
        losers=losers,
        members=tuple(member for member in conflict.members if member not in dropped),
        reason=reason_of(statements[conflict.winner].hit, [statements[loser].hit for loser in losers], court.now),
    )


def _joined(conflict: Conflict, likely: Sequence[Pair], taken: set[str], court: Court) -> Conflict:
    """A conflict with who else very likely contradicts its winner, and is weaker."""
    others = frozenset[str]().union(*(pair for pair in likely if conflict.winner in pair)) - taken
    more = [other for other in others if court.scores[other] <= court.scores[conflict.winner]]
    if not more:
        return conflict
    losers = _strongest_first([*conflict.losers, *more], court)
    members = _strongest_first({*conflict.members, *more} - {conflict.winner}, court)
    return replace(conflict, losers=tuple(losers), members=(conflict.winner, *members))


def _added(
    likely: Sequence[Pair], taken: set[str], statements: Mapping[str, Statement], court: Court
) -> list[Conflict]:
    """A conflict around the strongest hit that somebody contradicts, and so on with those that are left."""
    left: list[Pair] = [pair for pair in likely if pair.isdisjoint(taken)]
    found: list[Conflict] = []
    while left:
        winner = _strongest_first(frozenset[str]().union(*left), court)[0]
        contradicted = frozenset[str]().union(*(pair for pair in left if winner in pair)) - {winner}
        losers = _strongest_first(contradicted, court)
        supporters = frozenset(
            address
            for pair in left
            if not pair.isdisjoint(losers) and winner not in pair
            for address in pair.difference(losers)
        )
        found.append(_conflict(winner, losers, _strongest_first(supporters, court), statements, court))
        over = {winner, *losers, *supporters}
        left = [pair for pair in left if pair.isdisjoint(over)]
    return found


def _strongest_first(addresses: Iterable[str], court: Court) -> list[str]:
    return sorted(addresses, key=lambda address: (-court.scores[address], address))


def _conflict(
    winner: str, losers: Sequence[str], supporters: Sequence[str], statements: Mapping[str, Statement], court: Court
) -> Conflict:
    won = statements[winner]
    beaten = [statements[loser] for loser in losers]
    lost = [one.hit for one in beaten]
    return Conflict(
        claim=court.question.text.strip(" ?？"),
        winner=winner,
        losers=tuple(losers),
        members=(winner, *_strongest_first([*losers, *supporters], court)),
        kind=kind_by(won.hit, lost, changed=won.changed, runs=_runs(won, beaten[0])),
        reason=reason_of(won.hit, lost, court.now),
    )


_RUNNING = frozenset({"state", "version", "number:count", "number:percent"})


def _runs(won: Statement, lost: Statement) -> bool:
    """Whether the two differ in a version, a state or a count, which change without anybody choosing."""
    return any(
        relation(mine.value, theirs.value) == "differ"
        for mine in won.claims
        for theirs in lost.claims
        if mine.value.slot == theirs.value.slot
        and (mine.value.slot in _RUNNING or mine.value.slot.split(":")[0] in _RUNNING)
    )
