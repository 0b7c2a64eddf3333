"""The further call for one hit: what a search leaves out (`enrich`), or the whole of it (`fetch`).

Above: the adapter. Below: `asking`, `hits`. Pure but for the clock, which can be given.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Final, Literal

from callosum_mcp.adapters.engine import asking, faults
from callosum_mcp.adapters.engine.asking import HttpAsked
from callosum_mcp.adapters.engine.expressions import as_text, is_empty
from callosum_mcp.adapters.engine.hits import Reader
from callosum_mcp.adapters.engine.payload import payload
from callosum_mcp.adapters.engine.places import file_of
from callosum_mcp.adapters.engine.plan import SecondPlan, plan
from callosum_mcp.adapters.engine.preset import Preset
from callosum_mcp.adapters.engine.replies import ToolReply
from callosum_mcp.adapters.engine.templates import Values
from callosum_mcp.models.values import Hit
from callosum_mcp.text import iso_utc

Which = Literal["enrich", "fetch"]

MAX_PARTS: Final = 20
"""Items of one further reply that are joined to a hit's text."""


def second_call(
    preset: Preset,
    which: Which,
    params: Mapping[str, object],
    hit: Hit,
    now: float,
    known: Collection[str] | None,
    question: str | None = None,
) -> dict[str, Any]:
    """The arguments of the further call for one hit.

    Raises:
        StoreBadReply: If the tool does not take an argument that must not be left out.
    """
    return asking.arguments(_ready(preset, which).args, _values(params, hit, now, question), known)


def second_request(
    preset: Preset, which: Which, params: Mapping[str, object], hit: Hit, now: float, question: str | None = None
) -> HttpAsked:
    """The further request for one hit.

    Raises:
        StoreBadReply: If a value of the hit cannot stand in the path of a URL.
    """
    call = _ready(preset, which).http
    if call is None:
        raise ValueError(f"{which}: no http request in preset {preset.name}")
    return asking.request(call, _values(params, hit, now, question))


def completed(preset: Preset, which: Which, reply: ToolReply, hit: Hit, *, now: float | None = None) -> Hit | None:
    """A hit with what a further reply says of it; None if the reply holds nothing of it.

    Its store and its id stay. Of several items the first that says a thing counts; their texts are joined.

    Raises:
        StoreError: If the engine says that it failed.
    """
    root = _unfailed(preset, reply)
    if root is None:
        return None
    said = _said(_ready(preset, which), root)
    if not said:
        faults.check_nothing(root)
        return None
    return _laid_over(preset, hit, said, time.time() if now is None else now)


def discovered(preset: Preset, reply: ToolReply) -> list[str]:
    """The values of a param that an engine lists, in its order, each once.

    Raises:
        StoreError: If the engine says that it failed.
    """
    root, place = _unfailed(preset, reply), plan(preset).discover_from
    if root is None or place is None:
        return []
    found = (as_text(value) for value, _ in place.select(root).nodes)
    return list(dict.fromkeys(value for value in found if value is not None))


def _unfailed(preset: Preset, reply: ToolReply) -> object:
    """What a further reply holds, if the engine does not say that it failed; None if that is nothing."""
    if reply.is_error:
        raise faults.flagged(reply.texts, reply.structured)
    ready = plan(preset)
    root = payload(reply, ready)
    if root is not None:
        faults.check(root, ready)
    return root


def _ready(preset: Preset, which: Which) -> SecondPlan:
    ready = plan(preset).enrich if which == "enrich" else plan(preset).fetch
    if ready is None:
        raise ValueError(f"{which}: not in preset {preset.name}")
    return ready


def _values(params: Mapping[str, object], hit: Hit, now: float, question: str | None) -> Values:
    return {
        **asking.present(params),
        "id": hit.id,
        "native_id": hit.native_id or hit.id,
        "title": hit.title,
        "path": hit.path,
        "file": file_of(hit.path),
        "type": hit.type,
        "uri": hit.uri,
        "query": question,
        "question": question,
        "now_iso": iso_utc(now),
        "now_s": int(now),
    }


def _said(ready: SecondPlan, root: object) -> dict[str, object]:
    """What the items of a further reply say, field by field."""
    said: dict[str, object] = {}
    texts: list[str] = []
    for item, captured in ready.items.select(root, MAX_PARTS).nodes:
        for name, get in ready.fields.items():
            value = get(item, captured)
            if is_empty(value):
                continue
            said.setdefault(name, value)
            if name == "snippet" and (text := as_text(value, "\n")) is not None:
                texts.append(text)
    if texts:
        said["snippet"] = "\n\n".join(dict.fromkeys(texts))
    return said


_OF_FIELD: Final[Mapping[str, Sequence[str]]] = {
    "snippet": ("text",),
    "last_seen": ("last_seen", "tier"),
    "tags": ("topics",),
    "score": ("relevance",),
    "superseded_at": ("superseded_at", "superseded_by", "live"),
    "superseded_by": ("superseded_at", "superseded_by", "live"),
    "id": (),
    "citations": (),
}


def _laid_over(preset: Preset, hit: Hit, said: Mapping[str, object], now: float) -> Hit:
    text = as_text(said.get("snippet"), "\n") or hit.text
    read = Reader(preset=preset, store=hit.store, now=now).made(said, text)
    names = {name for field in said for name in _OF_FIELD.get(field, (field,))}
    known = {one.name for one in fields(Hit)} & names
    changes: dict[str, Any] = {name: value for name in known if (value := getattr(read, name)) is not None}
    return replace(hit, **changes, metadata={**hit.metadata, **read.metadata})
