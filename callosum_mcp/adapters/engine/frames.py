"""Lines of a child's stdout as JSON-RPC messages, and messages as lines of its stdin.

Above: `process`. Below: the SDK's message types. What is no message (a log line, a banner) is passed over and counted:
many servers print where only the protocol may stand. The two streams are what the SDK's client takes for a transport,
without tasks or buffers in between.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Self

import anyio
import anyio.abc
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCMessage, jsonrpc_message_adapter

from callosum_mcp.text import clean_json, one_line

MAX_FRAME_BYTES = 16 * 2**20
"""A longer message ends the connection: nobody can say which call it was the answer to."""

_SAMPLE = 60


class Inbound:
    """What the child says, message by message.

    Args:
        source: Its stdout.
        ended: Called once at its end.
    """

    def __init__(self, source: anyio.abc.ByteReceiveStream, ended: Callable[[], None]) -> None:
        self._source = source
        self._ended = ended
        self._lines: deque[bytes] = deque()
        self._parts: list[bytes] = []
        self._size = 0
        self.noise = 0
        self.sample = ""
        self.trouble = ""

    async def receive(self) -> SessionMessage | Exception:
        """The next message.

        Raises:
            anyio.EndOfStream: If there is none.
        """
        while True:
            while self._lines:
                message = self._message(self._lines.popleft())
                if message is not None:
                    return SessionMessage(message)
            await self._more()

    async def drain(self) -> None:
        """Read and forget the rest: a child that cannot write cannot end by itself either."""
        try:
            while True:
                await self._source.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            return

    async def aclose(self) -> None:
        """Nothing: the process owns its pipe."""

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        return

    async def _more(self) -> None:
        try:
            chunk = await self._source.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            self._ended()
            raise anyio.EndOfStream from None
        *lines, rest = chunk.split(b"\n")
        if lines:
            self._lines.append(b"".join([*self._parts, lines[0]]))
            self._lines.extend(lines[1:])
            self._parts, self._size = [], 0
        self._parts.append(rest)
        self._size += len(rest)
        if self._size > MAX_FRAME_BYTES:
            self.trouble = f"its reply is larger than {MAX_FRAME_BYTES // 2**20} MiB and was not read"
            self._ended()
            raise anyio.EndOfStream

    def _message(self, line: bytes) -> JSONRPCMessage | None:
        if not line.strip():
            return None
        try:
            return jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            return self._mended(line)

    def _mended(self, line: bytes) -> JSONRPCMessage | None:
        """A message that only failed for bytes or surrogates that are no text; None for what is no message at all."""
        text = line.decode("utf-8", "replace").lstrip("\ufeff")
        try:
            return jsonrpc_message_adapter.validate_python(clean_json(json.loads(text)), by_name=False)
        except (ValueError, RecursionError):
            self.noise += 1
            self.sample = self.sample or one_line(text, _SAMPLE)
            return None


class Outbound:
    """What the child is told; a message is written whole, or not at all.

    Args:
        sink: Its stdin.
    """

    def __init__(self, sink: anyio.abc.ByteSendStream) -> None:
        self._sink = sink

    async def send(self, item: SessionMessage, /) -> None:
        """Write one message.

        Raises:
            anyio.BrokenResourceError: If the child reads no more.
        """
        try:
            await self._sink.send(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
        except OSError:
            raise anyio.BrokenResourceError from None

    async def aclose(self) -> None:
        """Close its stdin, which asks it to end."""
        await self._sink.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        return
