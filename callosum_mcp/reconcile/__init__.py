"""Reconciliation: which hits contradict each other, which of them to believe, and why.

Above: the federation and the answers. Below: models and text. Pure: no I/O, no client library, no model. `reconcile` is
loaded at its first use, with its word lists, since an MCP client waits for the start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from callosum_mcp.reconcile.authority import WEIGHTS, age_days, recency, relevance, score
from callosum_mcp.reconcile.tiers import DEFAULT_TIER, tier_of
from callosum_mcp.reconcile.verdicts import Conflict, Ranked, RankedHit, Reconciliation

if TYPE_CHECKING:
    from callosum_mcp.reconcile.reconciliation import reconcile

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


def __getattr__(name: str) -> object:
    """`reconcile`, loaded now.

    Raises:
        AttributeError: For any other name.
    """
    if name != "reconcile":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from callosum_mcp.reconcile.reconciliation import reconcile

    return reconcile
