"""``callosum-mcp serve``: as a process over HTTP, where it may listen, and its end."""

from __future__ import annotations

import os
import re
import signal
import socket
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
import uvicorn

from callosum_mcp.app import build
from callosum_mcp.cli import ending
from callosum_mcp.settings import load
from callosum_mcp.surface.mcp_server import build_server
from callosum_mcp.surface.stdio import serve_stdio
from callosum_mcp.surface.tools import TOOLS
from callosum_mcp.surface.wire import Wire

from .world import (
    INITIALIZED,
    Inside,
    Pipe,
    World,
    call,
    connected,
    eventually,
    http_target,
    initialize,
    inside,
    modern,
    pipe,
    request,
    sse_target,
    world_in,
    write_config,
)


def announced(opened: Pipe) -> str:
    """The URL on the one line that the server writes to stderr."""
    line = opened.complaint(lambda text: "/mcp" in text)
    found = re.search(r"http://\S+:\d+", line)
    assert found is not None, line
    return found.group()


@pytest.mark.promise("8f")
@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_a_served_port_answers_mcp_sse_and_rest_and_stops_at_a_signal(world: World, transport: str) -> None:
    with pipe("serve", "--transport", transport, "--port", "0", "--config", str(world.config)) as opened:
        url = announced(opened)
        for target in (http_target(url), sse_target(url)):
            async with connected(target, "auto") as client:
                assert not (await client.call_tool("recall", {"query": "Hermes"})).is_error
        assert httpx2.get(f"{url}/ready", trust_env=False).json() == {"ready": True}
        opened.process.send_signal(signal.SIGTERM)
        opened.wait()
        assert opened.lines == []
        assert "Traceback" not in b"".join(opened.complaints).decode()


@pytest.mark.promise("8f")
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
async def test_an_open_sse_connection_does_not_keep_the_server_from_stopping(world: World) -> None:
    with pipe("serve", "--transport", "http", "--port", "0", "--config", str(world.config)) as opened:
        with httpx2.stream("GET", f"{announced(opened)}/sse", trust_env=False, timeout=10) as stream:
            assert "endpoint" in next(stream.iter_lines())
            opened.process.send_signal(signal.SIGTERM)
            opened.wait()
    assert "Traceback" not in b"".join(opened.complaints).decode()


def test_the_token_of_the_settings_guards_the_served_port(world: World, tmp_path: Path) -> None:
    config = write_config(tmp_path, [], server={"bearer_token_env": "CALLOSUM_TEST_TOKEN", "port": 0})
    arguments = ("serve", "--transport", "http", "--config", str(config))
    with pipe(*arguments, CALLOSUM_TEST_TOKEN="s3cret") as opened:
        url = announced(opened)
        assert httpx2.get(f"{url}/stores", trust_env=False).status_code == 401
        bearer = {"authorization": "Bearer s3cret"}
        assert httpx2.get(f"{url}/stores", trust_env=False, headers=bearer).status_code == 200
    assert "s3cret" not in b"".join(opened.complaints).decode()


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::"])
def test_listening_beyond_loopback_without_a_token_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], world: World, host: str
) -> None:
    with inside(monkeypatch, "serve", "--transport", "http", "--host", host, "--config", str(world.config)) as opened:
        assert opened.wait() == 78
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and host in said
    assert "bearer_token_env" in said and "allow_open_lan" in said


@pytest.mark.promise("5a")
def test_a_refusal_to_listen_is_exit_78_of_the_process(world: World) -> None:
    with pipe("serve", "--transport", "http", "--host", "0.0.0.0", "--config", str(world.config)) as opened:
        assert opened.wait() == 78


def test_a_taken_port_is_one_line_and_exit_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], world: World
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with inside(
            monkeypatch, "serve", "--transport", "sse", "--port", port, "--config", str(world.config)
        ) as opened:
            assert opened.wait() == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and port in said and "--port" in said


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> list[uvicorn.Server]:
    """Every uvicorn server made from here on."""
    made: list[uvicorn.Server] = []

    class Recorded(uvicorn.Server):
        def __init__(self, config: uvicorn.Config) -> None:
            super().__init__(config)
            made.append(self)

        def run(self, sockets: list[socket.socket] | None = None) -> None:
            assert sockets is not None
            self.protocols = [listener.proto for listener in sockets]
            super().run(sockets)

    monkeypatch.setattr(uvicorn, "Server", Recorded)
    return made


def stop(opened: Inside, servers: list[uvicorn.Server]) -> None:
    eventually(lambda: bool(servers) and servers[0].started, "the server starts")
    servers[0].should_exit = True
    assert opened.wait() == 0


def served_inside(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], servers: list[uvicorn.Server], *arguments: str
) -> Generator[str]:
    with inside(monkeypatch, "serve", "--transport", "http", "--port", "0", *arguments) as opened:
        eventually(lambda: bool(servers) and servers[0].started, "the server starts")
        yield capsys.readouterr().err.split()[1]
        stop(opened, servers)


def test_small_answers_leave_at_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], servers: list[uvicorn.Server], world: World
) -> None:
    """Without a named protocol asyncio sets no TCP_NODELAY, and each answer waits 40 ms for an acknowledgement."""
    for url in served_inside(monkeypatch, capsys, servers, "--config", str(world.config)):
        assert httpx2.get(f"{url}/ready", trust_env=False).status_code == 200
        assert vars(servers[0])["protocols"] == [socket.IPPROTO_TCP]


def open_lan(folder: Path, **server: Any) -> str:
    return str(write_config(folder, [], server={"allow_open_lan": True, **server}))


def codes(url: str, *hosts: str) -> dict[str, int]:
    port = url.rpartition(":")[2]
    return {
        host: httpx2.get(f"http://127.0.0.1:{port}/ready", headers={"host": host}, trust_env=False).status_code
        for host in hosts
    }


def test_an_open_lan_takes_addresses_but_no_names_that_could_be_rebound(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], servers: list[uvicorn.Server], tmp_path: Path
) -> None:
    for url in served_inside(monkeypatch, capsys, servers, "--host", "0.0.0.0", "--config", open_lan(tmp_path)):
        assert codes(url, "192.0.2.7:7423", "[2001:db8::1]:1", "evil.example", "localhost") == {
            "192.0.2.7:7423": 503,  # no store is configured: not ready, but let in
            "[2001:db8::1]:1": 503,
            "evil.example": 421,
            "localhost": 503,
        }


def test_named_hosts_alone_are_taken_where_they_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], servers: list[uvicorn.Server], tmp_path: Path
) -> None:
    config = open_lan(tmp_path, allowed_hosts=["box.lan:*"])
    for url in served_inside(monkeypatch, capsys, servers, "--host", "0.0.0.0", "--config", config):
        assert codes(url, "box.lan", "192.0.2.7", "evil.example") == {
            "box.lan": 503,
            "192.0.2.7": 421,
            "evil.example": 421,
        }


def test_ipv6_is_listened_on_and_shown_in_brackets(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], servers: list[uvicorn.Server], tmp_path: Path
) -> None:
    if not socket.has_ipv6:
        pytest.skip("no IPv6 here")
    for url in served_inside(monkeypatch, capsys, servers, "--host", "::1", "--config", open_lan(tmp_path)):
        assert url.startswith("http://[::1]:")
        assert httpx2.get(f"{url}/ready", trust_env=False).status_code == 503


def test_stdio_speaks_both_eras_and_mends_or_refuses_bad_frames(monkeypatch: pytest.MonkeyPatch, world: World) -> None:
    with inside(monkeypatch, "serve", "--config", str(world.config)) as opened:
        opened.write(modern(1, "server/discover"), initialize(2), INITIALIZED)
        assert opened.answer(1)["result"]["supportedVersions"]
        assert opened.answer(2)["result"]["protocolVersion"] == "2025-11-25"
        opened.write(call(3, "recall", query="Hermes \ud800"), b"nonsense\n", b"[]\n", b"\n", request(4, "tools/list"))
        assert opened.answer(3)["result"]["structuredContent"]["hits"]
        assert len(opened.answer(4)["result"]["tools"]) == len(TOOLS)
        assert opened.end() == 0
    refused = [m["error"]["code"] for m in opened.messages() if m.get("id") is None and "error" in m]
    assert refused == [-32700, -32600]


def test_the_death_of_the_parent_ends_serving(monkeypatch: pytest.MonkeyPatch, world: World) -> None:
    left: list[int] = []
    monkeypatch.setattr(ending, "_WATCH_S", 0.01)
    with inside(monkeypatch, "serve", "--config", str(world.config)) as opened:

        def leave(code: int) -> None:
            left.append(code)
            opened.hang_up()

        monkeypatch.setattr(ending, "leave", leave)
        opened.write(initialize(1), INITIALIZED)
        opened.answer(1)
        monkeypatch.setattr(os, "getppid", lambda: 1)
        opened.wait()
    assert left == [0]


async def test_cancelled_serving_says_that_stdin_is_still_open(tmp_path: Path) -> None:
    stdin, to = os.pipe()
    with os.fdopen(stdin, "rb") as reading, os.fdopen(os.open(os.devnull, os.O_WRONLY), "wb") as writing:
        application = build(load(write_config(tmp_path, []), {}, tmp_path))
        services = application.services()
        with anyio.fail_after(10), anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(serve_stdio, build_server(services), Wire(reading, writing), lambda: os.close(to))
                await anyio.wait_all_tasks_blocked()
                scope.cancel()
    with pytest.raises(OSError):
        os.close(to)


def test_an_http_server_survives_stores_that_hang(tmp_path: Path) -> None:
    with world_in(tmp_path, federation={"per_store_timeout_s": 1.0}) as world:
        world.memory.gate.clear()
        with pipe("serve", "--transport", "http", "--port", "0", "--config", str(world.config)) as opened:
            url = announced(opened)
            body = httpx2.post(f"{url}/search", json={"query": "Hermes"}, trust_env=False, timeout=10).json()
        assert [(f["name"], f["reason"].partition(":")[0]) for f in body["failed"]] == [("memory", "timeout")]
        assert {"notes", "loci"} == set(body["stores_searched"])
