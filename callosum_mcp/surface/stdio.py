"""MCP over stdin and stdout, for clients of both protocol eras on one connection.

Above: the command line. Below: the SDK's stdio transport and server loops. The SDK fixes a connection's era by its
first request; a client that probes with ``server/discover`` and, not having waited long enough, goes on with
``initialize`` would then be refused for ever. Here every frame goes to the loop of the era it is written in.
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

import anyio
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    PROTOCOL_VERSION_META_KEY,
    ErrorData,
    JSONRPCError,
    JSONRPCRequest,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from callosum_mcp.surface.wire import Wire
from callosum_mcp.text import clean_json

Frame = SessionMessage | Exception
_BOM = "\ufeff"  # what some shells put before the first frame
_log = logging.getLogger(__name__)


def _stay() -> None:
    return


async def serve_stdio(
    server: Server[Any], wire: Wire, abandoned: Callable[[], None] = _stay, ended: Callable[[], None] = _stay
) -> None:
    """Serve one client until its side of the pipe ends.

    Args:
        server: Answers the frames.
        wire: Where they come from and go to.
        abandoned: Called when serving is cancelled, or nobody reads stdout any more, before the stdin is at its end.
            The thread that reads stdin cannot be interrupted, so a process that wants to end must end there.
        ended: Called when the client's side has ended.
    """
    lines, answers = anyio.wrap_file(wire.lines()), anyio.wrap_file(wire.answers())
    async with stdio_server(lines, answers) as (inbound, outbound), inbound, outbound:
        try:
            async with _Eras(server, cast("Any", outbound)).running() as eras:
                async for frame in inbound:
                    await eras.route(frame)
                ended()
        except anyio.get_cancelled_exc_class():
            abandoned()
            raise


@dataclass
class _Eras:
    """Two server loops behind one connection, each started by the first frame of its era."""

    server: Server[Any]
    outbound: MemoryObjectSendStream[SessionMessage]

    def __post_init__(self) -> None:
        self._loops: dict[str, MemoryObjectSendStream[Frame]] = {}
        self._group: TaskGroup | None = None

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[_Eras]:
        """Until the block ends, loops may start; then every loop is told that the client has gone."""
        async with anyio.create_task_group() as group:
            self._group = group
            try:
                yield self
            finally:
                for loop in self._loops.values():
                    loop.close()

    async def route(self, frame: Frame) -> None:
        """Give a frame to the loop it belongs to; a notification or a response to every loop there is."""
        message = await self._repaired(frame) if isinstance(frame, Exception) else frame
        if message is None:
            return
        if isinstance(message.message, JSONRPCRequest):
            await self._loop(_era(message.message)).send(message)
            return
        for loop in list(self._loops.values()):
            await loop.send(message)

    async def _repaired(self, fault: Exception) -> SessionMessage | None:
        """A frame that only failed for a lone surrogate, mended; any other gets the error it is due."""
        line = _line(fault)
        if line is None:
            await self._refuse(INVALID_REQUEST, "Invalid Request")
            return None
        try:
            frame = clean_json(json.loads(line.lstrip(_BOM)))
            return SessionMessage(jsonrpc_message_adapter.validate_python(frame, by_name=False))
        except (ValueError, RecursionError):
            if line.strip():  # a blank one is no frame
                await self._refuse(PARSE_ERROR, "Parse error")
            return None

    async def _refuse(self, code: int, message: str) -> None:
        _log.warning("a frame was refused: %s", message)
        error = JSONRPCError(jsonrpc="2.0", id=None, error=ErrorData(code=code, message=message))
        await self.outbound.send(SessionMessage(error))

    def _loop(self, era: str) -> MemoryObjectSendStream[Frame]:
        if era not in self._loops:
            assert self._group is not None
            send, receive = anyio.create_memory_object_stream[Frame](0)
            self._loops[era] = send
            self._group.start_soon(self._serve, receive)
        return self._loops[era]

    async def _serve(self, inbound: MemoryObjectReceiveStream[Frame]) -> None:
        options = self.server.create_initialization_options()
        await self.server.run(cast("Any", inbound), cast("Any", self.outbound.clone()), options)


def _era(request: JSONRPCRequest) -> str:
    """`modern` for a request that carries its protocol version with it, `handshake` for all others."""
    meta = (request.params or {}).get("_meta")
    stamped = isinstance(meta, dict) and PROTOCOL_VERSION_META_KEY in meta
    return "modern" if stamped and request.method != "initialize" else "handshake"


def _line(fault: Exception) -> str | None:
    """The line that is not JSON for the SDK's parser; None for JSON that is no JSON-RPC."""
    if not isinstance(fault, ValidationError):
        return None
    error = fault.errors(include_url=False)[0]
    return str(error["input"]) if error["type"] == "json_invalid" else None
