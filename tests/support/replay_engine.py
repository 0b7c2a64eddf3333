"""Engines that replay recorded replies: behind MCP (stdio, SSE, Streamable HTTP) and behind plain HTTP.

Above: tests. Below: the SDK's low-level server, Starlette. Each keeps what it was asked. A call whose arguments the
recorded schema of the tool does not take is refused, as by the real servers. As a program it is an engine over stdio:
``replay_engine.py SCRIPT LOG`` with the tools and replies in one JSON file and a line in the other for each call.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.to_thread
import jsonschema
import uvicorn
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.sse import SseServerTransport
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

Row = dict[str, Any]
Result = Mapping[str, Any] | Callable[[Row], Mapping[str, Any]]
"""A tool's result as recorded, or a function of the arguments."""

DATA = Path(__file__).parents[1] / "data" / "engines"
DEADLINE_S = 20.0
_UNGUARDED = TransportSecuritySettings(enable_dns_rebinding_protection=False)
_INVALID_PARAMS = -32602


def captured(name: str) -> Any:
    """A recorded file, as ``serena/find_symbol``: the whole call, or a list of tools."""
    return json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))


def result_of(name: str) -> Row:
    """The result of a recorded call."""
    return captured(name)["result"]


def text_result(value: object, *, is_error: bool = False) -> Row:
    """A result of one text block: a text as it is, anything else as JSON."""
    text = value if isinstance(value, str) else json.dumps(value)
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


@dataclass
class _Held:
    """What both kinds have: a gate that holds every answer back, and an event for the first request."""

    gate: threading.Event = field(default_factory=threading.Event)
    entered: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.gate.set()

    async def pass_gate(self) -> None:
        self.entered.set()
        while not self.gate.is_set():
            await anyio.to_thread.run_sync(self.gate.wait, 0.05, abandon_on_cancel=True)


@dataclass
class ReplayEngine(_Held):
    """An engine behind MCP.

    Attributes:
        tools: What it advertises: names and input schemas.
        results: What each tool gives, also one that is not advertised.
        calls: Every call that it took, as (tool, arguments).
        headers: The headers of the last HTTP request.
        gate: Closed (cleared), every call hangs.
    """

    tools: Sequence[Row] = ()
    results: dict[str, Result] = field(default_factory=dict[str, Result])
    calls: list[tuple[str, Row]] = field(default_factory=list[tuple[str, Row]])
    headers: dict[str, str] = field(default_factory=dict[str, str])
    log: Path | None = None

    @classmethod
    def recorded(cls, product: str, results: Mapping[str, Result | str]) -> ReplayEngine:
        """A product by its recorded tools; results are names of recorded calls, or given."""
        known = {
            tool: result_of(f"{product}/{result}") if isinstance(result, str) else result
            for tool, result in results.items()
        }
        return cls(tools=captured(f"{product}/tools"), results=known)

    def server(self) -> Server[Any]:
        return Server("replay", version="1.0", on_list_tools=self._list, on_call_tool=self._call)

    async def _list(self, ctx: ServerRequestContext[Any], params: PaginatedRequestParams | None) -> ListToolsResult:
        del ctx, params
        return ListToolsResult.model_validate({"tools": list(self.tools)})

    async def _call(self, ctx: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
        del ctx
        arguments = dict(params.arguments or {})
        self._note(params.name, arguments)
        await self.pass_gate()
        return CallToolResult.model_validate(self._answer(params.name, arguments))

    def _note(self, tool: str, arguments: Row) -> None:
        self.calls.append((tool, arguments))
        if self.log is not None:
            with self.log.open("a", encoding="utf-8") as file:
                file.write(json.dumps([tool, arguments]) + "\n")

    def _answer(self, name: str, arguments: Row) -> Mapping[str, Any]:
        result = self.results.get(name)
        if result is None:
            return text_result(f"Unknown tool: {name}", is_error=True)
        refusal = self._refusal(name, arguments)
        if refusal is not None:
            return text_result(f"Input validation error: {refusal}", is_error=True)
        answer = result(arguments) if callable(result) else result
        if "_exception" in answer:
            raise MCPError(_INVALID_PARAMS, str(answer["_message"]))
        return answer

    def _refusal(self, name: str, arguments: Row) -> str | None:
        schema = next((tool["inputSchema"] for tool in self.tools if tool["name"] == name), None)
        if schema is None:
            return None
        unknown = sorted(set(arguments) - set(schema.get("properties", arguments)))
        if unknown:
            return f"unexpected argument {unknown[0]!r}"
        try:
            jsonschema.validate(arguments, schema)
        except jsonschema.ValidationError as fault:
            return str(fault.message)
        return None

    def app(self) -> ASGIApp:
        """SSE at ``/sse``, Streamable HTTP at ``/mcp``."""
        server, sse = self.server(), SseServerTransport("/messages/", security_settings=_UNGUARDED)
        streamable = server.streamable_http_app(transport_security=_UNGUARDED)
        routes = [*streamable.routes, Route("/sse", _Sse(server, sse)), Mount("/messages", app=sse.handle_post_message)]
        app = Starlette(routes=routes, lifespan=lambda _app: server.session_manager.run())

        async def noted(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "http":
                self.headers = dict(Request(scope).headers)
            await app(scope, receive, send)

        return noted


class _Sse:
    def __init__(self, server: Server[Any], transport: SseServerTransport) -> None:
        self._server, self._transport = server, transport

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._transport.connect_sse(scope, receive, send) as (inbound, outbound):
            await self._server.run(inbound, outbound, self._server.create_initialization_options())


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One HTTP request as the engine saw it; `path` is percent-encoded."""

    method: str
    path: str
    params: Mapping[str, str] = field(default_factory=dict[str, str])
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str], compare=False)


@dataclass
class ReplayHttp(_Held):
    """An engine behind plain HTTP: one body for every request, or a function of it that gives status and body."""

    body: Any = None
    status: int = 200
    requests: list[Asked] = field(default_factory=list[Asked])
    answer: Callable[[Asked], tuple[int, Any]] | None = None

    def app(self) -> ASGIApp:
        return Starlette(routes=[Route("/{path:path}", self._take, methods=["GET", "POST", "PUT", "PATCH", "DELETE"])])

    async def _take(self, request: Request) -> Response:
        raw = await request.body()
        asked = Asked(
            method=request.method,
            path=request.scope["raw_path"].decode(),
            params=dict(request.query_params),
            body=json.loads(raw) if raw else None,
            headers=dict(request.headers),
        )
        self.requests.append(asked)
        await self.pass_gate()
        status, body = (self.status, self.body) if self.answer is None else self.answer(asked)
        return JSONResponse(body, status)


class Announced(uvicorn.Server):
    """A server that says when it accepts connections."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()


@contextmanager
def served(engine: ReplayEngine | ReplayHttp) -> Generator[str]:
    """An engine on a free port of this machine, in a thread; its base URL."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = Announced(uvicorn.Config(engine.app(), log_config=None, timeout_graceful_shutdown=1))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        assert server.ready.wait(DEADLINE_S), "the engine did not start"
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            engine.gate.set()
            server.should_exit = True
            thread.join(DEADLINE_S)


def stdio_command(engine: ReplayEngine, folder: Path) -> list[str]:
    """The command line of an engine over stdio; what it is asked goes into ``folder/calls.jsonl``."""
    script = folder / "engine.json"
    script.write_text(json.dumps({"tools": list(engine.tools), "results": engine.results}), encoding="utf-8")
    return [sys.executable, str(Path(__file__)), str(script), str(folder / "calls.jsonl")]


def stdio_calls(folder: Path) -> list[tuple[str, Row]]:
    """What the engine of `stdio_command` was asked."""
    lines = (folder / "calls.jsonl").read_text(encoding="utf-8").splitlines()
    return [cast("tuple[str, Row]", tuple(json.loads(line))) for line in lines]


async def _speak(engine: ReplayEngine) -> None:
    server = engine.server()
    async with stdio_server() as (inbound, outbound):
        await server.run(inbound, outbound, server.create_initialization_options())


def _main(script: str, log: str) -> None:
    told = json.loads(Path(script).read_text(encoding="utf-8"))
    anyio.run(_speak, ReplayEngine(tools=told["tools"], results=told["results"], log=Path(log)))


if __name__ == "__main__":
    _main(*sys.argv[1:])
