"""Hits with their receipts, as long as they fit.

Above: shape. Below: models. A text is cut before a hit is left out; metadata gives way before that.
"""

from __future__ import annotations

from collections.abc import Sequence

from callosum_mcp.models.results import ConflictOut, HitOut, ReceiptOut
from callosum_mcp.text import clip, compact_json

MIN_TEXT = 80
"""A hit cut below this many characters says nothing; it is left out instead."""


class Packer:
    """Takes hits into an answer.

    Args:
        room: Characters of compact JSON that are left.
        cap: The most characters of one text or of one hit's metadata.
    """

    def __init__(self, *, room: int, cap: int) -> None:
        self._room = room
        self._cap = cap
        self.receipts: list[ReceiptOut] = []
        self.cut = 0
        self.lean = 0

    def take(self, hit: HitOut, receipt: ReceiptOut) -> HitOut | None:
        """The hit as it fits, with its receipt numbered and taken too; None if it does not fit."""
        number = f"r{len(self.receipts) + 1}"
        lean, receipt = (
            self._lean(hit.model_copy(update={"receipt": number})),
            receipt.model_copy(update={"id": number}),
        )
        extra = _size(receipt.wire()) + 2
        fitted = self._fit(lean, extra)
        if fitted is None and lean.metadata is not None:
            fitted = self._fit(lean.model_copy(update={"metadata": None}), extra)
        if fitted is None:
            return None
        self.receipts.append(receipt)
        self.lean += hit.metadata is not None and fitted.metadata is None
        self.cut += fitted.cut is not None
        return fitted

    def within(self, conflicts: Sequence[ConflictOut], share: int) -> list[ConflictOut]:
        """The conflicts that fit into a share of the room, which they take before any hit does."""
        taken: list[ConflictOut] = []
        for conflict in conflicts:
            size = _size(conflict.wire()) + 1
            if size <= share:
                taken.append(conflict)
                share -= size
                self._room -= size
        return taken

    def hopeless(self, hit: HitOut, receipt: ReceiptOut) -> bool:
        """Whether a hit is too large without any text, so that the next one may still fit."""
        bare = hit.model_copy(update={"text": "", "metadata": None})
        return _size(bare.wire()) + _size(receipt.wire()) + 2 > self._cap

    def _lean(self, hit: HitOut) -> HitOut:
        """The hit without its metadata if that is larger than the most a text may be."""
        too_large = hit.metadata is not None and _size(hit.metadata) > self._cap
        return hit.model_copy(update={"metadata": None}) if too_large else hit

    def _fit(self, hit: HitOut, extra: int) -> HitOut | None:
        wire = hit.wire()
        short = self._shortened(hit.text, wire, extra)
        if short is None:
            return None
        cut = len(hit.text) - len(short) if len(short) < len(hit.text) else None
        used = _size(wire | {"text": short} | ({"cut": cut} if cut else {})) + extra
        if used > self._room:
            return None
        self._room -= used
        return hit if cut is None else hit.model_copy(update={"text": short, "cut": cut})

    def _shortened(self, text: str, wire: dict[str, object], extra: int) -> str | None:
        """The text as long as it may be; None if next to nothing of it fits."""
        short = clip(text, self._cap)
        marked = wire | {"text": short} | ({"cut": len(text)} if len(short) < len(text) else {})
        over = _size(marked) + extra - self._room
        if over <= 0:
            return short
        length = len(short) - over - len(',"cut":') - len(str(len(text)))
        return clip(text, length) if length >= min(MIN_TEXT, len(text)) else None


def _size(value: object) -> int:
    return len(compact_json(value))
