"""A store as a caller sees it: its settings in force and its record, never its token or its headers.

Above: administration. Below: the store set and models. Pure.
"""

from __future__ import annotations

from dataclasses import replace

from callosum_mcp.adapters import registry
from callosum_mcp.federation.fanout import Outcome
from callosum_mcp.federation.stores import Store
from callosum_mcp.federation.urls import shown_url
from callosum_mcp.models.results import EngineOut, StoreOut
from callosum_mcp.models.values import ProbeReport, StoreSpec
from callosum_mcp.text import iso_utc


def store_out(store: Store, probe: Outcome[ProbeReport] | None = None) -> StoreOut:
    """A caller's view of a store; never its token or its headers."""
    spec, connection, kind = store.spec, store.connection, registry.adapter_class(store.spec.type)
    report = probe.value if probe is not None else None
    return StoreOut(
        name=spec.name,
        type=spec.type,
        url=shown_url(spec.url) or _program(spec),
        weight=spec.weight,
        floor=spec.floor,
        enabled=spec.enabled,
        tier=spec.tier,
        timeout_s=spec.timeout_s,
        required=spec.required,
        managed=spec.managed,
        auth=spec.token is not None,
        side_effects=kind.side_effects,
        changes=kind.changes or None,
        calls=connection.calls,
        failures=connection.failures,
        circuit=None if connection.breaker.circuit == "closed" else connection.breaker.circuit,
        last=None if connection.last is None else EngineOut.of(connection.last),
        health=None if probe is None else _health(probe),
        entries=None if report is None else report.entries,
        last_ingest=None if report is None else iso_utc(report.last_ingest),
    )


def _program(spec: StoreSpec) -> str:
    """The program of a store that is started here, without its arguments, which may hold secrets."""
    return f"stdio:{spec.transport.command}" if spec.transport is not None and spec.transport.command else ""


def _health(probe: Outcome[ProbeReport]) -> EngineOut:
    status = probe.status if probe.value is None else replace(probe.status, detail=probe.value.detail)
    return EngineOut.of(status)
