"""Progress for the caller of a tool: one notification per store that answers, which nobody else ever waits for.

Above: the MCP server. Below: the SDK's context. A caller that reads slowly holds up its own notifications and its own
answer; the call itself, whose place and whose fan-out others may share, goes on without it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from math import inf
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp.server.context import ServerRequestContext

from callosum_mcp.errors import CallosumError
from callosum_mcp.federation.fanout import OnStatus
from callosum_mcp.models.values import StoreStatus
from callosum_mcp.surface.consent import AskedError

Context = ServerRequestContext[Any, Any]


@asynccontextmanager
async def progress(ctx: Context, total: int) -> AsyncGenerator[OnStatus | None]:
    """What to tell of each store's status while the block runs; None for a caller that did not ask for progress.

    The block's end waits until the caller has been told, since an answer must not overtake its progress.
    """
    if (ctx.meta or {}).get("progress_token") is None:
        yield None
        return
    send, receive = anyio.create_memory_object_stream[StoreStatus](inf)  # one for each store

    async def tell(status: StoreStatus) -> None:
        send.send_nowait(status)

    fault: CallosumError | AskedError | None = None
    async with anyio.create_task_group() as group, send:
        group.start_soon(_reported, ctx, total, receive)
        try:
            yield tell
        except (CallosumError, AskedError) as error:
            fault = error  # out of a task group it would come as a group
    if fault is not None:
        raise fault


async def _reported(ctx: Context, total: int, statuses: MemoryObjectReceiveStream[StoreStatus]) -> None:
    done = 0
    async with statuses:
        async for status in statuses:
            done += 1
            await ctx.session.report_progress(done, total, f"{status.engine}: {status.status}")
