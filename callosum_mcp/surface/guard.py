"""Who gets in: one ASGI wrapper around every HTTP route, MCP, SSE and REST alike.

Above: the server. Below: the routes. It stands in front of the merged application, so that merging routes cannot lose
it. Host and Origin are checked against DNS rebinding; the bearer token in constant time.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from pydantic import SecretStr
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
OPEN_PATHS = frozenset({"/", "/health", "/ready"})
"""Answered without a token; `/` and `/health` then say nothing of the stores."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Policy:
    """Who may call.

    Attributes:
        token: What callers must send as ``Authorization: Bearer``; None lets everybody in.
        hosts: Host names accepted besides loopback.
        origins: Origins accepted besides loopback's.
        any_host: Accept every Host header (listening on all addresses with a token).
        any_address: Accept a Host header that is an IP address, since DNS rebinding needs a name.
    """

    token: SecretStr | None = None
    hosts: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()
    any_host: bool = False
    any_address: bool = False


class Guard:
    """Refuses a request before any route sees it."""

    def __init__(self, app: ASGIApp, policy: Policy) -> None:
        self._app = app
        self._policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the refusal, or hand the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}
        refusal = self._refusal(headers, str(scope["path"]))
        scope["callosum.trusted"] = self._policy.token is None or self._knows_token(headers)
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, headers: dict[str, str], path: str) -> Response | None:
        host = host_name(headers.get("host", ""))
        if not self._host_allowed(host):
            return _no(421, f"Host {host!r} is not allowed; add it to server.allowed_hosts")
        origin = headers.get("origin")
        if origin is not None and not self._origin_allowed(origin, headers.get("host", "")):
            return _no(403, f"Origin {origin!r} is not allowed; add it to server.allowed_origins")
        if path not in OPEN_PATHS and not self._knows_token(headers):
            response = _no(401, "a bearer token is required (Authorization: Bearer …)")
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
        if self._policy.token is None:
            return True
        scheme, _, given = headers.get("authorization", "").partition(" ")
        known = self._policy.token.get_secret_value().encode()
        return hmac.compare_digest(given.strip().encode("utf-8", "replace"), known) and scheme.lower() == "bearer"


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
