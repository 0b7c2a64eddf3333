"""Changing what is in force: add, remove and configure stores, all or nothing.

Above: the surfaces. Below: federation, store set, overlay. A change is checked as a whole, then swapped in as a whole
under one lock; a refused one changes nothing. A store set that replaces another closes what it no longer holds.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.to_thread
from pydantic import ValidationError

from callosum_mcp.adapters import registry
from callosum_mcp.errors import DuplicateStore, InvalidInput, ProtectedStore, SettingsError, StoreError, UnknownStore
from callosum_mcp.federation.embedding import refuse_what_lacks
from callosum_mcp.federation.fanout import Clock, Outcome, ask, fan_out
from callosum_mcp.federation.federation import Federation, State
from callosum_mcp.federation.overlay import Overlay, TokenSource
from callosum_mcp.federation.store_view import store_out
from callosum_mcp.federation.stores import Store
from callosum_mcp.federation.urls import Consent, Place, checked_target, settled, shown_url
from callosum_mcp.models.hosts import LOOPBACK_ONLY, HostRules, rules_of
from callosum_mcp.models.knobs import Knobs
from callosum_mcp.models.requests import (
    AddStoreRequest,
    ListStoresRequest,
    RemoveStoreRequest,
    StoreChange,
    explain,
    nearest,
    parse,
)
from callosum_mcp.models.results import (
    AddResult,
    Change,
    ConfigureResult,
    RemoveResult,
    StoresResult,
)
from callosum_mcp.models.values import ProbeReport, StoreSpec

_MAX_STORES = 64


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
            notes=[*self._policy.notes, *self._overlay.notes] or None,
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
            new = _configured(old, changes)
            refuse_what_lacks(self._federation.embedder, new.knobs)
            self._federation.state = new
        return ConfigureResult(changed=_differences(old, new), active=new.stores.active())

    async def aclose(self) -> None:
        """Close every store."""
        async with anyio.create_task_group() as group:  # one that takes its time to end delays no other
            for store in self._federation.state.stores.stores:
                group.start_soon(store.connection.retire)

    def _check_new(self, request: AddStoreRequest) -> None:
        stores = self._federation.state.stores
        if request.name in stores.names():
            raise DuplicateStore(f"name: a store named {request.name!r} exists already; choose another name")
        if len(stores.stores) >= _MAX_STORES:
            raise InvalidInput(f"name: {_MAX_STORES} stores are the most", field="name")
        checked_target(request.url)
        wanted = request.token_env
        if wanted and not any(fnmatch.fnmatchcase(wanted, pattern) for pattern in self._policy.allow_token_env):
            allowed = ", ".join(self._policy.allow_token_env)
            raise InvalidInput(f"token_env: must match {allowed} (setting security.allow_token_env)", field="token_env")

    async def _probe(self, state: State) -> dict[str, Outcome[ProbeReport]]:
        outcomes = await fan_out(state.stores.stores, lambda adapter: adapter.probe(), _clock(state))
        return {outcome.store.spec.name: outcome for outcome in outcomes}

    async def _probe_one(self, store: Store) -> Outcome[ProbeReport]:
        return await ask(store, lambda adapter: adapter.probe(), _clock(self._federation.state))


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


def _configured(old: State, changes: Mapping[str, Any]) -> State:
    known = [*Knobs.model_fields, "stores"]
    unknown = [name for name in changes if name not in known]
    if unknown:
        raise InvalidInput(
            f"{unknown[0]}: is unknown; {nearest(unknown[0], known)}", field=unknown[0], kind="extra_forbidden"
        )
    wanted = {name: value for name, value in changes.items() if name != "stores" and value is not None}
    try:
        knobs = Knobs.model_validate({**old.knobs.model_dump(), **wanted}, strict=True)
    except ValidationError as failure:
        raise explain(failure, Knobs) from None
    stores = old.stores
    for change in _store_changes(changes.get("stores")):
        stores.get(change.name)
        stores = stores.changed(change.name, change.model_dump(exclude={"name"}, exclude_none=True))
    return State(stores=stores, knobs=knobs)


def _store_changes(value: object) -> list[StoreChange]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise InvalidInput("stores: must be a list of {name, weight?, floor?, enabled?}", field="stores")
    items = cast("list[object]", value)
    if len(items) > _MAX_STORES:
        raise InvalidInput(f"stores: must hold at most {_MAX_STORES} entries", field="stores", kind="too_long")
    return [_store_change(index, item) for index, item in enumerate(items)]


def _store_change(index: int, item: object) -> StoreChange:
    place = f"stores.{index}"
    if not isinstance(item, dict):
        raise InvalidInput(f"{place}: must be {{name, weight?, floor?, enabled?}}", field=place, kind="dict_type")
    try:
        return parse(StoreChange, cast("dict[str, Any]", item))
    except InvalidInput as fault:
        raise InvalidInput(f"{place}.{fault}", field=f"{place}.{fault.field}", kind=fault.kind) from None


def _differences(old: State, new: State) -> list[Change]:
    before, after = _flat(old), _flat(new)
    return [Change(setting=name, old=before[name], new=value) for name, value in after.items() if before[name] != value]


def _flat(state: State) -> dict[str, Any]:
    flat: dict[str, Any] = dict(state.knobs.model_dump(mode="json"))
    for store in state.stores.stores:
        for name in ("weight", "floor", "enabled"):
            flat[f"stores.{store.spec.name}.{name}"] = getattr(store.spec, name)
    return flat


__all__ = ["AdminPolicy", "Administration", "StoreError", "UnknownStore", "shown_url", "store_out"]
