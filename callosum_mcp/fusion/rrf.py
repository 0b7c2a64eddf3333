"""Reciprocal rank fusion and its two variants: order out of ranks and weights alone.

Above: `fuse`. Below: `ranked`. Pure. No magnitude of any store is read, so rescaling a store's scores changes nothing.
Source of the formula: Cormack, Clarke, Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank
learning methods", SIGIR 2009, doi 10.1145/1571941.1572114; k = 60 is the paper's value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from callosum_mcp.fusion.ranked import Memory, RankedList, Vote, best_per_store, in_total_order, memories, votes
from callosum_mcp.models.values import FusedHit, Part


def rrf(lists: Sequence[RankedList], k: int = 60) -> list[FusedHit]:
    """score = Σ over stores weight / (k + rank), rank from 1; a store without the memory adds nothing."""
    return in_total_order([Memory(votes=v, parts=p, score=_sum(v, k)) for v, p in _shares(lists, k)])


def rrf_pct(lists: Sequence[RankedList], k: int = 60) -> list[FusedHit]:
    """As `rrf`; ties go to the higher percentile 100 · (n - rank + 1) / n."""
    return in_total_order(
        [Memory(votes=v, parts=p, score=_sum(v, k), second=_highest(v)) for v, p in _shares(lists, k)]
    )


def percentile(lists: Sequence[RankedList], k: int = 60) -> list[FusedHit]:
    """score = the highest weight · percentile of a store; k has no part in it."""
    del k
    cast = votes(lists)
    parts = [_part(vote, vote.weight * vote.percentile) for vote in cast]
    return in_total_order([Memory(votes=v, parts=p, score=max(x.value for x in p)) for v, p in memories(cast, parts)])


def share(vote: Vote, k: int) -> float:
    """One store's vote for one hit: weight / (k + rank)."""
    return vote.weight / (k + vote.rank)


def _shares(lists: Sequence[RankedList], k: int) -> list[tuple[tuple[Vote, ...], tuple[Part, ...]]]:
    """Each memory's votes and what they bring: a store votes once, so its further copies bring nothing."""
    cast = votes(lists)
    found = memories(cast, [_part(vote, share(vote, k)) for vote in cast])
    return [(copies, _counted(copies, parts)) for copies, parts in found]


def _counted(copies: Sequence[Vote], parts: Sequence[Part]) -> tuple[Part, ...]:
    counting = {vote.hit.address for vote in best_per_store(copies)}
    return tuple(part if part.address in counting else replace(part, value=0.0) for part in parts)


def _part(vote: Vote, value: float) -> Part:
    return Part(address=vote.hit.address, rank=vote.rank, weight=vote.weight, value=value)


def _sum(copies: Sequence[Vote], k: int) -> float:
    return sum(share(vote, k) for vote in best_per_store(copies))


def _highest(copies: Sequence[Vote]) -> float:
    return max(vote.percentile for vote in copies)
