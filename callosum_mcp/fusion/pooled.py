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

from collections.abc import Sequence
from math import log, sqrt

from callosum_mcp.fusion.lexical import text_scores
from callosum_mcp.fusion.ranked import Vote

TRUST = 0.5
"""The least a store's own order counts: the fitted line falls at least this many standard deviations of the text
scores per unit of ln(rank), also where the returned texts say nothing."""

TIE = 1e-4
"""Weight of the RRF share that breaks ties, as a part of the best value: too small to overturn any text."""


def pooled_values(query: str, votes: Sequence[Vote], *, k: int, pool_weight: float) -> list[float]:
    """A value per vote: weight · ((1 - λ) · F + λ · L), with ties by weight / (k + rank).

    Args:
        query: The question.
        votes: All votes, those of one store together and in rank order.
        k: RRF constant of the tie-break.
        pool_weight: λ, how much a hit's own text counts against its store's fitted line, 0–1.
    """
    local = text_scores(query, [vote.hit.text for vote in votes])
    least = -TRUST * _deviation(local)
    values: list[float] = []
    for start, end in _runs(votes):
        fitted = fit(local[start:end], steepest=least)
        values += [
            votes[start].weight * max(0.0, (1 - pool_weight) * line + pool_weight * text)
            for line, text in zip(fitted, local[start:end], strict=True)
        ]
    unit = TIE * (max(values, default=0.0) or 1.0)
    return [value + unit * vote.weight / (k + vote.rank) for value, vote in zip(values, votes, strict=True)]


def fit(scores: Sequence[float], *, steepest: float) -> list[float]:
    """The least-squares line of the scores of one list on ln(rank), never flatter than `steepest`, at each rank."""
    x = [log(rank) for rank in range(1, len(scores) + 1)]
    mean_x, mean_y = sum(x) / len(x), sum(scores) / len(scores)
    spread = sum((value - mean_x) ** 2 for value in x)
    slope = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, scores, strict=True)) / spread if spread else 0.0
    slope = min(steepest, slope)
    return [mean_y + slope * (value - mean_x) for value in x]


def _deviation(values: Sequence[float]) -> float:
    if not values:
        return 0.0
    mean = sum(values) / len(values)
    return sqrt(sum((value - mean) ** 2 for value in values) / len(values))


def _runs(votes: Sequence[Vote]) -> list[tuple[int, int]]:
    """Where each store's votes begin and end."""
    starts = [i for i, vote in enumerate(votes) if i == 0 or vote.order != votes[i - 1].order]
    return list(zip(starts, [*starts[1:], len(votes)], strict=True))
