"""Answers in the shape of seren-corpus-callosum 5.3, so that its clients keep working.

Above: the REST routes. Below: models. Pure. Each field has the peer's meaning; ours stand beside them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from callosum_mcp import __version__
from callosum_mcp.federation.shape import Gathered
from callosum_mcp.models.knobs import MAX_BUDGET_TOKENS, MAX_RESULTS, Knobs
from callosum_mcp.models.requests import Names, Query
from callosum_mcp.models.results import ConfigureResult, EngineOut, StoresResult
from callosum_mcp.models.values import FusedHit, StoreStatus
from callosum_mcp.text import finite


class SearchRequest(BaseModel):
    """Body of ``POST /search``: the peer's fields and a scope."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    query: Query
    n_results: Annotated[int | None, Field(ge=1, le=MAX_RESULTS)] = None
    budget_tokens: Annotated[int | None, Field(ge=1, le=MAX_BUDGET_TOKENS)] = None
    stores: Names | None = None


def search_answer(gathered: Gathered, budget_tokens: int | None) -> dict[str, Any]:
    """Body of a ``/search`` answer; a budget counts the contents of the hits, as the peer's does."""
    items = gathered.hits if budget_tokens is None else within(gathered.hits, budget_tokens)
    down = [status for status in gathered.statuses if status.missing]
    skipped = [status for status in gathered.statuses if status.status == "skipped" and not status.missing]
    return {
        "query": gathered.query,
        "hits": [peer_hit(item) for item in items],
        "budget_tokens": budget_tokens,
        "tokens": sum(cost(item) for item in items),
        "stores_searched": [s.engine for s in gathered.statuses if s.status == "up"],
        "failed": [{"name": s.engine, "reason": _reason(s)} for s in down],
        "skipped": [{"name": s.engine, "reason": _reason(s)} for s in skipped],
        "answer_kind": gathered.answer_kind,
        "partial": gathered.partial,
        "engines": [EngineOut.of(status).wire() for status in gathered.statuses],
    }


def _reason(status: StoreStatus) -> str:
    return ": ".join(part for part in (status.reason, status.detail) if part)


def cost(item: FusedHit) -> int:
    """Tokens of a hit as the peer counts them: a quarter of its characters, rounded up, and one."""
    return -(-len(item.hit.text) // 4) + 1


def within(items: Sequence[FusedHit], budget_tokens: int) -> list[FusedHit]:
    """The hits that fit, in order; one that does not fit is passed over."""
    kept: list[FusedHit] = []
    left = budget_tokens
    for item in items:
        if cost(item) <= left:
            left -= cost(item)
            kept.append(item)
    return kept


def peer_hit(item: FusedHit) -> dict[str, Any]:
    """One hit with the peer's fields."""
    hit, meta = item.hit, dict(item.hit.metadata)
    native = finite(meta.pop("store_score", None))
    return {
        "store": hit.store,
        "id": hit.native_id or hit.id,
        "content": hit.text,
        "score": item.score,
        "store_rank": item.store_rank,
        "base_relevance": 0.0 if hit.relevance is None else hit.relevance,  # always a number, as the peer's
        "native_score": native,
        "raw_distance": finite(meta.pop("raw_distance", None)),
        "metadata": meta | _tags(item),
        "hit_id": hit.address,
    }


def _tags(item: FusedHit) -> dict[str, Any]:
    hit = item.hit
    tags: dict[str, Any] = {}
    if hit.type in ("short", "near", "long"):
        tags["tier"] = hit.type
        tags["topic"] = ",".join(hit.topics)
    return tags


def stores_answer(result: StoresResult) -> dict[str, Any]:
    """Body of ``GET /stores``."""
    knobs = result.settings
    return {
        "stores": [{**store.wire(), "status": "active" if store.enabled else "disabled"} for store in result.stores],
        "active": sum(store.enabled for store in result.stores),
        **knobs.model_dump(mode="json"),
        "hops": 1,
        "hop_terms": 0,
        "hop_budget": 0,
        "satellite_edges_enabled": knobs.satellite_budget > 0,
        "types": result.types,
        "supported_knobs": list(Knobs.model_fields),
        "notes": result.notes or [],
    }


def configure_answer(result: ConfigureResult, asked: Mapping[str, Any], now: StoresResult) -> dict[str, Any]:
    """Body of a ``/configure`` answer.

    `changed` is, as the peer's, all that was asked for and holds now: a client that tunes takes a knob which is missing
    there for one that has no effect. `changes` is what is different from before.
    """
    knobs = now.settings.model_dump(mode="json")
    changed = {name: knobs[name] for name, value in asked.items() if name in knobs and value is not None}
    named = {change.get("name") for change in asked.get("stores") or ()}
    if named:
        changed["stores"] = [
            {"name": store.name, "weight": store.weight, "floor": store.floor, "enabled": store.enabled}
            for store in now.stores
            if store.name in named
        ]
    return {"ok": True, "changed": changed, "active": result.active, "changes": result.wire()["changed"]}


_NO_UPDATES = {
    "status": "disabled",
    "distribution": "callosum-mcp",
    "installed": __version__,
    "latest": None,
    "update_available": False,
    "detail": "callosum-mcp never asks for updates",
    "checked_at": None,
}


def root_answer(result: StoresResult) -> dict[str, Any]:
    """Body of ``GET /`` for programs."""
    return {
        "service": "callosum-mcp",
        "version": __version__,
        "stores": [store.name for store in result.stores if store.enabled],
        "skipped": [{"name": store.name, "reason": "disabled"} for store in result.stores if not store.enabled],
        "updates": _NO_UPDATES,
    }
