"""What a second place does to the slowest answers: a store whose places are slow now and then.

    python bench/hedging.py [--calls 600] [--slow 0.03] [--slow-ms 300] [--ms 10]

The store has one `url`, or `urls` besides. Its servers, in this process, answer after `--ms` milliseconds, a share
`--slow` of the requests after `--slow-ms`. Both ways are asked the same number of times, in blocks in turn. Where more
than one request in twenty is slow, the 95th percentile, after which hedging acts, is itself slow, and it hides little.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from tables import Row, show, verdict

from callosum_mcp.adapters.http import HttpRequest, JsonHttp
from callosum_mcp.models.values import StoreSpec

_ROOT = HttpRequest(method="GET", path="/")
_BLOCKS = 6


@dataclass(kw_only=True)
class Server:
    """One place of the store."""

    options: argparse.Namespace
    chance: random.Random
    asked: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                self.asked += 1
                slow = self.chance.random() < self.options.slow
                await asyncio.sleep((self.options.slow_ms if slow else self.options.ms) / 1_000)
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            return
        finally:
            writer.close()


@asynccontextmanager
async def store(options: argparse.Namespace, places: int) -> AsyncGenerator[tuple[JsonHttp, list[Server]]]:
    """A store in that many places."""
    servers = [Server(options=options, chance=random.Random(place)) for place in range(places)]
    listening = [await asyncio.start_server(server.serve, "127.0.0.1", 0) for server in servers]
    urls = [f"http://127.0.0.1:{one.sockets[0].getsockname()[1]}" for one in listening]
    http = JsonHttp(StoreSpec(name="store", type="seren_memory", url=urls[0], urls=tuple(urls[1:])))
    try:
        yield http, servers
    finally:
        await http.aclose()
        for one in listening:
            one.close()


async def timed(http: JsonHttp, calls: int) -> list[float]:
    """Milliseconds of each of some calls, one after the other."""
    times: list[float] = []
    for _ in range(calls):
        began = time.perf_counter()
        await http.ask(_ROOT)
        times.append((time.perf_counter() - began) * 1_000)
    return times


def row(name: str, times: list[float], http: JsonHttp, servers: list[Server]) -> Row:
    """One line of the table."""
    cuts = statistics.quantiles(times, n=100)
    usage, asked = http.usage(), sum(server.asked for server in servers)
    return {
        "store": name,
        "calls": len(times),
        "p50 ms": cuts[49],
        "p95 ms": cuts[94],
        "p99 ms": cuts[98],
        "hedged": usage.get("hedged"),
        "requests": asked,
        "extra load": asked / len(times) - 1,
    }


async def run(options: argparse.Namespace) -> None:
    """Ask both ways in turn and print the table."""
    async with store(options, 1) as (one, lone), store(options, 2) as (two, pair):
        alone: list[float] = []
        hedged: list[float] = []
        for _ in range(_BLOCKS):
            alone += await timed(one, options.calls // _BLOCKS)
            hedged += await timed(two, options.calls // _BLOCKS)
        rows = [row("one url", alone, one, lone), row("two urls", hedged, two, pair)]
    show(f"{options.slow:.0%} of the requests take {options.slow_ms} ms instead of {options.ms}", rows)
    verdict(
        "the 99th percentile is at most half of what it is with one url", rows[1]["p99 ms"] <= rows[0]["p99 ms"] / 2
    )
    verdict("at most every tenth request was sent twice", rows[1]["extra load"] <= 0.1)


def main() -> None:
    """Read the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=600)
    parser.add_argument("--slow", type=float, default=0.03, metavar="SHARE")
    parser.add_argument("--slow-ms", type=int, default=300)
    parser.add_argument("--ms", type=int, default=10)
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
