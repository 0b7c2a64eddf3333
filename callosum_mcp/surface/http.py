"""One ASGI application: REST, Streamable HTTP at ``/mcp`` and SSE at ``/sse``, behind one guard.

Above: the command line and tests. Below: the MCP server, the REST routes, Starlette. The process's lifespan is the
application's: stores open once, whatever the number of connections.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.sse import SseServerTransport
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import Receive, Scope, Send

from callosum_mcp.surface.guard import Guard, Policy
from callosum_mcp.surface.intake import Intake
from callosum_mcp.surface.leaving import EndsWithCaller, TellsOfLeaving
from callosum_mcp.surface.mcp_server import build_server
from callosum_mcp.surface.rest import rest_routes
from callosum_mcp.surface.tools import Services

Lifespan = Callable[[], AbstractAsyncContextManager[None]]

_GUARDED_ALREADY = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # Guard covers every route


def build_asgi(services: Services, policy: Policy, lifespan: Lifespan) -> Guard:
    """The application.

    Args:
        services: What the routes work on.
        policy: Who may call, to begin with; `Guard.follow` takes another.
        lifespan: Entered once for the whole process.
    """
    server = build_server(services)
    streamable = server.streamable_http_app(transport_security=_GUARDED_ALREADY)

    @asynccontextmanager
    async def process(app: Starlette) -> AsyncGenerator[None]:
        async with lifespan(), server.session_manager.run():
            yield

    routes: list[BaseRoute] = [*_rest(services), *_mcp(streamable.routes), *_sse_routes(server)]
    return Guard(Intake(Starlette(routes=routes, lifespan=process)), policy)


def _rest(services: Services) -> list[Route]:
    routes = rest_routes(services)
    for route in routes:
        route.app = EndsWithCaller(route.app)
    return routes


def _mcp(routes: list[BaseRoute]) -> list[BaseRoute]:
    """``/mcp`` and ``/mcp/``: a redirect would make some clients lose the body or the token."""
    found = [(route.path, TellsOfLeaving(route.app)) for route in routes if isinstance(route, Route)]
    return [Route(path + slash, app) for path, app in found for slash in ("", "/")]


def _sse_routes(server: Server[Any]) -> list[BaseRoute]:
    transport = SseServerTransport("/messages/", security_settings=_GUARDED_ALREADY)
    return [Route("/sse", _Sse(server, transport)), Mount("/messages", app=transport.handle_post_message)]


class _Sse:
    """One SSE connection per GET; as a class so that Starlette takes it as an ASGI application."""

    def __init__(self, server: Server[Any], transport: SseServerTransport) -> None:
        self._server = server
        self._transport = transport

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if Request(scope).method != "GET":
            await Response(status_code=405, headers={"allow": "GET"})(scope, receive, send)
            return
        async with self._transport.connect_sse(scope, receive, send) as (inbound, outbound):
            await self._server.run(inbound, outbound, self._server.create_initialization_options())
