"""What carries the requests to one store: httpx2's transport, its client, or aiohttp behind httpx2's seam.

Above: `http`. Below: httpx2, and `aio` where the extra ``fast`` is installed. Importing aiohttp takes longer than it
saves in a process that asks a question and ends, so it is loaded beside the event loop once a store has been asked
`ASKED_BEFORE_FAST` times, and used from then on.
"""

from __future__ import annotations

import ssl
import threading
from concurrent.futures import Future
from functools import cache
from importlib import import_module
from ipaddress import ip_address
from urllib.parse import urlsplit

import httpx2

from callosum_mcp.models.hosts import HostRules

MAX_CONNECTIONS = 64
"""To one store at the same time; further requests wait."""

KEEPALIVE_S = 4.0
"""Idle connections are closed after this many seconds, one less than uvicorn's default on the other side."""

ASKED_BEFORE_FAST = 32
"""Requests to a store before aiohttp is loaded for it: more than the recall of a command makes."""

Ends = httpx2.AsyncBaseTransport | httpx2.AsyncClient
"""What a request to a store can be given to."""


def transport_for(url: str, rules: HostRules | None = None) -> Ends:
    """The transport of a store to begin with.

    Args:
        url: The store's.
        rules: Where its connections may go; None: anywhere.

    Loopback goes straight to httpx2's transport: nothing of what its client adds (proxies, redirects, cookies, merged
    URLs) is wanted there, and it costs a fifth of a request. Everything else goes through the client for its proxies.
    """
    if rules is not None:
        return checked_transport(url, rules)
    if is_plain_loopback(url):
        return plain_transport()
    if is_loopback(url):
        return httpx2.AsyncHTTPTransport(verify=True, limits=_limits())
    return httpx2.AsyncClient(verify=True, timeout=None, limits=_limits(), follow_redirects=False)


def plain_transport() -> httpx2.AsyncBaseTransport:
    """httpx2's transport without TLS, and without loading the trust store, which takes 0.1 s."""
    return httpx2.AsyncHTTPTransport(verify=_no_trust(), limits=_limits())


def checked_transport(url: str, rules: HostRules) -> httpx2.AsyncBaseTransport:
    """httpx2's transport, its connections going only where the rules let them; it asks no proxy."""
    from callosum_mcp.adapters.dialling import CheckedTransport, Dialler

    verify = httpx2.create_ssl_context() if url[:8].lower() == "https://" else _no_trust()
    return CheckedTransport(Dialler(rules), verify, _limits())


def fast_transport(rules: HostRules | None = None) -> httpx2.AsyncBaseTransport:
    """aiohttp's transport, which does not do TLS here.

    Raises:
        ImportError: If aiohttp is not installed, or is older than 3.12.
    """
    from callosum_mcp.adapters.aio import AiohttpTransport
    from callosum_mcp.adapters.dialling import Dialler

    dialler = None if rules is None else Dialler(rules)
    return AiohttpTransport(max_connections=MAX_CONNECTIONS, keepalive_s=KEEPALIVE_S, dialler=dialler)


def loaded_fast_transport(rules: HostRules | None = None) -> httpx2.AsyncBaseTransport | None:
    """As `fast_transport`, but None while aiohttp is being loaded, which this starts, and where it is not installed."""
    there = _fast_is_there()
    return fast_transport(rules) if there.done() and there.result() else None


@cache
def _fast_is_there() -> Future[bool]:
    found: Future[bool] = Future()

    def load() -> None:
        try:
            import_module("callosum_mcp.adapters.aio")
        except ImportError:
            found.set_result(False)
        else:
            found.set_result(True)

    threading.Thread(target=load, name="callosum-aiohttp", daemon=True).start()
    return found


def is_plain_loopback(url: str) -> bool:
    """Whether a URL points at this machine without TLS."""
    return url[:7].lower() == "http://" and is_loopback(url)


def is_loopback(url: str) -> bool:
    """Whether a URL points at this machine, for which no proxy is ever asked."""
    try:
        host = (urlsplit(url).hostname or "").rstrip(".")
        return host == "localhost" or host.endswith(".localhost") or ip_address(host).is_loopback
    except ValueError:
        return False


def _no_trust() -> ssl.SSLContext:
    """For connections without TLS: with it, no certificate would do."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _limits() -> httpx2.Limits:
    return httpx2.Limits(max_connections=MAX_CONNECTIONS, max_keepalive_connections=16, keepalive_expiry=KEEPALIVE_S)
