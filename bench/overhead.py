"""What a recall costs: ours beside the peer (seren-corpus-callosum 5.3.0), over the same fake stores, in one run.

    python bench/overhead.py [--quick] [--section latency|floor|throughput|memory|growth] [--json FILE]

latency      added milliseconds per recall, over REST and over MCP, at 2, 8, 32 stores x 10, 100 hits x 0, 20 ms
floor        the bare concurrent requests to the same stores, with JSON parsing, in the same blocks
throughput   16 and 64 callers: answers per second, p95, and in how many answers a store was missing
memory       of our server after a load, and after many MCP sessions were opened and closed
growth       milliseconds against the number of stores and of hits, beside the floor's

Both servers run at their own defaults, with all they do switched on, and are asked for the same n_results; the stores
send `hits` rows, however many they are asked for. They are asked in short blocks in turn; a figure is the median over
the blocks, a ratio the median over the pairs of blocks. The peer has to be installed:
python -m tests.peers.install peers.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import signal
import statistics
import sys
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import pressure
from contenders import N_RESULTS, Fleet, NotThere, peer_version
from lanes import Lane, McpLane, Record, RestLane, aiohttp_there, find_rounds, floors, measured
from loadgen import BadAnswer
from tables import Row, show, verdict

TARGET = 0.5
"""Our added time as a share of the peer's."""

STRAIGHT = 0.95
"""The least R² of a straight line through the times for the cost to count as linear."""

SECTIONS = ("latency", "floor", "throughput", "memory", "growth")


@dataclass(frozen=True, kw_only=True, slots=True)
class Sizes:
    """How much is measured."""

    stores: tuple[int, ...] = (2, 8, 32)
    hits: tuple[int, ...] = (10, 100)
    latency_ms: tuple[int, ...] = (0, 20)
    blocks: int = 5
    requests: int = 25
    tries: int = 2
    growth_stores: tuple[int, ...] = (2, 4, 8, 16, 32)
    growth_hits: tuple[int, ...] = (10, 25, 50, 75, 100)


QUICK = Sizes(
    stores=(2, 8), latency_ms=(0,), blocks=2, requests=5, tries=1, growth_stores=(2, 4, 8), growth_hits=(10, 50, 100)
)

Rounds = dict[str, float]


def main() -> None:
    """Run the sections and print their tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small cells, under a minute: proves that it works")
    parser.add_argument("--section", choices=SECTIONS, action="append", help="only this one; may be repeated")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every figure there")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, _leave)
    try:
        results = asyncio.run(run(options.section or SECTIONS, quick=options.quick))
    except (NotThere, BadAnswer) as lack:
        sys.exit(f"bench/overhead.py: {lack}")
    except KeyboardInterrupt:
        sys.exit(130)
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=1), encoding="utf-8")


def _leave(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise KeyboardInterrupt


async def run(sections: Sequence[str], *, quick: bool) -> dict[str, Any]:
    """All figures of the sections, by section."""
    sizes, loads = (QUICK, pressure.QUICK) if quick else (Sizes(), pressure.Loads())
    results: dict[str, Any] = {"machine": machine(), "peer": peer_version(), "n_results": N_RESULTS, "quick": quick}
    print(f"{results['machine']}; peer seren-corpus-callosum {results['peer']}; n_results {N_RESULTS}")
    with Fleet() as fleet:
        if "latency" in sections or "floor" in sections:
            results["latency"], results["floor"] = await latency(fleet, sizes, sections)
        if "throughput" in sections:
            results["throughput"] = await pressure.throughput(fleet, loads)
        if "memory" in sections:
            results["memory"] = await pressure.memory(fleet, loads)
        if "growth" in sections:
            results["growth"] = await growth(fleet, sizes)
    return results


def machine() -> str:
    """Where this ran, and how busy it was."""
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return f"Python {platform.python_version()}, {os.cpu_count()} CPUs{load}, {time.strftime('%Y-%m-%d %H:%M')}"


async def latency(fleet: Fleet, sizes: Sizes, sections: Sequence[str]) -> tuple[list[Row], list[Row]]:
    """The latency rows and the floor rows."""
    added: list[Row] = []
    bare: list[Row] = []
    for stores in sizes.stores:
        servers = fleet.pair(stores) if "latency" in sections else []
        async with AsyncExitStack() as closing:
            lanes: list[Lane] = [RestLane(server, stores) for server in servers]
            lanes += [await McpLane.opened(server) for server in servers]
            below = floors(fleet.stores[:stores])
            for lane in (*lanes, *below):
                closing.push_async_callback(lane.aclose)
            for hits in sizes.hits:
                requests = await find_rounds(lanes, fleet, stores, hits, tries=sizes.tries)
                for injected in sizes.latency_ms:
                    await fleet.set(hits=hits, latency_ms=injected)
                    records = await measured([*lanes, *below], blocks=sizes.blocks, requests=sizes.requests)
                    cell = {"stores": stores, "hits": hits, "latency ms": injected}
                    added += _added_rows(cell, lanes, records, requests, injected)
                    bare.append({**cell, **_bare_columns(below, records, injected)})
    _show_latency(added)
    _show_floor(bare)
    return added, bare


def _added_rows(
    cell: Row, lanes: Sequence[Lane], records: dict[str, Record], requests: Rounds, injected: float
) -> list[Row]:
    rows: list[Row] = []
    by_name = {lane.name: lane for lane in lanes}
    for surface in ("REST", "MCP") if lanes else ():
        ours, peer = by_name[f"ours {surface}"], by_name[f"peer {surface}"]
        row: dict[str, Any] = {**cell, "over": surface}
        for lane in (ours, peer):
            who, record = lane.name.split()[0], records[lane.name]
            row |= {f"{who} p50": statistics.median(_added(record.p50, lane, injected))}
            row |= {f"{who} p95": statistics.median(_added(record.p95, lane, injected))}
            row |= {f"{who} CPU": record.cpu_ms, f"{who} wall": statistics.median(record.p50)}
            row |= {f"{who} rounds": lane.rounds, f"{who} asks": requests[lane.name]}
        for share in ("p50", "p95"):
            mine = _added(getattr(records[ours.name], share), ours, injected)
            theirs = _added(getattr(records[peer.name], share), peer, injected)
            row[f"ratio {share}"] = statistics.median(a / max(b, 0.1) for a, b in zip(mine, theirs, strict=True))
        row["<= 0.5"] = "met" if max(row["ratio p50"], row["ratio p95"]) <= TARGET else "NOT met"
        rows.append(row)
    return rows


def _added(walls: Sequence[float], lane: Lane, injected: float) -> list[float]:
    return [wall - injected * lane.rounds for wall in walls]


def _bare_columns(below: Sequence[Lane], records: dict[str, Record], injected: float) -> Row:
    columns: dict[str, float] = {}
    for lane in below:
        columns[f"{lane.name} p50"] = statistics.median(_added(records[lane.name].p50, lane, injected))
        columns[f"{lane.name} p95"] = statistics.median(_added(records[lane.name].p95, lane, injected))
    return columns


_LATENCY_NOTES = (
    "p50, p95: wall time less the stores' latency times the rounds, in ms; CPU: ms of the server's process per recall",
    "rounds: waits for stores in sequence in one recall, counted on each server: the fan-out, then what follows it",
    "  (the peer's topic edges; our topic edges and the facts' dates); asks: store requests per recall",
)


def _show_latency(rows: Sequence[Row]) -> None:
    if not rows:
        return
    show("Added time per recall", rows, _LATENCY_NOTES)
    for surface in ("REST", "MCP"):
        for share in ("p50", "p95"):
            ratios = [row[f"ratio {share}"] for row in rows if row["over"] == surface]
            worst, within = max(ratios), sum(ratio <= TARGET for ratio in ratios)
            claim = f"{surface} {share}: at most {TARGET} of the peer's in {within} of {len(ratios)} cells, worst"
            verdict(f"{claim} {worst:.2f}", worst <= TARGET)


def _show_floor(rows: Sequence[Row]) -> None:
    notes = ["one POST /search per store at once, its JSON parsed, less the latency of the one round, in ms"]
    if not aiohttp_there():
        notes.append("aiohttp is not installed: skipped")
    show("The floor: bare concurrent requests", rows, notes)


async def growth(fleet: Fleet, sizes: Sizes) -> list[Row]:
    """Times against the number of stores and against the number of hits, each with its straight line."""
    by_stores: list[Row] = []
    by_hits: list[Row] = []
    middle = sizes.growth_stores[len(sizes.growth_stores) // 2]
    for stores in sizes.growth_stores:
        servers = fleet.pair(stores)
        async with AsyncExitStack() as closing:
            lanes = [*(RestLane(server, stores) for server in servers), *floors(fleet.stores[:stores])]
            for lane in lanes:
                closing.push_async_callback(lane.aclose)
            for hits in sizes.growth_hits if stores == middle else (sizes.growth_hits[0],):
                await fleet.set(hits=hits, latency_ms=0)
                records = await measured(lanes, blocks=sizes.blocks, requests=sizes.requests)
                row: Row = {
                    "stores": stores,
                    "hits": hits,
                    **{name: statistics.median(r.p50) for name, r in records.items()},
                }
                by_hits += [row] if stores == middle else []
                by_stores += [row] if hits == sizes.growth_hits[0] else []
    show("Growth: ms per recall (p50, no latency)", [*by_stores, *(row for row in by_hits if row not in by_stores)])
    return [*_lines(by_stores, "stores"), *_lines(by_hits, "hits")]


def _lines(rows: Sequence[Row], axis: str) -> list[Row]:
    """The straight line of each lane over an axis, by least squares."""
    x = [float(row[axis]) for row in rows]
    lines: list[Row] = []
    for name in [key for key in rows[0] if key not in ("stores", "hits")]:
        y = [float(row[name]) for row in rows]
        slope, intercept = statistics.linear_regression(x, y)
        straight = statistics.correlation(x, y) ** 2
        per = f"ms per {axis.removesuffix('s')}"
        lines.append({"lane": name, per: slope, "ms at none": intercept, "R2": straight})
    show(f"Growth with the {axis}: straight lines", lines, ["ms per store or hit by least squares; R2 is 1 on a line"])
    ours = lines[0]
    verdict(f"ours grows linearly with the {axis} (R2 {ours['R2']:.3f}, wanted {STRAIGHT})", ours["R2"] >= STRAIGHT)
    return [*({"axis": axis, **line} for line in lines), {"axis": axis, "points": rows}]


if __name__ == "__main__":
    main()
