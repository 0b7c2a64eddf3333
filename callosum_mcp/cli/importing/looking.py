"""What the servers of clients' files offer: all asked at once, each within its time.

Above: the command. Below: an engine's connection, which ends every program it started.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import anyio

from callosum_mcp.adapters.engine import catalog
from callosum_mcp.adapters.engine.advertised import Advertised
from callosum_mcp.adapters.engine.reach import reach_of
from callosum_mcp.adapters.engine.session import Session
from callosum_mcp.errors import StoreError, StoreTimeout
from callosum_mcp.models.values import StoreSpec, TransportSpec

_AT_ONCE = 8
_SPARE_S = 5.0  # for ending a program that does not listen


@dataclass(frozen=True, kw_only=True, slots=True)
class Look:
    """What became of asking one server.

    Attributes:
        advertised: Its tools; None if it could not be asked.
        fault: Why not.
        sse: It was taken for Streamable HTTP and turned out to speak SSE.
    """

    advertised: Advertised | None = None
    fault: StoreError | None = None
    sse: bool = False


async def look_at(specs: Sequence[StoreSpec], seconds: float) -> list[Look]:
    """The tools of each server, in the order given.

    Args:
        specs: The servers.
        seconds: The most one of them may take to start and to say what it offers.
    """
    found = [Look()] * len(specs)
    limiter = anyio.CapacityLimiter(_AT_ONCE)

    async def fill(index: int, spec: StoreSpec) -> None:
        async with limiter:
            found[index] = await _look(spec, seconds)

    async with anyio.create_task_group() as group:
        for index, spec in enumerate(specs):
            group.start_soon(fill, index, spec)
    return found


async def _look(spec: StoreSpec, seconds: float) -> Look:
    first = await _once(spec, seconds)
    given = spec.transport or TransportSpec()
    if first.fault is None or first.fault.reason != "bad_reply" or not spec.url or given.type != "auto":
        return first
    second = await _once(replace(spec, transport=TransportSpec(type="sse")), seconds)
    return first if second.advertised is None else replace(second, sse=True)


async def _once(spec: StoreSpec, seconds: float) -> Look:
    transport = replace(spec.transport or TransportSpec(), connect_timeout_s=seconds)
    try:
        reach = reach_of(replace(spec, transport=transport), catalog.load("mcp"))
    except ValueError as fault:
        return Look(fault=StoreError(str(fault)))
    session = Session(reach, 1)
    try:
        with anyio.fail_after(seconds + _SPARE_S):
            return Look(advertised=await session.advertised())
    except StoreError as fault:
        return Look(fault=fault)
    except TimeoutError:
        return Look(fault=StoreTimeout(f"did not say what it offers within {seconds:g} s"))
    finally:
        await session.aclose()
