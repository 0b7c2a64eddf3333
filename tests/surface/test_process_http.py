"""The HTTP server as a process of the system: its end drains, a second signal does not wait."""

from __future__ import annotations

import json
import re
import signal
import socket
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from callosum_mcp.cli.ending import AFTER_A_SIGNAL_S

from .noisy import installed, store
from .test_serve_command import announced
from .world import (
    DEADLINE_S,
    INITIALIZED,
    Pipe,
    Served,
    World,
    call,
    connected,
    eventually,
    http_target,
    initialize,
    pipe,
    request,
    served,
    sse_target,
    structured,
    world_in,
    write_config,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")

GUARD_S = 10.0
LONG = {"per_store_timeout_s": 60, "deadline_s": 60}


@contextmanager
def serving(config: Path, **environ: str) -> Generator[tuple[Pipe, str]]:
    with pipe("serve", "--transport", "http", "--port", "0", "--config", str(config), **environ) as opened:
        yield opened, announced(opened)


class Asked(threading.Thread):
    """A recall over REST that somebody waits for."""

    def __init__(self, url: str) -> None:
        super().__init__(daemon=True)
        self._url = url
        self.answer: httpx2.Response | None = None
        self.start()

    def run(self) -> None:
        body = {"query": "Hermes", "timeout_ms": 60_000}
        try:
            self.answer = httpx2.post(f"{self._url}/recall", json=body, trust_env=False, timeout=DEADLINE_S)
        except httpx2.HTTPError:
            return


def stopped_listening(url: str) -> bool:
    try:
        socket.create_connection(("127.0.0.1", urlsplit(url).port or 0), timeout=1).close()
    except OSError:
        return True
    return False


@pytest.mark.promise("8f")
def test_a_call_in_flight_is_answered_before_the_server_ends(tmp_path: Path) -> None:
    with world_in(tmp_path, federation=LONG) as world, serving(world.config) as (opened, url):
        world.memory.gate.clear()
        asked = Asked(url)
        assert world.memory.entered.wait(DEADLINE_S)
        opened.process.send_signal(signal.SIGTERM)
        eventually(lambda: stopped_listening(url), "it takes no new connections")
        world.memory.gate.set()
        asked.join(DEADLINE_S)
        assert asked.answer is not None and asked.answer.status_code == 200
        assert {engine["status"] for engine in asked.answer.json()["engines"]} == {"up"}
        opened.wait()


@pytest.mark.promise("8f")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_call_that_takes_longer_than_the_grace_does_not_keep_it(tmp_path: Path, number: int) -> None:
    with world_in(tmp_path, federation=LONG) as world, serving(world.config) as (opened, url):
        world.memory.gate.clear()
        Asked(url)
        assert world.memory.entered.wait(DEADLINE_S)
        with httpx2.stream("GET", f"{url}/sse", trust_env=False, timeout=DEADLINE_S) as stream:
            assert "endpoint" in next(stream.iter_lines())
            began = time.monotonic()
            opened.process.send_signal(number)
            opened.wait()
            assert time.monotonic() - began < AFTER_A_SIGNAL_S + GUARD_S
    assert "Traceback" not in b"".join(opened.complaints).decode()


@pytest.mark.parametrize(("first", "second"), [(signal.SIGTERM, signal.SIGTERM), (signal.SIGTERM, signal.SIGINT)])
def test_a_second_signal_ends_it_at_once(tmp_path: Path, first: int, second: int) -> None:
    with world_in(tmp_path, federation=LONG) as world, serving(world.config) as (opened, url):
        world.memory.gate.clear()
        Asked(url)
        assert world.memory.entered.wait(DEADLINE_S)
        opened.process.send_signal(first)
        eventually(lambda: stopped_listening(url), "the first signal was heard")
        opened.process.send_signal(second)
        assert opened.wait() == 128 + second


@pytest.mark.parametrize("does", ["block a thread", "leave a thread", "block the loop"])
def test_nothing_that_blocks_keeps_it_after_a_signal(tmp_path: Path, does: str) -> None:
    site = installed(tmp_path)
    config = write_config(site, [store(does=does, told=str(site / "told"))], federation=LONG)
    with serving(config, PYTHONPATH=str(site)) as (opened, url):
        Asked(url)
        eventually((site / "told").exists, "the store blocks")
        opened.process.send_signal(signal.SIGTERM)
        assert opened.process.wait(AFTER_A_SIGNAL_S + GUARD_S) in (128 + signal.SIGTERM, -signal.SIGTERM, 0)


@contextmanager
def deaf(url: str) -> Generator[socket.socket]:
    """An SSE client that reads its endpoint and then nothing more."""
    parts = urlsplit(url)
    with socket.socket() as opened:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        opened.connect((parts.hostname, parts.port))
        opened.sendall(f"GET /sse HTTP/1.1\r\nhost: {parts.netloc}\r\n\r\n".encode())
        yield opened


def endpoint(opened: socket.socket) -> str:
    """Where messages of this client go."""
    said = b""
    while (found := re.search(rb"data: (\S+session_id=\w+)\r?\n", said)) is None:
        said += opened.recv(1)
    return found[1].decode()


def say(client: httpx2.Client, place: str, *messages: dict[str, Any]) -> None:
    for message in messages:
        assert client.post(place, content=json.dumps(message)).status_code == 202


@pytest.fixture
def wide(world: World) -> Generator[Served]:
    with served(world.application()) as running:
        yield running


@pytest.mark.promise("8e")
async def test_a_client_that_does_not_read_holds_up_nobody_else(wide: Served) -> None:
    with deaf(wide.url) as opened, wide.client(headers={"content-type": "application/json"}) as poster:
        place = endpoint(opened)
        say(poster, place, initialize(1), INITIALIZED)
        say(poster, place, *(request(n, "tools/list") for n in range(2, 152)))  # far more than the buffers of a socket
        for target in (sse_target(wide.url), http_target(wide.url)):
            async with connected(target, "legacy") as client:
                assert structured(await client.call_tool("recall", {"query": "Hermes"}))["hits"]


async def test_progress_that_nobody_reads_does_not_hold_up_who_asks_the_same(wide: Served) -> None:
    """Both share one fan-out; the deaf client's progress must not be a part of it."""
    with deaf(wide.url) as opened, wide.client(headers={"content-type": "application/json"}) as poster:
        place = endpoint(opened)
        say(poster, place, initialize(1), INITIALIZED)
        say(poster, place, *(request(n, "tools/list") for n in range(2, 152)))
        for n in range(200, 232):  # as many as may be in flight at once
            asked = call(n, "recall", query="Hermes shared", n_results=1 + n % 8)
            asked["params"]["_meta"] = {"progressToken": n}
            say(poster, place, asked)
        async with connected(sse_target(wide.url), "legacy") as client:
            for n_results in range(1, 9):
                arguments = {"query": "Hermes shared", "n_results": n_results}
                assert structured(await client.call_tool("recall", arguments))["hits"]
        eventually(lambda: wide.application.federation.admission.in_flight == 0, "every call has given up its place")
