"""Callers that listen to one stream for all answers: over SSE, and over the stdout of a server of their own.

Above: `soak`. Below: `callers`, whose protocol they keep.
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
from typing import Any

from callers import HELLO, JSON, Result, cancelled, recall, told
from loadgen import BadAnswer, Connection, call, chunk

_END_S = 10.0


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
        self._reader = await self._stream.begin(self._stream.frame("GET", "/sse", headers=JSON))
        head = await self._reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in head[:16]:
            raise BadAnswer(f"/sse: {head[:40]!r}")
        self._endpoint = (await self._event()).decode()
        self._id = next(self._ids)
        await self._post(call(self._id, "initialize", HELLO))
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
        self._write(call(self._id, "initialize", HELLO))
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
