"""stdio as a client sees it on raw pipes: nothing but JSON-RPC, both eras, bad frames, its end."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from callosum_mcp.surface.tools import TOOLS

from .fakes import episode
from .world import (
    INITIALIZED,
    Pipe,
    World,
    call,
    command,
    eventually,
    initialize,
    modern,
    pipe,
    process_environment,
    request,
    world_in,
)


@pytest.fixture(scope="module")
def talk(world: World) -> Generator[Pipe]:
    """One process for the tests that leave it alive."""
    with pipe("serve", "--config", str(world.config)) as opened:
        opened.write(initialize(1), INITIALIZED)
        opened.answer(1)
        yield opened
        assert all(message["jsonrpc"] == "2.0" for message in opened.messages())


@pytest.fixture
def fresh(world: World) -> Generator[Pipe]:
    """A process of the test's own."""
    with pipe("serve", "--config", str(world.config)) as opened:
        yield opened


def test_discover_followed_by_initialize_on_one_connection_works(fresh: Pipe) -> None:
    fresh.write(modern(1, "server/discover"), initialize(2), INITIALIZED, request(3, "tools/list"))
    assert "2026-07-28" in fresh.answer(1)["result"]["supportedVersions"]
    assert fresh.answer(2)["result"]["protocolVersion"] == "2025-11-25"
    assert len(fresh.answer(3)["result"]["tools"]) == len(TOOLS)
    fresh.write(modern(4, "tools/list"), call(5, "recall", query="Hermes"))
    assert len(fresh.answer(4)["result"]["tools"]) == len(TOOLS)
    assert fresh.answer(5)["result"]["structuredContent"]["hits"]
    assert fresh.end() == 0
    assert len(fresh.messages()) == 5


def test_initialize_followed_by_discover_works(fresh: Pipe) -> None:
    fresh.write(initialize(1), modern(2, "server/discover"), INITIALIZED, call(3, "list_stores"))
    assert fresh.answer(1)["result"]["serverInfo"]["name"] == "callosum-mcp"
    assert "2026-07-28" in fresh.answer(2)["result"]["supportedVersions"]
    assert fresh.answer(3)["result"]["structuredContent"]["stores"]


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_each_older_revision_is_spoken(talk: Pipe, version: str) -> None:
    hello = initialize(hash(version) % 1_000_000)
    hello["params"]["protocolVersion"] = version
    talk.write(hello)
    assert talk.answer(hello["id"])["result"]["protocolVersion"] == version


def test_pipelined_requests_are_all_answered(talk: Pipe) -> None:
    identities = range(100, 140)
    talk.write(*(call(n, "recall", query=f"Hermes {n}") if n % 2 else modern(n, "tools/list") for n in identities))
    answers = [talk.answer(n) for n in identities]
    assert all("result" in found for found in answers)
    asked = [found["result"]["structuredContent"]["query"] for found in answers if found["id"] % 2]
    assert asked == [f"Hermes {n}" for n in identities if n % 2]


@pytest.mark.promise("8e")
def test_answers_do_not_wait_for_a_slow_one(talk: Pipe, world: World) -> None:
    world.memory.gate.clear()
    try:
        talk.write(
            call(200, "recall", query="slow", stores=["memory"]), call(201, "recall", query="x", stores=["loci"])
        )
        assert talk.answer(201)["result"]["structuredContent"]["hits"]
        assert not [m for m in talk.messages() if m.get("id") == 200]
    finally:
        world.memory.gate.set()
    assert talk.answer(200)["result"]["structuredContent"]["hits"]


def test_a_cancelled_call_is_not_answered_and_the_server_goes_on(talk: Pipe, world: World) -> None:
    world.memory.gate.clear()
    world.memory.entered.clear()
    try:
        talk.write(call(210, "recall", query="slow", stores=["memory"]))
        assert world.memory.entered.wait(10)
        talk.write({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 210}})
        talk.write(call(211, "list_stores"))
        talk.answer(211)
    finally:
        world.memory.gate.set()
    talk.write(call(212, "recall", query="Hermes", stores=["memory"]))
    talk.answer(212)
    assert not [m for m in talk.messages() if m.get("id") == 210 and "result" in m]


PARSE_ERROR, INVALID_REQUEST = -32700, -32600
GARBAGE = [
    (b"not json\n", PARSE_ERROR),
    (b'{"jsonrpc": "2.0", "id": 1\n', PARSE_ERROR),
    (b"[1, 2, 3]\n", INVALID_REQUEST),
    (b"[]\n", INVALID_REQUEST),
    (b"null\n", INVALID_REQUEST),
    (b'"text"\n', INVALID_REQUEST),
    (b'{"jsonrpc": "1.0", "id": 5, "method": "ping"}\n', INVALID_REQUEST),
    (b"\xff\xfe\xfa\n", PARSE_ERROR),
    (b"[" * 100_000 + b"\n", PARSE_ERROR),
    (b'{"a":' * 50_000 + b"\n", PARSE_ERROR),
    (b"\xef\xbb\xbf\n", PARSE_ERROR),
    (b"\x00\n", PARSE_ERROR),
]


@pytest.mark.promise("8a")
def test_a_garbage_line_gets_the_error_it_is_due_and_the_server_goes_on(fresh: Pipe) -> None:
    fresh.write(initialize(1), INITIALIZED)
    fresh.answer(1)
    for number, (line, _) in enumerate(GARBAGE):
        fresh.write(line, call(100 + number, "list_stores"))
        assert fresh.answer(100 + number)["result"]["structuredContent"]["stores"], line[:40]
    assert fresh.end() == 0
    errors = [message for message in fresh.messages() if message.get("id") is None and "error" in message]
    assert [error["error"]["code"] for error in errors] == [code for _, code in GARBAGE]
    assert "Traceback" not in b"".join(fresh.complaints).decode()


def test_garbage_before_the_first_request_does_no_harm(fresh: Pipe) -> None:
    fresh.write(b"hello\n", b"\n", b"\r\n", initialize(1), INITIALIZED, call(2, "list_stores"))
    assert fresh.answer(2)["result"]["structuredContent"]["stores"]
    assert [m for m in fresh.messages() if m.get("id") is None] == [fresh.messages()[0]], "blank lines are no frames"


@pytest.mark.promise("8d")
def test_frames_may_end_in_crlf(talk: Pipe) -> None:
    talk.write(json.dumps(call(220, "list_stores")).encode() + b"\r\n")
    assert talk.answer(220)["result"]["structuredContent"]["stores"]


@pytest.mark.promise("8d")
def test_a_lone_surrogate_in_a_query_is_answered(talk: Pipe) -> None:
    line = json.dumps(call(230, "recall", query="Hermes \ud800 active")).encode() + b"\n"
    assert b"\\ud800" in line
    talk.write(line)
    assert talk.answer(230)["result"]["structuredContent"]["hits"]


def test_a_lone_surrogate_in_a_modern_query_is_answered(talk: Pipe) -> None:
    talk.write(modern(231, "tools/call", {"name": "recall", "arguments": {"query": "Hermes \udfff?"}}))
    assert talk.answer(231)["result"]["structuredContent"]["hits"]


def test_a_lone_surrogate_in_a_refused_argument_is_answered(talk: Pipe) -> None:
    talk.write(
        call(232, "recall", query="x", stores=["\ud800"]), call(233, "\udc00"), call(234, "recall", **{"\ud800": 1})
    )
    assert all(talk.answer(n)["result"]["isError"] for n in (232, 233, 234))


@pytest.mark.promise("8d")
def test_a_lone_surrogate_out_of_a_store_does_not_kill_the_server(talk: Pipe, world: World) -> None:
    kept = world.memory.rows
    world.memory.rows = [episode("s\ud800", "Hermes \ud83d is \udc00 active", topic="\udfff"), *kept]
    try:
        talk.write(call(240, "recall", query="Hermes", stores=["memory"], detail="detailed"))
        found = talk.answer(240)["result"]["structuredContent"]
        talk.write(call(241, "list_stores"))
        assert talk.answer(241)
    finally:
        world.memory.rows = kept
    assert "Hermes ? is ? active" in [hit["text"] for hit in found["hits"]]


def test_control_characters_out_of_a_store_reach_nobody(talk: Pipe, world: World) -> None:
    kept = world.memory.rows
    world.memory.rows = [episode("s9", "Hermes \x1b[31mred\x00 \x9b is here")]
    try:
        talk.write(call(245, "recall", query="Hermes", stores=["memory"]))
        found = talk.answer(245)["result"]["structuredContent"]
    finally:
        world.memory.rows = kept
    assert found["hits"][0]["text"] == "Hermes [31mred  is here"


@pytest.mark.promise("P30")
def test_a_line_of_five_megabytes_is_refused_by_its_bound(talk: Pipe) -> None:
    talk.write(call(250, "recall", query="x" * 5_000_000))
    said = talk.answer(250)["result"]
    assert said["isError"] and "8000" in said["content"][0]["text"]
    assert len(said["content"][0]["text"]) < 300
    talk.write(call(251, "list_stores"))
    assert talk.answer(251)


def test_unknown_methods_and_notifications_do_no_harm(talk: Pipe) -> None:
    talk.write(request(260, "no/such"), {"jsonrpc": "2.0", "method": "notifications/none"})
    talk.write({"jsonrpc": "2.0", "id": 999_999, "result": {}})
    assert talk.answer(260)["error"]["code"] == -32601
    talk.write(request(261, "ping"))
    assert talk.answer(261)["result"] == {}


def test_progress_goes_to_the_caller_that_asked_for_it(talk: Pipe) -> None:
    asked = call(270, "recall", query="Hermes")
    asked["params"]["_meta"] = {"progressToken": "mine"}
    talk.write(asked, call(271, "recall", query="Hermes"))
    talk.answer(270)
    talk.answer(271)
    told = [m["params"] for m in talk.messages() if m.get("method") == "notifications/progress"]
    assert [(p["progressToken"], p["progress"], p["total"]) for p in told] == [("mine", n, 3) for n in (1, 2, 3)]


def test_a_refused_call_that_asked_for_progress_is_refused_as_any_other(talk: Pipe) -> None:
    asked = call(275, "recall", query="Hermes", stores=["nope"])
    asked["params"]["_meta"] = {"progressToken": "mine"}
    talk.write(asked)
    said = talk.answer(275)["result"]
    assert said["isError"] and "nope" in said["content"][0]["text"]


def children(pid: int) -> list[int]:
    """The living children of a process, by the process table."""
    found: list[int] = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            if int(stat.read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(stat.parent.name))
    return found


def test_the_end_of_stdin_ends_the_server_and_it_leaves_no_child(fresh: Pipe) -> None:
    fresh.write(initialize(1), INITIALIZED, call(2, "recall", query="Hermes"))
    fresh.answer(2)
    offspring = children(fresh.process.pid)
    started = time.monotonic()
    assert fresh.end() == 0
    assert time.monotonic() - started < 2
    assert offspring == []
    assert b"".join(fresh.complaints) == b""


def test_stdin_that_is_empty_from_the_start_ends_the_server(fresh: Pipe) -> None:
    assert fresh.end() == 0
    assert fresh.lines == []


@pytest.mark.promise("8b")
def test_the_end_of_stdin_while_a_call_runs_ends_the_server_promptly(tmp_path: Path) -> None:
    with world_in(tmp_path, federation={"per_store_timeout_s": 60, "deadline_s": 60}) as world:
        world.memory.gate.clear()
        with pipe("serve", "--config", str(world.config)) as opened:
            opened.write(initialize(1), INITIALIZED, call(2, "recall", query="Hermes"))
            assert world.memory.entered.wait(10)
            started = time.monotonic()
            assert opened.end() == 0
            assert time.monotonic() - started < 3
            assert "Traceback" not in b"".join(opened.complaints).decode()


@pytest.mark.promise("8b")
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_promptly(fresh: Pipe, number: int) -> None:
    fresh.write(initialize(1), INITIALIZED)
    fresh.answer(1)
    started = time.monotonic()
    fresh.process.send_signal(number)
    fresh.wait()
    assert time.monotonic() - started < 3


@pytest.mark.promise("8b")
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX pipes")
def test_a_client_that_closes_only_its_reading_end_ends_the_server(world: World) -> None:
    ours, theirs = os.pipe()
    with subprocess.Popen(
        command("serve", "--config", str(world.config)),
        stdin=subprocess.PIPE,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        env=process_environment(),
    ) as process:
        os.close(theirs)
        assert process.stdin is not None
        process.stdin.write(json.dumps(initialize(1)).encode() + b"\n")
        process.stdin.flush()
        with os.fdopen(ours, "rb") as answers:
            assert answers.readline()
        process.stdin.write(json.dumps(request(2, "tools/list")).encode() + b"\n")
        process.stdin.flush()
        assert process.wait(10) == 0


@pytest.mark.promise("8b")
@pytest.mark.skipif(sys.platform == "win32", reason="a process keeps its parent's number there")
def test_the_server_ends_with_its_parent_even_if_stdin_stays_open(world: World) -> None:
    line = command("serve", "--config", str(world.config))
    script = (
        f"import subprocess, sys; p = subprocess.Popen({line!r}); print(p.pid, flush=True, file=sys.stderr); p.wait()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=process_environment(),
    ) as parent:
        assert parent.stdin is not None and parent.stdout is not None and parent.stderr is not None
        assert parent.stderr.readline().strip().isdigit()
        parent.stdin.write(json.dumps(initialize(1)).encode() + b"\n")
        parent.stdin.flush()
        assert parent.stdout.readline()
        parent.kill()
        assert parent.stdout.read() == b"", "it ends when the last holder of its other end, the server, has gone"


def test_the_command_without_arguments_serves_stdio_when_no_terminal_is_there(world: World) -> None:
    with pipe(CALLOSUM_CONFIG=str(world.config)) as opened:
        opened.write(initialize(1), INITIALIZED, call(2, "list_stores"))
        assert [s["name"] for s in opened.answer(2)["result"]["structuredContent"]["stores"]] == [
            "notes",
            "memory",
            "loci",
        ]
        eventually(lambda: opened.process.poll() is None, "it lives")
        assert opened.end() == 0


@pytest.mark.promise("8a", "P43")
def test_everything_on_stdout_is_json_rpc_from_the_first_byte(talk: Pipe) -> None:
    assert talk.lines[0].startswith(b'{"')
    for message in talk.messages():
        assert message["jsonrpc"] == "2.0"
        assert ("id" in message) or ("method" in message)
