"""Values as a caller sees them: hits, receipts and edges of an answer.

Above: shape. Below: models. Pure. `concise` leaves out what a model cannot use.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from callosum_mcp.federation.edges import Edge
from callosum_mcp.fusion.identity import Sketch, similar
from callosum_mcp.models.requests import Detail
from callosum_mcp.models.results import HitOut, ReceiptOut, SourceOut
from callosum_mcp.models.values import FusedHit, Hit
from callosum_mcp.reconcile.authority import age_days
from callosum_mcp.text import clean, clean_json, clip, iso_utc

_SNIPPET = 160


def receipt_of(hit: Hit, detail: Detail) -> ReceiptOut:
    """Where a hit comes from, without an id yet; its snippet only in detail, since the hit's own text says the same."""
    return ReceiptOut(
        id="",
        source=hit.address,
        path=hit.path,
        last_seen=iso_utc(hit.last_seen),
        confidence=hit.confidence,
        snippet=clip(hit.text, _SNIPPET) if detail == "detailed" else None,
    )


def hit_out(item: FusedHit, detail: Detail) -> HitOut:
    """A hit of the list, without a receipt yet."""
    hit, more = item.hit, detail == "detailed"
    return HitOut(
        id=hit.address,
        store=hit.store,
        text=hit.text,
        title=hit.title if more or not _says(hit.text, hit.title) else None,
        path=hit.path if more or hit.path != hit.id else None,
        score=float(f"{item.score:.6g}"),
        store_rank=item.store_rank,
        tier=hit.tier,
        last_seen=iso_utc(hit.last_seen),
        confidence=hit.confidence,
        receipt="",
        sources=_sources(item),
        type=hit.type if more else None,
        topics=list(hit.topics) or None if more else None,
        recheck=_strings(hit.metadata.get("recheck")),
        superseded_at=iso_utc(hit.superseded_at),
        superseded_by=hit.superseded_by or ("unknown" if hit.superseded and hit.superseded_at is None else None),
        why_changed=_text(hit.metadata.get("why_changed")),
        metadata=_metadata(hit) if more else None,
    )


def whole_days(hit: Hit, now: float) -> int | None:
    """Whole days since the hit was last known to hold; None if that or the moment now (Unix seconds) is unknown."""
    age = age_days(hit, now) if now else None
    return None if age is None else int(age)


def edge_out(edge: Edge, rank: int, detail: Detail) -> HitOut:
    """An associated memory: as a hit, with what associates it; a replaced one says so."""
    hit = hit_out(FusedHit(hit=edge.hit, score=0.0, store_rank=rank), detail)
    return hit.model_copy(update={"edge": edge.kind, "edge_of": edge.of})


def similar_to(items: Sequence[FusedHit]) -> dict[str, str]:
    """For each hit that says nearly what an earlier one says, the id of that one; hits in other words are not here."""
    found: dict[str, str] = {}
    leaders: list[tuple[Sketch, str]] = []
    for item in items:
        sketch = Sketch.of(item.hit)
        first = next((address for leader, address in leaders if similar(leader, sketch)), None)
        if first is None:
            leaders.append((sketch, item.hit.address))
        else:
            found[item.hit.address] = first
    return found


def _says(text: str, title: str | None) -> bool:
    return title is None or text.startswith(title)


def _sources(item: FusedHit) -> list[SourceOut] | None:
    if len(item.sources) < 2:
        return None
    parts = [(*address.partition(":"), rank) for address, rank in item.sources]
    return [SourceOut(store=store, id=native, store_rank=rank) for store, _, native, rank in parts]


def _text(value: object) -> str | None:
    return clean(value) if isinstance(value, str) else None


def _strings(value: object) -> list[str] | None:
    return [clean(str(item)) for item in cast("list[object]", value)] if isinstance(value, list) else None


def _metadata(hit: Hit) -> dict[str, Any] | None:
    return cast("dict[str, Any]", clean_json(dict(hit.metadata))) or None
