"""One connection to an engine behind MCP: a child process, SSE or Streamable HTTP, as the SDK's client.

Above: `line`, whose task enters and leaves it. Below: the SDK and httpx2. The HTTP client here goes straight to
loopback, keeps its token on the engine's own origin (the SDK follows no redirect beyond it), reads bounded replies and
remembers statuses, which the SDK does not tell.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any, cast

import httpx2
import mcp.client.sse
import mcp_types as types
from mcp.client.client import Client
from mcp.client.session import ClientSession, IncomingMessage
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from callosum_mcp import __version__
from callosum_mcp.adapters import transport as transports
from callosum_mcp.adapters.engine.advertised import Advertised, Tool, tool_of
from callosum_mcp.adapters.engine.escapes import Mender
from callosum_mcp.adapters.engine.failures import of_status
from callosum_mcp.adapters.engine.frames import MAX_FRAME_BYTES
from callosum_mcp.adapters.engine.process import Child, running
from callosum_mcp.adapters.engine.reach import Mode, Reach
from callosum_mcp.adapters.http_errors import unreachable
from callosum_mcp.errors import StoreError

_CONNECTIONS = httpx2.Limits(max_connections=64, max_keepalive_connections=16, keepalive_expiry=transports.KEEPALIVE_S)
_REFUSED = 300
_PAGES = 20  # of tools; nobody has more

_sse = cast("Any", mcp.client.sse)
_sse.sse_within_origin = partial(  # the SDK offers no other way to a limit above 1 MiB
    _sse.sse_within_origin, max_event_size=MAX_FRAME_BYTES
)


def _hush() -> None:
    """What the SDK's client logs with traces is the status of a store here; a level that somebody set is kept."""
    logger = logging.getLogger("mcp.client")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.CRITICAL)


_hush()


async def listed(session: ClientSession) -> Advertised:
    """The tools that an engine advertises, page by page, and who it says it is."""
    tools: dict[str, Tool] = {}
    cursor: str | None = None
    for _ in range(_PAGES):
        page = await session.list_tools(params=types.PaginatedRequestParams(cursor=cursor) if cursor else None)
        tools.update((tool.name, tool_of(tool.input_schema)) for tool in page.tools)
        cursor = page.next_cursor
        if not cursor:
            break
    info = session.server_info
    return Advertised(
        tools=tools,
        server=info.name if info else "",
        version=info.version if info else "",
        protocol=session.protocol_version or "",
    )


class Watch:
    """What happens on a connection beside its calls.

    Args:
        broken: Told once when the connection is found to be of no more use, with the reason where one is known.
    """

    def __init__(self, broken: Callable[[StoreError | None], None]) -> None:
        self.broken = broken
        self.child: Child | None = None
        self.status: int | None = None
        self.stale = False

    async def heard(self, message: IncomingMessage) -> None:
        """Notifications: only one matters here."""
        if isinstance(message, types.ToolListChangedNotification):
            self.stale = True

    def answered(self, status: int) -> None:
        """A response came."""
        self.status = status if status >= _REFUSED else None


@asynccontextmanager
async def connected(reach: Reach, mode: Mode, watch: Watch) -> AsyncGenerator[ClientSession]:
    """A session with an engine, the handshake done. Must be left by the task that entered it."""
    client = Client(
        _streams(reach, watch),
        mode=mode,
        cache=None,
        client_info=types.Implementation(name="callosum-mcp", version=__version__),
        message_handler=watch.heard,
    )
    async with client:
        yield client.session


def _streams(reach: Reach, watch: Watch) -> AbstractAsyncContextManager[Any]:
    if reach.type == "stdio":
        return _child(reach, watch)
    if reach.type == "http":
        return _streamable(reach, watch)
    return sse_client(
        reach.url,
        headers=dict(reach.headers),
        timeout=reach.connect_timeout_s,
        httpx_client_factory=lambda headers=None, timeout=None, auth=None: _Http(reach, watch),
    )


@asynccontextmanager
async def _child(reach: Reach, watch: Watch) -> AsyncGenerator[Any]:
    async with running(reach, lambda: watch.broken(None)) as child:
        watch.child = child
        yield child.inbound, child.outbound


@asynccontextmanager
async def _streamable(reach: Reach, watch: Watch) -> AsyncGenerator[Any]:
    async with _Http(reach, watch) as client:
        async with streamable_http_client(reach.url, http_client=client, max_sse_event_size=MAX_FRAME_BYTES) as streams:
            yield streams


class _Http(httpx2.AsyncClient):
    """The HTTP client of one engine."""

    def __init__(self, reach: Reach, watch: Watch) -> None:
        here = transports.is_loopback(reach.url)
        super().__init__(
            headers={"user-agent": "callosum-mcp", **reach.headers, "accept-encoding": "identity"},
            timeout=httpx2.Timeout(None, connect=reach.connect_timeout_s),
            limits=_CONNECTIONS,
            trust_env=not here and reach.rules is None,
            transport=_transport(reach),
        )
        self._sse = reach.type == "sse"
        self._watch = watch

    async def send(self, request: httpx2.Request, **how: Any) -> httpx2.Response:
        """One request; over SSE a message that was not taken ends the connection, else its call would wait for ever."""
        try:
            response = await super().send(request, **how)
        except httpx2.HTTPError as fault:
            if self._posted(request):
                self._watch.broken(unreachable(fault))
            raise
        self._watch.answered(response.status_code)
        if self._posted(request) and response.status_code >= _REFUSED and not _followed(response):
            self._watch.broken(of_status(response.status_code, response.headers))
        response.stream = _Body(cast("httpx2.AsyncByteStream", response.stream), response.headers)
        return response

    def _posted(self, request: httpx2.Request) -> bool:
        return self._sse and request.method == "POST"


def _transport(reach: Reach) -> httpx2.AsyncBaseTransport | None:
    """What carries its requests; None leaves it to the client, for its proxies."""
    if reach.rules is not None:
        return transports.checked_transport(reach.url, reach.rules)
    return transports.plain_transport() if transports.is_plain_loopback(reach.url) else None


def _followed(response: httpx2.Response) -> bool:
    """Whether the SDK goes after a redirect: it stays on its origin."""
    onward, sent = response.next_request, response.request.url
    return onward is not None and (onward.url.scheme, onward.url.host, onward.url.port) == (
        sent.scheme,
        sent.host,
        sent.port,
    )


class _Body(httpx2.AsyncByteStream):
    """A response's body, mended and, where it is one JSON document, bounded."""

    def __init__(self, stream: httpx2.AsyncByteStream, headers: httpx2.Headers) -> None:
        self._stream = stream
        self._bounded = headers.get("content-type", "").lower().startswith("application/json")
        self._mender = Mender() if headers.get("content-encoding", "identity") == "identity" else None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if self._bounded and size > MAX_FRAME_BYTES:
                raise httpx2.StreamError(f"it is larger than {MAX_FRAME_BYTES // 2**20} MiB")
            yield self._mender.fed(chunk) if self._mender else chunk
        if self._mender:
            yield self._mender.rest()

    async def aclose(self) -> None:
        await self._stream.aclose()
