"""The seam of what may reorder the fused hits before they get their seats.

Above: the federation. Below: models. Implementations: `callosum_mcp.answer.rerank`, wired by the application where the
settings ask for it. A reranker never fails: what goes wrong leaves the order, and it says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from callosum_mcp.models.values import FusedHit


@dataclass(frozen=True, kw_only=True, slots=True)
class Reordered:
    """The hits in their order, and what happened, for the trace."""

    hits: tuple[FusedHit, ...]
    told: Mapping[str, object]


class Reranker(Protocol):
    """Reorders hits by reading them."""

    async def rerank(self, query: str, fused: Sequence[FusedHit], deadline: float) -> Reordered:
        """The hits in a better order, or as they are.

        Args:
            query: The question.
            fused: All hits in fused order.
            deadline: Moment on anyio's clock by which to be done.
        """
        ...
