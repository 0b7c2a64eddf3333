"""What a bench can ask in turn: a server over REST or MCP, or the bare requests that are the floor under all.

Above: `overhead`. Below: `contenders` and `loadgen`. Lanes are measured in short blocks, one after the other and in
changing order, so that a busy machine slows all alike.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import json
import statistics
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx2
from contenders import N_RESULTS, QUERY, Contender, Fleet, cpu_s
from loadgen import Answer, BadAnswer, Connection, McpSession

_SETTLE = 40  # requests before any block: a server that runs has loaded what it loads late, ours its faster transport
_WARM = 2  # requests before a block is measured: they open the connections that closed while others were asked
_ASKED = {"query": QUERY, "n_results": N_RESULTS * 5}
_BODY = json.dumps(_ASKED).encode()


class Lane(ABC):
    """One way to put the question."""

    pid: int | None = None
    rounds: int = 1

    def __init__(self, name: str) -> None:
        self.name = name

    @abstractmethod
    async def once(self) -> None:
        """Ask once.

        Raises:
            BadAnswer: If a store is missing in the answer.
        """

    async def fresh(self) -> None:
        """Begin a block: on a new connection, since the old one may be about to be closed."""
        return

    async def aclose(self) -> None:
        """Close what is open."""
        return


class RestLane(Lane):
    """``POST /search``."""

    def __init__(self, server: Contender, stores: int) -> None:
        super().__init__(f"{server.name} REST")
        self.pid = server.process.pid
        self._stores = stores
        self._connection = Connection(server.url)
        self._frame = self._connection.frame("POST", "/search", server.body)

    async def once(self) -> None:
        check(await self._connection.send(self._frame), b'"failed":[]')

    async def fresh(self) -> None:
        self._connection.close()

    async def aclose(self) -> None:
        self._connection.close()


class McpLane(Lane):
    """``tools/call`` in one session over Streamable HTTP."""

    def __init__(self, server: Contender, session: McpSession) -> None:
        super().__init__(f"{server.name} MCP")
        self.pid = server.process.pid
        self._session = session
        self._frame = session.frame(server.call)
        self._complete = b'"partial":false' if server.name == "ours" else b'"failed":[]'

    @classmethod
    async def opened(cls, server: Contender) -> McpLane:
        """A lane with a session that has said hello."""
        return cls(server, await McpSession(server.url, server.mcp_path).open())

    async def once(self) -> None:
        check(await self._session.connection.send(self._frame), self._complete)

    async def fresh(self) -> None:
        self._session.connection.close()

    async def aclose(self) -> None:
        await self._session.end()


def check(answer: Answer, complete: bytes) -> None:
    """Whether an answer is one with every store in it; over MCP its JSON stands in a text, with backslashes.

    Raises:
        BadAnswer: If not.
    """
    plain = answer.body.replace(b"\\", b"").replace(b": ", b":")
    if answer.status != 200 or b'"isError":true' in plain or complete not in plain:
        raise BadAnswer(f"answered {answer.status}: {answer.body[:300]!r}")


class HttpxFloor(Lane):
    """The bare requests by httpx2, one client per store."""

    def __init__(self, stores: Sequence[Mapping[str, str]]) -> None:
        super().__init__("httpx2")
        self._clients = [httpx2.AsyncClient(base_url=s["url"], verify=False, trust_env=False) for s in stores]

    async def once(self) -> None:
        await asyncio.gather(*map(self._one, self._clients))

    async def _one(self, client: httpx2.AsyncClient) -> object:
        return json.loads((await client.post("/search", json=_ASKED)).content)

    async def aclose(self) -> None:
        for client in self._clients:
            await client.aclose()


class AiohttpFloor(Lane):
    """The bare requests by aiohttp, if it is installed."""

    def __init__(self, stores: Sequence[Mapping[str, str]]) -> None:
        super().__init__("aiohttp")
        self._urls = [s["url"] + "/search" for s in stores]
        self._session: Any = importlib.import_module("aiohttp").ClientSession()

    async def once(self) -> None:
        await asyncio.gather(*map(self._one, self._urls))

    async def _one(self, url: str) -> object:
        async with self._session.post(url, json=_ASKED) as answer:
            return json.loads(await answer.read())

    async def aclose(self) -> None:
        await self._session.close()


class RawFloor(Lane):
    """The bare requests by the load generator's own client: what the machine and the fake stores take."""

    def __init__(self, stores: Sequence[Mapping[str, str]]) -> None:
        super().__init__("raw")
        connections = [Connection(s["url"]) for s in stores]
        self._all = [(connection, connection.frame("POST", "/search", _BODY)) for connection in connections]

    async def once(self) -> None:
        await asyncio.gather(*(self._one(connection, frame) for connection, frame in self._all))

    async def _one(self, connection: Connection, frame: bytes) -> object:
        return json.loads((await connection.send(frame)).body)

    async def aclose(self) -> None:
        for connection, _ in self._all:
            connection.close()


def aiohttp_there() -> bool:
    """Whether aiohttp is installed."""
    return importlib.util.find_spec("aiohttp") is not None


def floors(stores: Sequence[Mapping[str, str]]) -> list[Lane]:
    """The floors that can be measured here."""
    return [HttpxFloor(stores), *([AiohttpFloor(stores)] if aiohttp_there() else []), RawFloor(stores)]


async def find_rounds(lanes: Sequence[Lane], fleet: Fleet, stores: int, hits: int, *, tries: int) -> dict[str, float]:
    """Set each lane's `rounds`; per lane, how many requests the stores got per recall.

    A round is one wait for stores that the next one waits for. They are counted, not assumed: with a latency far above
    all else, the time of a recall is that latency as often as it is waited for in sequence.
    """
    latency_ms = 150.0 + 12.0 * stores
    requests: dict[str, float] = {}
    for lane in lanes:
        await fleet.set(latency_ms=0, hits=hits)
        await lane.fresh()
        await lane.once()
        before = (await fleet.set(latency_ms=latency_ms))["requests"]
        took = [await _timed(lane) for _ in range(tries)]
        requests[lane.name] = ((await fleet.set(latency_ms=0))["requests"] - before) / tries
        lane.rounds = max(1, int(min(took) / latency_ms))
    return requests


async def _timed(lane: Lane) -> float:
    began = time.perf_counter()
    await lane.once()
    return (time.perf_counter() - began) * 1_000


@dataclass(slots=True)
class Record:
    """Blocks of one lane: of each the p50 and p95 of the wall time in ms; and the CPU over all of them."""

    p50: list[float] = field(default_factory=list[float])
    p95: list[float] = field(default_factory=list[float])
    cpu_s: float = 0.0
    requests: int = 0

    @property
    def cpu_ms(self) -> float:
        """CPU milliseconds of the server per request."""
        return self.cpu_s * 1_000 / max(self.requests, 1)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which that share of the values is, by rank; 0 of nothing."""
    ordered = sorted(values)
    return ordered[round(share * (len(ordered) - 1))] if ordered else 0.0


async def measured(lanes: Sequence[Lane], *, blocks: int, requests: int) -> dict[str, Record]:
    """Each lane's blocks; in every round of blocks each lane has one, every other time in reverse order."""
    records = {lane.name: Record() for lane in lanes}
    for lane in lanes:
        await lane.fresh()
        for _ in range(_SETTLE):
            await lane.once()
    for number in range(blocks):
        for lane in lanes[:: 1 if number % 2 else -1]:
            await _block(lane, records[lane.name], requests)
    return records


async def _block(lane: Lane, record: Record, requests: int) -> None:
    await lane.fresh()
    for _ in range(_WARM):
        await lane.once()
    burned = cpu_s(lane.pid) if lane.pid else 0.0
    took = [await _timed(lane) for _ in range(requests)]
    record.cpu_s += cpu_s(lane.pid) - burned if lane.pid else 0.0
    record.requests += requests
    record.p50.append(statistics.median(took))
    record.p95.append(percentile(took, 0.95))
