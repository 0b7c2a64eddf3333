"""The stores in force: an immutable set that a change replaces as a whole.

Above: the federation. Below: adapters. A call keeps the set it started with; a connection that is no longer in the
set is closed when the last call that uses it ends.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace

import anyio

from callosum_mcp.adapters import registry
from callosum_mcp.adapters.base import Adapter
from callosum_mcp.errors import StoreError, UnknownStore
from callosum_mcp.federation.breaker import Breaker
from callosum_mcp.models.requests import nearest
from callosum_mcp.models.secrets import Mask, given_to, secrets_of
from callosum_mcp.models.values import StoreSpec, StoreStatus

_CLOSE_S = 2.0  # closing sockets takes no time; a third party's adapter may never end


class Connection:
    """The adapter of one store, its use and its record; survives a change of weight, floor or enabled.

    Args:
        spec: The store. The adapter is made at first use, so that starting costs nothing.
        adapter: An adapter made already (by `add_store`'s check).
    """

    def __init__(self, spec: StoreSpec, adapter: Adapter | None = None) -> None:
        self._spec = spec
        self._adapter = adapter
        self._places = anyio.Semaphore(spec.concurrency)
        self._in_use = 0
        self.breaker = Breaker()
        self.mask = Mask(secrets_of(spec))
        self.told = Mask(given_to(spec))
        self._retired = False
        self.calls = 0
        self.failures = 0
        self.last: StoreStatus | None = None

    @asynccontextmanager
    async def adapter(self) -> AsyncGenerator[Adapter]:
        """The adapter, kept open at least until the block ends.

        Raises:
            StoreError: If it cannot be made; settings check this at start, so only a third party's can fail here.
        """
        self._in_use += 1
        try:
            async with self._places:
                yield self._made()
        finally:
            self._in_use -= 1
            if self._retired:
                await self._close_if_idle()

    def usage(self) -> dict[str, int] | None:
        """Requests and kept connections of the adapter, if it tells."""
        return self._adapter.usage() if self._adapter is not None else None

    def warm(self) -> None:
        """Let the adapter connect in the background, if it has anything to connect."""
        if not self._retired:
            with suppress(StoreError):  # one that cannot be made says so when it is asked
                self._made().warm()

    def waiting(self) -> str | None:
        """What a call that ran out of time was waiting for, if that is known."""
        told = self._adapter.waiting() if self._adapter is not None else None
        crowded = self._places.statistics().tasks_waiting
        return told or (f"{self._spec.concurrency} calls were before it (concurrency)" if crowded else None)

    @property
    def topical(self) -> bool:
        """Whether the store can be asked by topic; not once it was removed, even while a call still uses it."""
        return self._adapter is not None and self._adapter.topical

    async def retire(self) -> None:
        """Close the adapter as soon as nobody uses it."""
        self._retired = True
        await self._close_if_idle()

    def record(self, status: StoreStatus) -> None:
        """Count one call and keep its status."""
        self.calls += 1
        self.failures += status.status == "down"
        self.last = status

    def _made(self) -> Adapter:
        if self._adapter is None:
            try:
                self._adapter = registry.create(self._spec)
            except ValueError as fault:
                raise StoreError(str(fault)) from fault
        return self._adapter

    async def _close_if_idle(self) -> None:
        if self._in_use == 0 and self._adapter is not None:
            adapter, self._adapter = self._adapter, None
            with anyio.move_on_after(_CLOSE_S, shield=True):  # also when the last call that used it was cancelled
                await adapter.aclose()


@dataclass(frozen=True, kw_only=True, slots=True)
class Store:
    """One store of the set: its configuration in force and its connection."""

    spec: StoreSpec
    connection: Connection

    @classmethod
    def of(cls, spec: StoreSpec, adapter: Adapter | None = None) -> Store:
        """A store with a new connection."""
        return cls(spec=spec, connection=Connection(spec, adapter))

    def changed(self, changes: Mapping[str, object]) -> Store:
        """The same store with other weight, floor or enabled."""
        return replace(self, spec=replace(self.spec, **changes))  # pyright: ignore[reportArgumentType]


@dataclass(frozen=True, slots=True)
class StoreSet:
    """All stores in configured order: base stores first, then managed ones."""

    stores: tuple[Store, ...] = ()

    def get(self, name: str) -> Store:
        """The store of a name.

        Raises:
            UnknownStore: If there is none, with the nearest name.
        """
        for store in self.stores:
            if store.spec.name == name:
                return store
        raise UnknownStore(f"no store named {name!r}; {nearest(name, self.names())}")

    def names(self) -> list[str]:
        """All names in order."""
        return [store.spec.name for store in self.stores]

    def active(self) -> int:
        """How many stores are asked."""
        return sum(store.spec.enabled for store in self.stores)

    def with_store(self, store: Store) -> StoreSet:
        """The set with one store more."""
        return StoreSet((*self.stores, store))

    def without(self, name: str) -> StoreSet:
        """The set with one store less."""
        return StoreSet(tuple(s for s in self.stores if s.spec.name != name))

    def changed(self, name: str, changes: Mapping[str, object]) -> StoreSet:
        """The set with one store changed in place."""
        return StoreSet(tuple(s.changed(changes) if s.spec.name == name else s for s in self.stores))
