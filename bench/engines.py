"""What we add to a warm engine behind MCP: our adapter and a whole recall beside the SDK's client alone.

    python bench/engines.py [--hits 10] [--blocks 15] [--requests 40]

One server of the SDK, over stdio and over Streamable HTTP. Each lane has a connection of its own to it and asks the
same tool the same question, in short blocks in turn. The claim is about the paired medians: p50 of a lane of ours minus
p50 of the SDK's in the same block. A recall fuses, compares and shapes the hits on top; beside it the same recall over
the same hits out of a store that needs no asking, so that the engine's part of it can be told.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from lanes import Lane, Record, measured
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from tables import show, verdict

from callosum_mcp.adapters import registry
from callosum_mcp.federation.federation import Federation, State
from callosum_mcp.federation.stores import Store, StoreSet
from callosum_mcp.models.knobs import Knobs
from callosum_mcp.models.requests import RecallRequest
from callosum_mcp.models.values import StoreQuery, StoreSpec, TransportSpec
from callosum_mcp.testing import ScriptedStore

QUERY = "which port does the hermes relay use"
ADDED_MS = 3.0
_SDK, _ADAPTER, _RECALL, _REST = "SDK alone", "our adapter", "our recall", "recall without an engine"
_WORDS = "hermes relay port gateway runbook october valve sensor queue backup token deploy cache index".split()
_START_S = 30.0


def rows(hits: int) -> list[dict[str, Any]]:
    """What the server finds: texts of some 200 characters that differ."""
    return [
        {
            "id": f"m{n}",
            "text": " ".join(f"{_WORDS[(n * 7 + i * 3) % len(_WORDS)]}{n if i % 5 == 0 else ''}" for i in range(30)),
            "at": f"2026-11-{n % 28 + 1:02d}T08:00:00Z",
        }
        for n in range(hits)
    ]


def serve(hits: int, descriptor: int | None) -> None:
    """The server, on stdin and stdout or on a socket it inherits."""
    from mcp.server import MCPServer

    server = MCPServer("bench", log_level="CRITICAL")
    answer = json.dumps({"hits": rows(hits)})

    @server.tool(structured_output=False)
    def find(query: str, limit: int = 10) -> str:  # pyright: ignore[reportUnusedFunction]
        """Search."""
        return answer

    if descriptor is None:
        server.run("stdio")
        return
    import uvicorn

    config = uvicorn.Config(server.streamable_http_app(), log_level="critical")
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=descriptor)])


def command(hits: int, *more: str) -> list[str]:
    """What starts the server."""
    return [sys.executable, __file__, "--serve", "--hits", str(hits), *more]


class SdkLane(Lane):
    """The SDK's client, its reply decoded as anybody would have to."""

    def __init__(self, client: Client, limit: int) -> None:
        super().__init__(_SDK)
        self._client = client
        self._limit = limit

    async def once(self) -> None:
        result = await self._client.call_tool("find", {"query": QUERY, "limit": self._limit})
        json.loads(result.content[0].text)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownArgumentType, reportUnknownMemberType]


class AdapterLane(Lane):
    """The engine adapter's search."""

    def __init__(self, spec: StoreSpec, limit: int) -> None:
        super().__init__(_ADAPTER)
        self._adapter = registry.create(spec)
        self._query = StoreQuery(text=QUERY, limit=limit)

    async def once(self) -> None:
        await self._adapter.search(self._query)

    async def aclose(self) -> None:
        await self._adapter.aclose()


class RecallLane(Lane):
    """A recall over one store."""

    def __init__(self, name: str, store: Store) -> None:
        super().__init__(name)
        self._store = store
        knobs = Knobs(deadline_s=_START_S, per_store_timeout_s=_START_S)  # a server of the SDK starts slowly
        self._federation = Federation(State(stores=StoreSet((self._store,)), knobs=knobs))

    async def once(self) -> None:
        await self._federation.recall(RecallRequest(query=QUERY))

    async def aclose(self) -> None:
        await self._store.connection.retire()


def spec_of(place: Mapping[str, Any]) -> StoreSpec:
    """The server as a store."""
    fields = {"id": "id", "snippet": "text", "last_seen": "at"}
    options: dict[str, object] = {
        "tool": "find",
        "args": {"query": "{query}", "limit": "{limit|int}"},
        "extract": [{"items": "$.hits[*]", "fields": fields}],
    }
    return StoreSpec(name="bench", type="mcp", options=options, **place)


@asynccontextmanager
async def over_stdio(hits: int) -> AsyncGenerator[tuple[Client, StoreSpec]]:
    """A server per lane: a child belongs to the one who started it."""
    line = command(hits)
    async with Client(stdio_client(StdioServerParameters(command=line[0], args=line[1:]))) as client:
        transport = TransportSpec(type="stdio", command=line[0], args=tuple(line[1:]))
        yield client, spec_of({"transport": transport})


@asynccontextmanager
async def over_http(hits: int) -> AsyncGenerator[tuple[Client, StoreSpec]]:
    """One server for all lanes."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        server = _started(hits, listener)
    try:
        await _answers(url)
        async with httpx2.AsyncClient(timeout=_START_S) as http:
            async with Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client:
                yield client, spec_of({"url": f"{url}/mcp"})
    finally:
        server.terminate()
        server.wait()


def _started(hits: int, listener: socket.socket) -> subprocess.Popen[bytes]:
    descriptor = listener.fileno()
    return subprocess.Popen(command(hits, "--descriptor", str(descriptor)), pass_fds=[descriptor])


async def _answers(url: str) -> None:
    end = time.monotonic() + _START_S
    async with httpx2.AsyncClient(timeout=_START_S) as client:
        while time.monotonic() < end:
            try:
                await client.get(url)
                return
            except httpx2.HTTPError:
                await asyncio.sleep(0.05)


async def at_hand(spec: StoreSpec, hits: int) -> Store:
    """A store that holds what the server finds."""
    adapter = registry.create(spec)
    try:
        found = await adapter.search(StoreQuery(text=QUERY, limit=hits))
    finally:
        await adapter.aclose()
    return Store.of(spec, ScriptedStore(spec, found.hits))


async def compare(kind: str, options: argparse.Namespace) -> dict[str, Record]:
    """Every lane over one transport."""
    reached = over_stdio(options.hits) if kind == "stdio" else over_http(options.hits)
    async with reached as (client, spec):
        lanes: list[Lane] = [
            SdkLane(client, options.hits),
            AdapterLane(spec, options.hits),
            RecallLane(_RECALL, Store.of(spec)),
            RecallLane(_REST, await at_hand(spec, options.hits)),
        ]
        try:
            return await measured(lanes, blocks=options.blocks, requests=options.requests)
        finally:
            for lane in lanes:
                await lane.aclose()


def report(kind: str, hits: int, records: Mapping[str, Record]) -> None:
    """The table, and whether we add no more than we may."""
    table = [
        {
            "lane": name,
            "best ms": min(record.p50),
            "median ms": statistics.median(record.p50),
            "p95 ms": statistics.median(record.p95),
            "added ms": added(record.p50, records[_SDK].p50),
        }
        for name, record in records.items()
    ]
    show(f"{kind}, {hits} hits, warm", table, ["medians over paired blocks"])
    extra = added(records[_ADAPTER].p50, records[_SDK].p50)
    verdict(f"our adapter adds {extra:.2f} ms to the SDK's p50, at most {ADDED_MS:g}", extra <= ADDED_MS)
    asking = [a - b for a, b in zip(records[_RECALL].p50, records[_REST].p50, strict=True)]
    extra = added(asking, records[_SDK].p50)
    verdict(f"asking in a recall adds {extra:.2f} ms to the SDK's p50, at most {ADDED_MS:g}", extra <= ADDED_MS)


def added(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The median over blocks of the difference."""
    return statistics.median(a - b for a, b in zip(ours, theirs, strict=True))


def main() -> None:
    """Read the options and compare, or be the server."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hits", type=int, default=10)
    parser.add_argument("--blocks", type=int, default=15)
    parser.add_argument("--requests", type=int, default=40)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--descriptor", type=int, default=None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.hits, options.descriptor)
        return
    for kind in ("stdio", "http"):
        report(kind, options.hits, asyncio.run(compare(kind, options)))


if __name__ == "__main__":
    main()
