"""Steps 5 to 7 of a recall where they take time: large answers beside the event loop, and a second look by meaning.

Above: the federation. Below: order, and the embedder's seam. With an embedder the lists are merged twice: the first
order, by words, says which texts are worth the embedder's time; the second counts what it found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import anyio

from callosum_mcp.federation.beside import computed
from callosum_mcp.federation.embedding import Embedder
from callosum_mcp.federation.order import ordered
from callosum_mcp.fusion import RankedList
from callosum_mcp.fusion.lexical import MAX_CHARS
from callosum_mcp.fusion.pooled import said
from callosum_mcp.fusion.semantic import worth_embedding
from callosum_mcp.models.knobs import Knobs
from callosum_mcp.models.values import FusedHit

_MERGED_HERE_CHARS = 250_000  # some 5 ms of merging


@dataclass(frozen=True, kw_only=True, slots=True)
class Merged:
    """The hits in their order, and what an embedder did, for the trace."""

    hits: list[FusedHit]
    told: Mapping[str, object] | None = None


def in_use(embedder: Embedder | None, knobs: Knobs) -> Embedder | None:
    """The embedder, if the settings ask for it."""
    return embedder if knobs.embed_enabled and knobs.fusion_mode == "pooled" else None


async def merged(
    lists: Sequence[RankedList], query: str, knobs: Knobs, embedder: Embedder | None, deadline: float
) -> Merged:
    """The lists as one.

    Args:
        lists: The stores' lists.
        query: The question.
        knobs: What is in force.
        embedder: Who embeds, if the knobs ask for it.
        deadline: Moment on anyio's clock by which the embedder must be done, whatever its budget.
    """
    by_words = await _ordered(lists, query, knobs)
    if embedder is None or len(by_words) < 2:
        return Merged(hits=by_words)
    until = min(deadline, anyio.current_time() + knobs.embed_budget_ms / 1_000)
    similar = await embedder.similar(query, _texts(query, by_words, lists), until)
    if not similar.cosines:
        return Merged(hits=by_words, told=similar.told)
    return Merged(hits=await _ordered(lists, query, knobs, similar.cosines), told=similar.told)


async def _ordered(
    lists: Sequence[RankedList], query: str, knobs: Knobs, cosines: Mapping[str, float] | None = None
) -> list[FusedHit]:
    """So many long texts that it takes more than some milliseconds are merged beside the event loop."""
    size = sum(min(len(hit.text), MAX_CHARS) for one in lists for hit in one.hits)
    if size <= _MERGED_HERE_CHARS:
        return ordered(lists, query, knobs, cosines)
    return await computed(ordered, lists, query, knobs, cosines)


def _texts(query: str, fused: Sequence[FusedHit], lists: Sequence[RankedList]) -> list[str]:
    """What the hits say, in their order, then what their other copies say."""
    copies = (hit for one in lists if one.weight > 0 for hit in one.hits)
    return worth_embedding(query, list(dict.fromkeys(map(said, (*(item.hit for item in fused), *copies)))))
