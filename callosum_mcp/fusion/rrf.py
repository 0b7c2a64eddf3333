"""Reciprocal rank fusion and its two variants: order out of ranks and weights alone.

Above: the federation. Below: `ranked`. Pure. No magnitude of any store is read, so rescaling a store's scores changes
nothing. Source of the formula: Cormack, Clarke, Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual
rank learning methods", SIGIR 2009, doi 10.1145/1571941.1572114; k = 60 is the paper's value.
"""

from __future__ import annotations

from callosum_mcp.fusion.ranked import RankedList, Vote, in_total_order, votes
from callosum_mcp.models.values import FusedHit


def rrf(lists: list[RankedList], k: int = 60) -> list[FusedHit]:
    """score = weight / (k + rank), rank from 1."""
    return in_total_order([(share(vote, k), 0.0, vote) for vote in votes(lists)])


def rrf_pct(lists: list[RankedList], k: int = 60) -> list[FusedHit]:
    """As `rrf`; ties go to the higher percentile 100 · (n - rank + 1) / n."""
    return in_total_order([(share(vote, k), vote.percentile, vote) for vote in votes(lists)])


def percentile(lists: list[RankedList], k: int = 60) -> list[FusedHit]:
    """score = weight · percentile; k has no part in it."""
    del k
    return in_total_order([(vote.weight * vote.percentile, 0.0, vote) for vote in votes(lists)])


def share(vote: Vote, k: int) -> float:
    """One store's vote for one hit: weight / (k + rank)."""
    return vote.weight / (k + vote.rank)
