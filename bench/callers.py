"""Callers that come, ask, cancel and vanish: over REST, MCP sessions and stateless MCP.

Above: `soak`. Below: `loadgen`; `streams` has those over SSE and with a server of their own. Each speaks its protocol
in raw frames, so that fifty cost less than the server they ask. `begin` sends a question, `answer` waits for what came
of it, `cancel` takes it back as the protocol has it, `vanish` goes without a word, `close` goes as a client should.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from itertools import count
from typing import Any, Protocol

from loadgen import PROTOCOL, BadAnswer, Connection, call

Result = dict[str, Any]
JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
HELLO: dict[str, Any] = {
    "protocolVersion": PROTOCOL,
    "capabilities": {},
    "clientInfo": {"name": "soak", "version": "0"},
}
_MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "soak", "version": "0"},
}
GONE = (OSError, asyncio.IncompleteReadError, BadAnswer)
"""What a caller may meet when the other side is not there."""


class Caller(Protocol):
    """One caller, with one question at a time."""

    async def open(self) -> None:
        """Connect and say hello."""
        ...

    async def begin(self, query: str) -> None:
        """Ask."""
        ...

    async def answer(self) -> Result:
        """The result of the question, as the structured content of `recall`."""
        ...

    async def cancel(self) -> None:
        """Take the question back."""
        ...

    async def vanish(self) -> None:
        """Go without a word."""
        ...

    async def close(self) -> None:
        """Go as a client should."""
        ...


def recall(identity: int, query: str, **more: Any) -> bytes:
    """A question as a message."""
    return call(identity, "tools/call", {"name": "recall", "arguments": {"query": query}, **more})


def cancelled(identity: int) -> bytes:
    """The message that takes a question back."""
    return call(None, "notifications/cancelled", {"requestId": identity})


def told(message: Mapping[str, Any]) -> Result:
    """The structured content of a response.

    Raises:
        BadAnswer: If it is an error without one.
    """
    result: dict[str, Any] = message.get("result") or {}
    found = result.get("structuredContent")
    if found is None:
        raise BadAnswer(str(message.get("error") or result.get("content"))[:200])
    return found


class OneReply:
    """A caller whose one way to cancel is to hang up."""

    def __init__(self, url: str) -> None:
        self._connection = Connection(url)
        self._reply: asyncio.Task[Any] | None = None

    async def open(self) -> None:
        """Nothing to do."""

    async def cancel(self) -> None:
        """Hang up."""
        await self.vanish()

    async def vanish(self) -> None:
        """Hang up."""
        if self._reply is not None:
            self._reply.cancel()
            await asyncio.gather(self._reply, return_exceptions=True)
        self._connection.close()

    async def close(self) -> None:
        """Hang up."""
        await self.vanish()


class Rest(OneReply):
    """A caller of ``POST /recall``."""

    async def begin(self, query: str) -> None:
        """Ask."""
        frame = self._connection.frame("POST", "/recall", json.dumps({"query": query}).encode())
        self._reply = asyncio.ensure_future(self._connection.send(frame))

    async def answer(self) -> Result:
        """The body."""
        assert self._reply is not None
        answer = await self._reply
        if answer.status not in (200, 502):
            raise BadAnswer(f"HTTP {answer.status}: {answer.body[:120]!r}")
        return json.loads(answer.body)


class Stateless(OneReply):
    """A caller of the 2026 revision, each request on a connection of its own."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._url = url
        self._headers = {
            **JSON,
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": "tools/call",
            "mcp-name": "recall",
        }
        self._ids = count(1)
        self._id = 0

    async def begin(self, query: str) -> None:
        """Ask."""
        self._id = next(self._ids)
        self._start(recall(self._id, query, _meta=_MODERN))

    async def answer(self) -> Result:
        """The result in the reply, be it JSON or an event stream."""
        assert self._reply is not None
        answer = await self._reply
        if answer.status != 200:
            raise BadAnswer(f"HTTP {answer.status}: {answer.body[:120]!r}")
        for message in messages(answer.body):
            if message.get("id") == self._id:
                return told(message)
        raise BadAnswer(f"no response in {answer.body[:120]!r}")

    def _start(self, body: bytes) -> None:
        self._connection.close()
        self._connection = Connection(self._url)
        frame = self._connection.frame("POST", "/mcp", body, self._headers)
        self._reply = asyncio.ensure_future(self._connection.send(frame))


class Session(Stateless):
    """A caller with a session of the 2025 era."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._headers = dict(JSON)

    async def open(self) -> None:
        """Say hello."""
        hello = await self._post(call(next(self._ids), "initialize", HELLO))
        if hello[0] != 200:
            raise BadAnswer(f"hello: HTTP {hello[0]}")
        self._headers |= {"mcp-protocol-version": PROTOCOL, "mcp-session-id": hello[1]}
        await self._post(call(None, "notifications/initialized", {}))

    async def begin(self, query: str) -> None:
        """Ask."""
        self._id = next(self._ids)
        self._start(recall(self._id, query))

    async def cancel(self) -> None:
        """Say so, and leave the stream."""
        await self._post(cancelled(self._id))
        await self.vanish()

    async def close(self) -> None:
        """End the session."""
        await self.vanish()
        await self._post(b"", "DELETE")

    async def _post(self, body: bytes, method: str = "POST") -> tuple[int, str]:
        connection = Connection(self._url)
        try:
            answer = await connection.send(connection.frame(method, "/mcp", body, self._headers))
            return answer.status, answer.header("mcp-session-id")
        finally:
            connection.close()


def messages(body: bytes) -> list[dict[str, Any]]:
    """The messages of a reply: one of JSON, or the events of a stream."""
    if body.lstrip().startswith(b"{"):
        return [json.loads(body)]
    return [json.loads(line[5:]) for line in body.splitlines() if line.startswith(b"data:") and line[5:].strip()]
