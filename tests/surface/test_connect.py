"""``callosum-mcp connect URL``: a stdio client on this side, a remote callosum on the other."""

from __future__ import annotations

import socket
import threading
from collections.abc import Generator

import anyio
import pytest
from pydantic import SecretStr
from starlette.types import Message, Receive, Scope, Send

from callosum_mcp.cli import connect as connect_module
from callosum_mcp.surface.guard import Guard, Policy

from .fakes import episode
from .world import (
    INITIALIZED,
    Inside,
    Served,
    World,
    call,
    connected,
    initialize,
    inside,
    modern,
    pipe,
    request,
    served,
    stdio_target,
    structured,
)

TOKEN = "remote secret"


@pytest.fixture(scope="module")
def locked(world: World) -> Generator[Served]:
    with served(world.application(), Policy(tokens=(SecretStr(TOKEN),))) as running:
        yield running


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Codes the command would have ended the process with."""
    codes: list[int] = []
    monkeypatch.setattr(connect_module, "leave", codes.append)
    return codes


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("path", ["/mcp", "/sse"])
async def test_a_stdio_client_lists_and_calls_through_the_shim(server: Served, path: str, mode: str) -> None:
    async with connected(stdio_target(["connect", server.url + path]), mode) as client:
        assert len((await client.list_tools()).tools) == 7
        result = await client.call_tool("recall", {"query": "Is Hermes active?"})
        assert {hit["store"] for hit in structured(result)["hits"]} == {"notes", "memory", "loci"}
        assert (await client.call_tool("recall", {"query": ""})).is_error


@pytest.mark.parametrize("path", ["/mcp", "/sse"])
def test_frames_pass_both_ways(monkeypatch: pytest.MonkeyPatch, server: Served, path: str, left: list[int]) -> None:
    with inside(monkeypatch, "connect", server.url + path) as opened:
        opened.write(initialize(1))
        assert opened.answer(1)["result"]["serverInfo"]["name"] == "callosum-mcp"
        opened.write(INITIALIZED, b"not json\n", request(2, "tools/list"))
        assert len(opened.answer(2)["result"]["tools"]) == 7
        asked = call(3, "recall", query="Hermes")
        asked["params"]["_meta"] = {"progressToken": "p"}
        opened.write(asked)
        assert opened.answer(3)["result"]["structuredContent"]["hits"]
        assert opened.until(lambda m: m.get("method") == "notifications/progress")["params"]["total"] == 3
        assert opened.end() == 0
    assert left == []


@pytest.mark.parametrize("path", ["/mcp", "/sse"])
def test_the_token_goes_with_every_request(
    monkeypatch: pytest.MonkeyPatch, locked: Served, path: str, left: list[int]
) -> None:
    monkeypatch.setenv("CALLOSUM_REMOTE", TOKEN)
    with inside(monkeypatch, "connect", locked.url + path, "--token-env", "CALLOSUM_REMOTE") as opened:
        opened.write(initialize(1))
        opened.answer(1)
        opened.write(INITIALIZED, call(2, "list_stores"))
        assert opened.answer(2)["result"]["structuredContent"]["stores"]
        assert opened.end() == 0
    assert left == []


class LateHello:
    """In front of a server: `initialize` is answered after a request that is sent behind it, if one is."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._more = anyio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._guard(scope, receive, send)
        first = await receive()
        if b'"initialize"' in first.get("body", b""):
            with anyio.move_on_after(0.5):
                await self._more.wait()
        elif b'"tools/' in first.get("body", b""):
            self._more.set()
        passed: list[Message] = [first]

        async def again() -> Message:
            return passed.pop() if passed else await receive()

        await self._guard(scope, again, send)


def test_what_a_client_sends_behind_its_initialize_belongs_to_that_session(
    monkeypatch: pytest.MonkeyPatch, world: World, left: list[int]
) -> None:
    with served(world.application(), before=LateHello) as server:
        with inside(monkeypatch, "connect", f"{server.url}/mcp") as opened:
            opened.write(initialize(1), INITIALIZED, call(2, "list_stores"), request(3, "tools/list"))
            assert len(opened.answer(3)["result"]["tools"]) == 7
            assert opened.answer(2)["result"]["structuredContent"]["stores"]
            assert opened.answer(1)["result"]["serverInfo"]["name"] == "callosum-mcp"
            assert opened.end() == 0
    assert left == []


def test_a_client_that_leaves_before_initialize_is_answered_ends_the_shim(
    monkeypatch: pytest.MonkeyPatch, world: World, left: list[int]
) -> None:
    with served(world.application(), before=LateHello) as server:
        with inside(monkeypatch, "connect", f"{server.url}/mcp") as opened:
            opened.write(initialize(1), INITIALIZED, call(2, "list_stores"))
            assert opened.end() == 0
    assert left == []


def test_a_large_answer_passes(monkeypatch: pytest.MonkeyPatch, server: Served, world: World, left: list[int]) -> None:
    kept = world.memory.rows
    world.memory.rows = [episode(f"s{n}", f"{n} " + "Hermes " * 900) for n in range(40)]
    try:
        for path in ("/mcp", "/sse"):
            with inside(monkeypatch, "connect", server.url + path) as opened:
                opened.write(initialize(1))
                opened.answer(1)
                opened.write(INITIALIZED, call(2, "recall", query="Hermes", n_results=50, budget_tokens=20_000))
                assert len(str(opened.answer(2))) > 50_000
    finally:
        world.memory.rows = kept


def unused() -> str:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


def released(opened: Inside, left: list[int], monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Lets the command go on where the process would have ended, and says that it got there."""
    reached = threading.Event()

    def leave(code: int) -> None:
        left.append(code)
        opened.hang_up()
        reached.set()

    monkeypatch.setattr(connect_module, "leave", leave)
    return reached


@pytest.mark.parametrize("path", ["/mcp", "/sse"])
def test_an_unreachable_remote_is_one_line_and_exit_1_at_once(path: str) -> None:
    url = unused()
    with pipe("connect", url + path) as opened:
        opened.write(initialize(1))
        assert opened.wait() == 1
    said = b"".join(opened.complaints).decode()
    assert said.count("\n") == 1 and url in said and "cannot be reached" in said
    assert opened.lines == []


@pytest.mark.parametrize(
    ("path", "said"), [("/sse", "it answers 401; name the variable with its token by --token-env"), ("/no/sse", "401")]
)
def test_a_remote_that_says_no_is_one_line_and_exit_1(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    locked: Served,
    left: list[int],
    path: str,
    said: str,
) -> None:
    with inside(monkeypatch, "connect", locked.url + path) as opened:
        opened.hang_up()
        assert opened.wait() == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and said in error and TOKEN not in error


def test_a_remote_without_that_page_says_404(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], server: Served, left: list[int]
) -> None:
    with inside(monkeypatch, "connect", f"{server.url}/no/sse") as opened:
        opened.hang_up()
        assert opened.wait() == 1
    assert "it answers 404" in capsys.readouterr().err


def test_a_remote_that_goes_away_ends_the_shim(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], world: World
) -> None:
    left: list[int] = []
    with served(world.application()) as server:
        opened = Inside(monkeypatch, "connect", f"{server.url}/sse")
        reached = released(opened, left, monkeypatch)
        opened.write(initialize(1))
        opened.answer(1)
    try:
        assert reached.wait(10)
        assert opened.wait() == 1
        assert left == [1]
        assert capsys.readouterr().err.count("\n") == 1
    finally:
        opened.close()


def test_a_wrong_token_over_http_reaches_the_client_as_an_error(
    monkeypatch: pytest.MonkeyPatch, locked: Served, left: list[int]
) -> None:
    with inside(monkeypatch, "connect", f"{locked.url}/mcp") as opened:
        opened.write(modern(1, "server/discover"))
        assert "error" in opened.answer(1)


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["ftp://127.0.0.1/mcp"], "http://"),
        (["127.0.0.1:7423/mcp"], "http://"),
        (["http://127.0.0.1/mcp", "--token-env", "CALLOSUM_UNSET"], "CALLOSUM_UNSET"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], wanted: str
) -> None:
    with inside(monkeypatch, "connect", *arguments) as opened:
        assert opened.wait() == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and wanted in said


def test_a_client_that_reads_no_more_ends_the_shim(
    monkeypatch: pytest.MonkeyPatch, server: Served, left: list[int]
) -> None:
    opened = Inside(monkeypatch, "connect", f"{server.url}/mcp", listen=False)
    reached = released(opened, left, monkeypatch)
    opened.write(initialize(1))
    assert opened.out.readline()
    opened.out.close()
    opened.write(call(2, "list_stores"))
    assert reached.wait(10)
    opened.close()
    assert left == [0]
