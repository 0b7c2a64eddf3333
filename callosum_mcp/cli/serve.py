"""``callosum-mcp serve``: one process, stdio or HTTP.

Above: the commands. Below: the surfaces and uvicorn.
"""

from __future__ import annotations

import argparse
import os
import socket
import sys
from collections.abc import Sequence
from functools import partial

import anyio

from callosum_mcp.adapters.engine.children import end_all_on_sigterm
from callosum_mcp.app import Application
from callosum_mcp.cli import EXIT_OK, EXIT_REFUSED, leave, started
from callosum_mcp.errors import SettingsError
from callosum_mcp.settings import Loaded
from callosum_mcp.surface.guard import LOOPBACK
from callosum_mcp.surface.mcp_server import build_server
from callosum_mcp.surface.stdio import serve_stdio

_GRACE_S = 2
_BACKLOG = 128
_WATCH_S = 1.0
_ANY_ADDRESS = frozenset({"0.0.0.0", "::", ""})


def serve(options: argparse.Namespace, application: Application) -> int:
    """Serve until the client or the system ends it.

    Raises:
        SettingsError: If the port is taken.
    """
    if options.transport == "stdio":
        end_all_on_sigterm()
        started()
        anyio.run(_stdio, application)
        return EXIT_OK
    return _http(application, options.host, options.port)


async def _stdio(application: Application) -> None:
    async with application.running(), anyio.create_task_group() as group:
        group.start_soon(_watch_parent, group.cancel_scope, os.getppid())
        await serve_stdio(build_server(application.services()), partial(leave, EXIT_OK))
        group.cancel_scope.cancel()


async def _watch_parent(serving: anyio.CancelScope, parent: int) -> None:
    """End with the client's process, even if something else keeps the other end of stdin open."""
    while os.getppid() == parent:  # noqa: ASYNC110 -- nothing tells a process that its parent died
        await anyio.sleep(_WATCH_S)
    serving.cancel()


def _http(application: Application, host: str | None, port: int | None) -> int:
    server = application.loaded.settings.server
    address = host or server.host
    if not may_listen(address, application.loaded):
        sys.stderr.write(
            f"callosum-mcp: refused to listen on {address} without a token: anybody there could read every memory. "
            "Set server.bearer_token_env, or server.allow_open_lan: true\n"
        )
        return EXIT_REFUSED
    listeners = _listeners(address, (server.ports or [server.port]) if port is None else [port])
    name = f"[{address}]" if ":" in address else address
    for listener in listeners:
        sys.stderr.write(f"callosum-mcp: http://{name}:{listener.getsockname()[1]} (MCP at /mcp and /sse, page at /)\n")
    _run(application, address, listeners)
    return EXIT_OK


def may_listen(address: str, loaded: Loaded) -> bool:
    """Whether listening there lets nobody in who should not be: loopback, a token, or the user's word."""
    return address in LOOPBACK or loaded.bearer is not None or loaded.settings.server.allow_open_lan


def _listeners(address: str, ports: Sequence[int]) -> list[socket.socket]:
    """A socket for each port, or none at all."""
    listeners: list[socket.socket] = []
    try:
        for port in ports:
            listeners.append(_listener(address, port))  # noqa: PERF401 - those opened so far are closed on a failure
    except SettingsError:
        for listener in listeners:
            listener.close()
        raise
    return listeners


def _listener(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # asyncio sets TCP_NODELAY only if named
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((address, port))
        listener.listen(_BACKLOG)  # whoever reads the line below may connect at once
    except OSError as fault:
        listener.close()
        raise SettingsError(
            f"cannot listen on {address} port {port} ({fault.strerror}); choose another with --port"
        ) from fault
    return listener


def _run(application: Application, address: str, listeners: list[socket.socket]) -> None:
    import uvicorn

    from callosum_mcp.surface.guard import Policy, allowed
    from callosum_mcp.surface.http import build_asgi

    server = application.loaded.settings.server
    everywhere = address in _ANY_ADDRESS and not server.allowed_hosts
    policy = Policy(
        token=application.loaded.bearer,
        hosts=allowed([*server.allowed_hosts, address]),
        origins=frozenset(server.allowed_origins),
        any_host=everywhere and application.loaded.bearer is not None,
        any_address=everywhere,
    )
    config = uvicorn.Config(
        build_asgi(application.services(), policy, application.running),
        log_level=application.loaded.settings.logging.level,
        access_log=False,
        timeout_graceful_shutdown=_GRACE_S,
        lifespan="on",
    )
    started()
    uvicorn.Server(config).run(sockets=listeners)
