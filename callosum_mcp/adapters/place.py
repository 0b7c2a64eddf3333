"""One place where a store is reached: its connections, bounded replies, one retry, every failure a `StoreError`.

Above: `http`, and `replicas` where a store is in several places. Below: `transport`, and httpx2 as the seam to it.
There is one pool for each place, because a pool shared by many slows down with the square of the requests in it.
Deadlines are not here: the fan-out's own clock covers connecting, waiting and reading.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit
from weakref import WeakSet

import anyio
import httpx2

from callosum_mcp.adapters import transport as transports
from callosum_mcp.adapters.http_errors import rate_limited, unreachable
from callosum_mcp.errors import StoreBadReply, StoreError, StoreFailed
from callosum_mcp.models.values import StoreSpec
from callosum_mcp.text import finite

MAX_REPLY_BYTES = 4 * 2**20
"""A reply larger than this is refused: 50 hits of 80 KB, far beyond what any answer can show."""

Answer = tuple[int, bytes]
"""Status and body."""

_STALE = (httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.WriteError, httpx2.CloseError)


_NOT_THERE = (httpx2.NetworkError, httpx2.RemoteProtocolError, httpx2.TimeoutException)


@dataclass(frozen=True, kw_only=True, slots=True)
class HttpRequest:
    """One request to a store, built by a pure function of an adapter."""

    method: str
    path: str
    json: object = None
    params: Mapping[str, str] = field(default_factory=dict[str, str])
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)


class Place:
    """Sends requests to one place.

    Args:
        spec: The store; its token and headers go to its own places alone.
        transport: Replaces the network, for tests.
    """

    def __init__(self, spec: StoreSpec, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        self._spec = spec
        self._transport = transport
        self._may_be_faster = transport is None and transports.is_plain_loopback(spec.url)
        self._line: _Line | None = None
        self._streams: WeakSet[object] = WeakSet()
        self._requests = 0
        self._reused = 0

    async def exchange(self, request: HttpRequest) -> Answer:
        """Status and body of an answer.

        Raises:
            StoreError: If there is none, or one that redirects or asks to slow down.
        """
        try:
            return await self._counted(request)
        except _STALE:
            return await self._again(request)
        except httpx2.HTTPError as fault:
            raise unreachable(fault) from fault

    def usage(self) -> dict[str, int]:
        """Requests answered, and how many of them on a connection that was open already."""
        return {"requests": self._requests, "reused": self._reused}

    async def aclose(self) -> None:
        """Close every connection."""
        line, self._line = self._line, None
        if line is not None:
            await line.aclose()

    async def _counted(self, request: HttpRequest) -> Answer:
        line = await self._current()
        answer, stream = await line.once(request)
        self._requests += 1
        self._reused += stream in self._streams
        if stream is not None:
            self._streams.add(stream)
        return answer

    async def _current(self) -> _Line:
        """The connections to use, replaced by faster ones as soon as there are any."""
        line = self._line
        if line is None:
            self._line = line = _Line(self._spec, self._transport)
        elif self._may_be_faster and self._requests >= transports.ASKED_BEFORE_FAST:
            fast = transports.loaded_fast_transport(self._spec.rules)
            if fast is not None:
                self._may_be_faster = False
                self._line = _Line(self._spec, fast)
                await line.retire()
                return self._line
        return line

    async def _again(self, request: HttpRequest) -> Answer:
        """The one retry: the server had closed the connection that the first try was sent on.

        A server that closed one idle connection has closed them all, so this goes out on a connection of its own.
        """
        line = _Line(self._spec, self._transport)
        try:
            return (await line.once(request))[0]
        except httpx2.HTTPError as fault:
            raise unreachable(fault) from fault
        finally:
            await line.aclose()


class _Line:
    """The connections to one store, and what every request on them has in common."""

    def __init__(self, spec: StoreSpec, transport: httpx2.AsyncBaseTransport | None) -> None:
        try:
            self._headers = httpx2.Headers({"host": _host(spec.url), **_headers(spec)})
            self._base = str(httpx2.URL(spec.url)).rstrip("/")
        except UnicodeEncodeError:
            raise StoreFailed("its token or one of its headers holds characters that HTTP cannot carry") from None
        except (httpx2.InvalidURL, ValueError):
            raise StoreFailed("its url is not one a request can be sent to") from None
        self._urls: dict[str, httpx2.URL] = {}
        self._ends: transports.Ends = transport or transports.transport_for(spec.url, spec.rules)
        self._busy = 0
        self._retired = False

    async def once(self, request: HttpRequest) -> tuple[Answer, object]:
        """One exchange: status and body, and the connection it went over."""
        self._busy += 1
        try:
            return await self._exchanged(request)
        finally:
            self._busy -= 1
            if self._retired and not self._busy:
                await self.aclose()

    async def retire(self) -> None:
        """Close the connections when the last request on them has ended."""
        self._retired = True
        if not self._busy:
            await self.aclose()

    async def aclose(self) -> None:
        """Close the connections, also while the caller is being cancelled."""
        with anyio.CancelScope(shield=True):
            await self._ends.aclose()

    async def _exchanged(self, request: HttpRequest) -> tuple[Answer, object]:
        response = await self._send(self._built(request))
        try:
            if response.is_redirect:
                raise StoreBadReply(
                    f"redirects ({response.status_code}) to another place; put the final URL in the config"
                )
            if response.status_code == 429:
                raise rate_limited(response.headers)
            stream: object = response.extensions.get("network_stream")
            return (response.status_code, await _bounded(response)), stream
        finally:
            await response.aclose()

    async def _send(self, request: httpx2.Request) -> httpx2.Response:
        if isinstance(self._ends, httpx2.AsyncClient):
            return await self._ends.send(request, stream=True)
        return await self._ends.handle_async_request(request)

    def _built(self, request: HttpRequest) -> httpx2.Request:
        url = self._urls.get(request.path)
        if url is None:
            url = self._urls[request.path] = httpx2.URL(self._base + request.path)
        if request.params:
            url = url.copy_with(params=request.params)
        headers = self._headers.copy()
        headers.update(request.headers)
        if request.json is None:
            return httpx2.Request(request.method, url, headers=headers)
        content = json.dumps(request.json).encode()
        headers["content-type"] = "application/json"
        return httpx2.Request(request.method, url, headers=headers, content=content)


def _host(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2]


def _headers(spec: StoreSpec) -> dict[str, str]:
    headers = {"accept": "application/json", "user-agent": "callosum-mcp", **spec.headers}
    if spec.token is not None and spec.token.get_secret_value():
        headers["authorization"] = f"Bearer {spec.token.get_secret_value()}"
    return headers


async def _bounded(response: httpx2.Response) -> bytes:
    declared = finite(response.headers.get("content-length"))
    if declared is not None and declared > MAX_REPLY_BYTES:
        raise too_large()
    parts: list[bytes] = []
    size = 0
    async for part in response.aiter_bytes():
        size += len(part)
        if size > MAX_REPLY_BYTES:
            raise too_large()
        parts.append(part)
    return b"".join(parts)


def too_large() -> StoreBadReply:
    """The failure of a reply over the limit."""
    return StoreBadReply(f"reply is larger than {MAX_REPLY_BYTES // 2**20} MiB and was not read")


def is_not_there(error: StoreError) -> bool:
    """Whether a failure says that nobody answers at a place: it refuses, breaks the connection or is silent."""
    return isinstance(error.__cause__, _NOT_THERE)
