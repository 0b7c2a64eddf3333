"""``callosum-mcp stores probe NAME``: one store looked into, its raw replies beside the hits they became.

Above: the commands. Below: the adapters. Whoever writes a preset sees here what is called, what comes back, and what of
it was not found. Secrets of the store are masked wherever they turn up, also in what it answers.
"""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, TypeVar, cast

import anyio

from callosum_mcp.adapters import registry
from callosum_mcp.adapters.base import Adapter
from callosum_mcp.adapters.engine.adapter import EngineAdapter
from callosum_mcp.adapters.engine.engine import Exchange
from callosum_mcp.adapters.engine.explaining import Explained
from callosum_mcp.errors import StoreError, StoreTimeout
from callosum_mcp.federation.urls import shown_url
from callosum_mcp.models.secrets import given_to
from callosum_mcp.models.values import Hit, StoreQuery, StoreSpec
from callosum_mcp.text import clean_json, iso_utc

T = TypeVar("T")

QUERY = "status of the current project"
"""Asked when no question is given."""

LIMIT = 10
"""Hits asked for."""

WAIT_S = 60.0
"""Seconds a probe and a search may take: a cold start is no fault here."""

_SHORTEST_SECRET = 6  # hiding anything shorter would hide words of every message
_MASK = "***"


async def report(spec: StoreSpec, query: str, chars: int) -> dict[str, Any]:
    """What is seen of a store, as JSON has words for it.

    Args:
        spec: The store.
        query: What it is asked.
        chars: Characters shown of each part of a raw reply.

    Returns:
        ``store``, ``probe``, ``query``, ``calls``, ``hits``, ``remark``, ``error`` and ``not_read``; `error` is None if
        the question was answered.

    Raises:
        ValueError: If the store's type or options are wrong.
    """
    adapter = registry.create(spec)
    try:
        probe = await _probe(adapter)
        explained = await _explained(adapter, StoreQuery(text=query, limit=LIMIT))
    finally:
        with anyio.CancelScope(shield=True):
            await adapter.aclose()
    hidden = _mask(spec, adapter)
    return {
        "store": {"name": spec.name, "type": spec.type, "place": place(spec)},
        "probe": hidden(probe),
        "query": query,
        "calls": [_call(one, chars, hidden) for one in explained.exchanges],
        "hits": [hidden(_hit(hit)) for hit in explained.hits],
        "remark": hidden(explained.remark),
        "error": None if explained.fault is None else hidden(_fault(explained.fault)),
        "not_read": hidden(list(explained.gaps)),
    }


def place(spec: StoreSpec) -> str:
    """Where a store is, for a person: its URL without secrets, or the program that is started."""
    if spec.url or spec.transport is None:
        return shown_url(spec.url)
    return spec.transport.command or "the preset's command"


async def _probe(adapter: Adapter) -> dict[str, Any]:
    began = time.perf_counter()
    try:
        said = await _in_time(adapter.probe)
    except StoreError as fault:
        return {"status": "down", **_fault(fault), "ms": _ms(began)}
    return {"status": "up", "detail": said.detail, "ms": _ms(began)}


async def _explained(adapter: Adapter, query: StoreQuery) -> Explained:
    """The calls too, where an adapter tells of them."""
    try:
        if isinstance(adapter, EngineAdapter):
            return await _in_time(lambda: adapter.explain(query))
        reply = await _in_time(lambda: adapter.search(query))
        return Explained(hits=tuple(await adapter.complete(reply.hits)), remark=reply.remark)
    except StoreError as fault:
        return Explained(fault=fault)


async def _in_time(ask: Callable[[], Awaitable[T]]) -> T:
    try:
        with anyio.fail_after(WAIT_S):
            return await ask()
    except TimeoutError as fault:
        raise StoreTimeout(f"no answer within {WAIT_S:g} s") from fault


def _call(one: Exchange, chars: int, hidden: Callable[[Any], Any]) -> dict[str, Any]:
    parts: list[dict[str, Any]] = []
    if one.reply is not None:
        if one.reply.structured is not None:
            whole = json.dumps(hidden(clean_json(one.reply.structured)), ensure_ascii=False, indent=2)
            parts.append(_part("structured", whole, chars))
        parts += [_part("text", hidden(clean_json(text)), chars) for text in one.reply.texts]
    return {
        "purpose": one.purpose,
        "called": hidden(one.called),
        "arguments": hidden(clean_json(dict(one.arguments))),
        "ms": round(one.ms, 1),
        "reply": parts,
        "is_error": one.reply is not None and one.reply.is_error,
        "error": None if one.fault is None else hidden(_fault(one.fault)),
    }


def _part(kind: str, text: str, chars: int) -> dict[str, Any]:
    return {"kind": kind, "text": text[:chars], "chars": len(text)}


def _hit(hit: Hit) -> dict[str, Any]:
    said = {
        "id": hit.id,
        "title": hit.title,
        "path": hit.path,
        "text": hit.text,
        "last_seen": iso_utc(hit.last_seen),
        "type": hit.type,
        "topics": list(hit.topics) or None,
        "tier": hit.tier,
        "confidence": hit.confidence,
        "superseded_at": iso_utc(hit.superseded_at),
        "metadata": clean_json(dict(hit.metadata)) or None,
    }
    return {name: value for name, value in said.items() if value is not None}


def _fault(fault: StoreError) -> dict[str, Any]:
    return {"reason": fault.reason, "detail": str(fault)}


def _ms(began: float) -> float:
    return round((time.perf_counter() - began) * 1_000, 1)


def _mask(spec: StoreSpec, adapter: Adapter) -> Callable[[Any], Any]:
    """Takes what only the store may know out of every text of a value."""
    secrets = sorted({text for text in _secrets(spec, adapter) if len(text) >= _SHORTEST_SECRET}, key=len, reverse=True)

    def hidden(value: Any) -> Any:
        if isinstance(value, str):
            for secret in secrets:
                value = value.replace(secret, _MASK)
            return value
        if isinstance(value, dict):
            return {hidden(key): hidden(item) for key, item in cast("dict[str, Any]", value).items()}
        return [hidden(item) for item in cast("list[Any]", value)] if isinstance(value, list) else value

    return hidden


def _secrets(spec: StoreSpec, adapter: Adapter) -> Iterator[str]:
    yield from given_to(spec)
    if isinstance(adapter, EngineAdapter):
        params = adapter.preset.params
        yield from (str(spec.options[name]) for name, param in params.items() if param.secret and name in spec.options)


def probe_page(seen: Mapping[str, Any]) -> str:
    """The report as a page for a terminal."""
    return "\n".join(_lines(seen))


def _lines(seen: Mapping[str, Any]) -> Iterator[str]:
    store, probe = seen["store"], seen["probe"]
    yield f"store   {store['name']}: {store['type']} {store['place']}".rstrip()
    reason = f"{probe['reason']}: " if probe["status"] == "down" else ""
    yield f"probe   {probe['status']}, {probe['ms']:,.0f} ms — {reason}{probe['detail']}"
    yield f"query   {seen['query']}"
    for at, call in enumerate(seen["calls"], start=1):
        yield ""
        yield from _call_lines(at, call)
    yield ""
    if seen["error"] is not None:
        yield f"FAILED  {seen['error']['reason']}: {seen['error']['detail']}"
    else:
        yield f"hits    {len(seen['hits'])}"
    for at, hit in enumerate(seen["hits"], start=1):
        yield from _hit_lines(at, hit)
    if seen["remark"]:
        yield f"remark  {seen['remark']}"
    for at, gap in enumerate(seen["not_read"]):
        yield f"{'' if at else 'unread':8}{gap}"


def _call_lines(at: int, call: Mapping[str, Any]) -> Iterator[str]:
    arguments = json.dumps(call["arguments"], ensure_ascii=False)
    yield f"call {at}  {call['called']} {arguments}  ({call['purpose']}, {call['ms']:,.0f} ms)"
    if call["error"] is not None:
        yield f"        no answer — {call['error']['reason']}: {call['error']['detail']}"
    if call["is_error"]:
        yield "        the engine marks it as an error"
    for part in call["reply"]:
        yield f"        {part['kind']}:"
        yield from (f"        | {line}" for line in part["text"].splitlines())
        if len(part["text"]) < part["chars"]:
            yield f"        … cut: {len(part['text']):,} of {part['chars']:,} characters; --chars shows more"


def _hit_lines(at: int, hit: Mapping[str, Any]) -> Iterator[str]:
    for name, value in hit.items():
        shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        first, *rest = shown.splitlines() or [""]
        yield f"{at if name == 'id' else '':>4}    {name:<13} {first}"
        yield from (f"{'':21} {line}" for line in rest)
