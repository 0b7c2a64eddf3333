"""Changing what is in force: add, remove and configure stores, all or nothing.

Above: the surfaces. Below: federation, store set, overlay. A change is checked as a whole, then swapped in as a whole
under one lock; a refused one changes nothing. A store set that replaces another closes what it no longer holds.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from callosum_mcp.adapters import registry
from callosum_mcp.errors import DuplicateStore, InvalidInput, ProtectedStore, SettingsError, StoreError, UnknownStore
from callosum_mcp.federation.configuring import MAX_STORES, configured, differences
from callosum_mcp.federation.declared import Declared, adopted, managed_stores
from callosum_mcp.federation.embedding import refuse_what_lacks
from callosum_mcp.federation.fanout import Clock, Outcome, ask, fan_out
from callosum_mcp.federation.federation import Federation, State
from callosum_mcp.federation.flights import Flights
from callosum_mcp.federation.overlay import Overlay, TokenSource
from callosum_mcp.federation.store_view import store_out
from callosum_mcp.federation.stores import Store
from callosum_mcp.federation.urls import Consent, Place, checked_target, settled, shown_url
from callosum_mcp.models.hosts import LOOPBACK_ONLY, HostRules, rules_of
from callosum_mcp.models.requests import (
    AddStoreRequest,
    ListStoresRequest,
    RemoveStoreRequest,
)
from callosum_mcp.models.results import (
    AddResult,
    ConfigureResult,
    RemoveResult,
    StoresResult,
)
from callosum_mcp.models.values import ProbeReport, StoreSpec


@dataclass(frozen=True, kw_only=True, slots=True)
class AdminPolicy:
    """What may be added at run time, and where changes are kept.

    Attributes:
        config_file: The file base stores are declared in.
        allow_hosts: Hosts besides loopback that a managed store may live on: names, ``*.names``, addresses, networks.
        allow_token_env: Patterns of environment variables whose value a managed store may be sent.
    """

    config_file: Path | None = None
    allow_hosts: tuple[str, ...] = ()
    allow_token_env: tuple[str, ...] = ("CALLOSUM_*", "SEREN_*")
    notes: tuple[str, ...] = field(default=())

    @property
    def hosts(self) -> HostRules:
        """`allow_hosts`, read."""
        return rules_of(self.allow_hosts)


class Administration:
    """Changes the federation's state and shows it.

    Args:
        federation: Whose state it is.
        overlay: Where managed stores are kept.
        tokens: Where a managed store's token comes from.
        policy: What may be added.
    """

    def __init__(self, federation: Federation, overlay: Overlay, tokens: TokenSource, policy: AdminPolicy) -> None:
        self._federation = federation
        self._overlay = overlay
        self._tokens = tokens
        self._policy = policy
        self._lock = anyio.Lock()
        self._probes = Flights[dict[str, Outcome[ProbeReport]]]()
        self._declared = _as_declared(federation.state)
        self.notices: tuple[str, ...] = ()

    async def list_stores(self, request: ListStoresRequest) -> StoresResult:
        """Every store with its record, and the settings in force; with `probe` each is asked now."""
        state = self._federation.state
        probes = await self._probe(state) if request.probe else {}
        return StoresResult(
            stores=[store_out(store, probes.get(store.spec.name)) for store in state.stores.stores],
            settings=state.knobs,
            types=registry.type_names(),
            config_file=str(self._policy.config_file) if self._policy.config_file else None,
            overlay_file=str(self._overlay.path) if self._overlay.path else None,
            notes=[*self.notices, *self._policy.notes, *self._overlay.notes] or None,
        )

    async def add_store(self, request: AddStoreRequest, consent: Consent | None = None) -> AddResult:
        """Add a managed store after asking whether it answers; it is added either way, and the answer says so.

        Args:
            request: The store.
            consent: Asks a person about a host that the settings do not have; None refuses it.

        Raises:
            DuplicateStore: If the name is taken.
            InvalidInput: If the type, the URL or the token's variable is not allowed.
            SettingsError: If the overlay cannot be written.
        """
        self._check_new(request)
        _adapter(_spec(request, self._tokens))  # a person is asked only about what could be added
        place = await settled(request, self._policy.hosts, consent)
        async with self._lock:
            self._check_new(request)
            spec = _spec(request, self._tokens, place)
            store = Store.of(spec, _adapter(spec))
            try:
                probe = await self._probe_one(store)
                kept = request.model_copy(update={"url": place.url})
                await anyio.to_thread.run_sync(self._overlay.add, kept, place.hosts.agreed)
            except BaseException:
                await store.connection.retire()
                raise
            state = self._federation.state
            self._federation.state = replace(state, stores=state.stores.with_store(store))
            self._declared = replace(self._declared, stores=(*self._declared.stores, spec))
        return AddResult(added=store_out(store, probe), active=self._federation.state.stores.active())

    async def remove_store(self, request: RemoveStoreRequest) -> RemoveResult:
        """Remove a managed store.

        Raises:
            UnknownStore: If there is none of that name.
            ProtectedStore: If it is declared in the config file.
        """
        async with self._lock:
            state = self._federation.state
            store = state.stores.get(request.name)
            if not store.spec.managed:
                place = str(self._policy.config_file) if self._policy.config_file else "the built-in defaults"
                raise ProtectedStore(f"store {request.name!r} is a base store: remove it from {place}")
            await anyio.to_thread.run_sync(self._overlay.remove, request.name)
            self._federation.state = replace(state, stores=state.stores.without(request.name))
        await store.connection.retire()
        return RemoveResult(removed=request.name, active=self._federation.state.stores.active())

    async def configure(self, changes: Mapping[str, Any]) -> ConfigureResult:
        """Change knobs and stores, all or nothing; in force for the next call of every surface.

        Raises:
            InvalidInput: For any value out of its bound, with the bound.
            UnknownStore: If `stores` names one that does not exist.
        """
        async with self._lock:
            old = self._federation.state
            new = configured(old, changes)
            refuse_what_lacks(self._federation.embedder, new.knobs)
            self._federation.state = new
        return ConfigureResult(changed=differences(old, new), active=new.stores.active())

    async def adopt(self, declared: Declared, policy: AdminPolicy) -> None:
        """Put in force what the settings declare now, and the overlay with it.

        Calls in flight keep the stores they started with; of stores that are replaced or gone, the connections close
        when the last of these calls ends.

        Args:
            declared: Base stores and knobs, found good.
            policy: What may be added from now on.
        """
        async with self._lock:
            old = self._federation.state
            managed, notes = await self._managed(old, declared, policy)
            now = replace(declared, stores=(*declared.stores, *managed))
            new = adopted(old, self._declared, now)
            self._declared, self._policy = now, replace(policy, notes=notes)
            self._federation.state = new
        kept = {store.connection for store in new.stores.stores}
        await _retire([store for store in old.stores.stores if store.connection not in kept])

    async def _managed(
        self, old: State, declared: Declared, policy: AdminPolicy
    ) -> tuple[Sequence[StoreSpec], tuple[str, ...]]:
        if self._overlay.path is None:  # they are in memory only
            base = {spec.name for spec in declared.stores}
            return [s.spec for s in old.stores.stores if s.spec.managed and s.spec.name not in base], ()
        return await anyio.to_thread.run_sync(managed_stores, self._overlay, declared.stores, policy.hosts)

    async def aclose(self) -> None:
        """Close every store."""
        await _retire(self._federation.state.stores.stores)

    def _check_new(self, request: AddStoreRequest) -> None:
        stores = self._federation.state.stores
        if request.name in stores.names():
            raise DuplicateStore(f"name: a store named {request.name!r} exists already; choose another name")
        if len(stores.stores) >= MAX_STORES:
            raise InvalidInput(f"name: {MAX_STORES} stores are the most", field="name")
        checked_target(request.url)
        wanted = request.token_env
        if wanted and not any(fnmatch.fnmatchcase(wanted, pattern) for pattern in self._policy.allow_token_env):
            allowed = ", ".join(self._policy.allow_token_env)
            raise InvalidInput(f"token_env: must match {allowed} (setting security.allow_token_env)", field="token_env")

    async def _probe(self, state: State) -> dict[str, Outcome[ProbeReport]]:
        """Each store's probe: one at a time, however many ask, so that watching takes nothing from questions."""

        async def work() -> dict[str, Outcome[ProbeReport]]:
            outcomes = await fan_out(state.stores.stores, lambda adapter: adapter.probe(), _clock(state))
            return {outcome.store.spec.name: outcome for outcome in outcomes}

        return await self._probes.get(state, work, keeps=lambda _: False)

    async def _probe_one(self, store: Store) -> Outcome[ProbeReport]:
        return await ask(store, lambda adapter: adapter.probe(), _clock(self._federation.state))


def _as_declared(state: State) -> Declared:
    return Declared(stores=tuple(store.spec for store in state.stores.stores), knobs=state.knobs)


async def _retire(stores: Sequence[Store]) -> None:
    async with anyio.create_task_group() as group:  # one that takes its time to end delays no other
        for store in stores:
            group.start_soon(store.connection.retire)


def _clock(state: State) -> Clock:
    knobs = state.knobs
    return Clock(
        deadline=anyio.current_time() + knobs.deadline_s, store_timeout_s=knobs.per_store_timeout_s, by_hand=True
    )


def _spec(request: AddStoreRequest, tokens: TokenSource, place: Place | None = None) -> StoreSpec:
    try:
        token = tokens(request.token_env or "", "")
    except SettingsError as fault:
        raise InvalidInput(f"token_env: {fault.problem}", field="token_env") from fault
    return StoreSpec(
        name=request.name,
        type=request.type,
        url=request.url.rstrip("/") if place is None else place.url,
        weight=request.weight,
        floor=request.floor,
        tier=request.tier,
        token=token,
        managed=True,
        hosts=LOOPBACK_ONLY if place is None else place.hosts,
    )


def _adapter(spec: StoreSpec) -> Any:
    if spec.type == "notes":
        raise InvalidInput("type: a notes store names a folder and is declared in the config file only", field="type")
    try:
        return registry.create(spec)
    except ValueError as fault:
        said = str(fault)
        text = said.replace("type ", "type: ", 1) if said.startswith("type ") else said
        field = next((name for name in ("type", "url") if text.startswith(f"{name}:")), "type")
        raise InvalidInput(text if text.startswith(f"{field}:") else f"{field}: {text}", field=field) from fault


__all__ = ["AdminPolicy", "Administration", "StoreError", "UnknownStore", "shown_url", "store_out"]
