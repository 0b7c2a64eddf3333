"""What was asked of an engine, what it answered, and what of that could not be read: for whoever writes a preset.

Above: the adapter, ``stores probe``. Below: `plan`, `payload`, `items`. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from callosum_mcp.adapters.engine import times
from callosum_mcp.adapters.engine.engine import Exchange
from callosum_mcp.adapters.engine.expressions import as_text
from callosum_mcp.adapters.engine.items import items
from callosum_mcp.adapters.engine.paths import Node
from callosum_mcp.adapters.engine.payload import payload
from callosum_mcp.adapters.engine.plan import ExtractPlan, plan
from callosum_mcp.adapters.engine.preset import Converted, Extract, Preset
from callosum_mcp.adapters.engine.replies import ToolReply
from callosum_mcp.errors import StoreError
from callosum_mcp.models.values import Hit
from callosum_mcp.text import one_line

_TIMES = ("last_seen", "superseded_at")
_SHOWN = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class Explained:
    """One question and everything that came of it.

    Attributes:
        exchanges: Every call, in the order of the answers.
        hits: What was understood.
        remark: What the store's status would say beside its hits.
        fault: Why there are no hits, if the engine failed or its answer was not understood.
        gaps: What of the answers the preset did not find or could not read, a line each.
    """

    exchanges: tuple[Exchange, ...] = ()
    hits: tuple[Hit, ...] = ()
    remark: str | None = None
    fault: StoreError | None = None
    gaps: tuple[str, ...] = ()


def gaps(preset: Preset, exchanges: Sequence[Exchange], now: float) -> tuple[str, ...]:
    """What a preset did not find in the answers to a search.

    Args:
        preset: As it is in force.
        exchanges: The calls; those that were no search are passed over.
        now: Unix seconds, since a time that lies ahead is not taken.
    """
    replies = [one.reply for one in exchanges if one.purpose == "search" and one.reply is not None]
    found: list[str] = []
    for at, (extract, ready) in enumerate(zip(preset.extract, plan(preset).extracts, strict=True)):
        label = f"extract[{at}]" if len(preset.extract) > 1 else "extract"
        found += _of_extract(
            label, extract, ready, [_root(preset, reply) for reply in replies if not reply.is_error], now
        )
    return tuple(found)


def _root(preset: Preset, reply: ToolReply) -> object:
    return payload(reply, plan(preset))


def _of_extract(label: str, extract: Extract, ready: ExtractPlan, roots: Sequence[object], now: float) -> list[str]:
    places = [items(ready, root) for root in roots]
    nodes = [node for place in places for node in place.nodes]
    if not roots:
        return []
    if not nodes:
        nowhere = all(place.missing for place in places)
        what = "there is nothing at" if nowhere else "no items at"
        return [f"{label}.items: {what} {ready.place}{_there(roots) if nowhere else ''}"]
    return [
        f"{label}.fields.{name}: {said}"
        for name in ready.fields
        if (said := _of_field(name, extract, ready, nodes, now)) is not None
    ]


def _of_field(name: str, extract: Extract, ready: ExtractPlan, nodes: Sequence[Node], now: float) -> str | None:
    """What is wrong with one field over all items; None if it is there in each."""
    get = ready.fields[name]
    values = [get(item, captured) for item, captured in nodes]
    empty = sum(as_text(value, "\n") is None for value in values)
    shown = _expression(getattr(extract.fields, name))
    if empty == len(values):
        return f"{shown} is empty in all {len(values)} items{_there([nodes[0][0]])}"
    if name in _TIMES:
        read = times.past if name == "last_seen" else _moment
        bad = next((value for value in values if as_text(value) is not None and read(value, now) is None), None)
        if bad is not None:
            return f"{shown} holds {one_line(repr(bad), 60)}, which is no time that is past"
    return f"{shown} is empty in {empty} of {len(values)} items" if empty else None


def _moment(value: object, now: float) -> float | None:
    del now  # what replaces a memory may lie ahead
    return times.moment(value)


def _expression(value: object) -> str:
    return value.from_ if isinstance(value, Converted) else str(value)


def _there(values: Sequence[object]) -> str:
    """The names that stand there instead."""
    names = [str(name) for value in values if isinstance(value, dict) for name in cast("dict[object, object]", value)]
    unique = list(dict.fromkeys(names))
    if not unique:
        return ""
    more = f" and {len(unique) - _SHOWN} more" if len(unique) > _SHOWN else ""
    return f"; there are {', '.join(unique[:_SHOWN])}{more}"
