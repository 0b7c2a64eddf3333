"""How many calls are in flight at once: a bound, a bounded queue, and a clear word to everybody beyond.

Above: the federation. Below: errors.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio

from callosum_mcp.errors import Overloaded
from callosum_mcp.models.knobs import Knobs


class Admission:
    """Lets calls in, in the order in which they came."""

    def __init__(self) -> None:
        self._limiter = anyio.CapacityLimiter(1)

    @property
    def in_flight(self) -> int:
        """Calls that are being answered."""
        return int(self._limiter.borrowed_tokens)

    @property
    def waiting(self) -> int:
        """Calls that wait for one of these to end."""
        return self._limiter.statistics().tasks_waiting

    @asynccontextmanager
    async def entered(self, knobs: Knobs, deadline: float) -> AsyncGenerator[None]:
        """A place for one call, until the block ends.

        Args:
            knobs: For the bounds in force.
            deadline: Moment on anyio's clock until which it may wait.

        Raises:
            Overloaded: If the queue is full, or the call would only begin after its deadline.
        """
        self._limiter.total_tokens = knobs.max_in_flight
        call = object()
        await self._place(call, knobs, deadline)
        try:
            yield
        finally:
            self._limiter.release_on_behalf_of(call)

    async def _place(self, call: object, knobs: Knobs, deadline: float) -> None:
        try:
            self._limiter.acquire_on_behalf_of_nowait(call)
            return
        except anyio.WouldBlock:
            pass
        if self.waiting >= knobs.max_queued:
            raise Overloaded(
                f"overloaded: {self.in_flight} calls are being answered and {self.waiting} wait; ask again in a second"
            )
        with anyio.move_on_after(max(0.0, deadline - anyio.current_time())):
            await self._limiter.acquire_on_behalf_of(call)
            return
        raise Overloaded("overloaded: no place became free before the call's deadline; ask again in a second")
