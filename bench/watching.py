"""The server that a soak watches, as a process: started, and looked at from outside and inside.

Above: `soak`. Below: `observed`, /proc.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contenders import rss_mb, stop
from loadgen import BadAnswer

HERE = Path(__file__).resolve().parent
_WAIT_S = 30.0


@dataclass(frozen=True, kw_only=True)
class Figures:
    """The server at rest."""

    rss_mb: float
    fds: int
    tasks: int
    threads: int
    children: int


@contextmanager
def served(folder: Path, settings: Mapping[str, Any]) -> Generator[tuple[subprocess.Popen[bytes], str, str]]:
    """The server that is observed: its process, its URL, its settings."""
    config = folder / "soak.json"
    config.write_text(json.dumps(settings), encoding="utf-8")
    serve = ["serve", "--transport", "http", "--port", "0", "--config", str(config)]
    argv = [sys.executable, str(HERE / "observed.py"), str(folder / "figures.json"), *serve]
    log = folder / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={**os.environ, "CALLOSUM_RUNTIME_STORES": f"{config}.overlay"},
            start_new_session=True,
        )
    try:
        yield process, _address(process, log), str(config)
    finally:
        stop(process)


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    limit = time.monotonic() + _WAIT_S
    while process.poll() is None and time.monotonic() < limit:
        found = re.search(r"http://[\d.]+:\d+", log.read_text(encoding="utf-8"))
        if found is not None:
            return found.group()
        time.sleep(0.05)
    raise BadAnswer(f"the server did not start: {log.read_text(encoding='utf-8')[-400:]}")


def figures(process: subprocess.Popen[bytes], folder: Path) -> Figures:
    """The server's own figures, asked for."""
    file = folder / "figures.json"
    before = file.stat().st_mtime_ns if file.exists() else 0
    process.send_signal(signal.SIGUSR1)
    limit = time.monotonic() + _WAIT_S
    while not file.exists() or file.stat().st_mtime_ns == before:
        if time.monotonic() > limit:
            raise BadAnswer("the server does not say how it fares")
        time.sleep(0.02)
    told = json.loads(file.read_text(encoding="utf-8"))
    return Figures(
        rss_mb=rss_mb(process.pid),
        fds=len(list(Path(f"/proc/{process.pid}/fd").iterdir())),
        tasks=sum(told["tasks"].values()),
        threads=told["threads"],
        children=len(_with(lambda _, parent: parent == process.pid)),
    )


def leftovers(control: str, server: int) -> int:
    """Children of servers that have gone."""
    ours = control.encode()
    return len(_with(lambda line, parent: ours in line and b"stdio_engine" in line and parent != server))


def _with(wanted: Callable[[bytes, int], bool]) -> list[int]:
    """The processes, zombies too, whose command line and parent are wanted."""
    found: list[int] = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((place / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
            line = (place / "cmdline").read_bytes()
        except OSError:
            continue
        if wanted(line, parent):
            found.append(int(place.name))
    return found


def traced(folder: Path) -> bool:
    """Whether the server's log holds a trace."""
    return "Traceback" in (folder / "server.log").read_text(encoding="utf-8")
