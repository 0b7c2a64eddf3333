"""A call of an engine, told to whoever listens.

Above: `tools`, `rest`. Below: values.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from callosum_mcp.adapters.engine.engine import Exchange, Heard, Purpose
from callosum_mcp.adapters.engine.replies import ToolReply
from callosum_mcp.errors import StoreError


async def overheard(
    heard: Heard | None,
    purpose: Purpose,
    called: str,
    arguments: Mapping[str, Any],
    ask: Callable[[], Awaitable[ToolReply]],
) -> ToolReply:
    """The answer to one call.

    Args:
        heard: Who listens, if anybody does.
        purpose: What the call is for.
        called: Name of the tool, or method and path.
        arguments: What it is called with.
        ask: Makes the call.

    Raises:
        StoreError: As the call does.
    """
    if heard is None:
        return await ask()
    began = time.perf_counter()

    def tell(reply: ToolReply | None, fault: StoreError | None) -> None:
        ms = (time.perf_counter() - began) * 1_000
        heard(Exchange(purpose=purpose, called=called, arguments=arguments, ms=ms, reply=reply, fault=fault))

    try:
        reply = await ask()
    except StoreError as fault:
        tell(None, fault)
        raise
    tell(reply, None)
    return reply
