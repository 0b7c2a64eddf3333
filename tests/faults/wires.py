"""What happens on one connection to a store: HTTP, and MCP over SSE and Streamable HTTP, with every fault of a wire.

Above: `server`. Below: `engine`, `seren`. A store of kind ``engine`` answers at ``/mcp`` and ``/sse``, the others as
the two Seren servers. A request whose client hangs up before its answer is taken down as ``gone``.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from support.fake_seren import Asked, Reply, Talk

from .engine import Engine
from .modes import RETRY_AFTER_S, Row, Setting, half, told
from .seren import FaultySeren, encoded

_DRIP_S = 0.02
_SESSION = "mcp-session-id"
_STREAM = b"HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
_NO_END = b"HTTP/1.1 200 X\r\ncontent-type: application/json\r\ncontent-length: 9999\r\n\r\n"
_ACCEPTED = Reply(status=202)


class Reader(asyncio.StreamReader):
    """Says when the other side has hung up, also while nobody reads."""

    def __init__(self) -> None:
        super().__init__(limit=2**20)
        self.ended = asyncio.Event()

    def feed_eof(self) -> None:
        """The other side closed it."""
        super().feed_eof()
        self.ended.set()

    def set_exception(self, exc: Exception) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The other side broke it."""
        super().set_exception(exc)
        self.ended.set()


@dataclass
class Place:
    """One store: how it behaves, and what its connections share."""

    name: str
    kind: str
    note: Callable[..., None]
    setting: Setting = field(default_factory=Setting)
    sessions: set[str] = field(default_factory=set[str])
    streams: dict[str, asyncio.Queue[bytes]] = field(default_factory=dict[str, "asyncio.Queue[bytes]"])

    def __post_init__(self) -> None:
        self.engine = Engine(self.name, self.note)
        self.seren = FaultySeren("loci" if self.kind == "loci" else "memory", self.name)

    def behave(self, setting: Setting) -> None:
        """From now on."""
        self.setting = setting
        if setting.mode == "404-session":
            self.sessions.clear()
            self.streams.clear()


class Wire(Talk):
    """One connection.

    Args:
        place: The store it leads to.
        reader: What comes.
        writer: Where answers go.
    """

    def __init__(self, place: Place, reader: Reader, writer: asyncio.StreamWriter) -> None:
        super().__init__(reader, writer)
        self._place = place
        self._ended = reader.ended

    async def serve(self) -> None:
        """Answer requests until either side has enough."""
        while await self._one(await self.read()):
            pass

    async def _one(self, asked: Asked) -> bool:
        if self._place.kind != "engine":
            return await self._seren(asked)
        if asked.path.rstrip("/") == "/sse":
            return await self._event_stream(asked)
        if asked.method != "POST":
            await self.write(Reply(status=200 if asked.method == "DELETE" else 405))
            return True
        if asked.path.startswith("/messages"):
            return await self._posted(asked)
        return await self._streamable(asked)

    async def _seren(self, asked: Asked) -> bool:
        setting = self._place.setting.of(asked.path)
        body: Row = asked.body or {}
        query = body.get("query")
        self._place.note("asked", path=asked.path, query=query, **told(setting, asked.headers))
        if not await self._waited(setting, _NO_END, b" ", path=asked.path, query=query):
            return False
        return await self._sent(self._place.seren.reply(asked, setting), setting)

    async def _streamable(self, asked: Asked) -> bool:
        message: Row = asked.body
        setting = self._place.setting.of(message.get("method", ""))
        refusal = self._refusal(setting) or self._stranger(asked)
        if refusal is not None:
            await self.write(refusal)
            return True
        reply = self._place.engine.reply(message, setting, asked.headers)
        if reply is None:
            await self.write(_ACCEPTED)
            return True
        if not await self._waited(setting, _STREAM, b": alive\n\n", id=message["id"]):
            return False
        return await self._sent(self._with_session(message, encoded(reply)), setting)

    def _stranger(self, asked: Asked) -> Reply | None:
        if asked.body.get("method") in ("initialize", "server/discover"):
            return None
        return None if asked.headers.get(_SESSION) in self._place.sessions else Reply(status=404)

    def _with_session(self, message: Row, reply: Reply) -> Reply:
        if message["method"] != "initialize":
            return reply
        session = secrets.token_hex(8)
        self._place.sessions.add(session)
        return Reply(body=reply.body, headers={**reply.headers, _SESSION: session})

    def _refusal(self, setting: Setting) -> Reply | None:
        if setting.mode == "redirect":
            return Reply(status=307, headers={"location": setting.url})
        if setting.mode == "429":
            return Reply(status=429, headers={"retry-after": str(RETRY_AFTER_S)})
        return Reply(status=int(setting.mode)) if setting.mode in ("401", "500") else None

    async def _event_stream(self, asked: Asked) -> bool:
        setting = self._place.setting.of("/sse")
        refusal = self._refusal(setting)
        if refusal is not None:
            await self.write(refusal)
            return True
        if setting.mode == "hang":
            await self._ended.wait()
            return False
        session, events = secrets.token_hex(8), asyncio.Queue[bytes]()
        self._place.streams[session] = events
        self.writer.write(_STREAM + f"event: endpoint\ndata: /messages?session_id={session}\n\n".encode())
        try:
            await self._until_ended(self._events(events))
        finally:
            self._place.streams.pop(session, None)
        return False

    async def _events(self, events: asyncio.Queue[bytes]) -> None:
        while True:
            try:
                async with asyncio.timeout(_DRIP_S):
                    event = await events.get()
            except TimeoutError:
                event = b": alive\n\n" if self._place.setting.mode == "drip" else b""
            self.writer.write(event)
            await self.writer.drain()
            if event.endswith(b"\0"):
                return

    async def _posted(self, asked: Asked) -> bool:
        """A message of a client that listens on an event stream."""
        message: Row = asked.body
        setting = self._place.setting.of(message.get("method", ""))
        events = self._place.streams.get(asked.params.get("session_id", ""))
        refusal = self._refusal(setting) or (Reply(status=404) if events is None else None)
        await self.write(refusal or _ACCEPTED)
        if refusal is None and events is not None:
            reply = self._place.engine.reply(message, setting, asked.headers)
            if reply is not None and setting.mode not in ("hang", "drip"):
                later_s = setting.ms / 1_000 if setting.mode == "slow" else 0.0
                asyncio.get_running_loop().call_later(later_s, events.put_nowait, _event(reply, setting))
        return True

    async def _waited(self, setting: Setting, head: bytes, drop: bytes, **asked: Any) -> bool:
        """Whether the answer is due: nobody hung up in the time it takes."""
        mode = setting.mode
        if mode not in ("hang", "drip", "slow"):
            return True
        if mode == "drip":
            self.writer.write(head)
        loop = asyncio.get_running_loop()
        due = loop.time() + setting.ms / 1_000 if mode == "slow" else float("inf")
        while not self._ended.is_set():
            left_s = due - loop.time()
            if left_s <= 0:
                return True
            if mode == "drip":
                self.writer.write(drop)
            await self._ended_within(min(left_s, _DRIP_S if mode == "drip" else 60.0))
        self._place.note("gone", **asked)
        return False

    async def _ended_within(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._ended.wait()
        except TimeoutError:
            return

    async def _until_ended(self, work: Any) -> None:
        tasks = [asyncio.ensure_future(work), asyncio.ensure_future(self._ended.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _sent(self, reply: Reply, setting: Setting) -> bool:
        if setting.mode == "bad-json" and self._place.kind == "engine":
            reply = Reply(body=half(reply.body), headers=reply.headers)
        if setting.mode != "die-mid-stream":
            await self.write(reply)
            return True
        self.writer.write(_head(reply.headers, len(reply.body)) + half(reply.body))
        await self.writer.drain()
        return False


def _head(headers: Mapping[str, str], length: int) -> bytes:
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 200 X\r\n{lines}content-length: {length}\r\n\r\n".encode()


def _event(reply: Row, setting: Setting) -> bytes:
    """A message as an event; a zero byte at its end breaks the stream off."""
    document = json.dumps(reply).encode()
    if setting.mode == "bad-json":
        document = half(document)
    event = b"event: message\ndata: " + document + b"\n\n"
    return half(event) + b"\0" if setting.mode == "die-mid-stream" else event
