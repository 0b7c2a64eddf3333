"""One real server as a process of ours: started, hung, revived, stopped and restarted on the same port.

Below it the operating system, above it `lab.py`, which knows the three servers. Every call here blocks, but only
`start`, `stop` and `restart` for longer than a moment: in an async test run those with `anyio.to_thread.run_sync`.
POSIX only (signals, process groups).
"""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx2

_HOST = "127.0.0.1"
_START_LIMIT_S = 60.0  # a cold import on a busy machine; two seconds is usual
_STOP_LIMIT_S = 10.0
_POLL_S = 0.02
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "TZ")


class LabError(Exception):
    """A server of the lab did not start, or refused what the lab asked of it. The message ends with its log."""


class Port:
    """A free loopback port. On Linux it stays ours while the server is down: bound here without listening, it refuses
    connections, the OS gives it to nobody else, and a server that sets SO_REUSEADDR may still bind and listen."""

    def __init__(self) -> None:
        self._claim = socket.socket()
        if sys.platform == "linux":
            self._claim.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._claim.bind((_HOST, 0))
        self.number: int = self._claim.getsockname()[1]
        if sys.platform != "linux":  # elsewhere a second bind is refused, so the port cannot be kept, only found
            self._claim.close()

    def release(self) -> None:
        self._claim.close()


class Server:
    """A server of the lab. `url` stays the same over restarts; `log_path` collects the output of all of them.

    Args:
        name: What it is called in error messages and in the log section of a failed test.
        argv: The command, without shell.
        folder: Where it runs and logs; everything it writes lands here or under `home`.
        home: Its home directory, so that nothing of the user's is read or written.
        port: Where it listens.
        token: The bearer token it asks for; "" means none.
        environ: More variables for it.
        ready_path: What answers 200 as soon as it serves; only the head of the answer is read.
    """

    def __init__(
        self,
        *,
        name: str,
        argv: Sequence[str | Path],
        folder: Path,
        home: Path,
        port: Port,
        token: str = "",
        environ: Mapping[str, str] | None = None,
        ready_path: str = "/health",
    ) -> None:
        self.name = name
        self.folder = folder
        self.token = token
        self.log_path = folder / "server.log"
        self._argv = argv
        self._home = home
        self._more_environ = dict(environ or {})
        self._ready_path = ready_path
        self._port = port
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def port(self) -> int:
        return self._port.number

    @property
    def url(self) -> str:
        return f"http://{_HOST}:{self.port}"

    @property
    def mcp_url(self) -> str:
        """With the slash: without it the servers answer 307."""
        return f"{self.url}/mcp/"

    @property
    def headers(self) -> dict[str, str]:
        """What a client must send: the bearer token, if one is asked for."""
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    @property
    def pid(self) -> int | None:
        """The process id while it runs, also while it hangs."""
        return self._process.pid if self._process and self._process.poll() is None else None

    def launch(self) -> None:
        """Start the process without waiting; `wait_ready` belongs to it."""
        if self.pid is not None:
            raise LabError(f"{self.name} already runs")
        environ = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        environ |= {"HOME": str(self._home), "TMPDIR": str(self._home), "PYTHONUTF8": "1", "PYTHONUNBUFFERED": "1"}
        environ |= {"PYTHONDONTWRITEBYTECODE": "1", "ANONYMIZED_TELEMETRY": "False", "HF_HUB_OFFLINE": "1"}
        environ |= self._more_environ
        with self.log_path.open("ab") as log:
            self._process = subprocess.Popen(
                self._argv, cwd=self.folder, env=environ, stdout=log, stderr=log, start_new_session=True
            )

    def wait_ready(self) -> None:
        """Return when it answers its `ready_path`.

        Raises:
            LabError: It ended, or did not answer in time.
        """
        deadline = time.monotonic() + _START_LIMIT_S
        with self.client(timeout_s=2.0) as client:
            while time.monotonic() < deadline:
                if self.pid is None:
                    code = self._process.returncode if self._process else None
                    raise LabError(f"{self.name} ended with exit code {code} before it answered\n{self.log_tail()}")
                with contextlib.suppress(httpx2.TransportError):
                    with client.stream("GET", self._ready_path) as response:
                        if response.status_code == 200:
                            return
                time.sleep(_POLL_S)
        raise LabError(f"{self.name} did not answer within {_START_LIMIT_S:.0f} s\n{self.log_tail()}")

    def start(self) -> None:
        self.launch()
        self.wait_ready()

    def stop(self) -> None:
        """End it: SIGTERM, then SIGKILL if it lingers. Afterwards the port refuses connections. May be called twice."""
        if self._process is None:
            return
        self._signal(signal.SIGTERM)
        self._signal(signal.SIGCONT)  # a paused process never sees the first one
        try:
            self._process.wait(_STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """SIGKILL, as when the machine takes it away: connections break, nothing is said."""
        self._signal(signal.SIGKILL)
        if self._process is not None:
            self._process.wait(_STOP_LIMIT_S)

    def restart(self) -> None:
        """Stop it if it runs, and start it again on the same port with the same data."""
        self.stop()
        self.start()

    def pause(self) -> None:
        """SIGSTOP: the kernel still accepts connections and nobody answers, as with a store that hangs."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """SIGCONT: whatever came in while it hung is answered now."""
        self._signal(signal.SIGCONT)

    @contextlib.contextmanager
    def paused(self) -> Generator[None]:
        self.pause()
        try:
            yield
        finally:
            self.resume()

    def close(self) -> None:
        """Stop it for good and give the port back."""
        self.stop()
        self._port.release()

    def log_tail(self, lines: int = 40) -> str:
        if not self.log_path.exists():
            return ""
        return "\n".join(self.log_path.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])

    def client(self, *, timeout_s: float = 30.0) -> httpx2.Client:
        """A client for this server and no other: its token set, no proxy of the environment, no TLS to prepare."""
        return httpx2.Client(base_url=self.url, headers=self.headers, timeout=timeout_s, trust_env=False, verify=False)

    def get(self, path: str, **params: str | int | bool) -> Any:
        """The JSON that `path` answers. Raises LabError for any status but 200."""
        with self.client() as client:
            return self.checked(client.get(path, params=params))

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """The JSON that `path` answers. Raises LabError for any status but 200."""
        with self.client() as client:
            return self.checked(client.post(path, json=body))

    def checked(self, response: httpx2.Response) -> Any:
        if response.status_code != 200:
            what = f"{response.request.method} {response.request.url.path}"
            raise LabError(f"{self.name}: {what}: {response.status_code} {response.text}\n{self.log_tail()}")
        return response.json()

    def _signal(self, number: signal.Signals) -> None:
        pid = self.pid  # of the process and, because it leads a session, of its group
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, number)
