"""The fault server as tests and benches hold it: started, told how to behave, asked what happened, ended.

Above: tests, benches. Below: the process of `server`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from .engine import OPTIONS
from .modes import Row

TESTS = Path(__file__).resolve().parents[1]
WAIT_S = 20.0

Way = str
"""``memory``, ``loci``, or an engine over ``http``, ``sse`` or ``stdio``."""

WAYS: tuple[Way, ...] = ("memory", "loci", "http", "sse", "stdio")


@dataclass(frozen=True, kw_only=True)
class Faults:
    """A fault server that runs.

    Attributes:
        process: Its process.
        ways: How each store is asked.
        urls: Where each store listens; a child's is not used.
    """

    process: subprocess.Popen[bytes]
    control: str
    ways: Mapping[str, Way]
    urls: Mapping[str, str]
    client: httpx2.Client

    def set(self, store: str, mode: str, **more: Any) -> int:
        """Let a store (``*``: all) behave so from now on; the number of the next event."""
        return self._told("/set", {"store": store, "mode": mode, **more})["since"]

    def wait(self, store: str, what: str, since: int = 0) -> Row:
        """The first event of a kind, waited for."""
        event = self.within(WAIT_S, store, what, since)
        assert event is not None, f"store {store}: nothing was {what}"
        return event

    def within(self, timeout_s: float, store: str, what: str, since: int = 0) -> Row | None:
        """The first event of a kind, waited for; None if there is none in time."""
        return self._told("/wait", {"store": store, "what": what, "since": since, "timeout_s": timeout_s})

    def events(self, store: str, what: str, since: int = 0) -> list[Row]:
        """The events of a kind so far."""
        found = self._told("/events", {"store": store, "since": since})
        return [event for event in found if event["what"] == what]

    def now(self) -> int:
        """The number of the next event."""
        return self._told("/now", {})["since"]

    def counts(self) -> dict[str, int]:
        """How often what happened to which store, as ``store what``."""
        return self._told("/counts", {})

    def store(self, name: str, **more: Any) -> Row:
        """A store of our settings file."""
        way, url = self.ways[name], self.urls[name]
        if way in ("memory", "loci"):
            return {"name": name, "type": f"seren_{way}", "url": url, **more}
        engine = {"name": name, "type": "mcp", "options": OPTIONS, **more}
        if way == "stdio":
            args = ["-S", "-E", "-m", "faults.stdio_engine", self.control, name]
            child = {"type": "stdio", "command": sys.executable, "args": args, "cwd": str(TESTS)}
            return {**engine, "transport": child}
        return {**engine, "url": url + ("/sse" if way == "sse" else "/mcp"), "transport": {"type": way}}

    def _told(self, path: str, body: Row) -> Any:
        return self.client.post(self.control + path, json=body, timeout=2 * WAIT_S).json()


@contextmanager
def running(ways: Mapping[str, Way]) -> Generator[Faults]:
    """A fault server with these stores."""
    kinds = [f"{way if way in ('memory', 'loci') else 'engine'}:{name}" for name, way in ways.items()]
    argv = [sys.executable, "-m", "faults.server", *kinds]
    with (
        httpx2.Client(trust_env=False) as client,
        subprocess.Popen(argv, cwd=TESTS, stdout=subprocess.PIPE, start_new_session=True) as process,
    ):
        try:
            assert process.stdout is not None
            told = json.loads(process.stdout.readline())
            yield Faults(process=process, control=told["control"], ways=ways, urls=told["stores"], client=client)
        finally:
            process.terminate()
            process.wait(WAIT_S)
