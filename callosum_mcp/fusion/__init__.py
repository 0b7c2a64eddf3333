"""Many ranked lists into one: pure functions of ranks, weights and text, never of a store's scores.

Above: the federation. Below: models and text. No I/O, no client library.
"""

from __future__ import annotations

from callosum_mcp.fusion.ranked import RankedList
from callosum_mcp.fusion.rrf import percentile, rrf, rrf_pct
from callosum_mcp.models.knobs import FusionMode
from callosum_mcp.models.values import FusedHit

__all__ = ["RankedList", "fuse"]

_FORMULAS = {"percentile": percentile, "rrf": rrf, "rrf_pct": rrf_pct}


def fuse(mode: FusionMode, lists: list[RankedList], k: int) -> list[FusedHit]:
    """The fused list of a mode: every hit of every list with a weight above 0, in total order."""
    return _FORMULAS[mode](lists, k)
