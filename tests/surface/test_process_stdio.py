"""The stdio server as a process of the system: what reaches its stdout, what ends it, what it leaves behind.

Whatever is blocked (a thread, the event loop, a pipe nobody reads), the process ends when its client does.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from adapters.engine.engines import entries, exists

from callosum_mcp.cli.ending import AFTER_THE_CLIENT_S

from .noisy import installed, store
from .world import (
    INITIALIZED,
    Pipe,
    call,
    command,
    eventually,
    initialize,
    modern,
    pipe,
    process_environment,
    request,
    write_config,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals, pipes and process groups")

GUARD_S = 10.0
SMALL = Path(__file__).parent.parent / "adapters" / "engine" / "small_engine.py"
BLOCKS = ["block a thread", "leave a thread", "block the loop"]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with the misbehaving package."""
    folder = tmp_path / "site"
    folder.mkdir()
    return installed(folder)


@contextlib.contextmanager
def noisy(site: Path, does: str = "", **environ: str) -> Generator[Pipe]:
    """A server over the misbehaving store, its handshake done."""
    config = write_config(site, [store(does=does, told=str(site / "told"))], federation={"deadline_s": 300})
    with pipe("serve", "--config", str(config), PYTHONPATH=str(site), **environ) as opened:
        opened.write(initialize(1), INITIALIZED)
        opened.answer(1)
        yield opened


def blocked(opened: Pipe, site: Path) -> None:
    """Wait until the call that blocks does so."""
    opened.write(call(2, "recall", query="Hermes"))
    eventually((site / "told").exists, "the store blocks")


def within(opened: Pipe, seconds: float = GUARD_S) -> int:
    """The exit code, which comes soon."""
    began = time.monotonic()
    code = opened.wait()
    assert time.monotonic() - began < seconds
    return code


@pytest.mark.promise("8a")
def test_nothing_but_json_rpc_reaches_stdout_whatever_is_printed(site: Path) -> None:
    with noisy(site) as opened:
        opened.write(call(2, "recall", query="Hermes"), call(3, "list_stores", probe=True))
        assert opened.answer(2)["result"]["structuredContent"]["hits"][0]["text"] == "Hermes 停止 \U0001f6d1 naïve"
        opened.answer(3)
        assert opened.end() == 0
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in opened.lines)
    said = b"".join(opened.complaints).decode()
    for where in ("at import", "in a search", "in a probe"):
        for way in ("print", "write", "descriptor 1", "a warning", "a log line"):
            assert f"{way} {where}" in said
    assert said.count("a child") == 3


def test_whoever_reads_stdin_besides_the_protocol_meets_its_end(site: Path) -> None:
    with noisy(site, "read stdin") as opened:
        opened.write(call(2, "recall", query="Hermes"), request(3, "tools/list"))
        assert opened.answer(2)["result"]["structuredContent"]["hits"][0]["text"] == "stdin held ''"
        assert opened.answer(3)["result"]["tools"]


@pytest.mark.promise("8d")
@pytest.mark.parametrize(
    "environ",
    [
        {"PYTHONIOENCODING": "cp1252"},
        {"PYTHONIOENCODING": "ascii:strict"},
        {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"LC_ALL": "POSIX"},
    ],
    ids=str,
)
def test_both_directions_are_utf_8_in_any_locale(site: Path, environ: dict[str, str]) -> None:
    with noisy(site, **environ) as opened:
        asked = json.dumps(call(2, "recall", query="Hermes 停止 \U0001f6d1 naïve?"), ensure_ascii=False)
        opened.write(asked.encode() + b"\n")
        found = opened.answer(2)["result"]["structuredContent"]
        assert found["query"] == "Hermes 停止 \U0001f6d1 naïve?"
        assert found["hits"][0]["text"] == "Hermes 停止 \U0001f6d1 naïve"
        assert opened.end() == 0
    assert all(line.endswith(b"\n") and b"\r" not in line for line in opened.lines)


FRAMES: dict[str, Callable[[bytes], bytes]] = {
    "CRLF": lambda frame: frame + b"\r\n",
    "BOM": lambda frame: b"\xef\xbb\xbf" + frame + b"\n",
    "BOM and CRLF": lambda frame: b"\xef\xbb\xbf" + frame + b"\r\n",
    "blanks around it": lambda frame: b" \t" + frame + b" \t\n",
    "carriage returns between its parts": lambda frame: frame.replace(b", ", b",\r") + b"\n",
    "bytes that are no UTF-8": lambda frame: frame.replace(b"Hermes", b"Hermes \xff\xfe") + b"\n",
    "a lone surrogate in bytes": lambda frame: frame.replace(b"Hermes", b"Hermes \xed\xa0\x80") + b"\n",
    "a lone surrogate, escaped": lambda frame: frame.replace(b"Hermes", rb"Hermes \ud800") + b"\n",
    "garbage before it": lambda frame: b"\x00\xff{]garbage\n\r\n" + frame + b"\n",
}


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Generator[Pipe]:
    with noisy(installed(tmp_path_factory.mktemp("site"))) as opened:
        yield opened


@pytest.mark.promise("8d")
@pytest.mark.parametrize("number", range(len(FRAMES)), ids=list(FRAMES))
@pytest.mark.parametrize("era", ["handshake", "modern"])
def test_a_frame_is_understood_however_it_is_written(talk: Pipe, number: int, era: str) -> None:
    identity = 100 + 2 * number + (era == "modern")
    asked = call(identity, "recall", query="Hermes")
    frame = asked if era == "handshake" else modern(identity, asked["method"], asked["params"])
    talk.write(list(FRAMES.values())[number](json.dumps(frame).encode()))
    assert talk.answer(identity)["result"]["structuredContent"]["hits"]


def test_the_first_frame_may_begin_with_a_bom(site: Path) -> None:
    config = write_config(site, [store()])
    with pipe("serve", "--config", str(config), PYTHONPATH=str(site)) as opened:
        opened.write(b"\xef\xbb\xbf" + json.dumps(initialize(1)).encode() + b"\r\n")
        assert opened.answer(1)["result"]["serverInfo"]


@pytest.mark.promise("8b")
@pytest.mark.parametrize("does", BLOCKS)
def test_the_end_of_stdin_ends_it_also_while_something_blocks(site: Path, does: str) -> None:
    with noisy(site, does) as opened:
        blocked(opened, site)
        opened.hang_up()
        assert within(opened, AFTER_THE_CLIENT_S + GUARD_S) == 0


@pytest.mark.promise("8b")
@pytest.mark.parametrize("does", ["", *BLOCKS])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_at_once_also_while_something_blocks(site: Path, does: str, number: int) -> None:
    with noisy(site, does) as opened:
        if does:
            blocked(opened, site)
        opened.process.send_signal(number)
        assert within(opened, AFTER_THE_CLIENT_S) == 128 + number
    assert "Traceback" not in b"".join(opened.complaints).decode()


def full(config: Path, **environ: str) -> subprocess.Popen[bytes]:
    """A server whose client asks and asks and never reads: its stdout is full."""
    process = subprocess.Popen(
        command("serve", "--config", str(config)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=process_environment(**environ),
    )
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(json.dumps(initialize(1)).encode() + b"\n" + json.dumps(INITIALIZED).encode() + b"\n")
    process.stdin.flush()
    process.stdout.readline()
    os.set_blocking(process.stdin.fileno(), False)
    question = json.dumps(request(2, "tools/list")).encode() + b"\n"
    with contextlib.suppress(BlockingIOError):
        for _ in range(100_000):  # until it takes no more: it cannot say anything either
            os.write(process.stdin.fileno(), question)
    return process


@pytest.mark.parametrize("end", ["stdin", "stdout", "SIGTERM", "SIGINT"])
def test_a_client_that_never_reads_does_not_keep_it(tmp_path: Path, end: str) -> None:
    process = full(write_config(tmp_path, []))
    assert process.stdin is not None and process.stdout is not None
    try:
        assert process.poll() is None
        if end.startswith("SIG"):
            process.send_signal(getattr(signal, end))
        else:
            with contextlib.suppress(BrokenPipeError):
                (process.stdin if end == "stdin" else process.stdout).close()
        assert process.wait(AFTER_THE_CLIENT_S + GUARD_S) in (0, 128 + signal.SIGTERM, 128 + signal.SIGINT)
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(BrokenPipeError):
                stream.close()


@pytest.mark.promise("8b")
def test_a_client_that_stops_reading_ends_it_though_nothing_is_said(tmp_path: Path) -> None:
    config = write_config(tmp_path, [])
    with subprocess.Popen(
        command("serve", "--config", str(config)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=process_environment(),
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(initialize(1)).encode() + b"\n")
        process.stdin.flush()
        assert process.stdout.readline()
        process.stdout.close()
        assert process.wait(GUARD_S) == 0


def test_a_stdout_that_is_closed_from_the_start_is_one_line_and_exit_2(tmp_path: Path) -> None:
    line = " ".join(["exec", sys.executable, "-m", "callosum_mcp", "serve", ">&-"])
    ended = subprocess.run(
        ["/bin/sh", "-c", line],
        cwd=tmp_path,
        env=process_environment(),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert ended.returncode == 2
    assert ended.stderr.decode() == (
        "callosum-mcp: its stdout is closed, so that no client can be answered; serve over a pipe\n"
    )


@pytest.mark.parametrize("closed", ["<&-", "2>&-", "<&- 2>&-"])
def test_other_streams_may_be_closed_from_the_start(tmp_path: Path, closed: str) -> None:
    config = write_config(tmp_path, [])
    line = f"exec {sys.executable} -m callosum_mcp serve --config {config} {closed}"
    hello = b"" if "<" in closed else json.dumps(initialize(1)).encode() + b"\n"
    ended = subprocess.run(["/bin/sh", "-c", line], input=hello, env=process_environment(), capture_output=True)
    assert ended.returncode == 0
    assert [json.loads(one)["id"] for one in ended.stdout.splitlines()] == ([1] if hello else [])


@contextlib.contextmanager
def with_parent(site: Path, does: str) -> Generator[tuple[subprocess.Popen[bytes], int]]:
    """A server started by another process, whose stdin somebody else holds open too."""
    config = write_config(site, [store(does=does, told=str(site / "told"))], federation={"deadline_s": 300})
    line = command("serve", "--config", str(config))
    script = (
        f"import subprocess, sys; p = subprocess.Popen({line!r}); print(p.pid, flush=True, file=sys.stderr); p.wait()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=process_environment(PYTHONPATH=str(site)),
    ) as parent:
        assert parent.stderr is not None
        yield parent, int(parent.stderr.readline())
        parent.kill()


@pytest.mark.promise("8b")
@pytest.mark.parametrize("does", ["", "block a thread", "block the loop"])
def test_the_death_of_its_parent_ends_it_also_while_something_blocks(site: Path, does: str) -> None:
    with with_parent(site, does) as (parent, server):
        assert parent.stdin is not None and parent.stdout is not None
        parent.stdin.write(json.dumps(initialize(1)).encode() + b"\n")
        parent.stdin.flush()
        assert parent.stdout.readline()  # before a store can block the loop
        asked: list[dict[str, Any]] = [INITIALIZED, call(2, "recall", query="Hermes")]
        parent.stdin.write(b"".join(json.dumps(one).encode() + b"\n" for one in asked))
        parent.stdin.flush()
        if does:
            eventually((site / "told").exists, "the store blocks")
        parent.kill()
        eventually(lambda: not exists(server), "the server ends")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "engine.jsonl"


STUBBORN = ["--ignore-eof", "--ignore-sigterm", "--grandchild"]


def engine_config(folder: Path, log: Path) -> Path:
    """A store behind a child that wants to live for ever and has a child of its own."""
    child = {"type": "stdio", "command": sys.executable, "args": ["-S", "-E", str(SMALL), "--log", str(log), *STUBBORN]}
    fields = {"id": "id", "snippet": "text"}
    options = {"tool": "find", "extract": [{"items": "$.hits[*]", "fields": fields}]}
    engine = {"name": "engine", "type": "mcp", "transport": child, "options": options, "timeout_s": 60}
    return write_config(folder, [engine], federation={"deadline_s": 60})


def offspring(log: Path) -> list[int]:
    """Every process that the engine's log tells of."""
    logged = entries(log)
    return [entry[key] for entry in logged for key in ("started", "grandchild") if key in entry]


@pytest.mark.promise("8c")
@pytest.mark.parametrize("way", ["stdin", "SIGTERM", "SIGINT"])
@pytest.mark.parametrize("query", ["Hermes", "block"])
def test_no_child_is_left_however_it_ends(tmp_path: Path, log: Path, way: str, query: str) -> None:
    with pipe("serve", "--config", str(engine_config(tmp_path, log))) as opened:
        opened.write(initialize(1), INITIALIZED, call(2, "recall", query=query))
        asked = "tools/call"
        if query == "Hermes":
            assert opened.answer(2)["result"]["structuredContent"]["hits"]
        eventually(lambda: any(entry.get("method") == asked for entry in entries(log)), "the engine is asked")
        family = offspring(log)
        assert len(family) == 2 and all(map(exists, family))
        if way == "stdin":
            opened.hang_up()
        else:
            opened.process.send_signal(getattr(signal, way))
        within(opened)
        eventually(lambda: not any(map(exists, family)), "they end with it")


def test_a_signal_leaves_no_child_of_a_command_either(tmp_path: Path, log: Path) -> None:
    config = engine_config(tmp_path, log)
    with subprocess.Popen(command("--config", str(config), "recall", "block"), env=process_environment()) as process:
        eventually(lambda: any(entry.get("method") == "tools/call" for entry in entries(log)), "the engine is asked")
        family = offspring(log)
        process.send_signal(signal.SIGTERM)
        assert process.wait(GUARD_S) == -signal.SIGTERM
    eventually(lambda: not any(map(exists, family)), "they end with it")
