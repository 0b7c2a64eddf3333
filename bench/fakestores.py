"""Fake SerenMemory and SerenLoci stores for the benches: plain asyncio, every answer encoded beforehand.

    python bench/fakestores.py --stores 32

Above: `contenders`, which starts it as a process of its own. Below: nothing. Prints one line of JSON with the control
port and the stores, then serves until it is ended. Stores alternate, memory first; each answers the routes that a
reading federator uses, in the real servers' shapes:

    memory   POST /search   POST /by_topic   GET /memory/{id}   GET /health   GET /
    loci     POST /search   GET /fact   GET /fact/history   GET /facts   GET /counts   GET /health   GET /

A search answers `hits` rows, however many were asked for. The control port takes ``{"hits": n, "latency_ms": x}`` for
all stores at once and answers how many requests there were. Latency is a timer: it burns no CPU.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import random
import signal
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import parse_qs, urlsplit

MAX_HITS = 100
_START = 1_795_000_000.0
_WORDS = (
    "relay queue partner backup volume portal release kitchen colour disk fan index schema audit retry window token "
    "budget bridge memory fact session driver kernel socket cache shard replica"
).split()
_TOPICS = ("relay,status", "backup,disk", "portal,release", "kitchen,colour", "index,schema")
_TIERS = ("short", "long", "near")
_NOT_FOUND = (404, b'{"detail":"Not Found"}')

Row = dict[str, Any]
Answer = tuple[int, bytes]


@dataclass
class Knobs:
    """What the control port sets, and what it counts."""

    hits: int = 10
    latency_ms: float = 0.0
    requests: int = 0


def sentence(seed: str, length: int) -> str:
    """Words that are always the same for a seed."""
    chosen = random.Random(seed)
    return " ".join(chosen.choice(_WORDS) for _ in range(length)).capitalize() + "."


def identity(seed: str) -> str:
    """An id as the real servers give: 32 hexadecimal digits."""
    return hashlib.md5(seed.encode()).hexdigest()


class Store:
    """What both kinds have in common: prepared rows, and the search over them."""

    kind = ""

    def __init__(self, index: int, knobs: Knobs) -> None:
        self.name = f"{self.kind}{index}"
        self.knobs = knobs
        self.rows = [self.row(number) for number in range(MAX_HITS)]
        self._joined = cache(self._join)

    def row(self, number: int) -> Row:
        """One row of a search answer."""
        raise NotImplementedError

    def answer(self, method: str, target: str, body: bytes) -> Answer:
        """Status and body of one request."""
        path = urlsplit(target).path
        if method == "POST" and path == "/search":
            return 200, b'{"query": %s, %s}' % (json.dumps(json.loads(body)["query"]).encode(), self._found())
        if path == "/health":
            return 200, b'{"ok": true, "ts": %.1f, "features": []}' % _START
        return self.other(path, target, body)

    def other(self, path: str, target: str, body: bytes) -> Answer:
        """Status and body of a request that only this kind understands."""
        raise NotImplementedError

    def _found(self) -> bytes:
        return self._joined(self.knobs.hits)

    def _join(self, hits: int) -> bytes:
        more = {"memory": '"searched_tiers": ["short", "near", "long"]', "loci": '"project": null, "finder": "lexical"'}
        return f'"hits": [{", ".join(json.dumps(row) for row in self.rows[:hits])}], {more[self.kind]}'.encode()


class Memory(Store):
    """A SerenMemory: episodes in three tiers; every third row is a core with one satellite."""

    kind = "memory"

    def row(self, number: int) -> Row:
        seed = f"{self.name}:{number}"
        tier, topic, distance = _TIERS[number % 3], _TOPICS[number % len(_TOPICS)], round(0.2 + 0.05 * number, 6)
        row: Row = {"tier": tier, "content": sentence(seed, 16), "topic": topic, "score": round(1 / (1 + distance), 6)}
        row |= {"raw_distance": distance, "id": identity(seed), "surroundings": None, "matched_via": None}
        row["metadata"] = {"topic": topic, "source": "assistant", "ts": _START + number, "pinned": False}
        if tier == "long":
            row["metadata"] = {"topic": topic, "source": "consolidator", "kind": "core", "evidence_count": 2}
            row["metadata"] |= {"created_at": _START + number, "last_confirmed": _START + number + 500}
            recent = {"id": identity(seed + "s"), "content": sentence(seed + "s", 10), "created_at": _START}
            row["surroundings"] = {"satellites": 1, "latest_satellite_at": _START, "supersedes": None}
            row["surroundings"] |= {"superseded_by": None, "recent": [recent]}
        return row

    def other(self, path: str, target: str, body: bytes) -> Answer:
        if path == "/by_topic":
            return 200, self._by_topic(json.loads(body))
        if path == "/":
            tiers = {"short": len(self.rows), "near": 0, "long": 0}
            return 200, json.dumps({"service": "SerenMemory", "version": "fake", "tiers": tiers}).encode()
        found = next((row for row in self.rows if path == f"/memory/{row['id']}"), None)
        return _NOT_FOUND if found is None else (200, json.dumps({"ok": True, **found}).encode())

    def _by_topic(self, asked: Row) -> bytes:
        """Memories that no search returns and that carry one of the topics."""
        wanted, excluded = {str(topic).lower() for topic in asked["topics"]}, set(asked.get("exclude_ids") or ())
        found: list[Row] = []
        for row in self.rows[1::2]:
            shared = sorted(wanted.intersection(row["topic"].split(",")))
            if shared and row["id"] + "t" not in excluded and len(found) < int(asked.get("n_results", 5)):
                kept = {key: row[key] for key in ("tier", "content", "topic", "metadata")}
                found.append({**kept, "id": row["id"] + "t", "matched_topics": shared, "overlap": len(shared)})
        return json.dumps({"topics": asked["topics"], "hits": found, "searched_tiers": _TIERS}).encode()


class Loci(Store):
    """A SerenLoci: keyed facts, whose dates only GET /fact, /fact/history and /facts tell."""

    kind = "loci"

    def __init__(self, index: int, knobs: Knobs) -> None:
        super().__init__(index, knobs)
        self._facts = {(row["project"], row["key"]): self._fact(at, row) for at, row in enumerate(self.rows)}

    def row(self, number: int) -> Row:
        seed = f"{self.name}:{number}"
        row: Row = {"id": identity(seed), "project": f"proj{number % 5}", "key": f"key.{number:03d}"}
        row |= {
            "value": sentence(seed, 6),
            "why": sentence(seed + "w", 9),
            "score": round(0.9 / (1 + 0.08 * number), 6),
        }
        row |= {"match_kind": "lexical", "source": "user", "raw_distance": None, "live": True, "superseded_at": None}
        return {**row, "why_changed": None, "figures": 0, "recheck": None}

    def _fact(self, number: int, row: Row) -> Row:
        kept = {key: row[key] for key in ("id", "project", "key", "value", "why", "source")}
        replaced: Row = {"superseded_at": None, "superseded_by": None, "why_changed": None}
        return {**kept, "created_at": _START + number, **replaced, "extra": {}, "figures": []}

    def other(self, path: str, target: str, body: bytes) -> Answer:
        asked = {key: values[0] for key, values in parse_qs(urlsplit(target).query).items()}
        if path in ("/fact", "/fact/history"):
            return self._one(path, asked)
        if path == "/facts":
            facts = [fact for fact in self._facts.values() if asked.get("project") in (None, fact["project"])]
            return 200, json.dumps({"count": len(facts), "facts": facts}).encode()
        if path == "/counts":
            return 200, json.dumps({"live": len(self.rows), "history": 0, "projects": 5, "figures": 0}).encode()
        if path == "/":
            return 200, json.dumps({"service": "SerenLoci", "version": "fake", "finder": "lexical"}).encode()
        return _NOT_FOUND

    def _one(self, path: str, asked: dict[str, str]) -> Answer:
        fact = self._facts.get((asked.get("project", "*"), asked.get("key", "")))
        if path == "/fact":
            return _NOT_FOUND if fact is None else (200, json.dumps(fact).encode())
        return 200, json.dumps({"history": [] if fact is None else [fact], "count": int(fact is not None)}).encode()


def control(knobs: Knobs) -> Callable[[str, str, bytes], Answer]:
    """What the control port answers: the knobs in force and the requests so far."""

    def answer(method: str, target: str, body: bytes) -> Answer:
        for name, value in json.loads(body or b"{}").items():
            setattr(knobs, name, value)
        return 200, json.dumps(vars(knobs)).encode()

    return answer


class Exchange(asyncio.Protocol):
    """One keep-alive HTTP/1.1 connection; requests on it are answered in order.

    Args:
        answer: Gives status and body of a request.
        knobs: For the latency and the count; None answers at once and counts nothing.
    """

    def __init__(self, answer: Callable[[str, str, bytes], Answer], knobs: Knobs | None) -> None:
        self._answer = answer
        self._knobs = knobs
        self._waiting = bytearray()
        self._busy = False
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None

    def data_received(self, data: bytes) -> None:
        self._waiting += data
        self._next()

    def _next(self) -> None:
        end = self._waiting.find(b"\r\n\r\n")
        if self._busy or end < 0:
            return
        first, *lines = bytes(self._waiting[:end]).split(b"\r\n")
        lengths = [int(line[15:]) for line in lines if line[:15].lower() == b"content-length:"]
        whole = end + 4 + sum(lengths)
        if len(self._waiting) < whole:
            return
        body = bytes(self._waiting[end + 4 : whole])
        del self._waiting[:whole]
        method, target, _ = first.decode("latin-1").split(" ", 2)
        self._after_latency(method, target, body)

    def _after_latency(self, method: str, target: str, body: bytes) -> None:
        delay_ms = 0.0
        if self._knobs is not None:
            self._knobs.requests += 1
            delay_ms = self._knobs.latency_ms
        if delay_ms <= 0:
            self._send(method, target, body)
        else:
            self._busy = True
            asyncio.get_running_loop().call_later(delay_ms / 1_000, self._send, method, target, body)

    def _send(self, method: str, target: str, body: bytes) -> None:
        self._busy = False
        if self._transport is None:
            return
        status, answer = self._answer(method, target, body)
        head = b"HTTP/1.1 %d %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
        self._transport.write(head % (status, b"OK" if status == 200 else b"Not Found", len(answer)) + answer)
        self._next()


async def serve(count: int) -> None:
    """Serve until SIGTERM or SIGINT."""
    loop, done, knobs = asyncio.get_running_loop(), asyncio.Event(), Knobs()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, done.set)

    async def listening(answer: Callable[[str, str, bytes], Answer], counted: Knobs | None) -> str:
        server = await loop.create_server(lambda: Exchange(answer, counted), "127.0.0.1", 0, backlog=1_024)
        return f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"

    stores: list[Store] = [(Loci if index % 2 else Memory)(index, knobs) for index in range(count)]
    listed = [
        {"name": store.name, "type": f"seren_{store.kind}", "url": await listening(store.answer, knobs)}
        for store in stores
    ]
    print(json.dumps({"control": await listening(control(knobs), None), "stores": listed}), flush=True)
    await done.wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stores", type=int, default=8)
    asyncio.run(serve(parser.parse_args().stores))
