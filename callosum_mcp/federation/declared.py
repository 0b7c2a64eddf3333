"""What settings and overlay declare, and the state that comes of it while a server runs.

Above: administration. Below: the store set, the overlay. Pure but for the overlay's file. A value that the settings did
not change keeps what `configure` made of it, and a store that is still reached in the same way keeps its connection,
and with it all that is warm and all that is known of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from callosum_mcp.adapters import registry
from callosum_mcp.errors import InvalidInput
from callosum_mcp.federation.gathering import State
from callosum_mcp.federation.overlay import Overlay
from callosum_mcp.federation.stores import Store, StoreSet
from callosum_mcp.federation.urls import restored
from callosum_mcp.models.hosts import HostRules
from callosum_mcp.models.knobs import Knobs
from callosum_mcp.models.values import StoreSpec

_CONFIGURED = ("weight", "floor", "enabled")
_APART = {"weight": 1.0, "floor": 0.0, "enabled": True, "required": False, "optional": False}
"""What of a store its connection does not depend on."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Declared:
    """What stands in settings and overlay.

    Attributes:
        stores: The stores in order.
        knobs: The knobs.
    """

    stores: tuple[StoreSpec, ...]
    knobs: Knobs


def managed_stores(
    overlay: Overlay, base: tuple[StoreSpec, ...], rules: HostRules
) -> tuple[list[StoreSpec], tuple[str, ...]]:
    """The overlay's stores that may be used, where they may be, and why others may not; a base store wins its name."""
    names = {spec.name for spec in base}
    kept: list[StoreSpec] = []
    notes: list[str] = []
    for spec in overlay.load():
        if spec.name in names:
            notes.append(f"overlay: store {spec.name!r} is left out: the name is taken")
            continue
        try:
            usable = restored(spec, rules)
            registry.create(usable)
        except (ValueError, InvalidInput) as fault:
            notes.append(f"overlay: store {spec.name!r} left out: {fault}")
            continue
        names.add(spec.name)
        kept.append(usable)
    return kept, tuple(notes)


def adopted(state: State, before: Declared, now: Declared) -> State:
    """The state in force once `now` is declared instead of `before`; the same one if that changes nothing.

    Args:
        state: The state in force.
        before: What was declared when it came about.
        now: What is declared.
    """
    knobs = Knobs(**_merged(state.knobs.model_dump(), before.knobs.model_dump(), now.knobs.model_dump()))
    old = {spec.name: spec for spec in before.stores}
    current = {store.spec.name: store for store in state.stores.stores}
    stores = tuple(_store(current.get(spec.name), old.get(spec.name), spec) for spec in now.stores)
    if knobs == state.knobs and stores == state.stores.stores:
        return state
    return State(stores=StoreSet(stores), knobs=knobs)


def _store(current: Store | None, before: StoreSpec | None, now: StoreSpec) -> Store:
    if current is None:
        return Store.of(now)
    if before is not None:
        now = replace(now, **_merged(_settings(current.spec), _settings(before), _settings(now)))
    return Store(spec=now, connection=current.connection) if _reached_alike(current.spec, now) else Store.of(now)


def _merged(current: Mapping[str, Any], before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value if value != before[name] else current[name] for name, value in now.items()}


def _settings(spec: StoreSpec) -> dict[str, Any]:
    return {name: getattr(spec, name) for name in _CONFIGURED}


def _reached_alike(one: StoreSpec, other: StoreSpec) -> bool:
    return replace(one, **_APART) == replace(other, **_APART)  # pyright: ignore[reportArgumentType]
