"""One sick store beside three healthy ones: how long an answer takes, ours beside the peer's, for each kind of fault.

    python bench/faults.py [--modes hang,drip,…] [--json FILE]

Both servers run at their own defaults over the same stores of the fault server (tests/faults), fresh for each fault. A
question is asked over REST until ours leaves the store alone (the peer as often, for half a minute at most); `first` is
the first answer, `then` the median of five more. `others`: healthy stores in the worst answer. The last table is about
callers that hang up: how long it takes until the store's own request is closed. The peer has to be installed:
python -m tests.peers.install peers.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from contenders import Contender, Fleet, NotThere, peer_version, stop
from loadgen import Answer, Connection
from tables import Row, show, verdict

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the fault server is the tests'

from tests.faults.running import Faults, running

HEALTHY = {"memory0": "memory", "loci1": "loci", "memory2": "memory"}
SICK = "sick"
MODES = (
    "ok hang drip slow refuse 401 404-session 429 500 bad-json not-a-list nan-score huge dup die-mid-stream redirect"
).split()
TIMEOUT_S, OVER_S = 4.0, 0.1
"""Our store's time by default, and what an answer may take beyond it."""

OPEN_MS = 50.0
"""The most an answer may take once the store is left alone."""

LEFT = "left alone"
"""What the table says where a store was not asked."""

_SLOW_MS = 1_500.0
_TRIES = 6
_CAP_S = 30.0
_AGAIN = 5
_WARM = 20
_GONE_S = 5.0


class SickFleet(Fleet):
    """Servers over a fault server."""

    def _open(self, stores: int) -> None:
        self.faults: Faults = self._ending.enter_context(running({**HEALTHY, SICK: "memory"}))
        self.process = self.faults.process
        self.stores = [
            {"name": name, "type": f"seren_{way}", "url": self.faults.urls[name]}
            for name, way in self.faults.ways.items()
        ][:stores]

    def fresh(self) -> list[Contender]:
        """Ours and the peer, freshly started, having asked every store once while all were well."""
        return self.start("ours", "peer", stores=len(self.stores))


@dataclass(slots=True)
class Asked:
    """What one server answered.

    Attributes:
        ms: Milliseconds of each answer.
        said: What each answer said of the sick store.
        others: Healthy stores in the answer that had the fewest.
    """

    ms: list[float] = field(default_factory=list[float])
    said: list[str] = field(default_factory=list[str])
    others: int = len(HEALTHY)

    def row(self, mode: str, server: str) -> dict[str, Any]:
        """Its line of the table."""
        return {
            "fault": mode,
            "server": server,
            "first ms": self.ms[0],
            "says": self.said[0],
            "answers": len(self.ms) - _AGAIN,
            "then ms": statistics.median(self.ms[-_AGAIN:]),
            "then says": self.said[-1],
            "others": self.others,
        }


async def asked(server: Contender, mode: str) -> Asked:
    """Ask until the store is left alone, then five times more."""
    found, began = Asked(), time.perf_counter()
    for _ in range(_TRIES):
        await _ask(server, mode, found)
        if found.said[-1] in ("up", LEFT) or time.perf_counter() - began > _CAP_S:
            break
    for _ in range(_AGAIN):
        await _ask(server, mode, found)
    return found


async def _ask(server: Contender, mode: str, found: Asked) -> None:
    connection = Connection(server.url)
    body = json.dumps({"query": f"nonce-{mode.replace('-', '')}{len(found.ms)} of the relay", "n_results": 10}).encode()
    began = time.perf_counter()
    try:
        answer = await connection.send(connection.frame("POST", "/search", body))
    except (OSError, asyncio.IncompleteReadError):
        answer = Answer(0, b"", b"")
    found.ms.append((time.perf_counter() - began) * 1_000)
    connection.close()
    said, others = _read(answer)
    found.said.append(said)
    found.others = min(found.others, others)


def _read(answer: Answer) -> tuple[str, int]:
    """What an answer says of the sick store, and how many healthy ones are in it."""
    if answer.status != 200:
        return f"HTTP {answer.status}", 0
    body: dict[str, Any] = json.loads(answer.body)
    searched: list[str] = body["stores_searched"]
    others = len([name for name in searched if name != SICK])
    if SICK in searched:
        return "up", others
    if any(engine["engine"] == SICK and engine["status"] == "skipped" for engine in body.get("engines") or ()):
        return LEFT, others
    reasons = [str(entry["reason"]) for entry in body.get("failed") or () if entry["name"] == SICK]
    return (reasons or ["not mentioned"])[0].partition(":")[0].strip()[:24], others


async def one_fault(fleet: SickFleet, mode: str) -> list[Row]:
    """Both servers under one fault."""
    fleet.faults.set("*", "ok")
    servers = fleet.fresh()
    for server in servers:
        for _ in range(_WARM):
            await _ask(server, "warm", Asked())
    elsewhere = fleet.faults.urls["memory0"]
    fleet.faults.set(SICK, mode, ms=_SLOW_MS, url=elsewhere)
    if mode in ("hang", "drip"):  # nobody computes while these are waited for
        both = await asyncio.gather(*(asked(server, mode) for server in servers))
    else:
        both = [await asked(server, mode) for server in servers]
    for server in servers:
        stop(server.process)
    return [one.row(mode, server.name) for server, one in zip(servers, both, strict=True)]


def hang_up(fleet: SickFleet) -> list[Row]:
    """A caller of REST that hangs up while a store hangs: milliseconds until the store's request is closed."""
    fleet.faults.set("*", "ok")
    servers, rows = fleet.fresh(), list[Row]()
    for server in servers:
        asyncio.run(_ask(server, "warm", Asked()))
    fleet.faults.set(SICK, "hang")
    for server in servers:
        since, parts = fleet.faults.now(), urlsplit(server.url)
        frame = Connection(server.url).frame("POST", "/search", server.body)
        with socket.create_connection((str(parts.hostname), parts.port or 80)) as caller:
            caller.sendall(frame)
            fleet.faults.wait(SICK, "asked", since)
        left = time.monotonic()
        closed = fleet.faults.within(_GONE_S, SICK, "gone", since)
        rows.append({"server": server.name, "closed after ms": None if closed is None else (closed["at"] - left) * 1e3})
        stop(server.process)
    return rows


def judged(rows: Sequence[Row]) -> None:
    """Say for ours whether it kept its times."""
    ours = [row for row in rows if row["server"] == "ours"]
    most = max(row["first ms"] for row in ours)
    limit = (TIMEOUT_S + OVER_S) * 1_000
    verdict(f"our slowest answer {most:.0f} ms, at most {limit:.0f}", most <= limit)
    left = [row["then ms"] for row in ours if row["then says"] == LEFT]
    if left:
        verdict(f"ours with the store left alone {max(left):.0f} ms, at most {OPEN_MS:.0f}", max(left) <= OPEN_MS)
    verdict("ours: every healthy store in every answer", all(row["others"] == len(HEALTHY) for row in ours))


def main() -> None:
    """Run the bench."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modes", default=",".join(MODES), help="comma-separated")
    parser.add_argument("--json", type=Path, help="write the figures to a file")
    options = parser.parse_args()
    rows: list[Row] = []
    with SickFleet(len(HEALTHY) + 1) as fleet:
        for mode in options.modes.split(","):
            rows += asyncio.run(one_fault(fleet, mode))
            sys.stderr.write(f"{mode} done\n")
        left = hang_up(fleet)
    notes = (
        f"3 healthy stores and 1 sick, each server at its own defaults (ours gives a store {TIMEOUT_S:g} s)",
        f"peer: seren-corpus-callosum {peer_version()}; slow: {_SLOW_MS:g} ms; others: of {len(HEALTHY)}",
    )
    show("One sick store", rows, notes)
    judged(rows)
    show("A caller that hangs up", left, (f"-: still open after {_GONE_S:g} s",))
    if options.json:
        options.json.write_text(json.dumps({"faults": rows, "left": left}, indent=1), encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except NotThere as missing:
        sys.exit(str(missing))
