"""Ranked lists, one per store: what every fusion formula reads.

Above: the formulas. Below: models. Pure. A list is in its store's own order; ranks start at 1.
"""

from __future__ import annotations

from dataclasses import dataclass

from callosum_mcp.models.values import FusedHit, Hit


@dataclass(frozen=True, kw_only=True, slots=True)
class RankedList:
    """The hits of one store after filters and floor, best first, and the weight of its vote."""

    store: str
    hits: tuple[Hit, ...]
    weight: float = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
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


def votes(lists: list[RankedList]) -> list[Vote]:
    """Every hit of every list that has a weight; lists in configured order, hits in rank order."""
    return [
        Vote(hit=hit, rank=rank, size=len(ranked.hits), weight=ranked.weight, order=order)
        for order, ranked in enumerate(lists)
        if ranked.weight > 0
        for rank, hit in enumerate(ranked.hits, start=1)
    ]


def in_total_order(scored: list[tuple[float, float, Vote]]) -> list[FusedHit]:
    """Scored votes as fused hits in the one total order.

    Higher score first, then the higher second key, then the better rank, then the store that comes first in the
    configuration, then the native id. The same input always gives the same bytes.
    """
    ordered = sorted(scored, key=lambda s: (-s[0], -s[1], s[2].rank, s[2].order, s[2].hit.id))
    return [FusedHit(hit=vote.hit, score=score, store_rank=vote.rank) for score, _, vote in ordered]
