"""``callosum-mcp serve``: one process, stdio or HTTP.

Above: the commands. Below: the surfaces and uvicorn.
"""

from __future__ import annotations

import argparse
import socket
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import anyio

from callosum_mcp.app import Application
from callosum_mcp.cli import EXIT_OK, EXIT_REFUSED, leave, started
from callosum_mcp.cli.ending import Ending, drained, not_held_up
from callosum_mcp.cli.listening import door, may_listen, policy_at, refused
from callosum_mcp.errors import SettingsError
from callosum_mcp.surface.mcp_server import build_server
from callosum_mcp.surface.stdio import serve_stdio
from callosum_mcp.surface.wire import Wire

_GRACE_S = 2
_BACKLOG = 128


def serve(options: argparse.Namespace, application: Application) -> int:
    """Serve until the client or the system ends it.

    Raises:
        SettingsError: If the port is taken.
    """
    if options.transport == "stdio":
        wire: Wire = options.wire
        with Ending(wire) as ending:
            started()
            anyio.run(_stdio, application, wire, ending)
        return EXIT_OK
    return _http(application, options.host, options.port)


async def _stdio(application: Application, wire: Wire, ending: Ending) -> None:
    async with application.serving():
        await serve_stdio(build_server(application.services()), wire, partial(leave, EXIT_OK), ending.soon)


def _http(application: Application, host: str | None, port: int | None) -> int:
    server = application.loaded.settings.server
    address = host or server.host
    if not may_listen(address, application.loaded):
        sys.stderr.write(f"callosum-mcp: {refused(address)}\n")
        return EXIT_REFUSED
    listeners = _listeners(address, (server.ports or [server.port]) if port is None else [port])
    name = f"[{address}]" if ":" in address else address
    for listener in listeners:
        sys.stderr.write(f"callosum-mcp: http://{name}:{listener.getsockname()[1]} (MCP at /mcp and /sse, page at /)\n")
    given = {"host": host, "port": port, "ports": port}
    fixed = tuple(name for name, value in given.items() if value is None)
    _run(application, address, listeners, fixed)
    return EXIT_OK


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


def _run(application: Application, address: str, listeners: list[socket.socket], fixed: tuple[str, ...]) -> None:
    import uvicorn

    from callosum_mcp.surface.http import build_asgi

    loaded = application.loaded
    guard = build_asgi(application.services(), policy_at(address, loaded), application.serving)
    application.reloader.parts.append(door(guard, address, loaded, fixed=fixed))
    config = uvicorn.Config(
        guard,
        log_config=None,  # its lines go the way of ours, and lose their secrets there
        log_level=loaded.settings.logging.level,
        access_log=False,
        timeout_graceful_shutdown=_GRACE_S,
        lifespan="on",
    )
    started()
    serving: Any = uvicorn.Server(config)
    serving.handle_exit = drained(serving.handle_exit)
    serving.run(sockets=listeners)
    not_held_up(EXIT_OK)
