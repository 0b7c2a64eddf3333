"""Ranked lists, one per store, and how their votes become one list: what every formula shares.

Above: the formulas. Below: identity and models. Pure. A list is in its store's own order; ranks start at 1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from callosum_mcp.fusion.identity import groups
from callosum_mcp.models.values import FusedHit, Hit, Part, value


@dataclass(frozen=True, kw_only=True, slots=True)
class RankedList:
    """The hits of one store after filters and floor, best first, and the weight of its vote."""

    store: str
    hits: tuple[Hit, ...]
    weight: float = 1.0


@value
class Vote:
    """One hit of one list with everything a formula may look at.

    Attributes:
        hit: The hit.
        rank: Its rank in its store, from 1.
        size: Length of its store's list.
        weight: Weight of its store.
        order: Position of its store in the configuration, from 0.
    """

    hit: Hit
    rank: int
    size: int
    weight: float
    order: int

    @property
    def percentile(self) -> float:
        """100 for the first of a list, 100/n for the last of n."""
        return 100.0 * (self.size - self.rank + 1) / self.size


def votes(lists: Sequence[RankedList]) -> list[Vote]:
    """Every hit of every list that has a weight; lists in configured order, hits in rank order."""
    return [
        Vote(hit=hit, rank=rank, size=len(ranked.hits), weight=ranked.weight, order=order)
        for order, ranked in enumerate(lists)
        if ranked.weight > 0
        for rank, hit in enumerate(ranked.hits, start=1)
    ]


@value
class Memory:
    """One memory: every vote for it, the one that is shown first, and what decides its place.

    Attributes:
        votes: All its copies, the shown one first.
        parts: How each copy's value came about, in the same order.
        score: Orders the list.
        second: Breaks ties of the score.
    """

    votes: tuple[Vote, ...]
    parts: tuple[Part, ...]
    score: float
    second: float = 0.0

    @property
    def shown(self) -> Vote:
        """The copy that stands in the list."""
        return self.votes[0]


def memories(cast: Sequence[Vote], parts: Sequence[Part]) -> list[tuple[tuple[Vote, ...], tuple[Part, ...]]]:
    """The votes of each memory with their parts: exact copies before others, then the copy of the highest value."""
    together: defaultdict[int, list[int]] = defaultdict(list)
    for index, group in enumerate(groups([vote.hit for vote in cast])):
        together[group].append(index)
    found: list[tuple[tuple[Vote, ...], tuple[Part, ...]]] = []
    for indexes in together.values():
        if len(indexes) == 1:  # nearly all of them, and each step of a merge is made for hundreds
            found.append(((cast[indexes[0]],), (parts[indexes[0]],)))
            continue
        best_first = sorted(indexes, key=lambda i: _first_shown(cast[i], parts[i]))
        found.append((tuple(cast[i] for i in best_first), tuple(parts[i] for i in best_first)))
    return found


def _first_shown(vote: Vote, part: Part) -> tuple[bool, float, int, int, str]:
    return not vote.hit.exact, -part.value, vote.rank, vote.order, vote.hit.id


def best_per_store(copies: Sequence[Vote]) -> list[Vote]:
    """The best rank of each store among the copies of a memory: a store votes once."""
    if len(copies) == 1:
        return list(copies)
    best: dict[int, Vote] = {}
    for vote in copies:
        if vote.order not in best or vote.rank < best[vote.order].rank:
            best[vote.order] = vote
    return [best[order] for order in sorted(best)]


def _with_all_topics(memory: Memory) -> Hit:
    """The shown copy with the topics of all copies, its own first."""
    hit = memory.shown.hit
    if len(memory.votes) == 1:
        return hit
    return replace(hit, topics=tuple(dict.fromkeys(topic for vote in memory.votes for topic in vote.hit.topics)))


def in_total_order(scored: Sequence[Memory]) -> list[FusedHit]:
    """Memories as fused hits in the one total order.

    Higher score first, then the higher second key, then the best rank, then the store that comes first in the
    configuration, then the native id. The same input always gives the same bytes.
    """

    def key(memory: Memory) -> tuple[float, float, int, int, str]:
        shown = memory.votes[0]
        best = shown.rank if len(memory.votes) == 1 else min(vote.rank for vote in memory.votes)
        return -memory.score, -memory.second, best, shown.order, shown.hit.id

    return [
        FusedHit(
            hit=_with_all_topics(memory),
            score=memory.score,
            store_rank=memory.shown.rank,
            sources=tuple([(vote.hit.address, vote.rank) for vote in memory.votes]),
            parts=memory.parts,
        )
        for memory in sorted(scored, key=key)
    ]
