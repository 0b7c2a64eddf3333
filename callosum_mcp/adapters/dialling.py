"""Connections that go only where they may: a name is looked up once, its addresses are checked, and one of those is
dialled.

Above: `transport`, `aio`, and the connections of engines, for stores that were added at run time. Below: httpx2's and
httpcore2's seams, and the system's resolver. Whoever checks a name and then lets a library look it up again has checked
nothing: the second answer may be another one. TLS and the Host header keep the name. There is no proxy here, since a
proxy would look the name up itself.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable
from ipaddress import ip_address
from typing import Any, cast

import anyio
import httpcore2
import httpx2

from callosum_mcp.errors import StoreRefused
from callosum_mcp.models.hosts import UNLISTED, HostRules, host_of

Lookup = Callable[[str], Awaitable[list[str]]]
"""The addresses of a name, as the system has them.

Raises:
    OSError: If it has none.
"""

_NEXT_S = 1.0
"""Seconds an address may take before the next one is tried."""


async def system_lookup(host: str) -> list[str]:
    """The addresses of a name, each once, in the system's order of preference.

    Raises:
        OSError: If it has none.
    """
    found = await anyio.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class NotAllowedError(StoreRefused):
    """A host may not be connected to.

    Attributes:
        problem: What is wrong with it; "" where the error was made again for another caller.
    """

    problem: str = ""

    @classmethod
    def of(cls, host: str, problem: str) -> NotAllowedError:
        """The error of a host."""
        made = cls(f"not connected: host {host!r} {problem}")
        made.problem = problem
        return made


class Dialler:
    """Where the connections of one store go.

    Args:
        rules: Where they may go.
        lookup: Replaces the system's resolver, for tests.
    """

    def __init__(self, rules: HostRules, lookup: Lookup | None = None) -> None:
        self._rules = rules
        self._lookup = lookup

    async def addresses(self, host: str) -> list[str]:
        """The addresses of a host, every one of them checked.

        Raises:
            NotAllowedError: If one of them may not be connected to.
            StoreRefused: If the host is none.
            OSError: If the name has none.
        """
        try:
            name, literal = host_of(host.removeprefix("[").removesuffix("]"))
        except ValueError as fault:
            raise StoreRefused(f"not connected: {fault}") from None
        if literal is None and self._rules.verdict(name, None) == "no":
            raise NotAllowedError.of(name, UNLISTED)
        lookup = self._lookup or system_lookup  # the module's, so that one look-up serves whoever replaces it
        found = [str(literal)] if literal is not None else await lookup(name)
        if not found:
            raise OSError(f"{name} has no address")
        for text in found:
            problem = self._rules.problem(name, ip_address(text))
            if problem is not None:
                raise NotAllowedError.of(name, problem)
        return found


class CheckedBackend(httpcore2.AsyncNetworkBackend):
    """Opens connections for httpcore2, to checked addresses only.

    Args:
        dialler: Checks them.
    """

    def __init__(self, dialler: Dialler) -> None:
        self._dialler = dialler
        self._opener: httpcore2.AsyncNetworkBackend = cast("Any", httpcore2).AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 -- httpcore2's seam
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """A connection to the first address that takes one.

        Raises:
            StoreRefused: If an address may not be connected to.
            httpcore2.ConnectError: If none takes it, or the name is unknown.
        """
        try:
            addresses = await self._dialler.addresses(host)
        except OSError as fault:
            raise httpcore2.ConnectError(str(fault)) from fault
        for address in addresses[:-1]:
            seconds = _NEXT_S if timeout is None else min(_NEXT_S, timeout)
            try:
                return await self._opener.connect_tcp(address, port, seconds, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        return await self._opener.connect_tcp(addresses[-1], port, timeout, local_address, socket_options)


class CheckedTransport(httpx2.AsyncHTTPTransport):
    """httpx2's transport over a `CheckedBackend`.

    Args:
        dialler: Checks where connections go.
        verify: The certificates that are trusted.
        limits: Of its pool.
    """

    def __init__(self, dialler: Dialler, verify: ssl.SSLContext, limits: httpx2.Limits) -> None:
        super().__init__(verify=verify, limits=limits, trust_env=False)
        assert isinstance(self._pool, httpcore2.AsyncConnectionPool), "httpx2 no longer keeps its pool there"
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=verify,
            max_connections=limits.max_connections,
            max_keepalive_connections=limits.max_keepalive_connections,
            keepalive_expiry=limits.keepalive_expiry,
            network_backend=CheckedBackend(dialler),
        )
