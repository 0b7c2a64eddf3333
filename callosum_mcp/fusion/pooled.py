"""Pooled fusion: each store's order, put on one scale by what its texts say. The default.

Above: `fuse`. Below: `lexical`, `ranked`. Pure. Over disjoint stores plain RRF is only round-robin; here a store whose
hits answer the question ranks before one whose hits do not. Nothing of a store is read but the order of its hits and
their text, so any monotone change of its scores leaves the answer as it is.

The recipe is that of sample-based federated search. A store's ranks are mapped to a common scale by regression, as in
SSL (Si, Callan, "A semisupervised learning method to merge search engine results", TOIS 21(4), 2003,
doi 10.1145/944012.944017) and SAFE (Shokouhi, Zobel, "Robust result merging using sample-based score estimates",
TOIS 27(3), 2009, doi 10.1145/1508850.1508852); the common scale is a BM25 over the pooled hits themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log

from callosum_mcp.fusion.lexical import echoes, text_scores
from callosum_mcp.fusion.ranked import Memory, RankedList, Vote, best_per_store, in_total_order, memories, votes
from callosum_mcp.fusion.rrf import share
from callosum_mcp.fusion.semantic import deviation, with_meaning
from callosum_mcp.models.values import FusedHit, Hit, Part

TRUST = 0.5
"""The least a store's own order counts: the fitted line falls at least this many standard deviations of the text
scores per unit of ln(rank), also where the returned texts say nothing."""

TIE = 1e-4
"""Weight of the RRF share that breaks ties, as a part of the best value before weights: too small to overturn any text,
and no store's weight changes what another store's share is worth."""

AGREEMENT = 0.02
"""What each further store that holds a memory adds, as a part of its best value. Measured on overlapping stores: .02
gains .005 of nDCG@10, .1 loses .01, and summing the copies' values loses .10, since stores that overlap then outvote
the others."""


def pooled(
    query: str, lists: Sequence[RankedList], *, k: int, pool_weight: float, cosines: Mapping[str, float] | None = None
) -> list[FusedHit]:
    """value = weight · ((1 - λ) · F + λ · L) of the best copy, with ties by the sum of weight / (k + rank).

    L is the text score of a hit, F its store's line fitted on L over ln(rank). Without any text match every L is 0, and
    the order is that of weighted RRF.

    Args:
        query: The question.
        lists: The stores' lists.
        k: RRF constant of the tie-break.
        pool_weight: λ, how much a hit's own text counts against its store's line, 0–1.
        cosines: How near the meaning of what a hit says is to the question's, by `said`; see `semantic`.
    """
    cast = votes(lists)
    parts = _parts(cast, _local(query, cast, cosines or {}), pool_weight)
    unit = TIE * (max((part.value / part.weight for part in parts), default=0.0) or 1.0)
    return in_total_order([Memory(votes=v, parts=p, score=_score(v, p, k, unit)) for v, p in memories(cast, parts)])


def _local(query: str, cast: Sequence[Vote], cosines: Mapping[str, float]) -> list[float]:
    """L of each vote."""
    texts = [said(vote.hit) for vote in cast]
    scores = text_scores(query, texts)
    return with_meaning(scores, [cosines.get(text) for text in texts], echoes(query, texts)) if cosines else scores


def _parts(cast: Sequence[Vote], local: Sequence[float], pool_weight: float) -> list[Part]:
    """Each vote's value and what it is made of."""
    least = -TRUST * deviation(local)
    parts: list[Part] = []
    for start, end in _runs(cast):
        line = fit(local[start:end], steepest=least)
        for vote, fitted, text in zip(cast[start:end], line, local[start:end], strict=True):
            value = vote.weight * max(0.0, (1 - pool_weight) * fitted + pool_weight * text)
            parts.append(
                Part(
                    address=vote.hit.address, rank=vote.rank, weight=vote.weight, value=value, text=text, fitted=fitted
                )
            )
    return parts


def said(hit: Hit) -> str:
    """All that a hit says: its title too, where the text does not begin with it (the heading above a section)."""
    if hit.title is None or hit.text.startswith(hit.title):
        return hit.text
    return f"{hit.title}\n{hit.text}"


def _score(copies: Sequence[Vote], parts: Sequence[Part], k: int, unit: float) -> float:
    if len(copies) == 1:
        return parts[0].value + unit * share(copies[0], k)
    stores = best_per_store(copies)
    agreed = max(part.value for part in parts) * (1 + AGREEMENT * (len(stores) - 1))
    return agreed + unit * sum(share(vote, k) for vote in stores)


def fit(scores: Sequence[float], *, steepest: float) -> list[float]:
    """The least-squares line of the scores of one list on ln(rank), never flatter than `steepest`, at each rank."""
    x = [log(rank) for rank in range(1, len(scores) + 1)]
    mean_x, mean_y = sum(x) / len(x), sum(scores) / len(scores)
    spread = sum((value - mean_x) ** 2 for value in x)
    slope = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, scores, strict=True)) / spread if spread else 0.0
    slope = min(steepest, slope)
    return [mean_y + slope * (value - mean_x) for value in x]


def _runs(cast: Sequence[Vote]) -> list[tuple[int, int]]:
    """Where each store's votes begin and end."""
    starts = [i for i, vote in enumerate(cast) if i == 0 or vote.order != cast[i - 1].order]
    return list(zip(starts, [*starts[1:], len(cast)][: len(starts)], strict=True))
