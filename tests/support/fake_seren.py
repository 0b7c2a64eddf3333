"""A SerenMemory or SerenLoci on a real socket that replays recorded rows and fails as told.

The federation under test talks to it over HTTP as to the real server. `mode` is what happens to the next requests;
everything that was asked is kept in `requests`.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import re
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal
from urllib.parse import parse_qs, unquote, urlsplit

from .data import recorded

Kind = Literal["memory", "loci"]
Row = dict[str, Any]

_HUGE = 10 * 2**20
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request as the server saw it."""

    method: str
    path: str
    params: Mapping[str, str] = field(default_factory=dict[str, str])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: Any = None


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What goes back: a body, and how."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    chunked: bool = False


def of(value: object, status: int = 200) -> Reply:
    """A JSON reply; NaN is written as the real servers' language would."""
    return Reply(
        status=status,
        body=json.dumps(value, separators=(",", ":")).encode(),
        headers={"content-type": "application/json"},
    )


class FakeSeren:
    """One fake store.

    Attributes:
        kind: Which of the two servers it is.
        mode: ``ok``, a name of `FAULTS` or of `WIRES`.
        token: The bearer it wants; "" wants none.
        requests: Everything asked so far.
        asked: Set at every request, for tests that wait for one.
        gone: Set when a client closes a connection that still waits for its answer.
    """

    def __init__(self, kind: Kind, *, token: str = "") -> None:
        self.kind: Kind = kind
        self.mode = "ok"
        self.token = token
        self.url = ""
        self.connections = 0
        self.requests: list[Asked] = []
        self.asked = asyncio.Event()
        self.gone = asyncio.Event()
        self.root = recorded("memory/root")
        self.memories: list[Row] = recorded("memory/search_surroundings")["hits"]
        self.facts: list[Row] = [
            *recorded("loci/facts_project_superseded")["facts"],
            *recorded("loci/search_unicode")["hits"],
        ]

    def count(self, path: str) -> int:
        """How often a path was asked."""
        return Counter(asked.path for asked in self.requests)[path]

    def answer(self, asked: Asked) -> Reply:
        """The reply to one request in the present mode."""
        if self.token and asked.headers.get("authorization") != f"Bearer {self.token}":
            return of({"detail": "unauthorized"}, 401)
        fault = FAULTS.get(self.mode)
        faulty = fault(self, asked) if fault is not None else None
        return faulty if faulty is not None else self._route(asked)

    def _route(self, asked: Asked) -> Reply:
        if self.kind == "memory":
            return self._memory(asked)
        return self._loci(asked)

    def _memory(self, asked: Asked) -> Reply:
        match asked.method, asked.path.strip("/").split("/"):
            case "POST", ["search"]:
                return self._memory_search(asked.body)
            case "POST", ["by_topic"]:
                wanted = set(asked.body["topics"])
                rows = [row for row in self.memories if wanted & set(row["topic"].split(","))]
                tagged: list[Row] = [{**row, "id": f"{row['id']}-tagged", "overlap": 1} for row in rows[:2]]
                return of({"topics": asked.body["topics"], "hits": tagged, "searched_tiers": ["long"]})
            case "GET", ["memory", name]:
                row = next((row for row in self.memories if row["id"] == unquote(name)), None)
                return of({"ok": True, **row}) if row else of({"detail": f"no memory '{name}'"}, 404)
            case "GET", ["long", name, "satellites"]:
                return of({**recorded("memory/long_satellites"), "core": {"id": name}})
            case "GET", [""]:
                return of(self.root)
            case _:
                return of({"detail": "Not Found"}, 404)

    def _memory_search(self, body: Row) -> Reply:
        limit = body["n_results"]
        if not 1 <= limit <= 50:
            return of({"detail": [{"loc": ["body", "n_results"], "msg": "Input should be 1 to 50"}]}, 422)
        rows = [row for row in self.memories if body[f"include_{row['tier']}"]]
        return of({"query": body["query"], "hits": rows[:limit], "searched_tiers": ["short", "near", "long"]})

    def _loci(self, asked: Asked) -> Reply:
        match asked.method, asked.path:
            case "POST", "/search":
                return of(self._loci_search(asked.body))
            case "GET", "/fact":
                live = [fact for fact in self._versions(asked) if fact.get("superseded_at") is None]
                return of(live[0]) if live else of({"detail": "no live fact"}, 404)
            case "GET", "/fact/history":
                found = self._versions(asked)
                return of({**asked.params, "history": found, "count": len(found)})
            case "GET", "/fact/citations":
                return of(recorded("loci/fact_citations"))
            case "GET", "/counts":
                return of(recorded("loci/counts"))
            case _:
                return of({"detail": "Not Found"}, 404)

    def _versions(self, asked: Asked) -> list[Row]:
        place = (asked.params.get("project"), asked.params.get("key"))
        return [fact for fact in self.facts if (fact["project"], fact["key"]) == place]

    def _loci_search(self, body: Row) -> Row:
        """As the real one: a key verbatim is exact, every word of a short query, any word of a longer one."""
        wanted, hits = _WORD.findall(body["query"].lower()), list[Row]()
        for fact in self.facts:
            if fact.get("superseded_at") is not None and not body["include_superseded"]:
                continue
            if "project" in body and fact["project"] != body["project"]:
                continue
            text = " ".join(str(fact[name]) for name in ("project", "key", "value", "why")).lower()
            found = set(wanted) & set(_WORD.findall(text))
            if fact["key"] == body["query"]:
                hits.append(_found(fact, 1.0, "exact"))
            elif found and (len(wanted) > 3 or found == set(wanted)):
                hits.append(_found(fact, round(0.05 + 0.9 * len(found) / len(wanted), 6), "lexical"))
        hits.sort(key=lambda row: -row["score"])
        return {"query": body["query"], "project": None, "hits": hits[: body["n_results"]], "finder": "lexical"}


def _found(fact: Row, score: float, kind: str) -> Row:
    row = {key: fact.get(key) for key in ("id", "project", "key", "value", "why", "source", "why_changed")}
    at = fact.get("superseded_at")
    return {**row, "score": score, "match_kind": kind, "live": at is None, "superseded_at": at, "recheck": None}


def _changed(change: Callable[[FakeSeren, list[Any]], list[Any]]) -> Callable[[FakeSeren, Asked], Reply | None]:
    """A fault that answers a search with other rows, and everything else as ever."""

    def fault(fake: FakeSeren, asked: Asked) -> Reply | None:
        if asked.path != "/search":
            return None
        rows = fake.memories if fake.kind == "memory" else [_found(fact, 0.5, "lexical") for fact in fake.facts]
        return of({"query": "", "hits": change(fake, rows)})

    return fault


def _always(reply: Reply) -> Callable[[FakeSeren, Asked], Reply]:
    return lambda fake, asked: reply


def _each(**fields: object) -> Callable[[FakeSeren, Asked], Reply | None]:
    """Rows in which some fields are overwritten."""
    return _changed(lambda fake, rows: [{**row, **fields} for row in rows])


@cache
def _many(kind: Kind) -> Reply:
    if kind == "memory":
        return of({"hits": [{"id": str(n), "content": f"x {n}"} for n in range(100_000)]})
    return of({"hits": [{"id": str(n), "key": str(n), "value": 1} for n in range(100_000)]})


def _deep(fake: FakeSeren, rows: list[Any]) -> list[Any]:
    nested: object = "bottom"
    for _ in range(400):
        nested = [nested]
    return [{**row, "metadata": {"nested": nested}, "recheck": nested, "raw_distance": nested} for row in rows]


_WIDE = "x" * 100_000

FAULTS: dict[str, Callable[[FakeSeren, Asked], Reply | None]] = {
    "401": _always(of({"detail": "unauthorized"}, 401)),
    "403": _always(of({"detail": "forbidden"}, 403)),
    "429": _always(Reply(status=429, headers={"retry-after": "7"})),
    "500": _always(of({"detail": "database is locked"}, 500)),
    "safe_mode": _always(
        of({"error": "safe_mode", "reason": "embedder_mismatch", "detail": "the index was made by another model"}, 503)
    ),
    "redirect": _always(Reply(status=307, headers={"location": "http://127.0.0.1:9/elsewhere"})),
    "html": _always(Reply(body=b"<!doctype html><h1>Sign in</h1>", headers={"content-type": "text/html"})),
    "garbage": _always(Reply(body=b'{"hits": [{"id": "a", "con')),
    "list": _always(of(["not", "an", "object"])),
    "no_hits_field": _always(of({"query": "x", "hits": {"0": "not a list"}})),
    "deep_body": _always(Reply(body=b"[" * 100_000 + b"]" * 100_000)),
    "huge": _always(Reply(body=b"x" * _HUGE)),
    "huge_chunked": _always(Reply(body=b"x" * _HUGE, chunked=True)),
    "bomb": _always(Reply(body=gzip.compress(b" " * (64 * 2**20)), headers={"content-encoding": "gzip"})),
    "bad_gzip": _always(Reply(body=b"not gzip at all", headers={"content-encoding": "gzip"})),
    "nulls": _changed(lambda fake, rows: [None for _ in rows]),
    "some_nulls": _changed(lambda fake, rows: [None, rows[0], {}, *rows[1:]]),
    "nan": _each(score=float("nan"), raw_distance=float("nan"), created_at=float("inf"), metadata={"ts": float("nan")}),
    "wrong_types": _each(
        score="0.9", raw_distance="0.2", metadata=["no", "dict"], surroundings=7, topic=["a"], recheck="x", why={"a": 1}
    ),
    "nowhen": _each(superseded_at=1e300, created_at="9999-12-31T23:59:59-14:00", metadata={"ts": 10**400}),
    "many": lambda fake, asked: _many(fake.kind) if asked.path == "/search" else None,
    "deep_rows": _changed(_deep),
    "wide_rows": _changed(
        lambda fake, rows: [{**row, "content": f"{n} {_WIDE}", "value": f"{n} {_WIDE}"} for n, row in enumerate(rows)]
    ),
    "wide_keys": _changed(lambda fake, rows: [{**rows[0], "id": "i" * 300_000, "key": "k" * 300_000}, *rows[1:]]),
    "empty": _changed(lambda fake, rows: []),
    "ignores_n": _changed(
        lambda fake, rows: [{**rows[0], "id": str(n), "content": f"row {n}", "key": f"k{n}"} for n in range(400)]
    ),
    "twice": _changed(lambda fake, rows: [*rows, *rows]),
}
"""What a mode answers instead; None is the usual answer."""

WIRES = ("hang", "drip", "close", "close_first", "stale")
"""Modes below HTTP: no byte, a byte now and then, a dropped connection, one dropped once, one dropped at reuse."""


class Talk:
    """One connection, as far as HTTP goes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def read(self) -> Asked:
        """The next request.

        Raises:
            asyncio.IncompleteReadError: If there is none.
        """
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = head[0].split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
        body = await self.reader.readexactly(int(headers.get("content-length", "0")))
        parts = urlsplit(target)
        return Asked(
            method=method,
            path=parts.path,
            params={name: values[0] for name, values in parse_qs(parts.query, keep_blank_values=True).items()},
            headers=headers,
            body=json.loads(body) if body else None,
        )

    async def write(self, reply: Reply) -> None:
        """Send a reply, piece by piece."""
        head = f"HTTP/1.1 {reply.status} X\r\n" + "".join(
            f"{name}: {value}\r\n" for name, value in reply.headers.items()
        )
        length = "transfer-encoding: chunked" if reply.chunked else f"content-length: {len(reply.body)}"
        self.writer.write(f"{head}{length}\r\n\r\n".encode())
        for start in range(0, len(reply.body), 2**16):
            part = reply.body[start : start + 2**16]
            self.writer.write(b"%x\r\n%b\r\n" % (len(part), part) if reply.chunked else part)
            await self.writer.drain()
        if reply.chunked:
            self.writer.write(b"0\r\n\r\n")
        await self.writer.drain()


class _SerenTalk(Talk):
    """One connection to a fake."""

    def __init__(self, fake: FakeSeren, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        super().__init__(reader, writer)
        self._fake = fake

    async def serve(self) -> None:
        for served in range(1_000):
            asked = await self.read()
            if self._fake.mode == "stale" and served:
                return
            self._fake.requests.append(asked)
            self._fake.asked.set()
            if not await self._send(asked):
                return

    async def _send(self, asked: Asked) -> bool:
        fake = self._fake
        if fake.mode == "close":
            return False
        if fake.mode == "close_first":
            fake.mode = "ok"
            return False
        if fake.mode in ("hang", "drip"):
            await self._wait_for_hang_up()
            return False
        await self.write(fake.answer(asked))
        return True

    async def _wait_for_hang_up(self) -> None:
        """Send nothing, or one byte of a body that never ends each time, until the client has had enough."""
        if self._fake.mode == "drip":
            self.writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9999\r\n\r\n")
        gone = asyncio.ensure_future(self.reader.read())
        while not gone.done():
            if self._fake.mode == "drip":
                self.writer.write(b" ")
            await asyncio.wait([gone], timeout=0.01)
        gone.exception()  # it may hang up with a reset, which is its right too
        self._fake.gone.set()


@asynccontextmanager
async def serving(kind: Kind, *, token: str = "") -> AsyncGenerator[FakeSeren]:
    """A fake store on a free port of this machine."""
    fake = FakeSeren(kind, token=token)
    talks: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        fake.connections += 1
        task = asyncio.current_task()
        assert task is not None
        talks.add(task)
        try:
            await _SerenTalk(fake, reader, writer).serve()
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass  # the client went away, which is its right
        finally:
            talks.discard(task)
            writer.transport.abort()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    fake.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield fake
    finally:
        server.close()
        for task in talks:
            task.cancel()
        await asyncio.gather(*talks, return_exceptions=True)
        await server.wait_closed()
