"""What the tests over other engines start: callosum-mcp over any stores, a throwaway PostgreSQL, and a child's process.

Above: `test_engines_live.py`. Below: `ours.py`, `server.py`. POSIX only.
"""

import contextlib
import fcntl
import json
import os
import pwd
import signal
import struct
import subprocess
import termios
import time
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from .install import postgres_bin
from .ours import command
from .server import LabError, Port

_WAIT_S = 60.0
_POLL_S = 0.02
_OWNER = "postgres"
_PASSWORD = "canary-7d1f"


@dataclass(frozen=True, kw_only=True)
class Over:
    """callosum-mcp with some stores in its settings file, as a client starts it."""

    folder: Path
    environ: Mapping[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def stores(cls, folder: Path, stores: Sequence[Mapping[str, Any]], **federation: Any) -> "Over":
        """Its settings written, its home made."""
        (folder / "home").mkdir(parents=True)
        knobs = {"per_store_timeout_s": 60, "deadline_s": 60, **federation}  # a cold start on a busy machine
        settings = {"federation": knobs, "stores": list(stores)}
        (folder / "callosum.yaml").write_text(json.dumps(settings), encoding="utf-8")  # JSON is YAML
        return cls(folder=folder)

    @property
    def config(self) -> Path:
        return self.folder / "callosum.yaml"

    def env(self) -> dict[str, str]:
        return {"HOME": str(self.folder / "home"), "PATH": os.environ.get("PATH", ""), **self.environ}

    @asynccontextmanager
    async def client(self) -> AsyncGenerator[Client]:
        """A client that started it over stdio."""
        argv = ["serve", "--config", str(self.config)]
        async with Client(
            StdioServerParameters(command=str(command()), args=argv, env=self.env(), cwd=self.folder)
        ) as client:
            yield client

    def run(self, *arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        """A finished command."""
        argv = [str(command()), *arguments]
        return subprocess.run(
            argv, cwd=self.folder, env=self.env(), input=stdin or "", capture_output=True, text=True, timeout=120
        )

    def child(self) -> int:
        """The process that the server of this settings file started."""
        (server,) = _processes(lambda pid: str(self.config) in _argv(pid))
        (child,) = _processes(lambda pid: _parent(pid) == server)
        return child


async def recalled(client: Client, query: str) -> dict[str, Any]:
    """The answer to one question, over MCP."""
    result = await client.call_tool("recall", {"query": query, "detail": "detailed"})
    return dict(result.structured_content or {})


def status_of(answer: Mapping[str, Any], store: str) -> dict[str, Any]:
    """What one store did."""
    return next(engine for engine in answer["engines"] if engine["engine"] == store)


async def unread_request(pid: int) -> None:
    """Return once a stopped process has something on its stdin that it will never read."""
    with anyio.fail_after(_WAIT_S):
        while not _waiting_bytes(pid):  # noqa: ASYNC110 -- nothing tells of a pipe that fills
            await anyio.sleep(_POLL_S)


def _waiting_bytes(pid: int) -> int:
    """Bytes in the pipes that a process reads from; some servers move their stdin to another descriptor."""
    return sum(_unread(pid, name) for name in os.listdir(f"/proc/{pid}/fd") if _is_read_from(pid, name))


def _is_read_from(pid: int, name: str) -> bool:
    if not os.readlink(f"/proc/{pid}/fd/{name}").startswith("pipe:"):
        return False
    info = Path(f"/proc/{pid}/fdinfo/{name}").read_text(encoding="utf-8")
    flags = next(line.split()[1] for line in info.splitlines() if line.startswith("flags:"))
    return int(flags, 8) & os.O_ACCMODE == os.O_RDONLY


def _unread(pid: int, name: str) -> int:
    handle = os.open(f"/proc/{pid}/fd/{name}", os.O_RDONLY | os.O_NONBLOCK)
    try:
        return struct.unpack("i", fcntl.ioctl(handle, termios.FIONREAD, struct.pack("i", 0)))[0]
    finally:
        os.close(handle)


def signal_group(pid: int, number: signal.Signals) -> None:
    """A signal to a process and all that it started."""
    os.killpg(os.getpgid(pid), number)


def _processes(wanted: Callable[[int], bool]) -> list[int]:
    pids = [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]
    return [pid for pid in pids if wanted(pid)]


def _argv(pid: int) -> list[str]:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8", errors="replace").split("\0")
    return []


def _parent(pid: int) -> int:
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
    return -1


class Cluster:
    """A PostgreSQL server of its own on a free loopback port, which anybody with the password may use.

    Args:
        folder: Where it keeps its data; handed over to the user it runs as, since it does not run as root.
    """

    def __init__(self, folder: Path) -> None:
        found = postgres_bin()
        if found is None:
            raise LabError("PostgreSQL is not installed")
        self._bin = found
        self._data = folder / "data"
        self._log = folder / "log"
        self._password_file = folder / "password"
        self._port = Port()
        self._process: subprocess.Popen[Any] | None = None
        self._become: dict[str, Any] = {}
        folder.mkdir()
        self._password_file.write_text(_PASSWORD + "\n", encoding="utf-8")
        if os.geteuid() == 0:
            owner = pwd.getpwnam(_OWNER)
            self._become = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
            for path in (folder, self._password_file):
                os.chown(path, owner.pw_uid, owner.pw_gid)
            _let_through(folder)

    password = _PASSWORD

    @property
    def url(self) -> str:
        """Without its password."""
        return f"postgresql://{_OWNER}@127.0.0.1:{self._port.number}/postgres"

    def create(self) -> None:
        """Make the cluster and start it."""
        argv = [
            self._bin / "initdb",
            "-D",
            self._data,
            "-U",
            _OWNER,
            "-A",
            "scram-sha-256",
            "-E",
            "UTF8",
            "--locale=C.UTF-8",
        ]
        argv += [f"--pwfile={self._password_file}", "--no-sync"]
        done = subprocess.run(argv, cwd="/", capture_output=True, text=True, **self._become)
        if done.returncode:
            raise LabError(f"initdb: {done.stderr}")
        self.start()

    def start(self) -> None:
        """Start it and wait until it takes connections."""
        settings = ["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "fsync=off"]
        argv = [self._bin / "postgres", "-D", self._data, "-p", str(self._port.number), *settings]
        with self._log.open("ab") as log:
            process = subprocess.Popen(argv, cwd="/", stdout=log, stderr=log, start_new_session=True, **self._become)
        self._process = process
        ready = [self._bin / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self._port.number)]
        deadline = time.monotonic() + _WAIT_S
        while subprocess.run(ready, cwd="/").returncode:
            if time.monotonic() > deadline or process.poll() is not None:
                raise LabError(f"postgres did not start\n{self._log.read_text(encoding='utf-8', errors='replace')}")
            time.sleep(_POLL_S)

    def stop(self) -> None:
        """End it at once; its connections break."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT)  # an immediate shutdown
            self._process.wait(_WAIT_S)

    def close(self) -> None:
        self.stop()
        self._port.release()


def _let_through(folder: Path) -> None:
    """Let another user pass through the folders above; pytest keeps its own closed."""
    for parent in folder.parents:
        mode = parent.stat().st_mode
        if not mode & 0o001:
            parent.chmod(mode | 0o001)


@contextlib.contextmanager
def cluster(folder: Path) -> Generator[Cluster]:
    """A running cluster that ends with the block."""
    running = Cluster(folder)
    try:
        running.create()
        yield running
    finally:
        running.close()
