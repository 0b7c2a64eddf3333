"""What an engine's answer means: hits, or the failure it is.

Above: the adapter. Below: `payload`, `faults`, `items`, `hits`. Pure but for the clock, which can be given. An engine's
error never becomes a hit or an empty list: a result without the place where items should be, or with items of which
none can be read, is a failure too.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Final

from callosum_mcp.adapters.engine import faults
from callosum_mcp.adapters.engine.hits import Reader, is_made
from callosum_mcp.adapters.engine.items import items
from callosum_mcp.adapters.engine.paths import Node
from callosum_mcp.adapters.engine.payload import payload
from callosum_mcp.adapters.engine.plan import ExtractPlan, Plan, plan
from callosum_mcp.adapters.engine.preset import Preset
from callosum_mcp.adapters.engine.ranking import merged, ranks_here
from callosum_mcp.adapters.engine.replies import EngineReply, ToolReply
from callosum_mcp.errors import StoreBadReply, StoreFailed
from callosum_mcp.models.values import Hit, StoreQuery
from callosum_mcp.text import one_line

__all__ = ["EngineReply", "ToolReply", "is_made", "merged", "read"]

MAX_UNRANKED: Final = 1_000
"""Items read of an engine whose hits are ordered here: any of them may be the best."""

MAX_ITEMS: Final = 2_000
"""Items looked at of one kind, whatever the engine sent: many may be the same, or not be wanted."""

_VERDICTS: Final = frozenset({"none", "single", "many"})


def read(preset: Preset, reply: ToolReply, store: str, query: StoreQuery, *, now: float | None = None) -> EngineReply:
    """The hits of one answer, in the engine's order; `merged` orders and cuts them.

    Args:
        preset: How to read it.
        reply: The answer as it came.
        store: Name of the store, for the hits.
        query: What was asked.
        now: Unix seconds, to tell what is past; the clock's if not given.

    Raises:
        StoreAuthFailed: If the engine says that it wants a valid token.
        StoreRateLimited: If it says that it is asked too often.
        StoreFailed: If it says that it failed, or says nothing where the preset calls that a failure.
        StoreBadReply: If the answer is not what the preset says it is.
    """
    ready = plan(preset)
    if reply.is_error:
        raise faults.flagged(reply.texts, reply.structured)
    root = payload(reply, ready)
    if root is None:
        return _empty(preset)
    faults.check(root, ready)
    wanted = MAX_UNRANKED if ranks_here(preset) else query.limit
    found = _read_all(ready, root, Reader(preset=preset, store=store, now=time.time() if now is None else now), wanted)
    if not found.hits:
        found.check_nothing(root, ready)
    return EngineReply(
        hits=tuple(found.hits.values()), verdict=_verdict(ready, root), remark=found.remark(ranks_here(preset))
    )


def _empty(preset: Preset) -> EngineReply:
    if preset.errors.empty_is_error:
        raise StoreFailed("answered with nothing at all, which may be a missing collection as well as no hit")
    return EngineReply(hits=(), remark="its answer was empty")


@dataclass(kw_only=True, slots=True)
class _Reading:
    """What was read so far."""

    hits: dict[str, Hit] = field(default_factory=dict[str, Hit])
    places: list[str] = field(default_factory=list[str])
    seen: int = 0
    broken: int = 0
    first_broken: object = None
    refused: int = 0
    unread: int = 0
    optional: bool = False

    def take(self, extract: ExtractPlan, nodes: list[Node], reader: Reader, wanted: int) -> None:
        """Read items until there are enough hits."""
        enough = len(self.hits) + wanted
        for at, (item, captured) in enumerate(nodes):
            if len(self.hits) >= enough or at >= MAX_ITEMS:
                self.unread += len(nodes) - at
                return
            if extract.where and not _meets(extract, item, captured):
                self.refused += 1
            elif (hit := reader.hit(extract.fields, item, captured)) is None:
                self.first_broken = self.first_broken if self.broken else item
                self.broken += 1
            else:
                self.hits.setdefault(hit.id, hit)

    def check_nothing(self, root: object, ready: Plan) -> None:
        """Refuse a result without a hit unless it says that nothing was found."""
        text = faults.first_text(root)
        if text is not None and faults.says_nothing_found(text, ready):
            return
        if not self.seen and not self.optional:
            raise faults.unreadable(root, " or ".join(self.places))
        faults.check_nothing(root)
        if self.broken:
            faults.check_nothing(self.first_broken)
            raise StoreBadReply(f"none of its {self.broken} items has the text that the preset looks for")
        if text is not None and not self.refused:
            raise StoreBadReply(f"its text holds no item that the preset knows: {one_line(text, 120)!r}")

    def remark(self, unranked: bool) -> str | None:
        """What was left out, for the status; what a ranked engine sent beyond the limit is no loss."""
        said = [f"{self.broken} items could not be read"] if self.broken else []
        if self.unread and unranked:
            said.append(f"{self.unread} further items were not read")
        return "; ".join(said) or None


def _read_all(ready: Plan, root: object, reader: Reader, wanted: int) -> _Reading:
    found = _Reading()
    for extract in ready.extracts:
        place = items(extract, root)
        found.optional |= extract.optional
        if place.missing:
            found.places.append(extract.place)
        else:
            found.seen += 1
            found.take(extract, place.nodes, reader, wanted)
    return found


def _meets(extract: ExtractPlan, item: object, captured: tuple[str, ...]) -> bool:
    """Whether each field of `where` has one of its values, or holds one in a list."""
    for get, allowed in extract.where:
        value = get(item, captured)
        if value not in allowed and not (isinstance(value, list) and any(one in allowed for one in value)):  # pyright: ignore[reportUnknownVariableType]
            return False
    return True


def _verdict(ready: Plan, root: object) -> str | None:
    if ready.verdict is None:
        return None
    value = ready.verdict.value(root)
    word = value.strip().lower() if isinstance(value, str) else ""
    return word if word in _VERDICTS else None
