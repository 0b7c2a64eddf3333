"""An MCP server of the SDK behind SSE (``/sse``) and Streamable HTTP (``/mcp``), on a socket it inherits.

    python network_engine.py FD LOG [--token TOKEN]

Its tool ``find`` does what the words in ``query`` say. ``POST /forget`` makes the server forget every session, and
``/away`` and ``/near`` redirect to another origin and to the server itself.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import socket
from collections.abc import AsyncGenerator
from typing import Any

import anyio
import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

parser = argparse.ArgumentParser()
parser.add_argument("fd", type=int)
parser.add_argument("log")
parser.add_argument("--token", default="")
GIVEN = parser.parse_args()

mcp = MCPServer("networked", version="2.0", log_level="CRITICAL")


def note(entry: object) -> None:
    with open(GIVEN.log, "a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


@mcp.tool(structured_output=False)
async def find(query: str, ctx: Context[Any, Any], limit: int = 5) -> CallToolResult:
    """Two hits."""
    note({"query": query})
    if query == "die":
        os._exit(3)
    if query == "hang":
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            note({"cancelled": query})
            raise
    if query == "rpc error":
        raise MCPError(code=-32602, message="limit: must be positive")
    if query == "huge":
        return CallToolResult(content=[TextContent(type="text", text="x" * 5_000_000)])
    rows = [{"id": "a", "text": f"a says {query}"}, {"id": "b", "text": f"b says {query}"}]
    return CallToolResult(content=[TextContent(type="text", text=json.dumps({"hits": rows}))])


class Gate:
    """Asks for the token, and logs what came with a request."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            request = Request(scope)
            token = request.headers.get("authorization", "")
            if GIVEN.token and token != f"Bearer {GIVEN.token}":
                return await JSONResponse({"error": "unauthorized"}, 401)(scope, receive, send)
        await self.app(scope, receive, send)


def main() -> None:
    http, sse = mcp.streamable_http_app(), mcp.sse_app()

    @contextlib.asynccontextmanager
    async def life(app: Starlette) -> AsyncGenerator[None]:
        async with mcp.session_manager.run():
            yield

    async def forget(request: Request) -> Response:
        sessions: dict[str, Any] = mcp.session_manager._server_instances  # pyright: ignore[reportPrivateUsage]
        sessions.clear()
        return PlainTextResponse("forgotten")

    async def near(request: Request) -> Response:
        return RedirectResponse("/mcp", 307)

    async def away(request: Request) -> Response:
        return RedirectResponse("http://localhost:9/mcp", 307)

    async def page(request: Request) -> Response:
        return PlainTextResponse("<html>a login page</html>", media_type="text/html")

    async def large(request: Request) -> Response:
        return Response(b'"' + b"x" * 17_000_000 + b'"', media_type="application/json")

    async def half(request: Request) -> Response:
        identity = json.loads(await request.body()).get("id")
        words = r'{"code": -32000, "message": "cut \ud83d emoji"}'
        return Response(f'{{"jsonrpc": "2.0", "id": {identity}, "error": {words}}}', media_type="application/json")

    routes = [
        *http.routes,
        *sse.routes,
        Route("/forget", forget, methods=["POST"]),
        Route("/near", near, methods=["GET", "POST"]),
        Route("/away", away, methods=["GET", "POST"]),
        Route("/away/sse", away, methods=["GET"]),
        Route("/large", large, methods=["POST"]),
        Route("/half", half, methods=["POST"]),
        Route("/page/sse", page, methods=["GET"]),
        Route("/page", page, methods=["GET", "POST"]),
    ]
    app = Starlette(routes=routes, lifespan=life, middleware=[Middleware(Gate)])
    config = uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=GIVEN.fd)])


if __name__ == "__main__":
    main()
