"""The processes a federation bench compares: the fake stores, our server and the peer's.

Above: the benches. Below: `fakestores` and `loadgen`. Every process runs under a temporary home, on a port that was
free, in a process group of its own (Ctrl-C reaches only the bench, which then ends them), and is ended with its
`Fleet`. The peer, seren-corpus-callosum 5.3.0, runs in its own environment: ``python -m tests.peers.install peers``.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from loadgen import Connection

QUERY = "relay status of the backup"
N_RESULTS = 10
_HERE = Path(__file__).resolve().parent
_START_S = 30.0
_END_S = 10.0


Name = Literal["ours", "peer"]

_SAID: Mapping[Name, str] = {"ours": r"http://[\d.]+:\d+", "peer": r"running on (http://[\d.]+:\d+)"}
"""What each says once it listens."""

_ASKED: Mapping[Name, dict[str, str]] = {
    "ours": {"mcp_path": "/mcp", "tool": "recall"},
    "peer": {"mcp_path": "/mcp/", "tool": "search"},
}


class NotThere(Exception):
    """Something a bench needs is missing or does not start; the text says what to do."""


def peer_python() -> Path:
    """The interpreter of the peer's environment.

    Raises:
        NotThere: If there is none.
    """
    venv = Path(os.environ.get("CALLOSUM_PEERS_VENV") or _HERE.parent / ".peers" / "venv")
    python = venv / "bin" / "python"
    if not list(venv.glob("lib/python3*/site-packages/seren_corpus_callosum-*.dist-info")) or not python.exists():
        raise NotThere("the peer is not installed: python -m tests.peers.install peers (or set CALLOSUM_PEERS_VENV)")
    return python


def peer_version() -> str:
    """The installed version of the peer."""
    found = peer_python().parent.parent.glob("lib/python3*/site-packages/seren_corpus_callosum-*.dist-info")
    return next(found).name.removesuffix(".dist-info").rpartition("-")[2]


@dataclass(frozen=True, kw_only=True, slots=True)
class Contender:
    """A federation server that runs, and how it is asked."""

    name: Name
    process: subprocess.Popen[bytes]
    url: str
    mcp_path: str
    tool: str

    @property
    def body(self) -> bytes:
        """Body of ``POST /search``."""
        return json.dumps({"query": QUERY, "n_results": N_RESULTS}).encode()

    def body_of(self, caller: int) -> bytes:
        """The same in the words of one caller."""
        return json.dumps({"query": f"{QUERY} {caller}", "n_results": N_RESULTS}).encode()

    @property
    def call(self) -> bytes:
        """The same question as a ``tools/call``."""
        params = {"name": self.tool, "arguments": {"query": QUERY, "n_results": N_RESULTS}}
        return json.dumps({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}).encode()


class Fleet:
    """The fake stores, and the servers started over them; all end when the `with` block does."""

    def __init__(self, stores: int = 32) -> None:
        self._ending = ExitStack()
        self._folder = Path(self._ending.enter_context(tempfile.TemporaryDirectory()))
        self._started = 0
        self._pairs: dict[int, list[Contender]] = {}
        try:
            self._open(stores)
        except BaseException:
            self._ending.close()
            raise

    def _open(self, stores: int) -> None:
        argv = [sys.executable, str(_HERE / "fakestores.py"), "--stores", str(stores)]
        process, log = self._spawn("stores", argv, {})
        found = json.loads(_said(process, log, r"(?m)^\{.*\}$"))
        self.process = process
        self.stores: list[dict[str, str]] = found["stores"]
        self._control = Connection(found["control"])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ending.close()

    async def set(self, **knobs: float) -> dict[str, Any]:
        """Change `hits` or `latency_ms` of all stores; the knobs in force and the number of requests so far."""
        frame = self._control.frame("POST", "/", json.dumps(knobs).encode())
        return json.loads((await self._control.send(frame)).body)

    def start(self, *names: Name, stores: int) -> list[Contender]:
        """Ours, the peer or both, freshly started over the first stores, side by side."""
        launched = [self._launch(name, self.stores[:stores]) for name in names]
        return [
            Contender(name=name, process=process, url=_listening(process, log, _SAID[name]), **_ASKED[name])
            for name, (process, log) in zip(names, launched, strict=True)
        ]

    def pair(self, stores: int) -> list[Contender]:
        """Ours and the peer over the first stores; they stay up and are given again."""
        if stores not in self._pairs:
            self._pairs[stores] = self.start("ours", "peer", stores=stores)
        return self._pairs[stores]

    def _launch(self, name: Name, stores: Sequence[Mapping[str, str]]) -> tuple[subprocess.Popen[bytes], Path]:
        """Each at its own defaults, but that the peer does not look for updates."""
        if name == "ours":
            config = self._config(name, {"stores": stores})
            argv = [sys.executable, "-m", "callosum_mcp", "serve", "--transport", "http", "--port", "0"]
            return self._spawn(name, [*argv, "--config", config], {"CALLOSUM_RUNTIME_STORES": f"{config}.overlay"})
        server = {"host": "127.0.0.1", "port": _free_port()}
        config = self._config(name, {"server": server, "updates": {"enabled": False}, "federation": {"stores": stores}})
        argv = [str(peer_python()), "-m", "seren_corpus_callosum", "--config", config]
        return self._spawn(name, argv, {"SEREN_SCC_RUNTIME_STORES": f"{config}.overlay"})

    def _config(self, name: str, content: Mapping[str, Any]) -> str:
        path = self._folder / f"{name}-{self._started}.yaml"  # JSON is YAML
        path.write_text(json.dumps(content), encoding="utf-8")
        return str(path)

    def _spawn(self, name: str, argv: Sequence[str], extra: Mapping[str, str]) -> tuple[subprocess.Popen[bytes], Path]:
        self._started += 1
        log = self._folder / f"{name}-{self._started}.log"
        environ = {key: value for key, value in os.environ.items() if not key.startswith(("SEREN_", "CALLOSUM_"))}
        environ |= {"HOME": str(self._folder), "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1", **extra}
        with log.open("wb") as output:
            process = subprocess.Popen(
                argv,
                cwd=self._folder,
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self._ending.callback(stop, process)
        return process, log


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _listening(process: subprocess.Popen[bytes], log: Path, pattern: str) -> str:
    """The address a server wrote, once it can be connected to."""
    url = _said(process, log, pattern)
    host, _, port = url.removeprefix("http://").partition(":")
    limit = time.monotonic() + _START_S
    while process.poll() is None and time.monotonic() < limit:
        try:
            socket.create_connection((host, int(port)), timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return url
    raise NotThere(f"{log.stem} does not listen on {url}: {_last_words(log)}")


def _said(process: subprocess.Popen[bytes], log: Path, pattern: str) -> str:
    """What a process wrote first that looks like `pattern`: its last group, or all of it."""
    limit = time.monotonic() + _START_S
    while time.monotonic() < limit:
        found = re.search(pattern, text := log.read_text(encoding="utf-8", errors="replace"))
        if found is not None and text.endswith("\n"):
            return found.group(found.re.groups)
        if process.poll() is not None:
            break
        time.sleep(0.02)
    raise NotThere(f"{log.stem} did not start: {_last_words(log)}")


def _last_words(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace")[-600:]


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process that was started here; at once if it does not listen."""
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(_END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def cpu_s(pid: int) -> float:
    """User and system seconds of a process so far (Linux; 0 elsewhere)."""
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        return 0.0
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rss_mb(pid: int) -> float:
    """Resident memory of a process in MiB (Linux; 0 elsewhere)."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return 0.0
    return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmRSS")) / 1_024
