"""HTTP to one store: one connection pool, bounded replies, one retry, every failure a `StoreError`.

Above: the HTTP adapters. Below: httpx2, which only this module and the engine transports import. There is one
client per store, because a pool shared by many stores slows down with the square of the requests in it.
Deadlines are not here: the fan-out's own clock covers connecting, waiting and reading.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import urlsplit

import httpx2

from callosum_mcp.errors import (
    StoreAuthFailed,
    StoreBadReply,
    StoreError,
    StoreFailed,
    StoreRateLimited,
    StoreRefused,
    StoreTimeout,
)
from callosum_mcp.models.values import StoreSpec
from callosum_mcp.text import finite, one_line

MAX_REPLY_BYTES = 4 * 2**20
"""A reply larger than this is refused: 50 hits of 80 KB, far beyond what any answer can show."""

KEEPALIVE_S = 4.0
"""Idle connections are closed after this many seconds, one less than uvicorn's default on the other side."""

_STALE = (httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.WriteError, httpx2.CloseError)


@dataclass(frozen=True, kw_only=True, slots=True)
class HttpRequest:
    """One request to a store, built by a pure function of an adapter."""

    method: str
    path: str
    json: Mapping[str, object] | None = None
    params: Mapping[str, str] = field(default_factory=dict[str, str])


class JsonHttp:
    """Asks one store for JSON.

    Args:
        spec: The store; its token and headers go to this store alone.
        transport: Replaces the network, for tests.
    """

    def __init__(self, spec: StoreSpec, *, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        self._spec = spec
        self._transport = transport
        self._client: httpx2.AsyncClient | None = None

    async def ask(self, request: HttpRequest) -> object:
        """The JSON body of a successful answer.

        Raises:
            StoreError: For anything else.
        """
        status, body = await self._exchange(request)
        return self._read(status, body)

    async def ask_or_none(self, request: HttpRequest) -> object:
        """As `ask`, but None where the store says that it holds no such thing (404)."""
        status, body = await self._exchange(request)
        return None if status == 404 else self._read(status, body)

    async def aclose(self) -> None:
        """Close every connection of this store."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def _read(self, status: int, body: bytes) -> object:
        if status != 200:
            raise failure(status, _without_token(body, self._spec))
        try:
            return decode(body)
        except StoreBadReply:
            raise not_json(_without_token(body[:400], self._spec)) from None

    async def _exchange(self, request: HttpRequest) -> tuple[int, bytes]:
        try:
            return await _once(self._opened(), request)
        except _STALE:
            return await self._again(request)
        except httpx2.HTTPError as fault:
            raise unreachable(fault) from fault

    async def _again(self, request: HttpRequest) -> tuple[int, bytes]:
        """The one retry: the server had closed the connection that the first try was sent on.

        A server that closed one idle connection has closed them all, so this goes out on a connection of its own.
        """
        try:
            async with self._new_client() as client:
                return await _once(client, request)
        except httpx2.HTTPError as fault:
            raise unreachable(fault) from fault

    def _opened(self) -> httpx2.AsyncClient:
        if self._client is None:
            self._client = self._new_client()
        return self._client

    def _new_client(self) -> httpx2.AsyncClient:
        try:
            return httpx2.AsyncClient(
                base_url=self._spec.url,
                headers=_headers(self._spec),
                verify=_trust(self._spec.url),
                timeout=None,
                limits=httpx2.Limits(max_connections=64, max_keepalive_connections=16, keepalive_expiry=KEEPALIVE_S),
                follow_redirects=False,
                trust_env=not is_loopback(self._spec.url),
                transport=self._transport,
            )
        except httpx2.InvalidURL:
            raise StoreFailed("its url is not one a request can be sent to") from None
        except UnicodeEncodeError:
            raise StoreFailed("its token or one of its headers holds characters that HTTP cannot carry") from None


async def _once(client: httpx2.AsyncClient, request: HttpRequest) -> tuple[int, bytes]:
    async with client.stream(
        request.method, request.path, json=request.json, params=request.params or None
    ) as response:
        if response.is_redirect:
            raise StoreBadReply(f"redirects ({response.status_code}) to another place; put the final URL in the config")
        if response.status_code == 429:
            raise rate_limited(response.headers)
        return response.status_code, await _bounded(response)


def _headers(spec: StoreSpec) -> dict[str, str]:
    headers = {"accept": "application/json", "user-agent": "callosum-mcp", **spec.headers}
    if spec.token is not None and spec.token.get_secret_value():
        headers["authorization"] = f"Bearer {spec.token.get_secret_value()}"
    return headers


def _without_token(body: bytes, spec: StoreSpec) -> bytes:
    """A body that goes into an error, in case the store's own words repeat our token."""
    token = spec.token.get_secret_value() if spec.token is not None else ""
    return body.replace(token.encode(), b"***") if token else body


def is_loopback(url: str) -> bool:
    """Whether a URL points at this machine, for which no proxy is ever asked."""
    try:
        host = (urlsplit(url).hostname or "").rstrip(".")
        return host == "localhost" or host.endswith(".localhost") or ip_address(host).is_loopback
    except ValueError:
        return False


def _trust(url: str) -> ssl.SSLContext | bool:
    """The trust store, whose loading takes 0.1 s: not for loopback without TLS, where no certificate is shown."""
    plain = url.startswith("http://") and is_loopback(url)
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else True


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


def decode(body: bytes) -> object:
    """JSON out of a body; NaN and infinity are accepted here and made None where numbers are read.

    Raises:
        StoreBadReply: If the body is not JSON.
    """
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise not_json(body) from None


def not_json(body: bytes) -> StoreBadReply:
    """The failure of a body that is not JSON, with its beginning."""
    start = one_line(body[:200].decode("utf-8", "replace"), 60)
    kind = "HTML (is a proxy or a login page in front of it?)" if start.startswith("<") else f"not JSON: {start!r}"
    return StoreBadReply(f"reply is {kind}")


def failure(status: int, body: bytes) -> StoreError:
    """The error of an HTTP status, with the store's own words where it gives some."""
    said = _said(body)
    if status in (401, 403):
        return StoreAuthFailed(f"refused our token ({status}); set token, token_env or token_keyring of this store")
    if 300 <= status < 400 or status < 200 or status == 204:
        return StoreBadReply(f"answered {status} without a result")
    if status in (400, 404, 405, 415, 422):
        return StoreBadReply(f"does not understand our request ({status}{said}); is the type of this store right?")
    return StoreFailed(f"answered {status}{said}")


def _said(body: bytes) -> str:
    try:
        value: object = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(value, dict):
        return ""
    words = [str(value[key]) for key in ("error", "reason", "detail", "message") if isinstance(value.get(key), str)]  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType, reportUnknownVariableType]
    return f": {one_line(', '.join(words), 160)}" if words else ""


def rate_limited(headers: Mapping[str, str]) -> StoreRateLimited:
    """The failure of a 429, with the seconds the store asks for, at most an hour."""
    after = finite(headers.get("retry-after"))
    seconds = None if after is None else min(max(after, 0.0), 3_600.0)
    return StoreRateLimited("asks us to slow down (429)", retry_after_s=seconds)


def unreachable(fault: httpx2.HTTPError) -> StoreError:
    """The error of a failed exchange; the only place where httpx2's tree becomes ours."""
    if isinstance(fault, httpx2.TimeoutException):
        return StoreTimeout("the connection timed out")
    if isinstance(fault, httpx2.ConnectError):
        return StoreRefused(_connect_detail(fault))
    if isinstance(fault, httpx2.UnsupportedProtocol):
        return StoreFailed("its url must start with http:// or https://")
    if isinstance(fault, httpx2.LocalProtocolError):
        return StoreFailed("its token or one of its headers holds characters that HTTP cannot carry")
    if isinstance(fault, httpx2.ProxyError):
        return StoreRefused("the proxy did not connect; check HTTP_PROXY and NO_PROXY")
    if isinstance(fault, httpx2.DecodingError):
        return StoreBadReply("reply cannot be decompressed")
    return StoreFailed("the connection broke before the answer was complete")


def _connect_detail(fault: httpx2.ConnectError) -> str:
    text = str(fault).lower()
    if "certificate" in text or "ssl" in text or "tls" in text:
        return "TLS failed: its certificate is not trusted here, or it does not speak https"
    if "name or service" in text or "getaddrinfo" in text or "nodename" in text:
        return "its host name is unknown"
    return "no connection: nothing listens at its address"
