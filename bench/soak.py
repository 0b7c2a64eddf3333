"""Many callers for a long time over stores that keep failing: what is lost, what grows.

    python bench/soak.py [--minutes 10 | --seconds N] [--callers 50] [--seed 1] [--json FILE]

Callers over REST, MCP sessions, stateless MCP, SSE and servers of their own over stdio connect, ask, cancel and vanish
(`callers`), while the stores of the fault server (tests/faults), one over each transport, change their behaviour all
the time; one store is always well. Every answer has to hold the caller's own nonce, which went through the store and
back, and no other's. The figures of the server are taken at rest, all stores well: after a first part of the time that
counts for nothing, and at the end. Exit 1 if an answer was lost or swapped, a call got none, or something grew.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from callers import GONE, Caller, Rest, Result, Session, Stateless
from loadgen import Connection
from observed import IDLE_S
from streams import Sse, own_server
from tables import show, verdict
from watching import Figures, figures, leftovers, served, traced

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the fault server is the tests'

from tests.faults.modes import NONCE
from tests.faults.running import WAYS, Faults, running

WELL = "well"
MODES = (
    "hang drip slow refuse 401 404-session 429 500 bad-json not-a-list nan-score huge dup die-mid-stream redirect "
    "garbage-stdout inject"
).split()
STORE_S, WELL_S, CALL_S = 1.0, 10.0, 12.0
"""The time of a store, of the one that is well, and of a call: no answer lacks that one for want of CPU."""

ANSWER_S = 30.0
"""Seconds after which a caller counts its answer as lost."""

GROWTH_MB = 25.0
"""The most resident memory that the second part may add."""

SPREAD = 8
"""Tasks and descriptors by which two moments at rest differ: connections to stores come and go."""

_WARM_SHARE = 0.25
_REST_S, _RESTS = IDLE_S + 4.0, 4
_SPAWNED = 3
"""Callers that start a server of their own at the same time: each start costs most of a second of CPU."""


@dataclass(kw_only=True)
class Tally:
    """What became of the calls.

    Attributes:
        calls: Calls that were waited for, by kind of caller.
        went: Calls that were cancelled or left alone, by what the caller did.
        errors: Calls without a result, by what was said.
        stores: Failures of stores, by reason.
        wrong: Answers that were lost, swapped or never came, in words.
    """

    calls: Counter[str] = field(default_factory=Counter[str])
    went: Counter[str] = field(default_factory=Counter[str])
    errors: Counter[str] = field(default_factory=Counter[str])
    stores: Counter[str] = field(default_factory=Counter[str])
    wrong: list[str] = field(default_factory=list[str])

    def take(self, kind: str, asked: str, answer: Result) -> None:
        """Check one answer."""
        self.calls[kind] += 1
        self.stores.update(str(one.get("reason")) for one in answer["engines"] if one["status"] == "down")
        well = next(one for one in answer["engines"] if one["engine"] == WELL)
        texts = [hit["text"] for hit in answer["hits"]]
        others = {found for text in texts for found in NONCE.findall(text)} - {asked}
        if answer["query"] != f"{asked} of the relay" or others:
            self.wrong.append(f"swapped: {kind} asked {asked} and got {sorted(others) or answer['query']}")
        elif well["status"] != "up" or not any(asked in text for text in texts):
            self.wrong.append(f"lost: {kind} asked {asked}: {well}, {len(texts)} hits")


class Soak:
    """One run.

    Args:
        faults: The stores.
        url: The server that most callers share.
        config: Its settings, for those that start their own.
        seed: For the choices.
    """

    def __init__(self, faults: Faults, url: str, config: str, seed: int) -> None:
        self._faults, self._config = faults, config
        self._random = random.Random(seed)
        self._kinds: dict[str, Callable[[], Caller]] = {
            "session": lambda: Session(url),
            "stateless": lambda: Stateless(url),
            "sse": lambda: Sse(url),
            "rest": lambda: Rest(url),
        }
        self._url = url
        self._number = 0
        self.tally = Tally()

    async def run(self, seconds: float, callers: int) -> None:
        """Everybody at once, for a time; all have gone when it ends."""
        until = time.monotonic() + seconds
        kinds = list(self._kinds)
        spawned = min(_SPAWNED, callers // 4)
        async with asyncio.TaskGroup() as group:
            group.create_task(self._flap(until))
            for number in range(callers):
                kind = "stdio" if number < spawned else kinds[number % len(kinds)]
                group.create_task(self._live(kind, until))
        await self.all_well()

    async def all_well(self) -> None:
        """Every store is well, and connected to."""
        await asyncio.to_thread(self._faults.set, "*", "ok")
        connection = Connection(self._url)
        for _ in range(2):
            await connection.send(connection.frame("GET", "/stores?probe=1"))
        connection.close()

    async def _flap(self, until: float) -> None:
        sick = [name for name in self._faults.ways if name != WELL]
        while time.monotonic() < until:
            name, mode = self._random.choice(sick), self._random.choice([*MODES, *["ok"] * len(MODES)])
            more = {"ms": 200} if mode == "slow" else {"url": self._faults.urls[WELL]} if mode == "redirect" else {}
            await asyncio.to_thread(self._faults.set, name, mode, **more)
            if self._random.random() < 0.1:
                await self.all_well()  # a probe by hand ends what would keep stores out for minutes
            await asyncio.sleep(self._random.uniform(0.1, 0.6))

    async def _live(self, kind: str, until: float) -> None:
        """One caller after the other."""
        while time.monotonic() < until:
            caller = own_server(self._config, self._overlay()) if kind == "stdio" else self._kinds[kind]()
            try:
                async with asyncio.timeout(2 * ANSWER_S):
                    await caller.open()
                    await self._ask(kind, caller, until)
            except TimeoutError:
                self.tally.wrong.append(f"no answer: {kind}")
            except GONE as fault:
                self.tally.errors[f"{kind}: {re.sub(r'[0-9a-f]{8,}|[0-9]+', 'n', str(fault))[:60]}"] += 1
            finally:
                await caller.vanish()

    async def _ask(self, kind: str, caller: Caller, until: float) -> None:
        for number in range(self._random.randint(1, 6)):
            if number and time.monotonic() > until:
                break
            asked = f"nonce-{self._next():08x}"
            await caller.begin(f"{asked} of the relay")
            does = self._random.choices(("waits", "cancels", "vanishes"), (8, 1, 1))[0] if number else "waits"
            if does == "waits":
                async with asyncio.timeout(ANSWER_S):
                    self.tally.take(kind, asked, await caller.answer())
                continue
            self.tally.went[does] += 1
            await asyncio.sleep(self._random.uniform(0, 0.3))
            if does == "vanishes":
                await caller.vanish()
                return
            await caller.cancel()
        await caller.close()

    def _next(self) -> int:
        self._number += 1
        return self._number

    def _overlay(self) -> str:
        return f"{self._config}.{self._next()}.overlay"


def settings(faults: Faults) -> dict[str, Any]:
    """What the server is given: little time for stores, and much for the one that is well."""
    stores = [faults.store(name, timeout_s=WELL_S if name == WELL else STORE_S) for name in faults.ways]
    return {"stores": stores, "federation": {"deadline_s": CALL_S}}


async def soaked(soak: Soak, seconds: float, callers: int, look: Callable[[], Figures]) -> list[Figures]:
    """Both parts, with the figures at the end of each."""
    seen: list[Figures] = []
    for share in (_WARM_SHARE, 1 - _WARM_SHARE):
        await soak.run(share * seconds, callers)
        seen.append(await _at_rest(look, seen))
    return seen


async def _at_rest(look: Callable[[], Figures], before: list[Figures]) -> Figures:
    """The figures once what was open has been closed; on a busy machine that takes longer, and a leak stays."""
    rests = 0
    while True:
        await asyncio.sleep(_REST_S)
        now, rests = await asyncio.to_thread(look), rests + 1
        closed = all(now.tasks <= one.tasks + SPREAD and now.fds <= one.fds + SPREAD for one in before)
        if closed or rests == _RESTS:
            return now


def report(soak: Soak, seen: list[Figures], left: int, folder: Path) -> bool:
    """Print what was found; whether all is well."""
    tally, (start, end) = soak.tally, seen
    grown = end.rss_mb - start.rss_mb
    show("Calls that were waited for, by caller", [dict(tally.calls)])
    show("Calls that were not", [dict(tally.went)])
    show("Failures of stores in these answers, by reason", [dict(tally.stores)])
    show(
        "Calls without a result, by what was said", [{"said": said, "n": n} for said, n in tally.errors.most_common(12)]
    )
    show("The server at rest", [{"": "start", **asdict(start)}, {"": "end", **asdict(end)}])
    for line in tally.wrong[:10]:
        sys.stdout.write(f"  {line}\n")
    claims = {
        f"lost, swapped or unanswered: {len(tally.wrong)} of {tally.calls.total()}": not tally.wrong,
        f"memory grew by {grown:.1f} MiB, at most {GROWTH_MB:g}": grown <= GROWTH_MB,
        f"tasks {start.tasks} -> {end.tasks}": end.tasks <= start.tasks + SPREAD,
        f"file descriptors {start.fds} -> {end.fds}": end.fds <= start.fds + SPREAD,
        f"children {start.children} -> {end.children}": end.children <= max(start.children, 1),
        f"children of servers that have gone: {left}": left == 0,
        "no trace in the server's log": not traced(folder),
    }
    for claim, met in claims.items():
        verdict(claim, met)
    return all(claims.values())


def main() -> int:
    """Run it; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seconds", type=float, help="instead of minutes")
    parser.add_argument("--callers", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write the figures to a file")
    options = parser.parse_args()
    seconds = options.seconds or 60 * options.minutes
    ways = {WELL: "memory", **{way: way for way in WAYS}}
    with tempfile.TemporaryDirectory() as name, running(ways) as faults:
        folder = Path(name)
        with served(folder, settings(faults)) as (process, url, config):
            soak = Soak(faults, url, config, options.seed)
            seen = asyncio.run(soaked(soak, seconds, options.callers, lambda: figures(process, folder)))
            left = leftovers(faults.control, process.pid)
            well = report(soak, seen, left, folder)
            trace = traced(folder)
    if options.json:
        found = {"calls": soak.tally.calls, "went": soak.tally.went, "stores": soak.tally.stores}
        more = {"errors": soak.tally.errors, "wrong": soak.tally.wrong, "left": left, "trace": trace}
        content = {"seconds": seconds, "callers": options.callers, **found, **more, "server": list(map(asdict, seen))}
        options.json.write_text(json.dumps(content, indent=1), encoding="utf-8")
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
