"""``callosum-mcp connect URL``: a stdio client on this side, a remote callosum on the other.

Above: the commands. Below: the SDK's transports. Frames are passed on as they are, so both protocol eras work; the
remote's token goes to the remote alone.
"""

from __future__ import annotations

import functools
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

from callosum_mcp.cli import EXIT_FAILED, EXIT_OK, started
from callosum_mcp.errors import InvalidInput
from callosum_mcp.settings import token_from

_MAX_EVENT_BYTES = 16 * 2**20
_CONNECT_S = 30.0


def connect(url: str, token_env: str, environ: Mapping[str, str]) -> int:
    """Pass frames between stdio and the remote until either side ends.

    Raises:
        InvalidInput: If the URL is none.
        SettingsError: If the token's variable is not set.
    """
    if urlsplit(url).scheme not in ("http", "https"):
        raise InvalidInput("url: must start with http:// or https://", field="url")
    token = token_from(environ, token_env, "")
    headers = {"authorization": f"Bearer {token.get_secret_value()}"} if token else {}
    started()
    return anyio.run(_bridge, url, headers)


async def _bridge(url: str, headers: dict[str, str]) -> int:
    code = EXIT_OK
    try:
        async with stdio_server() as (here_in, here_out), _remote(url, headers) as (there_in, there_out):
            async with anyio.create_task_group() as group:
                group.start_soon(_pump, there_in, here_out)
                await _pump(here_in, there_out)
                group.cancel_scope.cancel()
    except* (httpx2.HTTPError, OSError) as faults:
        sys.stderr.write(f"callosum-mcp: {url} cannot be reached: {type(faults.exceptions[0]).__name__}\n")
        code = EXIT_FAILED
    return code


async def _pump(source: Any, sink: Any) -> None:
    async for frame in source:
        if not isinstance(frame, Exception):
            await sink.send(frame)


@asynccontextmanager
async def _remote(url: str, headers: dict[str, str]) -> AsyncGenerator[tuple[Any, Any]]:
    if urlsplit(url).path.rstrip("/").endswith("/sse"):
        plain = cast("Any", mcp.client.sse).sse_within_origin
        cast("Any", mcp.client.sse).sse_within_origin = functools.partial(plain, max_event_size=_MAX_EVENT_BYTES)
        async with sse_client(url, headers=headers, timeout=_CONNECT_S) as streams:
            yield streams[0], streams[1]
        return
    async with httpx2.AsyncClient(headers=headers, timeout=httpx2.Timeout(None, connect=_CONNECT_S)) as client:
        async with streamable_http_client(url, http_client=client, max_sse_event_size=_MAX_EVENT_BYTES) as streams:
            yield streams[0], streams[1]
