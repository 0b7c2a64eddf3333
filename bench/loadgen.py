"""A load generator that costs little: raw asyncio, keep-alive, requests encoded beforehand.

Above: the benches. Below: nothing. REST, MCP over Streamable HTTP and MCP over SSE, as far as the benches need them; it
reads whole bodies and no more of HTTP/1.1 than uvicorn and `fakestores` write.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import urlsplit

PROTOCOL = "2025-11-25"
_JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
_LIMIT = 8 * 2**20
_INITIALIZE: dict[str, Any] = {
    "protocolVersion": PROTOCOL,
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "0"},
}


class BadAnswer(Exception):
    """A server answered something a bench cannot measure; the text says what."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer, read to its end."""

    status: int
    head: bytes
    body: bytes

    def header(self, name: str) -> str:
        """A header's value, or nothing."""
        for line in self.head.split(b"\r\n")[1:]:
            key, _, value = line.partition(b":")
            if key.lower() == name.encode():
                return value.strip().decode("latin-1")
        return ""


class Connection:
    """One keep-alive connection, opened when something is sent.

    Args:
        url: The server; its path is not used.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "127.0.0.1", parts.port or 80
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    def frame(self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] = _JSON) -> bytes:
        """The bytes of a request."""
        lines = {"host": f"{self._host}:{self._port}", "content-length": str(len(body)), **headers}
        head = "".join(f"{key}: {value}\r\n" for key, value in lines.items())
        return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + body

    async def send(self, frame: bytes) -> Answer:
        """The answer to a request.

        Raises:
            OSError: If the connection breaks.
            asyncio.IncompleteReadError: If it ends within the answer.
        """
        reader = await self.begin(frame)
        head = await reader.readuntil(b"\r\n\r\n")
        low = head.lower()
        at = low.find(b"content-length:")
        if at >= 0:
            body = await reader.readexactly(int(low[at + 15 : low.index(b"\r", at)]))
        else:
            body = await self._chunks(reader) if b"transfer-encoding: chunked" in low else b""
        if b"connection: close" in low:
            self.close()
        return Answer(int(head[9:12]), head, body)

    async def begin(self, frame: bytes) -> asyncio.StreamReader:
        """Send a request and leave the reading of its answer to the caller."""
        if self._streams is None:
            self._streams = await asyncio.open_connection(self._host, self._port, limit=_LIMIT)
        reader, writer = self._streams
        writer.write(frame)
        return reader

    def close(self) -> None:
        """Close it; the next request opens a new one."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def _chunks(self, reader: asyncio.StreamReader) -> bytes:
        parts: list[bytes] = []
        while part := await chunk(reader):
            parts.append(part)
        return b"".join(parts)


async def chunk(reader: asyncio.StreamReader) -> bytes:
    """The next chunk of a chunked body; empty at its end."""
    size = int((await reader.readline()).strip() or b"0", 16)
    return (await reader.readexactly(size + 2))[:-2]


def call(identity: int | None, method: str, params: Mapping[str, Any]) -> bytes:
    """A JSON-RPC request, or a notification where there is no identity."""
    asked = {} if identity is None else {"id": identity}
    return json.dumps({"jsonrpc": "2.0", **asked, "method": method, "params": dict(params)}).encode()


class McpSession:
    """One MCP session over Streamable HTTP.

    Args:
        url: The server.
        path: Path of its MCP endpoint.
    """

    def __init__(self, url: str, path: str) -> None:
        self.connection = Connection(url)
        self._path = path
        self._headers: dict[str, str] = dict(_JSON)

    async def open(self) -> Self:
        """Say hello."""
        answer = await self.post(call(1, "initialize", _INITIALIZE))
        _proven(answer)
        self._headers["mcp-protocol-version"] = PROTOCOL
        if answer.header("mcp-session-id"):
            self._headers["mcp-session-id"] = answer.header("mcp-session-id")
        await self.post(call(None, "notifications/initialized", {}))
        return self

    def frame(self, body: bytes) -> bytes:
        """The bytes of a request in this session."""
        return self.connection.frame("POST", self._path, body, self._headers)

    async def post(self, body: bytes) -> Answer:
        """The answer to a message."""
        return await self.connection.send(self.frame(body))

    async def list_tools(self) -> None:
        """Ask for the tools."""
        _proven(await self.post(call(2, "tools/list", {})))

    async def end(self) -> None:
        """End the session, as a client that behaves does; an idle connection may have been closed meanwhile."""
        self.connection.close()
        await self.connection.send(self.connection.frame("DELETE", self._path, b"", self._headers))
        self.connection.close()


def _proven(answer: Answer) -> None:
    if answer.status != 200 or b'"result"' not in answer.body:
        raise BadAnswer(f"MCP answered {answer.status}: {answer.body[:200]!r}")


async def sse_session(url: str) -> None:
    """One MCP session over SSE: hello, the tools, and the connection closed."""
    stream, posts = Connection(url), Connection(url)
    try:
        reader = await stream.begin(stream.frame("GET", "/sse", headers={"accept": "text/event-stream"}))
        head = await reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in head[:16]:
            raise BadAnswer(f"/sse answered {head[:60]!r}")
        endpoint = (await _event(reader)).decode()
        await posts.send(posts.frame("POST", endpoint, call(1, "initialize", _INITIALIZE)))
        await _event(reader)
        await posts.send(posts.frame("POST", endpoint, call(None, "notifications/initialized", {})))
        await posts.send(posts.frame("POST", endpoint, call(2, "tools/list", {})))
        if b'"result"' not in (said := await _event(reader)):
            raise BadAnswer(f"tools/list over SSE answered {said[:200]!r}")
    finally:
        stream.close()
        posts.close()


async def _event(reader: asyncio.StreamReader) -> bytes:
    """The data of the next event that has any; a comment that keeps the stream alive has none."""
    text = b""
    while b"data:" not in text or not text.endswith((b"\n\n", b"\r\n\r\n")):
        part = await chunk(reader)
        if not part:
            raise BadAnswer("the SSE stream ended")
        text += part
    return b"".join(line[5:].strip() for line in text.splitlines() if line.startswith(b"data:"))


@dataclass(slots=True)
class Load:
    """What a number of callers got in a closed loop.

    Attributes:
        ms: Milliseconds of each answer, and of each request that had none when time was up (so far: at least that).
        answered: How many were answered.
        refused: How many of the answers were not 200, or broke off.
        lossy: How many of the answers lacked a store.
        unfinished: How many requests had no answer when time was up.
        wall_s: Seconds until the last answer, or until time was up.
    """

    ms: list[float] = field(default_factory=list[float])
    answered: int = 0
    refused: int = 0
    lossy: int = 0
    unfinished: int = 0
    wall_s: float = 0.0


async def hammer(
    url: str,
    path: str,
    body: Callable[[int], bytes],
    callers: int,
    *,
    seconds: float,
    cap_s: float,
    lossy: Callable[[bytes], bool],
) -> Load:
    """Every caller asks again as soon as it has its answer, for `seconds`; who then waits, waits until `cap_s`.

    `body` gives each caller a question of its own: the same one at the same moment would be asked once for all.
    """
    load, began = Load(), time.perf_counter()
    waiting: dict[int, float] = {}

    async def caller(number: int) -> None:
        connection = Connection(url)
        frame = connection.frame("POST", path, body(number))
        while (now := time.perf_counter()) < began + seconds:
            waiting[number] = now
            try:
                answer = await connection.send(frame)
            except (OSError, asyncio.IncompleteReadError):
                answer = Answer(0, b"", b"")
                connection.close()
            load.ms.append((time.perf_counter() - now) * 1_000)
            del waiting[number]
            load.answered += 1
            load.refused += answer.status != 200
            load.lossy += answer.status == 200 and lossy(answer.body)
        connection.close()

    tasks = [asyncio.create_task(caller(number)) for number in range(callers)]
    _, late = await asyncio.wait(tasks, timeout=cap_s)
    load.wall_s = time.perf_counter() - began
    load.unfinished = len(waiting)
    load.ms += [(time.perf_counter() - since) * 1_000 for since in waiting.values()]
    for task in late:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return load
