"""A whole callosum over small stores: its settings, its HTTP server on a free port, its command as a process."""

from __future__ import annotations

import contextlib
import io
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

import httpx2
import jsonschema
import pytest
import uvicorn
from mcp.client.client import Client
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult
from support.replay_engine import Announced

from callosum_mcp.app import Application, build
from callosum_mcp.cli import ending, main
from callosum_mcp.settings import load
from callosum_mcp.surface.guard import Guard, Policy
from callosum_mcp.surface.http import build_asgi

from .fakes import FakeLoci, FakeMemory, FakeStore, default_loci, default_memory

DEADLINE_S = 20.0
NOTE = "# Hermes\n\nHermes is the message relay. Its runbook says port 8081.\n"


@dataclass(frozen=True, kw_only=True)
class World:
    """Stores and a settings file that names them."""

    folder: Path
    memory: FakeMemory
    loci: FakeLoci
    config: Path

    @property
    def stores(self) -> tuple[FakeStore, ...]:
        return (self.memory, self.loci)

    def application(self, environ: Mapping[str, str] | None = None) -> Application:
        return build(load(self.config, environ or {}, self.folder))


def write_config(folder: Path, stores: Sequence[Mapping[str, Any]], **sections: Any) -> Path:
    path = folder / "callosum.json"
    path.write_text(json.dumps({"stores": list(stores), **sections}), encoding="utf-8")
    return path


@contextmanager
def world_in(folder: Path, **sections: Any) -> Generator[World]:
    """Notes, a memory and facts, and the settings that name them."""
    notes = folder / "notes"
    notes.mkdir(parents=True)
    (notes / "hermes.md").write_text(NOTE, encoding="utf-8")
    memory, loci = default_memory(), default_loci()
    config = write_config(
        folder,
        [
            {"name": "notes", "type": "notes", "url": str(notes), "options": {"cache_dir": str(folder / "cache")}},
            {"name": "memory", "type": "seren_memory", "url": memory.url},
            {"name": "loci", "type": "seren_loci", "url": loci.url},
        ],
        **sections,
    )
    try:
        yield World(folder=folder, memory=memory, loci=loci, config=config)
    finally:
        memory.close()
        loci.close()


def free_listener() -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    return listener


@dataclass
class Served:
    """A running HTTP server; `entered` counts how often the process's lifespan began."""

    url: str
    application: Application
    guard: Guard
    entered: list[str] = field(default_factory=list[str])

    def client(self, **more: Any) -> httpx2.Client:
        return httpx2.Client(base_url=self.url, timeout=DEADLINE_S, trust_env=False, **more)


@contextmanager
def served(
    application: Application, policy: Policy | None = None, before: Callable[[Guard], Any] = lambda guard: guard
) -> Generator[Served]:
    """The whole HTTP application on a free port, by a real uvicorn in a thread; `before` puts something in front."""
    listener = free_listener()
    entered: list[str] = []

    @asynccontextmanager
    async def lifespan() -> AsyncGenerator[None]:
        entered.append("entered")
        async with application.running():
            yield

    guard = build_asgi(application.services(), policy or Policy(), lifespan)
    found = Served(f"http://127.0.0.1:{listener.getsockname()[1]}", application, guard, entered)
    config = uvicorn.Config(before(guard), log_config=None, timeout_graceful_shutdown=1, lifespan="on")
    server = Announced(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    assert server.ready.wait(DEADLINE_S), "the server did not start"
    try:
        yield found
    finally:
        server.should_exit = True
        thread.join(DEADLINE_S)
        listener.close()


def http_target(url: str, headers: Mapping[str, str] | None = None) -> AbstractAsyncContextManager[Any]:
    @asynccontextmanager
    async def transport() -> AsyncGenerator[Any]:
        timeout = httpx2.Timeout(DEADLINE_S, read=None)
        async with httpx2.AsyncClient(headers=dict(headers or {}), timeout=timeout, trust_env=False) as client:
            async with streamable_http_client(f"{url}/mcp", http_client=client) as streams:
                yield streams

    return transport()


def sse_target(url: str, headers: Mapping[str, str] | None = None) -> AbstractAsyncContextManager[Any]:
    return sse_client(f"{url}/sse", headers=dict(headers or {}), sse_read_timeout=DEADLINE_S)


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "callosum_mcp", *arguments]


def process_environment(**more: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("CALLOSUM_", "SEREN_", "COV_"))}
    return {**kept, **more}


def stdio_target(arguments: Sequence[str], **environ: str) -> AbstractAsyncContextManager[Any]:
    line = command(*arguments)
    return stdio_client(StdioServerParameters(command=line[0], args=line[1:], env=process_environment(**environ)))


@asynccontextmanager
async def connected(target: AbstractAsyncContextManager[Any], mode: str) -> AsyncGenerator[Client]:
    async with Client(target, mode=mode, read_timeout_seconds=DEADLINE_S) as client:
        yield client


class Talk:
    """Raw JSON-RPC lines with whatever reads `to` and writes `out`; `lines` is everything that came out."""

    def __init__(self, to: IO[bytes], out: IO[bytes], *, listen: bool = True) -> None:
        self.to = to
        self.out = out
        self.lines: list[bytes] = []
        self.complaints: list[bytes] = []
        self._changed = threading.Condition()
        self._readers: list[threading.Thread] = []
        if listen:
            self._listen(out, self.lines)

    def _listen(self, stream: IO[bytes], into: list[bytes]) -> None:
        reader = threading.Thread(target=self._read, args=(stream, into), daemon=True)
        self._readers.append(reader)
        reader.start()

    def _read(self, stream: IO[bytes], into: list[bytes]) -> None:
        for line in stream:
            with self._changed:
                into.append(line)
                self._changed.notify_all()
        stream.close()
        with self._changed:
            self._changed.notify_all()

    def write(self, *messages: object) -> None:
        """Send messages as lines; bytes go as they are."""
        for message in messages:
            self.to.write(message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n")
        self.to.flush()

    def messages(self) -> list[dict[str, Any]]:
        """Everything on stdout so far, each line as JSON."""
        with self._changed:
            return [json.loads(line) for line in self.lines]

    def answer(self, identity: object) -> dict[str, Any]:
        """The response to a request, waited for."""
        return self.until(lambda m: m.get("id") == identity and "method" not in m)

    def until(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first message that is wanted, waited for."""
        found: list[dict[str, Any]] = []

        def arrived() -> bool:
            found[:] = [m for m in map(json.loads, self.lines) if wanted(m)]
            return bool(found)

        with self._changed:
            assert self._changed.wait_for(arrived, DEADLINE_S), f"no answer; stderr: {b''.join(self.complaints)!r}"
        return found[0]

    def complaint(self, wanted: Callable[[str], bool]) -> str:
        """The first line on stderr that is wanted, waited for."""
        found: list[str] = []

        def arrived() -> bool:
            found[:] = [line for line in (raw.decode() for raw in self.complaints) if wanted(line)]
            return bool(found)

        with self._changed:
            assert self._changed.wait_for(arrived, DEADLINE_S), f"stderr: {b''.join(self.complaints)!r}"
        return found[0]

    def hang_up(self) -> None:
        """Close its stdin."""
        with contextlib.suppress(BrokenPipeError):
            self.to.close()

    def heard_all(self) -> None:
        """Wait until everything that came out has been read."""
        for reader in self._readers:
            reader.join(DEADLINE_S)


class Pipe(Talk):
    """A process spoken to over raw pipes."""

    def __init__(self, *arguments: str, **environ: str) -> None:
        self.process = subprocess.Popen(
            command(*arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=process_environment(**environ),
        )
        assert self.process.stdin is not None and self.process.stdout is not None and self.process.stderr is not None
        super().__init__(self.process.stdin, self.process.stdout)
        self._listen(self.process.stderr, self.complaints)

    def end(self) -> int:
        """Close its stdin and give its exit code."""
        self.hang_up()
        return self.wait()

    def wait(self) -> int:
        code = self.process.wait(DEADLINE_S)
        self.heard_all()
        return code

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.end()


class Inside(Talk):
    """A command run in a thread of this process, its standard streams being pipes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *arguments: str, listen: bool = True) -> None:
        self.left: list[int] = []  # codes with which a real process would have ended at once
        (stdin, to), (out, stdout) = os.pipe(), os.pipe()
        self._stdin, self._stdout = io.TextIOWrapper(os.fdopen(stdin, "rb")), io.TextIOWrapper(os.fdopen(stdout, "wb"))
        monkeypatch.setattr(sys, "stdin", self._stdin)
        monkeypatch.setattr(sys, "stdout", self._stdout)
        monkeypatch.setattr(ending, "leave", self.left.append)
        super().__init__(os.fdopen(to, "wb"), os.fdopen(out, "rb"), listen=listen)
        self.code: object = None
        self._thread = threading.Thread(target=self._run, args=(list(arguments),), daemon=True)
        self._thread.start()

    def _run(self, arguments: list[str]) -> None:
        try:
            main(arguments)
        except SystemExit as end:
            self.code = end.code
        except BaseException as fault:  # whatever would have ended the process
            self.code = fault

    def end(self) -> object:
        """Close its stdin and give its exit code."""
        self.hang_up()
        return self.wait()

    def wait(self) -> object:
        self._thread.join(DEADLINE_S)
        assert not self._thread.is_alive(), "the command does not end"
        return self.code

    def close(self) -> None:
        self.end()
        with contextlib.suppress(BrokenPipeError):
            self._stdout.close()
        self.heard_all()
        self._stdin.close()


@contextmanager
def inside(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> Generator[Inside]:
    opened = Inside(monkeypatch, *arguments)
    try:
        yield opened
    finally:
        opened.close()


@contextmanager
def pipe(*arguments: str, **environ: str) -> Generator[Pipe]:
    opened = Pipe(*arguments, **environ)
    try:
        yield opened
    finally:
        opened.close()


def structured(result: CallToolResult) -> dict[str, Any]:
    """The structured content of a result."""
    content: object = result.structured_content
    assert isinstance(content, dict)
    return cast("dict[str, Any]", content)


def check_schema(schema: Mapping[str, Any], value: object) -> None:
    """Assert that a value satisfies a JSON Schema, itself a valid one."""
    jsonschema.Draft202012Validator.check_schema(schema)
    cast("Any", jsonschema.Draft202012Validator(schema)).validate(value)


def eventually(holds: Callable[[], bool], what: str) -> None:
    """Wait until something holds that no event tells of."""
    end = time.monotonic() + DEADLINE_S
    while not holds():
        assert time.monotonic() < end, f"never happened: {what}"
        time.sleep(0.01)


def initialize(identity: int = 1) -> dict[str, Any]:
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}}
    return {"jsonrpc": "2.0", "id": identity, "method": "initialize", "params": params}


INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def request(identity: int, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identity, "method": method, "params": dict(params or {})}


def call(identity: int, tool: str, **arguments: Any) -> dict[str, Any]:
    return request(identity, "tools/call", {"name": tool, "arguments": arguments})


def modern(identity: int, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A request of the stateless revision, which carries its protocol version with it."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
    }
    return request(identity, method, {**(params or {}), "_meta": meta})
