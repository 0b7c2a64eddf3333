"""Who gets in: one ASGI wrapper around every HTTP route, MCP, SSE and REST alike.

Above: the server. Below: the routes. It stands in front of the merged application, so that merging routes cannot lose
it. Host and Origin are checked against DNS rebinding; the bearer token in constant time. It sends no CORS header, so a
page of another origin can read nothing.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from ipaddress import ip_address
from urllib.parse import urlsplit

import anyio
from pydantic import SecretStr
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
OPEN_PATHS = frozenset({"/", "/health", "/ready"})
"""Answered without a token; `/` and `/health` then say nothing of the stores."""

_ONCE = ("host", "origin", "authorization")


@dataclass(frozen=True, kw_only=True, slots=True)
class Policy:
    """Who may call.

    Attributes:
        tokens: Callers must send one of them as ``Authorization: Bearer``; none lets everybody in.
        hosts: Host names accepted besides loopback.
        origins: Origins accepted besides loopback's.
        any_host: Accept every Host header (listening on all addresses with a token).
        any_address: Accept a Host header that is an IP address, since DNS rebinding needs a name.
    """

    tokens: tuple[SecretStr, ...] = ()
    hosts: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()
    any_host: bool = False
    any_address: bool = False


class Guard:
    """Refuses a request before any route sees it."""

    def __init__(self, app: ASGIApp, policy: Policy) -> None:
        self._app = app
        self._streams: set[_Stream] = set()
        self.follow(policy)

    def follow(self, policy: Policy) -> None:
        """Let in whom a policy lets in, from the next request on; streams of a token that is no longer one end."""
        self._policy = policy
        self._known = tuple(_digest(token.get_secret_value()) for token in policy.tokens)
        for stream in self._streams:
            if self._known and not stream.whole and not self._knows(stream.digest):
                stream.scope.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the refusal, or hand the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope["headers"] = [(key, value.strip(b" \t")) for key, value in scope["headers"]]  # httptools leaves it there
        given = [(key.decode("latin-1"), value.decode("latin-1")) for key, value in scope["headers"]]
        headers = dict(given)
        trusted = self._knows_token(headers)
        refusal = _ambiguous(given) or self._refusal(headers, str(scope["path"]), trusted)
        scope["callosum.trusted"] = trusted
        if refusal is None and trusted and self._known and scope["method"] == "GET":
            await self._streamed(_Stream(digest=_given(headers)), scope, receive, send)
        else:
            await (refusal or self._app)(scope, receive, send)

    async def _streamed(self, stream: _Stream, scope: Scope, receive: Receive, send: Send) -> None:
        """A request that may stay open for long: it ends, in good order, when its token does."""

        async def counted(message: Message) -> None:
            stream.begun = True
            stream.whole = message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        self._streams.add(stream)
        try:
            with stream.scope:
                await self._app(scope, receive, counted)
        finally:
            self._streams.discard(stream)
        if not stream.scope.cancelled_caught:
            return
        if stream.begun:
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        else:
            await _no(401, "the token is not valid any more")(scope, receive, send)

    def _refusal(self, headers: dict[str, str], path: str, trusted: bool) -> Response | None:
        host = host_name(headers.get("host", ""))
        if not self._host_allowed(host):
            return _no(421, f"Host {host!r} is not allowed; add it to server.allowed_hosts")
        origin = headers.get("origin")
        if origin is not None and not self._origin_allowed(origin, headers.get("host", "")):
            return _no(403, f"Origin {origin!r} is not allowed; add it to server.allowed_origins")
        if path not in OPEN_PATHS and not trusted:
            response = _no(401, _token_wanted(headers.get("authorization", "")))
            response.headers["www-authenticate"] = "Bearer"
            return response
        return None

    def _host_allowed(self, host: str) -> bool:
        if self._policy.any_host or host in LOOPBACK or host in self._policy.hosts:
            return True
        return self._policy.any_address and is_address(host)

    def _origin_allowed(self, origin: str, host: str) -> bool:
        if origin in self._policy.origins:
            return True
        try:
            parts = urlsplit(origin)
        except ValueError:
            return False
        return parts.scheme in ("http", "https") and (parts.hostname in LOOPBACK or parts.netloc == host)

    def _knows_token(self, headers: dict[str, str]) -> bool:
        """Whether the token is one of ours; each is compared, so that time tells neither which nor how much of it."""
        if not self._known:
            return True
        scheme = headers.get("authorization", "").partition(" ")[0]
        return self._knows(_given(headers)) and scheme.lower() == "bearer"

    def _knows(self, digest: bytes) -> bool:
        same = [hmac.compare_digest(digest, known) for known in self._known]
        return any(same)


@dataclass(slots=True, eq=False)
class _Stream:
    """An answer that is being sent, and whose token let it begin."""

    digest: bytes
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    begun: bool = False
    whole: bool = False


def _given(headers: dict[str, str]) -> bytes:
    return _digest(headers.get("authorization", "").partition(" ")[2].strip())


def _digest(token: str) -> bytes:
    return sha256(token.encode("utf-8", "replace")).digest()


def _ambiguous(headers: list[tuple[str, str]]) -> Response | None:
    """The refusal of a header that could mean one thing here and another to what stands in front of us."""
    names = [name for name, _ in headers]
    twice = next((name for name in _ONCE if names.count(name) > 1), None)
    return _no(400, f"the header {twice} stands twice") if twice else None


def _token_wanted(given: str) -> str:
    if "${" in given:
        return "the token is the text of a variable's name: the client did not put the value of ${…} in its place"
    return "a bearer token is required (Authorization: Bearer …)"


def _no(status: int, text: str) -> Response:
    return JSONResponse({"detail": text}, status_code=status)


def host_name(host: str) -> str:
    """The name in a Host header: no port, no brackets, lower case."""
    host = host.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def is_address(host: str) -> bool:
    """Whether a host name is an IP address."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def allowed(names: Iterable[str]) -> frozenset[str]:
    """Configured host names as `Policy.hosts`; a port pattern such as ``:*`` is dropped."""
    return frozenset(host_name(name) for name in names)
