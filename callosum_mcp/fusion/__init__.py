"""Many ranked lists into one: pure functions of ranks, weights and text, never of a store's scores.

Above: the federation. Below: models and text. No I/O, no client library.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from callosum_mcp.fusion.pooled import pooled
from callosum_mcp.fusion.ranked import RankedList
from callosum_mcp.fusion.rrf import percentile, rrf, rrf_pct
from callosum_mcp.models.knobs import FusionMode
from callosum_mcp.models.values import FusedHit

__all__ = ["RankedList", "fuse"]


def fuse(
    mode: FusionMode,
    lists: Sequence[RankedList],
    *,
    query: str,
    k: int,
    pool_weight: float,
    cosines: Mapping[str, float] | None = None,
) -> list[FusedHit]:
    """The fused list of a mode: every memory of every list with a weight above 0, once, in total order.

    Args:
        mode: Which formula.
        lists: The stores' lists in configured order.
        query: The question; only `pooled` reads it.
        k: RRF constant.
        pool_weight: λ of `pooled`.
        cosines: For `pooled`, how near to the question's the meaning of a text is, for some of the texts.
    """
    if mode == "pooled":
        return pooled(query, lists, k=k, pool_weight=pool_weight, cosines=cosines)
    return {"percentile": percentile, "rrf": rrf, "rrf_pct": rrf_pct}[mode](lists, k)
