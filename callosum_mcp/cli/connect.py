"""``callosum-mcp connect URL``: a stdio client on this side, a remote callosum on the other.

Above: the commands. Below: the SDK's transports. Frames are passed on as they are, so both protocol eras work; the
remote's token goes to the remote alone. What a client sends behind its `initialize` without waiting for the answer
is kept here: it belongs to a session whose id comes with that answer.
"""

from __future__ import annotations

import functools
import logging
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, cast
from urllib.parse import urlsplit

import anyio
import httpx2
import mcp.client.sse
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.stdio import stdio_server
from mcp_types import JSONRPCError, JSONRPCRequest, JSONRPCResponse

from callosum_mcp.cli import EXIT_FAILED, EXIT_OK, leave, started
from callosum_mcp.cli.ending import Ending
from callosum_mcp.errors import InvalidInput
from callosum_mcp.settings import token_from
from callosum_mcp.surface.wire import Wire
from callosum_mcp.text import one_line

_MAX_EVENT_BYTES = 16 * 2**20
_CONNECT_S = 30.0
_MAX_WAITING = 100
"""Frames that wait for the answer to `initialize`; with more, the client's next write waits."""

_GONE = (httpx2.HTTPError, OSError, anyio.BrokenResourceError, anyio.ClosedResourceError)
"""What the SDK's transports raise when the remote is not there, says no, or goes away."""

_sse_within_origin = cast("Any", mcp.client.sse).sse_within_origin


def connect(url: str, token_env: str, environ: Mapping[str, str], wire: Wire) -> int:
    """Pass frames between stdio and the remote until either side ends.

    Raises:
        InvalidInput: If the URL is none.
        SettingsError: If the token's variable is not set.
    """
    if urlsplit(url).scheme not in ("http", "https"):
        raise InvalidInput("url: must start with http:// or https://", field="url")
    token = token_from(environ, token_env, "")
    headers = {"authorization": f"Bearer {token.get_secret_value()}"} if token else {}
    logging.getLogger("mcp").addHandler(logging.NullHandler())  # its traces are our one line
    started()
    with Ending(wire) as ending:
        return anyio.run(_bridge, url, headers, wire, ending)


async def _bridge(url: str, headers: dict[str, str], wire: Wire, ending: Ending) -> int:
    code = EXIT_OK
    lines, answers = anyio.wrap_file(wire.lines()), anyio.wrap_file(wire.answers())
    async with stdio_server(lines, answers) as (here_in, here_out), here_in, here_out:
        try:
            code = await _until_either_ends(url, headers, here_in, here_out, ending)
        except anyio.get_cancelled_exc_class():
            leave(EXIT_OK)
            raise
        if code != EXIT_OK:
            leave(code)
    return code


async def _until_either_ends(url: str, headers: dict[str, str], here_in: Any, here_out: Any, ending: Ending) -> int:
    code = EXIT_OK
    try:
        async with _remote(url, headers) as (there_in, there_out), anyio.create_task_group() as group:
            send, waiting = anyio.create_memory_object_stream[Any](_MAX_WAITING)
            greeting = _Greeting()
            group.start_soon(_answers, there_in, here_out, greeting)
            group.start_soon(_requests, waiting, there_out, greeting)
            async with send, waiting:
                await _pump(here_in, send)
                ending.soon()
                group.cancel_scope.cancel()
    except* _GONE as faults:
        sys.stderr.write(f"callosum-mcp: {url} cannot be reached: {_said(faults)}\n")
        code = EXIT_FAILED
    return code


async def _answers(there_in: Any, here_out: Any, greeting: _Greeting) -> None:
    async for frame in _frames(there_in):
        greeting.heard(frame.message)
        await here_out.send(frame)
    raise ConnectionResetError("it closed the connection")


async def _requests(waiting: Any, there_out: Any, greeting: _Greeting) -> None:
    async for frame in waiting:
        greeting.said(frame.message)
        await there_out.send(frame)
        await greeting.answered.wait()


async def _pump(source: Any, sink: Any) -> None:
    async for frame in _frames(source):
        await sink.send(frame)


async def _frames(source: Any) -> AsyncGenerator[Any]:
    async for frame in source:
        if not isinstance(frame, Exception):
            yield frame


class _Greeting:
    """The client's `initialize`, if one is under way."""

    def __init__(self) -> None:
        self.answered = anyio.Event()
        self.answered.set()
        self._identity: object = None

    def said(self, message: object) -> None:
        if isinstance(message, JSONRPCRequest) and message.method == "initialize":
            self.answered, self._identity = anyio.Event(), message.id

    def heard(self, message: object) -> None:
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id == self._identity:
            self.answered.set()


def _said(fault: BaseException) -> str:
    """The innermost of the faults, for a person."""
    while isinstance(fault, BaseExceptionGroup):
        fault = cast("BaseException", fault.exceptions[0])
    if isinstance(fault, httpx2.HTTPStatusError):
        status = fault.response.status_code
        return f"it answers {status}" + ("; name the variable with its token by --token-env" if status == 401 else "")
    return one_line(str(fault), 160) or type(fault).__name__


@asynccontextmanager
async def _remote(url: str, headers: dict[str, str]) -> AsyncGenerator[tuple[Any, Any]]:
    if urlsplit(url).path.rstrip("/").endswith("/sse"):
        bounded = functools.partial(_sse_within_origin, max_event_size=_MAX_EVENT_BYTES)
        cast("Any", mcp.client.sse).sse_within_origin = bounded
        async with sse_client(url, headers=headers, timeout=_CONNECT_S) as streams:
            yield streams[0], streams[1]
        return
    async with httpx2.AsyncClient(headers=headers, timeout=httpx2.Timeout(None, connect=_CONNECT_S)) as client:
        async with streamable_http_client(url, http_client=client, max_sse_event_size=_MAX_EVENT_BYTES) as streams:
            yield streams[0], streams[1]
