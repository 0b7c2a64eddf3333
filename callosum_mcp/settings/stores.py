"""The stores of the settings as plain values, secrets resolved, each with the place it is declared at.

Above: the loader. Below: tokens, model.
"""

from __future__ import annotations

from callosum_mcp.models.values import StoreSpec, TransportSpec
from callosum_mcp.settings.model import Settings, StoreSection, TransportSection
from callosum_mcp.settings.origin import Origin
from callosum_mcp.settings.source import KeyPath
from callosum_mcp.settings.tokens import store_token


def declared(settings: Settings, origin: Origin) -> dict[KeyPath, StoreSection]:
    """All stores by their place, those under `federation` first.

    Raises:
        SettingsError: If a name stands twice.
    """
    inner, top = settings.federation.stores, settings.stores
    found: dict[KeyPath, StoreSection] = {("federation", "stores", at): one for at, one in enumerate(inner)}
    found |= {("stores", at): one for at, one in enumerate(top)}
    seen: set[str] = set()
    for path, section in found.items():
        if section.name in seen:
            raise origin.error((*path, "name"), f"{section.name!r} stands twice; names of stores are unique")
        seen.add(section.name)
    return found


def store_spec(section: StoreSection, path: KeyPath, origin: Origin) -> StoreSpec:
    """One store.

    Raises:
        SettingsError: If its token is named and not there.
    """
    return StoreSpec(
        name=section.name,
        type=section.type,
        url=section.url.rstrip("/") or section.url,
        urls=tuple(url.rstrip("/") for url in section.urls),
        weight=section.weight,
        floor=section.floor,
        enabled=section.enabled,
        tier=section.tier,
        timeout_s=section.timeout_s,
        concurrency=section.concurrency,
        required=section.required,
        options=section.options,
        headers=section.headers,
        token=store_token(section, path, origin),
        transport=_transport(section.transport),
    )


def _transport(section: TransportSection | None) -> TransportSpec | None:
    if section is None:
        return None
    return TransportSpec(
        type=section.type,
        command=section.command,
        args=tuple(section.args),
        env=section.env,
        cwd=section.cwd,
        protocol=section.protocol,
        connect_timeout_s=section.connect_timeout_s,
    )
