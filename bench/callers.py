"""Callers that come, ask, cancel and vanish: over REST, MCP sessions, stateless MCP, SSE, and a server of their own.

Above: `soak`. Below: `loadgen`. Each speaks its protocol in raw frames, so that fifty cost less than the server they
ask. `begin` sends a question, `answer` waits for what came of it, `cancel` takes it back as the protocol has it,
`vanish` goes without a word, `close` goes as a client should.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from itertools import count
from typing import Any, Protocol

from loadgen import PROTOCOL, BadAnswer, Connection, call, chunk

Result = dict[str, Any]
_JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
_HELLO = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": {"name": "soak", "version": "0"}}
_MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "soak", "version": "0"},
}
_END_S = 10.0
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


class Rest:
    """A caller of ``POST /recall``."""

    def __init__(self, url: str) -> None:
        self._connection = Connection(url)
        self._reply: asyncio.Task[Any] | None = None

    async def open(self) -> None:
        """Nothing to do."""

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

    async def cancel(self) -> None:
        """Hang up, which is all that REST has."""
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


class Stateless:
    """A caller of the 2026 revision, each request on a connection of its own."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._headers = {
            **_JSON,
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": "tools/call",
            "mcp-name": "recall",
        }
        self._connection = Connection(url)
        self._reply: asyncio.Task[Any] | None = None
        self._ids = count(1)
        self._id = 0

    async def open(self) -> None:
        """Nothing to do."""

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

    async def cancel(self) -> None:
        """Hang up, which is how this revision cancels."""
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

    def _start(self, body: bytes) -> None:
        self._connection.close()
        self._connection = Connection(self._url)
        frame = self._connection.frame("POST", "/mcp", body, self._headers)
        self._reply = asyncio.ensure_future(self._connection.send(frame))


class Session(Stateless):
    """A caller with a session of the 2025 era."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._headers = dict(_JSON)

    async def open(self) -> None:
        """Say hello."""
        hello = await self._post(call(next(self._ids), "initialize", _HELLO))
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


class Sse:
    """A caller over SSE."""

    def __init__(self, url: str) -> None:
        self._stream, self._posts = Connection(url), Connection(url)
        self._endpoint = ""
        self._ids = count(1)
        self._id = 0
        self._reader: asyncio.StreamReader | None = None

    async def open(self) -> None:
        """Listen, and say hello."""
        self._reader = await self._stream.begin(self._stream.frame("GET", "/sse", headers=_JSON))
        head = await self._reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in head[:16]:
            raise BadAnswer(f"/sse: {head[:40]!r}")
        self._endpoint = (await self._event()).decode()
        self._id = next(self._ids)
        await self._post(call(self._id, "initialize", _HELLO))
        await self._response()
        await self._post(call(None, "notifications/initialized", {}))

    async def begin(self, query: str) -> None:
        """Ask."""
        self._id = next(self._ids)
        await self._post(recall(self._id, query))

    async def answer(self) -> Result:
        """The result that comes as an event."""
        return told(await self._response())

    async def cancel(self) -> None:
        """Say so."""
        await self._post(cancelled(self._id))

    async def vanish(self) -> None:
        """Hang up."""
        self._stream.close()
        self._posts.close()

    async def close(self) -> None:
        """Hang up."""
        await self.vanish()

    async def _post(self, body: bytes) -> None:
        answer = await self._posts.send(self._posts.frame("POST", self._endpoint, body))
        if answer.status != 202:
            raise BadAnswer(f"{self._endpoint}: HTTP {answer.status}")

    async def _response(self) -> dict[str, Any]:
        while True:
            message: dict[str, Any] = json.loads(await self._event())
            if message.get("id") == self._id:
                return message

    async def _event(self) -> bytes:
        assert self._reader is not None
        text = b""
        while b"data:" not in text or not text.endswith((b"\n\n", b"\r\n\r\n")):
            part = await chunk(self._reader)
            if not part:
                raise BadAnswer("the SSE stream ended")
            text += part
        return b"".join(line[5:].strip() for line in text.splitlines() if line.startswith(b"data:"))


class Stdio:
    """A caller that starts a server of its own.

    Args:
        argv: The command.
        environ: Its variables.
    """

    def __init__(self, argv: list[str], environ: Mapping[str, str]) -> None:
        self._argv, self._environ = argv, environ
        self._process: asyncio.subprocess.Process | None = None
        self._ids = count(1)
        self._id = 0

    async def open(self) -> None:
        """Start it, and say hello."""
        pipe = asyncio.subprocess.PIPE
        self._process = await asyncio.create_subprocess_exec(
            *self._argv,
            stdin=pipe,
            stdout=pipe,
            stderr=asyncio.subprocess.DEVNULL,
            env=dict(self._environ),
            limit=2**23,
        )
        self._id = next(self._ids)
        self._write(call(self._id, "initialize", _HELLO))
        await self._response()
        self._write(call(None, "notifications/initialized", {}))

    async def begin(self, query: str) -> None:
        """Ask."""
        self._id = next(self._ids)
        self._write(recall(self._id, query))

    async def answer(self) -> Result:
        """The result on its stdout."""
        return told(await self._response())

    async def cancel(self) -> None:
        """Say so."""
        self._write(cancelled(self._id))

    async def vanish(self) -> None:
        """Kill it, as a client that crashes takes it along."""
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
            await self._process.wait()

    async def close(self) -> None:
        """Close its stdin, and wait for its end."""
        if self._process is None or self._process.stdin is None:
            return
        self._process.stdin.close()
        try:
            async with asyncio.timeout(_END_S):
                await self._process.wait()
        except TimeoutError:
            await self.vanish()
            raise BadAnswer("its server does not end with its stdin") from None

    def _write(self, body: bytes) -> None:
        assert self._process is not None and self._process.stdin is not None
        self._process.stdin.write(body + b"\n")

    async def _response(self) -> dict[str, Any]:
        assert self._process is not None and self._process.stdout is not None
        while line := await self._process.stdout.readline():
            message: dict[str, Any] = json.loads(line)
            if message.get("id") == self._id:
                return message
        raise BadAnswer("its server ended")


def own_server(config: str, overlay: str) -> Stdio:
    """A caller with a server of its own over some settings."""
    argv = [sys.executable, "-m", "callosum_mcp", "serve", "--config", config]
    return Stdio(argv, {**os.environ, "CALLOSUM_RUNTIME_STORES": overlay})


def messages(body: bytes) -> list[dict[str, Any]]:
    """The messages of a reply: one of JSON, or the events of a stream."""
    if body.lstrip().startswith(b"{"):
        return [json.loads(body)]
    return [json.loads(line[5:]) for line in body.splitlines() if line.startswith(b"data:") and line[5:].strip()]
