"""Identical questions at the same moment share one fan-out; an optional cache keeps complete answers for some seconds.

Above: the federation. Below: errors. A key holds everything that an answer depends on: the state in force, by
identity, and all that was asked. The one who asked first does the work; if that call is cancelled, the next one who
waits does it anew, so that nobody loses an answer by another's going away.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import anyio

from callosum_mcp.errors import CallosumError

T = TypeVar("T")

MAX_KEPT = 256
"""Answers that the cache keeps at most."""


@dataclass(kw_only=True, slots=True)
class _Flight(Generic[T]):
    """One piece of work that several may wait for."""

    ended: anyio.Event = field(default_factory=anyio.Event)
    result: T | None = None
    error: CallosumError | None = None


class Flights(Generic[T]):
    """The work in flight, by key."""

    def __init__(self) -> None:
        self._flights: dict[Hashable, _Flight[T]] = {}
        self._kept: OrderedDict[Hashable, tuple[float, T]] = OrderedDict()
        self.shared = 0
        self.cached = 0

    async def get(
        self, key: Hashable, work: Callable[[], Awaitable[T]], *, keep_s: float = 0.0, keeps: Callable[[T], bool]
    ) -> T:
        """What `work` gives; it runs once for all who ask for the same at the same time.

        Args:
            key: All that the result depends on.
            work: Does it.
            keep_s: Seconds for which a result is given again; 0 keeps none.
            keeps: Whether a result may be kept at all.
        """
        kept = self._fresh(key, keep_s)
        if kept is not None:
            self.cached += 1
            return kept
        while (flight := self._flights.get(key)) is not None:
            self.shared += 1
            await flight.ended.wait()
            if flight.error is not None:
                raise flight.error
            if flight.result is not None:
                return flight.result
        return await self._flown(key, work, keep_s, keeps)

    async def _flown(
        self, key: Hashable, work: Callable[[], Awaitable[T]], keep_s: float, keeps: Callable[[T], bool]
    ) -> T:
        flight = self._flights[key] = _Flight[T]()
        try:
            flight.result = await work()
        except CallosumError as error:
            flight.error = error
            raise
        finally:
            del self._flights[key]
            flight.ended.set()
        if keep_s > 0 and keeps(flight.result):
            self._keep(key, flight.result)
        return flight.result

    def _fresh(self, key: Hashable, keep_s: float) -> T | None:
        if keep_s <= 0:
            self._kept.clear()
            return None
        at, result = self._kept.get(key, (0.0, None))
        return result if anyio.current_time() - at < keep_s else None

    def _keep(self, key: Hashable, result: T) -> None:
        self._kept[key] = (anyio.current_time(), result)
        self._kept.move_to_end(key)
        while len(self._kept) > MAX_KEPT:
            self._kept.popitem(last=False)
