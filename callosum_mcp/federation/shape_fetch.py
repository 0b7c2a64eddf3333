"""One hit in full, as `fetch` answers it.

Above: the federation. Below: models. Pure. Bounded too: a client that cannot take the text cannot use it.
"""

from __future__ import annotations

from typing import Any, cast

from callosum_mcp.models.knobs import MAX_BUDGET_TOKENS
from callosum_mcp.models.results import FetchResult, ReceiptOut
from callosum_mcp.models.values import Hit
from callosum_mcp.text import clean_json, clip, compact_json, iso_utc

_MAX_CHARS = MAX_BUDGET_TOKENS * 4
_MAX_TEXT_CHARS = _MAX_CHARS * 2 // 5
_MAX_METADATA_CHARS = _MAX_CHARS // 5
_MAX_FIELD = 1_000
_MAX_TOPICS = 20
_SNIPPET = 160


def shape_fetch(hit: Hit) -> FetchResult:
    """The answer of `fetch`, never longer than the largest budget of a recall."""
    metadata = cast("dict[str, Any]", clean_json(dict(hit.metadata)))
    dropped = len(compact_json(metadata)) > _MAX_METADATA_CHARS
    text = _fitting(hit.text, _MAX_TEXT_CHARS)
    cut = len(hit.text) - len(text)
    notes = [f"{cut} characters of the text left out" if cut else "", "metadata left out" if dropped else ""]
    note = "; ".join(part for part in notes if part)
    return FetchResult(
        id=hit.address,
        store=hit.store,
        text=text,
        title=_clipped(hit.title),
        path=_clipped(hit.path),
        type=_clipped(hit.type),
        tier=hit.tier,
        topics=[clip(topic, 100) for topic in hit.topics[:_MAX_TOPICS]] or None,
        last_seen=iso_utc(hit.last_seen),
        confidence=hit.confidence,
        superseded_at=iso_utc(hit.superseded_at),
        superseded_by=_clipped(hit.superseded_by),
        receipt=_receipt(hit),
        metadata=None if dropped else metadata or None,
        truncated=bool(note),
        note=f"{note}: larger than {MAX_BUDGET_TOKENS} tokens" if note else None,
    )


def _fitting(text: str, limit: int) -> str:
    """The longest beginning of a text that takes at most `limit` characters as JSON."""
    short = clip(text, limit)
    while (size := len(compact_json(short))) > limit:
        short = clip(text, len(short) * limit // size - 1)
    return short


def _clipped(text: str | None) -> str | None:
    return None if text is None else clip(text, _MAX_FIELD)


def _receipt(hit: Hit) -> ReceiptOut:
    return ReceiptOut(
        id="r1",
        source=hit.address,
        path=_clipped(hit.path),
        last_seen=iso_utc(hit.last_seen),
        confidence=hit.confidence,
        snippet=clip(hit.text, _SNIPPET),
    )
