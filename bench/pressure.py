"""The sections of `overhead` that press: many callers at once, and what memory they and many sessions leave behind.

Above: `overhead`. Below: `contenders` and `loadgen`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from contenders import Contender, Fleet, Name, cpu_s, rss_mb, stop
from lanes import percentile
from loadgen import Load, McpSession, hammer, sse_session
from tables import Row, show, verdict

TIMES = 2.0
"""Our answers per second as a multiple of the peer's, at 16 callers."""

RSS_MB = 105.0
"""The most memory of our server over 32 stores after a load."""

LEFT_MB = 4.0
"""The most memory that a batch of sessions may leave behind once the first ones have warmed everything up."""

NAMES: tuple[Name, ...] = ("ours", "peer")
_LATENCY_MS = 20.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Loads:
    """How much is measured."""

    callers: tuple[int, ...] = (16, 64)
    stores: tuple[int, ...] = (8, 32)
    seconds: float = 8.0
    cap_s: float = 15.0
    warm_sessions: int = 200
    http_sessions: int = 1_000
    sse_sessions: int = 1_000
    memory_stores: int = 32


QUICK = Loads(callers=(16,), stores=(8,), seconds=2.0, cap_s=4.0, warm_sessions=10, http_sessions=40, sse_sessions=10)


async def throughput(fleet: Fleet, loads: Loads) -> list[Row]:
    """One row per number of stores, of callers, and server."""
    rows: list[Row] = []
    lines: list[tuple[str, bool]] = []
    for stores in loads.stores:
        for callers in loads.callers:
            ours, peer = [await _cell(fleet, name, stores, callers, loads) for name in NAMES]
            rows += [ours, peer]
            times = ours["rps"] / max(peer["rps"], 0.01)
            cell = f"{callers} callers, {stores} stores"
            if callers == 16:
                lines.append((f"{cell}: {times:.1f} times the peer's rate, wanted {TIMES}", times >= TIMES))
            lost = ours["lost"] + ours["refused"]
            lines.append((f"{cell}: no answer of ours lost a store ({lost} did)", lost == 0))
    notes = (
        f"{loads.seconds:g} s a cell on a fresh server after a second of warming; who waits then is waited for until "
        f"{loads.cap_s:g} s",
        "p50, p95 in ms, > where some never answered; lost: answers without at least one store; refused: not 200",
        "unfinished: no answer when time was up; CPU: ms of the server's process per answer",
    )
    show(f"Throughput, stores with {_LATENCY_MS:g} ms", rows, notes)
    for claim, met in lines:
        verdict(claim, met)
    return rows


async def _cell(fleet: Fleet, name: Name, stores: int, callers: int, loads: Loads) -> dict[str, Any]:
    """One server under one load. It is fresh, and ends after it: a queue that the peer has left would last minutes."""
    (server,) = fleet.start(name, stores=stores)
    await fleet.set(hits=10, latency_ms=_LATENCY_MS)
    await _press(server, stores, min(callers, 4), 1.0, loads.cap_s)
    burned = cpu_s(server.process.pid)
    load = await _press(server, stores, callers, loads.seconds, loads.cap_s)
    burned = cpu_s(server.process.pid) - burned
    stop(server.process)
    row = {"stores": stores, "callers": callers, "server": server.name, **_figures(load)}
    return {**row, "CPU": burned * 1_000 / max(load.answered, 1)}


async def _press(server: Contender, stores: int, callers: int, seconds: float, cap_s: float) -> Load:
    lossy = _lossy(stores)
    return await hammer(server.url, "/search", server.body_of, callers, seconds=seconds, cap_s=cap_s, lossy=lossy)


def _lossy(stores: int) -> Callable[[bytes], bool]:
    def without_a_store(body: bytes) -> bool:
        return len(json.loads(body)["stores_searched"]) < stores

    return without_a_store


def _figures(load: Load) -> dict[str, Any]:
    least = ">" if load.unfinished else ""
    return {
        "rps": load.answered / load.wall_s,
        "p50": f"{least}{percentile(load.ms, 0.5):.0f}",
        "p95": f"{least}{percentile(load.ms, 0.95):.0f}",
        "answers": load.answered,
        "lost": load.lossy,
        "refused": load.refused,
        "unfinished": load.unfinished,
    }


@dataclass(slots=True)
class Sessions:
    """Memory of the server while sessions come and go, in MiB."""

    kind: str
    sessions: int
    before: float
    halfway: float = 0.0
    after: float = 0.0

    @property
    def left_kb(self) -> float:
        """KiB per session that the second half of them left behind."""
        return (self.after - self.halfway) * 1_024 / (self.sessions - self.sessions // 2)


async def memory(fleet: Fleet, loads: Loads) -> dict[str, Any]:
    """Memory after a load, and around many sessions."""
    await fleet.set(hits=10, latency_ms=_LATENCY_MS)
    loaded: list[Row] = []
    for name in NAMES:
        (server,) = fleet.start(name, stores=loads.memory_stores)
        row = {"server": server.name, "stores": loads.memory_stores, "started": rss_mb(server.process.pid)}
        load = await _press(server, loads.memory_stores, 16, loads.seconds, loads.cap_s)
        loaded.append({**row, "after the load": rss_mb(server.process.pid), "answers": load.answered})
        stop(server.process)
    show("Memory: resident MiB before and after 16 callers", loaded)
    ours = loaded[0]["after the load"]
    verdict(f"ours after the load {ours:.0f} MiB, at most {RSS_MB:.0f}", ours <= RSS_MB)
    (server,) = fleet.start("ours", stores=2)
    sessions = await _sessions(server, loads)
    rows = [{**asdict(one), "KiB left per session": one.left_kb} for one in sessions]
    show(
        "Memory: resident MiB around MCP sessions (hello, tools/list, end)",
        rows,
        [f"before: after {loads.warm_sessions} sessions", "left: by the second half of them"],
    )
    for one in sessions:
        left = one.after - one.before
        verdict(f"{one.sessions} sessions over {one.kind} leave {left:.1f} MiB, at most {LEFT_MB:g}", left <= LEFT_MB)
    return {"load": loaded, "sessions": rows}


async def _sessions(server: Contender, loads: Loads) -> list[Sessions]:
    async def over_http() -> None:
        session = await McpSession(server.url, server.mcp_path).open()
        await session.list_tools()
        await session.end()

    async def over_sse() -> None:
        await sse_session(server.url)

    pid = server.process.pid
    found: list[Sessions] = []
    for kind, count, one in (("HTTP", loads.http_sessions, over_http), ("SSE", loads.sse_sessions, over_sse)):
        for _ in range(loads.warm_sessions):
            await one()
        figures = Sessions(kind, count, rss_mb(pid))
        for number in range(1, count + 1):
            await one()
            if number == count // 2:
                figures.halfway = rss_mb(pid)
        figures.after = rss_mb(pid)
        found.append(figures)
    return found
