"""Recorded replies of real Seren servers, and the stores of a test."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from callosum_mcp.federation.federation import Federation, State
from callosum_mcp.federation.stores import Store, StoreSet
from callosum_mcp.models.knobs import Knobs
from callosum_mcp.models.values import StoreSpec
from callosum_mcp.testing import ScriptedStore

_DATA = Path(__file__).parents[1] / "data" / "seren"


def recorded(name: str) -> dict[str, Any]:
    """The body of a recorded reply, as ``memory/search_surroundings``."""
    return json.loads((_DATA / f"{name}.json").read_text(encoding="utf-8"))


def scripted(name: str, *hits: Any, more: dict[str, Any] | None = None, **script: Any) -> Store:
    """A store without a network; `more` goes into its spec, `script` to the `ScriptedStore`."""
    spec = StoreSpec(name=name, type="scripted", **(more or {}))
    return Store.of(spec, ScriptedStore(spec, hits, **script))


def federation(*stores: Store, **knobs: Any) -> Federation:
    """A federation over some stores."""
    return Federation(State(stores=StoreSet(stores), knobs=Knobs(**knobs)))


@asynccontextmanager
async def running(*stores: Store, **knobs: Any) -> AsyncGenerator[Federation]:
    """A federation whose stores are closed in the end."""
    running = federation(*stores, **knobs)
    try:
        yield running
    finally:
        for store in running.state.stores.stores:
            await store.connection.retire()
