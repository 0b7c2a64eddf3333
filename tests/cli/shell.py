"""A shell for the command line's tests: folders of its own, small stores to ask, and the command run in it."""

from __future__ import annotations

import gc
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from callosum_mcp.cli import main
from callosum_mcp.settings import DEFAULT_STORES

PROCESS_S = 60.0


@dataclass(kw_only=True)
class FakeMemory:
    """What a SerenMemory says, and what it was asked.

    Attributes:
        status: HTTP status of every answer, or of those to a search alone with `search_only`.
        body: Replaces the JSON of its answers.
        gate: Waited for before a search is answered.
        asked: Set by the first search.
    """

    hits: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    status: int = 200
    search_only: bool = False
    body: bytes | None = None
    gate: threading.Event | None = None
    asked: threading.Event = field(default_factory=threading.Event)
    queries: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    tokens: list[str | None] = field(default_factory=list[str | None])
    url: str = ""

    def answer(self, search: bool) -> tuple[int, bytes]:
        if self.status != 200 and (search or not self.search_only):
            return self.status, self.body or b"{}"
        said = {"hits": self.hits} if search else {"tiers": {"short": len(self.hits), "near": 0, "long": 0}}
        return 200, self.body or json.dumps(said).encode()


class _Handler(BaseHTTPRequestHandler):
    memory: ClassVar[FakeMemory]
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._say(*self.memory.answer(search=False))

    def do_POST(self) -> None:
        self.memory.queries.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        self.memory.asked.set()
        if self.memory.gate is not None:
            self.memory.gate.wait(PROCESS_S)
        self._say(*self.memory.answer(search=True))

    def _say(self, status: int, body: bytes) -> None:
        self.memory.tokens.append(self.headers["authorization"])
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """A test's output is no place for a server's log."""


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # so that closing waits for every answer

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that has gone is part of some tests."""


@contextmanager
def serving(memory: FakeMemory) -> Generator[FakeMemory]:
    """The memory on a free port of loopback."""
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"memory": memory}))
    memory.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield memory
    finally:
        if memory.gate is not None:
            memory.gate.set()
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def dead_url() -> Generator[str]:
    """An address that refuses connections: its port is taken and nobody listens on it."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{holder.getsockname()[1]}"


def no_default_servers(monkeypatch: pytest.MonkeyPatch, nobody: str) -> None:
    """The default stores, with servers that surely do not run on this machine."""
    elsewhere = tuple(spec if spec.type == "notes" else replace(spec, url=nobody) for spec in DEFAULT_STORES)
    monkeypatch.setattr(sys.modules["callosum_mcp.settings.load"], "DEFAULT_STORES", elsewhere)


def hit(hit_id: str, text: str, **metadata: object) -> dict[str, Any]:
    """One row of a SerenMemory's answer."""
    return {"id": hit_id, "content": text, "tier": "short", "raw_distance": 0.2, "metadata": metadata}


def store(name: str, url: str, **more: object) -> dict[str, Any]:
    """One store of a settings file."""
    return {"name": name, "type": "seren_memory", "url": url, **more}


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What a command gave."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True, kw_only=True)
class Shell:
    """Where commands run."""

    cwd: Path
    capsys: pytest.CaptureFixture[str]

    def config(self, stores: Sequence[Mapping[str, Any]], **sections: object) -> Path:
        path = self.cwd / "callosum.yaml"
        path.write_text(json.dumps({**sections, "stores": list(stores)}), encoding="utf-8")
        return path

    def run(self, *arguments: str) -> Ran:
        """The command in this process."""
        try:
            with pytest.raises(SystemExit) as ended:
                main(list(arguments))
        finally:
            gc.enable()
        said = self.capsys.readouterr()
        return Ran(code=int(str(ended.value.code)), out=said.out, err=said.err)

    def spawn(self, *arguments: str, environ: Mapping[str, str | None] | None = None) -> Ran:
        """The command as a process, with nothing on its input; a variable that is None is taken out."""
        ended = subprocess.run(
            command(*arguments),
            cwd=self.cwd,
            env=process_environ(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PROCESS_S,
            check=False,
        )
        return Ran(code=ended.returncode, out=ended.stdout.decode(), err=ended.stderr.decode())


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "callosum_mcp", *arguments]


def process_environ(changes: Mapping[str, str | None] | None = None) -> dict[str, str]:
    merged: dict[str, str | None] = {**os.environ, **(changes or {})}
    return {name: value for name, value in merged.items() if value is not None}
