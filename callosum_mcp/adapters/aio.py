"""aiohttp behind httpx2's seam: the transport of the extra ``fast``, for stores on this machine.

Above: `http`, which imports this at the first request and does without where aiohttp is not installed. Below: aiohttp,
which only this module imports. What a request costs is nearly all Python here, and aiohttp's is in C. Its errors become
httpx2's in one place, so nothing above can tell the two apart. There is one session per store; redirects, cookies,
proxies, decompression and aiohttp's own retry are off: the first four are decided above, and a retry is made there.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from functools import lru_cache
from ipaddress import ip_address

import aiohttp
import aiohttp.abc
import httpx2
from yarl import URL

from callosum_mcp.adapters.dialling import Dialler

_READ_BYTES = 65_536  # as httpx2 reads; a piece is decompressed at once, so it bounds what a bomb can fill
_NOT_ADDED = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")
_NO_TIMEOUT = aiohttp.ClientTimeout(total=None, connect=None, sock_connect=None, sock_read=None)

_TREE: tuple[tuple[type[BaseException], type[httpx2.TransportError]], ...] = (
    (aiohttp.ConnectionTimeoutError, httpx2.ConnectTimeout),
    (TimeoutError, httpx2.ReadTimeout),
    (aiohttp.ClientProxyConnectionError, httpx2.ProxyError),
    (aiohttp.ClientConnectorError, httpx2.ConnectError),
    (aiohttp.ServerDisconnectedError, httpx2.RemoteProtocolError),
    (aiohttp.ClientPayloadError, httpx2.RemoteProtocolError),
    (aiohttp.ClientResponseError, httpx2.RemoteProtocolError),
    (aiohttp.InvalidURL, httpx2.UnsupportedProtocol),
    (aiohttp.ClientError, httpx2.ReadError),
    (OSError, httpx2.ReadError),
    (ValueError, httpx2.LocalProtocolError),
)
"""Which error of httpx2 stands for one of aiohttp; the first that fits."""

_FAULTS: tuple[type[BaseException], ...] = tuple(theirs for theirs, _ in _TREE)


def kind_of(fault: type[BaseException]) -> type[httpx2.TransportError]:
    """The class of httpx2's errors that means the same as one of aiohttp's."""
    return next(ours for theirs, ours in _TREE if issubclass(fault, theirs))


def as_httpx2(fault: BaseException) -> httpx2.TransportError:
    """The error of httpx2 that means the same."""
    kind = kind_of(type(fault))
    cause = fault.os_error if isinstance(fault, aiohttp.ClientConnectorError) else fault
    return kind(str(cause) or type(cause).__name__)


class AiohttpTransport(httpx2.AsyncBaseTransport):
    """Sends the requests of one store, to this machine and without TLS.

    Args:
        max_connections: Requests beyond this many wait.
        keepalive_s: Seconds an idle connection is kept.
        dialler: Checks where connections go; None: anywhere.
    """

    def __init__(self, *, max_connections: int, keepalive_s: float, dialler: Dialler | None = None) -> None:
        self._max_connections = max_connections
        self._keepalive_s = keepalive_s
        self._dialler = dialler
        self._session: aiohttp.ClientSession | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The response to a request, its body still to be read.

        Raises:
            httpx2.TransportError: If there is none.
        """
        session = self._session or self._opened()
        headers = [(name.decode("ascii"), value.decode("ascii")) for name, value in request.headers.raw]
        content = await request.aread()
        try:
            response = await session.request(
                request.method, _address(request.url), headers=headers, data=content or None, allow_redirects=False
            )
        except _FAULTS as fault:
            raise as_httpx2(fault) from fault
        stream = response.connected if isinstance(response, _Response) else None
        return httpx2.Response(
            response.status,
            headers=[*response.raw_headers],
            stream=_Body(response),
            extensions={"network_stream": stream},
        )

    async def aclose(self) -> None:
        """Close every connection."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def _opened(self) -> aiohttp.ClientSession:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=self._max_connections,
                keepalive_timeout=self._keepalive_s,
                ssl=False,
                resolver=None if self._dialler is None else _Checked(self._dialler),
                use_dns_cache=self._dialler is None,
            ),
            response_class=_Response,
            middlewares=(_without_retry,),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=_NO_TIMEOUT,
            skip_auto_headers=_NOT_ADDED,
            auto_decompress=False,
            read_bufsize=_READ_BYTES,
        )
        return self._session


class _Checked(aiohttp.abc.AbstractResolver):
    """Names looked up once for each connection, every address checked; aiohttp dials what it is given."""

    def __init__(self, dialler: Dialler) -> None:
        self._dialler = dialler

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[aiohttp.abc.ResolveResult]:
        del family
        return [_resolved(host, address, port) for address in await self._dialler.addresses(host)]

    async def close(self) -> None:
        """Nothing is kept."""


def _resolved(host: str, address: str, port: int) -> aiohttp.abc.ResolveResult:
    family = socket.AF_INET6 if ip_address(address).version == 6 else socket.AF_INET
    return aiohttp.abc.ResolveResult(
        hostname=host, host=address, port=port, family=family, proto=0, flags=socket.AI_NUMERICHOST
    )


class _Response(aiohttp.ClientResponse):
    """A response that remembers which connection it came over; aiohttp forgets at the end of the body.

    Attributes:
        connected: The protocol of the connection, the same object for as long as that is open.
    """

    connected: object = None

    async def start(self, connection: aiohttp.connector.Connection) -> aiohttp.ClientResponse:
        self.connected = connection.protocol
        return await super().start(connection)


class _Body(httpx2.AsyncByteStream):
    """The body of a response as it comes in."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._response.content.iter_chunked(_READ_BYTES):
                yield piece
        except _FAULTS as fault:
            raise as_httpx2(fault) from fault

    async def aclose(self) -> None:
        self._response.close()


async def _without_retry(request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    """Send once: aiohttp would send a GET again that met a closed connection, and only errors of its own make it."""
    try:
        return await handler(request)
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as fault:
        raise as_httpx2(fault) from fault


@lru_cache(maxsize=256)
def _address(url: httpx2.URL) -> URL:
    """A URL for aiohttp, without user and password: the token of a store is a header, and aiohttp refuses both."""
    plain = url.copy_with(username=None, password=None, fragment=None) if url.userinfo or url.fragment else url
    return URL(str(plain), encoded=True)
