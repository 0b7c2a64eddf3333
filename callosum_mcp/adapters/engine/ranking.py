"""The order of an engine's hits: its own, unless the preset knows that it has none.

Above: `reading`. Below: the text scores of fusion. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Final

from callosum_mcp.adapters.engine.preset import Order, Preset
from callosum_mcp.adapters.engine.replies import EngineReply
from callosum_mcp.fusion.lexical import text_scores
from callosum_mcp.models.values import Hit, StoreQuery

_LAST: Final = float("inf")


def ranks_here(preset: Preset) -> bool:
    """Whether hits are put in order here, so that all of them are needed."""
    return preset.order != "engine" or preset.client_rerank != "none"


def merged(replies: Sequence[EngineReply], preset: Preset, query: StoreQuery) -> EngineReply:
    """The answers to one or several calls as one list: interleaved, each id once, ordered and cut to the limit."""
    columns = zip_longest(*(reply.hits for reply in replies))
    hits: dict[str, Hit] = {}
    for hit in (hit for row in columns for hit in row if hit is not None):
        hits.setdefault(hit.id, hit)
    ordered = _ordered(list(hits.values()), preset, query)
    verdicts = {reply.verdict for reply in replies}
    remarks = dict.fromkeys(reply.remark for reply in replies if reply.remark)
    return EngineReply(
        hits=tuple(ordered[: query.limit]),
        verdict=verdicts.pop() if len(verdicts) == 1 else None,
        remark="; ".join(remarks) or None,
    )


def _ordered(hits: list[Hit], preset: Preset, query: StoreQuery) -> list[Hit]:
    """Hits in the preset's order; where nothing tells two apart, the engine's order stays."""
    if preset.order != "engine":
        hits = sorted(hits, key=_KEYS[preset.order])
    if preset.client_rerank == "bm25":
        scores = text_scores(
            query.text, [hit.text if hit.title is None else f"{hit.title}\n{hit.text}" for hit in hits]
        )
        hits = [hits[at] for at in sorted(range(len(hits)), key=lambda at: -scores[at])]
    return hits


def _score(hit: Hit) -> float | None:
    score = hit.metadata.get("store_score")
    return score if isinstance(score, float) else None


def _ascending(hit: Hit) -> float:
    return _LAST if (score := _score(hit)) is None else score


def _descending(hit: Hit) -> float:
    return _LAST if (score := _score(hit)) is None else -score


def _latest(hit: Hit) -> float:
    return _LAST if hit.last_seen is None else -hit.last_seen


_KEYS: Final[dict[Order, Callable[[Hit], float]]] = {
    "score_asc": _ascending,
    "score_desc": _descending,
    "last_seen_desc": _latest,
}
