"""Starting the engines of these tests, and looking at what is left of them."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import httpx2

from callosum_mcp.adapters.engine.reach import Mode, Reach

HERE = Path(__file__).parent
WAIT_S = 20.0
NONE: Mapping[str, str] = {}


def small(
    *switches: str,
    protocol: Mode = "auto",
    connect_timeout_s: float = WAIT_S,
    env: Mapping[str, str] = NONE,
    cwd: str = "",
) -> Reach:
    """The way to a small engine on stdin and stdout."""
    command = (sys.executable, "-S", "-E", str(HERE / "small_engine.py"), *switches)
    return Reach(
        type="stdio", command=command, protocol=protocol, connect_timeout_s=connect_timeout_s, env=env, cwd=cwd
    )


def entries(log: Path) -> list[dict[str, Any]]:
    """What an engine logged."""
    if not log.exists():
        return []
    return [cast("dict[str, Any]", json.loads(line)) for line in log.read_text(encoding="utf-8").splitlines()]


def exists(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


@dataclass
class Network:
    """An engine behind HTTP and SSE, which can be ended and started again on the same port."""

    log: Path
    switches: Sequence[str] = ()
    port: int = 0
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def reach(
        self,
        path: str,
        *,
        protocol: Mode = "auto",
        connect_timeout_s: float = WAIT_S,
        headers: Mapping[str, str] = NONE,
    ) -> Reach:
        return Reach(
            type="sse" if path.endswith("/sse") else "http",
            url=self.url + path,
            headers=headers,
            protocol=protocol,
            connect_timeout_s=connect_timeout_s,
        )

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self.port))
        listener.listen(64)
        self.port = listener.getsockname()[1]
        os.set_inheritable(listener.fileno(), True)
        command = [
            sys.executable,
            str(HERE / "network_engine.py"),
            str(listener.fileno()),
            str(self.log),
            *self.switches,
        ]
        self._process = subprocess.Popen(command, close_fds=False)
        listener.close()
        deadline = time.monotonic() + WAIT_S
        while True:  # the socket listens already: this returns when the server answers
            try:
                httpx2.get(self.url + "/page", timeout=WAIT_S)
                return
            except httpx2.HTTPError:
                assert time.monotonic() < deadline, "the engine does not start"
                time.sleep(0.05)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def logged(self) -> list[dict[str, Any]]:
        return entries(self.log)


@contextmanager
def network(*switches: str) -> Generator[Network]:
    with tempfile.TemporaryDirectory() as folder:
        running = Network(Path(folder) / "log.jsonl", switches)
        running.start()
        try:
            yield running
        finally:
            running.stop()
