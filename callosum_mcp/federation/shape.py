"""Step 12 of a recall: the answer a caller sees, inside its budget, with what was cut said.

Above: the federation. Below: fusion's packing and models. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from callosum_mcp.fusion.packing import CHARS_PER_TOKEN
from callosum_mcp.models.requests import Detail
from callosum_mcp.models.results import AnswerKind, EngineOut, HitOut, RecallResult, ReceiptOut, SourceOut
from callosum_mcp.models.values import FusedHit, Hit, StoreStatus
from callosum_mcp.text import clean_json, clip, compact_json, iso_utc

_MIN_TEXT = 80  # a hit cut below this many characters says nothing; it is left out instead
_SNIPPET = 160
_TAIL = 220  # room for the note, tokens and took_ms, which are known last


@dataclass(frozen=True, kw_only=True, slots=True)
class Gathered:
    """Everything a recall found, before it is cut to its budget.

    Attributes:
        query: The question.
        hits: The seated hits in fused order.
        found: How many hits were fused in all.
        superseded: Hits something newer replaced, in store order.
        statuses: One status per configured store, in configured order.
        took_s: Seconds since the call began.
    """

    query: str
    hits: tuple[FusedHit, ...]
    found: int
    superseded: tuple[Hit, ...]
    statuses: tuple[StoreStatus, ...]
    took_s: float

    @property
    def partial(self) -> bool:
        """Whether a store that was asked did not answer."""
        return any(status.status == "down" for status in self.statuses)


def answer_kind(hits: int, *, partial: bool) -> AnswerKind:
    """`none` only if every store answered; nothing found with a store missing is `unknown`."""
    if hits == 0:
        return "unknown" if partial else "none"
    return "single" if hits == 1 else "many"


def shape(gathered: Gathered, *, budget_tokens: int, detail: Detail) -> RecallResult:
    """The answer, never longer than ``4 · budget_tokens`` characters of compact JSON."""
    limit = budget_tokens * CHARS_PER_TOKEN
    empty = _with_statuses(_empty(gathered, limit), gathered.statuses, limit - _TAIL)
    room = limit - _TAIL - len(compact_json(empty.wire()))
    packed = _Packer(room=room, cap=max(room // 3, _MIN_TEXT), detail=detail)
    for item in gathered.hits:
        if not packed.add(item):
            break
    old = [packed.receipt_free(hit, rank) for rank, hit in enumerate(gathered.superseded, start=1)]
    shown = [hit for hit in old if hit is not None]
    note = _note(
        {
            "{} more hits did not fit: ask with a larger budget_tokens": len(gathered.hits) - len(packed.hits),
            "{} texts cut: fetch(id) gives all of one": packed.cut,
            "metadata of {} left out": packed.lean,
            "{} superseded did not fit": len(gathered.superseded) - len(shown),
            "{} statuses left out": len(gathered.statuses) - len(empty.engines),
        }
    )
    return _finished(
        empty.model_copy(
            update={"hits": packed.hits, "receipts": packed.receipts, "superseded": shown, "note": note}
            | {"truncated": note is not None}
        )
    )


def _empty(gathered: Gathered, limit: int) -> RecallResult:
    return RecallResult(
        query=clip(gathered.query, min(200, limit // 8)),
        answer_kind=answer_kind(len(gathered.hits), partial=gathered.partial),
        hits=[],
        engines=[],
        partial=gathered.partial,
        truncated=False,
        took_ms=round(gathered.took_s * 1_000, 1),
    )


def _with_statuses(empty: RecallResult, statuses: Sequence[StoreStatus], limit: int) -> RecallResult:
    """With every status; where they do not fit, with those that are down in their shortest form, while they fit."""
    whole = empty.model_copy(update={"engines": [EngineOut.of(status) for status in statuses]})
    if len(compact_json(whole.wire())) <= limit:
        return whole
    room = limit - len(compact_json(empty.wire()))
    kept: list[EngineOut] = []
    for status in statuses:
        short = EngineOut(engine=status.engine, status=status.status, reason=status.reason)
        size = len(compact_json(short.wire())) + 1
        if status.status == "down" and size <= room:
            kept.append(short)
            room -= size
    return empty.model_copy(update={"engines": kept})


def _finished(result: RecallResult) -> RecallResult:
    size = len(compact_json(result.wire()))
    return result.model_copy(update={"tokens": -(-(size + 4) // CHARS_PER_TOKEN)})


def _note(left_out: Mapping[str, int]) -> str | None:
    """What was left out, in words; at most `_TAIL` characters with all of it."""
    return "; ".join(said.format(count) for said, count in left_out.items() if count) or None


class _Packer:
    """Adds hits with their receipts as long as they fit."""

    def __init__(self, *, room: int, cap: int, detail: Detail) -> None:
        self._room = room
        self._cap = cap
        self._detail: Detail = detail
        self.hits: list[HitOut] = []
        self.receipts: list[ReceiptOut] = []
        self.cut = 0
        self.lean = 0

    def add(self, item: FusedHit) -> bool:
        """Add one hit; False if the answer is full.

        A hit that is too large without its text (a key of a thousand words) is left out, and the next one is tried.
        """
        receipt = _receipt(item, f"r{len(self.receipts) + 1}", self._detail)
        hit = _hit_out(item, receipt.id, self._detail)
        lean = self._lean(hit)
        extra = len(compact_json(receipt.wire())) + 2
        fitted = self._fit(lean, extra) or self._fit(lean.model_copy(update={"metadata": None}), extra)
        if fitted is None:
            return len(compact_json(lean.model_copy(update={"text": "", "metadata": None}).wire())) + extra > self._cap
        self.lean += hit.metadata is not None and fitted.metadata is None
        self.hits.append(fitted)
        self.receipts.append(receipt)
        self.cut += fitted.cut is not None
        return True

    def _lean(self, hit: HitOut) -> HitOut:
        """The hit without its metadata if that is larger than the most a text may be."""
        too_large = hit.metadata is not None and len(compact_json(hit.metadata)) > self._cap
        return hit.model_copy(update={"metadata": None}) if too_large else hit

    def receipt_free(self, hit: Hit, rank: int) -> HitOut | None:
        """A superseded hit for ``superseded[]``, which needs no receipt; None if it does not fit."""
        return self._fit(self._lean(_hit_out(FusedHit(hit=hit, score=0.0, store_rank=rank), "", self._detail)), 2)

    def _fit(self, hit: HitOut, extra: int) -> HitOut | None:
        whole = hit.text
        short = clip(whole, self._cap)
        size = len(compact_json(hit.model_copy(update={"text": short, "cut": len(whole)}).wire())) + extra
        if size > self._room:
            length = len(short) - (size - self._room) - 1
            if length < min(_MIN_TEXT, len(whole)):
                return None
            short = clip(whole, length)
        cut = len(whole) - len(short) if len(short) < len(whole) else None
        fitted = hit.model_copy(update={"text": short, "cut": cut})
        used = len(compact_json(fitted.wire())) + extra
        if used > self._room:
            return None
        self._room -= used
        return fitted


def _receipt(item: FusedHit, receipt_id: str, detail: Detail) -> ReceiptOut:
    hit = item.hit
    return ReceiptOut(
        id=receipt_id,
        source=hit.address,
        path=hit.path,
        last_seen=iso_utc(hit.last_seen),
        confidence=hit.confidence,
        snippet=clip(hit.text, _SNIPPET) if detail == "detailed" else None,
    )


def _hit_out(item: FusedHit, receipt_id: str, detail: Detail) -> HitOut:
    hit, more = item.hit, detail == "detailed"
    recheck = hit.metadata.get("recheck")
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
        receipt=receipt_id,
        sources=_sources(item),
        type=hit.type if more else None,
        topics=list(hit.topics) or None if more else None,
        recheck=[str(reason) for reason in recheck] if isinstance(recheck, list) else None,  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        superseded_at=iso_utc(hit.superseded_at),
        superseded_by=hit.superseded_by,
        why_changed=_text(hit.metadata.get("why_changed")),
        metadata=_metadata(hit) if more else None,
    )


def _says(text: str, title: str | None) -> bool:
    return title is None or text.startswith(title)


def _sources(item: FusedHit) -> list[SourceOut] | None:
    if len(item.sources) < 2:
        return None
    parts = [(*address.partition(":"), rank) for address, rank in item.sources]
    return [SourceOut(store=store, id=native, store_rank=rank) for store, _, native, rank in parts]


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _metadata(hit: Hit) -> dict[str, Any] | None:
    cleaned = clean_json(dict(hit.metadata))
    return cleaned if isinstance(cleaned, dict) and cleaned else None  # pyright: ignore[reportUnknownVariableType]
