"""The store types by name: the built-in ones, third parties' through entry points, and the presets of engines.

Above: the store set and `doctor`. Below: the adapters, imported only when a store of their type is opened, so that
nothing is loaded before ``initialize`` is answered; the presets only when no other type has the name.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from callosum_mcp.adapters.base import ENTRY_POINT_GROUP, Adapter
from callosum_mcp.models.requests import nearest
from callosum_mcp.models.values import StoreSpec

BUILT_IN = {
    "notes": ("callosum_mcp.adapters.notes", "NotesAdapter"),
    "postgres": ("callosum_mcp.adapters.postgres", "Postgres"),
    "seren_loci": ("callosum_mcp.adapters.seren_loci", "SerenLoci"),
    "seren_memory": ("callosum_mcp.adapters.seren_memory", "SerenMemory"),
}
"""Module and class of each built-in store type."""


def _third_party() -> dict[str, Callable[[], object]]:
    from importlib.metadata import entry_points

    return {point.name: point.load for point in entry_points(group=ENTRY_POINT_GROUP)}


def type_names() -> list[str]:
    """Every store type that can be configured here, sorted."""
    from callosum_mcp.adapters.engine import catalog

    return sorted({*BUILT_IN, *_third_party(), *catalog.names()})


def adapter_class(type_name: str) -> type[Adapter]:
    """The adapter class of a store type.

    Raises:
        ValueError: If there is none, with the nearest name.
    """
    if type_name in BUILT_IN:
        module, name = BUILT_IN[type_name]
        found: object = getattr(import_module(module), name)
    else:
        load = _third_party().get(type_name)
        found = _loaded(type_name, load) if load is not None else _of_preset(type_name)
    if not (isinstance(found, type) and issubclass(found, Adapter)):
        raise ValueError(f"type {type_name!r} is unknown; {nearest(type_name, type_names())}")
    return found


def _of_preset(type_name: str) -> object:
    from callosum_mcp.adapters.engine import catalog

    if type_name not in catalog.names():
        return None
    from callosum_mcp.adapters.engine.adapter import engine_class

    return engine_class(type_name)


def _loaded(type_name: str, load: Callable[[], object]) -> object:
    try:
        return load()
    except (ImportError, AttributeError) as fault:
        raise ValueError(f"type {type_name!r} cannot be loaded: {fault}") from fault


def check(spec: StoreSpec) -> type[Adapter]:
    """The adapter class of a store whose options are all known.

    Raises:
        ValueError: If the type or an option is unknown, with the nearest name, or means nothing for it.
    """
    cls = adapter_class(spec.type)
    if spec.transport is not None and not cls.transports:
        raise ValueError(f"transport: means nothing for type {spec.type}; it is for engines behind MCP")
    _check_replicas(spec, cls)
    unknown = sorted(set(spec.options) - cls.options)
    if unknown:
        raise ValueError(
            f"option {unknown[0]!r} is unknown for type {spec.type}; {nearest(unknown[0], sorted(cls.options))}"
        )
    return cls


def _check_replicas(spec: StoreSpec, cls: type[Adapter]) -> None:
    if spec.urls and not cls.replicas:
        raise ValueError(f"urls: means nothing for type {spec.type}; it is for stores asked over plain HTTP")
    for at, url in enumerate(spec.urls):
        if not url.lower().startswith(("http://", "https://")):
            raise ValueError(f"urls[{at}]: must start with http:// or https://")


def create(spec: StoreSpec) -> Adapter:
    """The adapter of a store; cheap, and does not touch the store.

    Raises:
        ValueError: If the type, an option's name or an option's value is wrong.
    """
    return check(spec)(spec)
