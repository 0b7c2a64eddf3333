"""Reconciliation: which hits contradict each other, which of them to believe, and why.

Above: the federation and the answers. Below: models and text. Pure: no I/O, no client library, no model.
"""

from callosum_mcp.reconcile.authority import WEIGHTS, age_days, recency, relevance, score
from callosum_mcp.reconcile.reconciliation import Conflict, Ranked, RankedHit, Reconciliation, reconcile
from callosum_mcp.reconcile.tiers import DEFAULT_TIER, tier_of

__all__ = [
    "DEFAULT_TIER",
    "WEIGHTS",
    "Conflict",
    "Ranked",
    "RankedHit",
    "Reconciliation",
    "age_days",
    "recency",
    "reconcile",
    "relevance",
    "score",
    "tier_of",
]
