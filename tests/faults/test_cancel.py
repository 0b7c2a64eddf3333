"""A caller that cancels, or goes away, however it is connected: every store is told, an engine by its own request's id.

Each test asks five stores that hang, one over each transport, gives up when all have been asked, and waits until the
fault server sees it: plain HTTP by a connection that is closed, MCP by ``notifications/cancelled``.
"""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
import pytest
from mcp.client.client import Client
from surface.world import INITIALIZED, Pipe, call, connected, http_target, initialize, modern, pipe, sse_target

from .house import LONG_S, OverHttp, engine, nonce, over_http, over_stdio, settings, variables
from .modes import Row
from .running import WAYS, Faults, running

SEARCH = {"memory": "/search", "loci": "/search"}
ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def faults() -> Generator[Faults]:
    with running({way: way for way in WAYS}) as opened:
        yield opened


@pytest.fixture(scope="module")
def config(faults: Faults, tmp_path_factory: pytest.TempPathFactory) -> str:
    return settings(tmp_path_factory.mktemp("cancel"), faults, federation={"per_store_timeout_s": LONG_S})


@pytest.fixture(scope="module")
def server(config: str) -> Generator[OverHttp]:
    with over_http(config) as opened:
        yield opened


@pytest.fixture
def warm(faults: Faults, server: OverHttp) -> None:
    """Every store is connected to, and none was ever found to fail."""
    answered(faults, server)
    hung(faults)


def answered(faults: Faults, server: OverHttp) -> None:
    faults.set("*", "ok")
    answer = server.recall(nonce())
    assert [engine(answer, way)["status"] for way in WAYS] == ["up"] * len(WAYS)


def hung(faults: Faults) -> None:
    for way in WAYS:
        faults.set(way, "hang", only=SEARCH.get(way, "tools/call"))


class Hanging:
    """A question that hangs in every store."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._since = faults.now()
        self.query = nonce()

    def under_way(self) -> None:
        """Wait until every store has been asked."""
        for way in WAYS:
            assert self._faults.wait(way, "asked", self._since)["query"] == self.query

    def given_up(self) -> None:
        """Wait until every store has been told that nobody wants the answer any more."""
        for way in WAYS:
            asked = self._faults.wait(way, "asked", self._since)
            if way in SEARCH:
                assert self._faults.wait(way, "gone", self._since)["query"] == self.query
            else:
                assert self._faults.wait(way, "cancelled", self._since)["id"] == asked["id"]

    @property
    def arguments(self) -> Row:
        return {"query": self.query}


@contextmanager
def sent(url: str, method: str, path: str, body: object = None, **headers: str) -> Generator[socket.socket]:
    """A request on a connection of its own, which is closed in the end without having read the answer."""
    parts = urlsplit(url)
    content = b"" if body is None else json.dumps(body).encode()
    lines = {"host": parts.netloc, "content-length": str(len(content)), **ACCEPT, **headers}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    with socket.create_connection((str(parts.hostname), parts.port or 80), timeout=LONG_S) as connection:
        connection.sendall(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + content)
        yield connection


def session_headers(server: OverHttp) -> dict[str, str]:
    """The headers of a new session of the 2025 era."""
    hello = server.client.post("/mcp", json=initialize(), headers=ACCEPT)
    headers = {"mcp-session-id": hello.headers["mcp-session-id"], "mcp-protocol-version": "2025-11-25"}
    server.client.post("/mcp", json=INITIALIZED, headers={**ACCEPT, **headers})
    return headers


@pytest.mark.promise("1e")
@pytest.mark.parametrize("path", ["/recall", "/search", "/ask"])
@pytest.mark.usefixtures("warm")
def test_a_caller_of_rest_that_disconnects_is_not_worked_for(faults: Faults, server: OverHttp, path: str) -> None:
    hanging = Hanging(faults)
    with sent(server.url, "POST", path, hanging.arguments):
        hanging.under_way()
    hanging.given_up()
    answered(faults, server)


@pytest.mark.promise("1e")
@pytest.mark.usefixtures("warm")
def test_a_probe_whose_caller_disconnects_is_given_up(faults: Faults, server: OverHttp) -> None:
    since = faults.now()
    faults.set("memory", "hang", only="/")
    with sent(server.url, "GET", "/stores?probe=1"):
        faults.wait("memory", "asked", since)
    assert faults.wait("memory", "gone", since)["path"] == "/"


@pytest.mark.promise("1e")
@pytest.mark.parametrize("slash", ["", "/"])
@pytest.mark.usefixtures("warm")
def test_a_client_of_a_session_that_disconnects_is_not_worked_for(faults: Faults, server: OverHttp, slash: str) -> None:
    hanging, headers = Hanging(faults), session_headers(server)
    with sent(server.url, "POST", f"/mcp{slash}", call(7, "recall", **hanging.arguments), **headers):
        hanging.under_way()
    hanging.given_up()
    answered(faults, server)
    pong = server.client.post("/mcp", json={"jsonrpc": "2.0", "id": 8, "method": "ping"}, headers={**ACCEPT, **headers})
    assert pong.status_code == 200, "the session goes on"


@pytest.mark.promise("1e")
@pytest.mark.usefixtures("warm")
def test_a_stateless_client_that_disconnects_is_not_worked_for(faults: Faults, server: OverHttp) -> None:
    hanging = Hanging(faults)
    asked = modern(7, "tools/call", {"name": "recall", "arguments": hanging.arguments})
    version = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "recall"}
    with sent(server.url, "POST", "/mcp", asked, **version):
        hanging.under_way()
    hanging.given_up()
    answered(faults, server)


@pytest.mark.promise("1e")
@pytest.mark.usefixtures("warm")
def test_a_client_over_sse_that_disconnects_is_not_worked_for(faults: Faults, server: OverHttp) -> None:
    hanging = Hanging(faults)
    with sent(server.url, "GET", "/sse") as stream, stream.makefile("rb") as lines:
        endpoint = next(line for line in lines if line.startswith(b"data:"))[5:].strip().decode()
        for message in (initialize(), INITIALIZED, call(7, "recall", **hanging.arguments)):
            assert server.client.post(endpoint, json=message).status_code == 202
        hanging.under_way()
    hanging.given_up()
    answered(faults, server)


Target = Callable[[str], AbstractAsyncContextManager[Any]]


@asynccontextmanager
async def calling(client: Client, arguments: Row) -> AsyncGenerator[None]:
    """A call under way, cancelled in the end."""
    async with anyio.create_task_group() as group:
        group.start_soon(client.call_tool, "recall", arguments)
        yield
        group.cancel_scope.cancel()


@pytest.mark.promise("1d", "P40")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("target", [http_target, sse_target])
@pytest.mark.usefixtures("warm")
async def test_a_call_that_its_client_cancels_is_cancelled_in_every_store(
    faults: Faults, server: OverHttp, target: Target, mode: str
) -> None:
    hanging = Hanging(faults)
    async with connected(target(server.url), mode) as client:
        async with calling(client, hanging.arguments):
            await anyio.to_thread.run_sync(hanging.under_way)
        await anyio.to_thread.run_sync(hanging.given_up)
        await anyio.to_thread.run_sync(answered, faults, server)
        assert not (await client.call_tool("recall", {"query": nonce()})).is_error


CANCELLED = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}


@contextmanager
def child(faults: Faults, *arguments: str, config: str) -> Generator[Pipe]:
    """Our command over stdio, every store connected to and hanging."""
    faults.set("*", "ok")
    with pipe(*arguments, **variables(config)) as opened:
        opened.write(initialize(), INITIALIZED, call(2, "recall", query=nonce()))
        assert not opened.answer(2)["result"]["isError"]
        hung(faults)
        yield opened


@pytest.mark.promise("1d")
def test_a_call_over_stdio_that_is_cancelled_is_cancelled_in_every_store(faults: Faults, config: str) -> None:
    with child(faults, "serve", "--config", config, config=config) as opened:
        hanging = Hanging(faults)
        opened.write(call(7, "recall", **hanging.arguments))
        hanging.under_way()
        opened.write(CANCELLED)
        hanging.given_up()
        faults.set("*", "ok")
        opened.write(call(8, "recall", query=nonce()))
        assert {e["status"] for e in opened.answer(8)["result"]["structuredContent"]["engines"]} == {"up"}
        assert not [message for message in opened.messages() if message.get("id") == 7 and "result" in message]


@pytest.mark.promise("1e")
def test_a_client_over_stdio_that_goes_away_is_not_worked_for(faults: Faults, config: str) -> None:
    with child(faults, "serve", "--config", config, config=config) as opened:
        hanging = Hanging(faults)
        opened.write(call(7, "recall", **hanging.arguments))
        hanging.under_way()
        opened.hang_up()
        hanging.given_up()
        assert opened.wait() == 0


@pytest.mark.promise("1d")
@pytest.mark.parametrize("path", ["/mcp", "/sse"])
@pytest.mark.parametrize("goes", [False, True])
@pytest.mark.usefixtures("warm")
def test_a_call_through_the_shim_is_cancelled_in_every_store(
    faults: Faults, server: OverHttp, config: str, path: str, goes: bool
) -> None:
    with child(faults, "connect", server.url + path, config=config) as opened:
        hanging = Hanging(faults)
        opened.write(call(7, "recall", **hanging.arguments))
        hanging.under_way()
        if goes:
            opened.hang_up()
        else:
            opened.write(CANCELLED)
        hanging.given_up()


@pytest.mark.promise("1f")
def test_a_caller_that_waits_for_the_same_keeps_its_answer_when_another_goes(tmp_path: Path) -> None:
    with running({"memory": "memory"}) as faults:
        with over_http(settings(tmp_path, faults)) as server:
            faults.set("memory", "slow", ms=1_000, only="/search")
            body, since = {"query": nonce()}, faults.now()
            with sent(server.url, "POST", "/recall", body) as stays:
                faults.wait("memory", "asked", since)
                with sent(server.url, "POST", "/recall", body):
                    pass
                assert stays.recv(12) == b"HTTP/1.1 200"
            assert len(faults.events("memory", "asked", since)) >= 1


@pytest.mark.promise("P40")
def test_a_late_answer_of_a_call_that_was_cancelled_is_nobodys(tmp_path: Path) -> None:
    """The engine answers the cancelled call all the same, while the next one is under way."""
    with running({"child": "stdio"}) as faults:
        with over_stdio(settings(tmp_path, faults)) as server:
            server.recall(nonce())
            faults.set("child", "slow", ms=300, only="tools/call")
            since, first = faults.now(), server.ask(nonce())
            faults.wait("child", "asked", since)
            server.pipe.write({**CANCELLED, "params": {"requestId": first}})
            faults.wait("child", "cancelled", since)
            asked = nonce()
            found = server.recall(asked)["structuredContent"]["hits"]
            assert found and all(asked in hit["text"] for hit in found)
