"""Work of the processor beside the event loop: in a thread, two pieces of it at a time.

Above: merging, conflicts. Below: anyio. Python computes in one thread at a time, so more threads would finish nothing
sooner; sixteen recalls at once would only hold sixteen threads' memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, TypeVarTuple

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar

_AT_ONCE = 2
_A = TypeVarTuple("_A")
_T = TypeVar("_T")
_limiter: RunVar[anyio.CapacityLimiter] = RunVar("callosum_mcp.federation.beside")


async def computed(function: Callable[[*_A], _T], *args: *_A) -> _T:
    """What a function gives. Whoever is cancelled does not wait for its end."""
    try:
        limiter = _limiter.get()
    except LookupError:
        limiter = anyio.CapacityLimiter(_AT_ONCE)
        _limiter.set(limiter)
    return await anyio.to_thread.run_sync(function, *args, abandon_on_cancel=True, limiter=limiter)
