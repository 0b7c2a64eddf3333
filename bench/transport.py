"""The transports of a store on this machine side by side: httpx2's, and aiohttp behind httpx2's seam (extra `fast`).

    python bench/transport.py [--stores 8,32] [--hits 10] [--blocks 7] [--requests 30]

One round asks every store at once for its hits and parses the JSON, in short blocks in turn. `ours` is the whole HTTP
part of an adapter (`JsonHttp`: headers, limits, statuses, retry, reuse) over each transport; beside it the floors: the
bare requests by httpx2's client, by aiohttp's, and by a client that only writes frames, which is what the fake stores
and the machine take. The extra is worth having if ours over aiohttp stays below httpx2's own floor.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import statistics
from collections.abc import Callable, Mapping, Sequence

import httpx2
from contenders import N_RESULTS, QUERY, Fleet
from lanes import Lane, Record, aiohttp_there, floors, measured
from tables import show, verdict

from callosum_mcp.adapters.http import HttpRequest, JsonHttp
from callosum_mcp.adapters.transport import fast_transport, plain_transport
from callosum_mcp.models.values import StoreSpec

_SEARCH = HttpRequest(method="POST", path="/search", json={"query": QUERY, "n_results": N_RESULTS * 5})
_THEIRS, _OURS = "httpx2", "ours/aiohttp"


class OurLane(Lane):
    """Every store through `JsonHttp`, over one kind of transport."""

    def __init__(
        self, name: str, stores: Sequence[Mapping[str, str]], transport: Callable[[], httpx2.AsyncBaseTransport]
    ) -> None:
        super().__init__(name)
        self._stores = [
            JsonHttp(StoreSpec(name=s["name"], type=s["type"], url=s["url"]), transport=transport()) for s in stores
        ]

    async def once(self) -> None:
        await asyncio.gather(*(store.ask(_SEARCH) for store in self._stores))

    async def aclose(self) -> None:
        for store in self._stores:
            await store.aclose()


async def compare(fleet: Fleet, stores: int, options: argparse.Namespace) -> dict[str, Record]:
    """Every lane over that many stores."""
    chosen = fleet.stores[:stores]
    await fleet.set(hits=options.hits, latency_ms=0)
    lanes = [
        OurLane("ours/httpx2", chosen, plain_transport),
        OurLane(_OURS, chosen, fast_transport),
        *floors(chosen),
    ]
    try:
        return await measured(lanes, blocks=options.blocks, requests=options.requests)
    finally:
        for lane in lanes:
            await lane.aclose()


def report(stores: int, hits: int, records: Mapping[str, Record]) -> None:
    """The table, and whether ours over aiohttp is below httpx2's floor."""
    rows = [
        {
            "lane": name,
            "best ms": min(record.p50),
            "median ms": statistics.median(record.p50),
            "p95 ms": statistics.median(record.p95),
            "of httpx2's floor": _paired(record.p50, records[_THEIRS].p50),
        }
        for name, record in records.items()
    ]
    show(f"{stores} stores x {hits} hits", rows, ["medians over paired blocks"])
    ratio = _paired(records[_OURS].p50, records[_THEIRS].p50)
    verdict(f"ours over aiohttp takes {ratio:.2f} of httpx2's floor, below 1", ratio < 1)


def _paired(ours: Sequence[float], theirs: Sequence[float]) -> float:
    return statistics.median(a / b for a, b in zip(ours, theirs, strict=True))


def main() -> None:
    """Read the options and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stores", default="8,32")
    parser.add_argument("--hits", type=int, default=10)
    parser.add_argument("--blocks", type=int, default=7)
    parser.add_argument("--requests", type=int, default=30)
    parser.add_argument("--uvloop", action="store_true", help="on uvloop's event loop")
    options = parser.parse_args()
    if not aiohttp_there():
        raise SystemExit("aiohttp is not installed: pip install 'callosum-mcp[fast]'")
    counts = [int(count) for count in options.stores.split(",")]
    with Fleet(max(counts)) as fleet, asyncio.Runner(loop_factory=_loop_factory(options.uvloop)) as runner:
        for stores in counts:
            report(stores, options.hits, runner.run(compare(fleet, stores, options)))


def _loop_factory(fast: bool) -> Callable[[], asyncio.AbstractEventLoop] | None:
    if not fast:
        return None
    loop_factory: Callable[[], asyncio.AbstractEventLoop] = importlib.import_module("uvloop").new_event_loop
    return loop_factory


if __name__ == "__main__":
    main()
