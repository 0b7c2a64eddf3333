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
_MAX_METADATA_CHARS = _MAX_CHARS // 4
_SNIPPET = 160


def shape_fetch(hit: Hit) -> FetchResult:
    """The answer of `fetch`, never longer than the largest budget of a recall."""
    metadata = cast("dict[str, Any]", clean_json(dict(hit.metadata)))
    dropped = len(compact_json(metadata)) > _MAX_METADATA_CHARS
    text = clip(hit.text, _MAX_CHARS // 2)
    cut = len(hit.text) - len(text)
    notes = [f"{cut} characters of the text left out" if cut else "", "metadata left out" if dropped else ""]
    note = "; ".join(part for part in notes if part)
    return FetchResult(
        id=hit.address,
        store=hit.store,
        text=text,
        title=hit.title,
        path=hit.path,
        type=hit.type,
        tier=hit.tier,
        topics=list(hit.topics) or None,
        last_seen=iso_utc(hit.last_seen),
        confidence=hit.confidence,
        superseded_at=iso_utc(hit.superseded_at),
        superseded_by=hit.superseded_by,
        receipt=_receipt(hit),
        metadata=None if dropped else metadata or None,
        truncated=bool(note),
        note=f"{note}: larger than {MAX_BUDGET_TOKENS} tokens" if note else None,
    )


def _receipt(hit: Hit) -> ReceiptOut:
    return ReceiptOut(
        id="r1",
        source=hit.address,
        path=hit.path,
        last_seen=iso_utc(hit.last_seen),
        confidence=hit.confidence,
        snippet=clip(hit.text, _SNIPPET),
    )
