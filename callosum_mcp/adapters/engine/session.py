"""The connection to an engine behind MCP as the adapter sees it: always there, whatever happens to it.

Above: the engine adapter. Below: `line`, one life of a connection. A session connects at its first use or when it is
warmed, stays connected, and connects again once where a connection turns out to be dead. Connecting goes on when the
call that wanted it has run out of time. A child that keeps ending is started again ever more rarely.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, TypeVar

import anyio
from mcp.client.session import ClientSession
from mcp_types import CallToolRequest, CallToolRequestParams, CallToolResult

from callosum_mcp.adapters.engine.advertised import Advertised
from callosum_mcp.adapters.engine.failures import again
from callosum_mcp.adapters.engine.line import Line, LostError, Request
from callosum_mcp.adapters.engine.reach import Mode, Reach
from callosum_mcp.errors import StoreError, StoreFailed, StoreRefused
from callosum_mcp.text import clean_json

T = TypeVar("T")

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 60.0
"""Pause after a child that did not start, doubled each time; one that had started is started again at once."""


class Session:
    """Asks one engine.

    Args:
        reach: How it is reached.
        concurrency: Calls at the same time; further ones wait.
    """

    def __init__(self, reach: Reach, concurrency: int) -> None:
        self._reach = reach
        self._slots = anyio.Semaphore(concurrency)
        self._modes: tuple[Mode, ...] = ("legacy",) if reach.protocol == "legacy" else ("auto", "legacy")
        self._line: Line | None = None
        self._failures = 0
        self._not_before = 0.0
        self._last: StoreError | None = None
        self._closed = False
        self.requests = 0
        self.connections = 0

    async def advertised(self) -> Advertised:
        """The tools of the engine.

        Raises:
            StoreError: If it cannot be asked.
        """
        return await self._with_line(Line.refreshed)

    async def call(self, tool: str, arguments: Mapping[str, Any], seen: Advertised | None = None) -> CallToolResult:
        """One call of a tool, unread.

        Args:
            tool: Its name.
            arguments: Its arguments.
            seen: What they were made for; a server that was replaced meanwhile and takes others is not called.

        Raises:
            StoreError: If there was no answer, or one off the protocol.
        """
        request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=_encodable(arguments)))

        async def send(session: ClientSession) -> CallToolResult:
            return await session.send_request(request, CallToolResult)

        async with self._slots:
            self.requests += 1
            return await self._with_line(partial(_asked, tool=tool, seen=seen, send=send))

    def waiting(self) -> str | None:
        """What a call that ran out of time was waiting for, if it was not for the answer."""
        line = self._line
        if line is None or line.made or not line.usable:
            return None
        return "still connecting (cold start); that goes on, and a later call finds it warm"

    def noise(self) -> str | None:
        """What the child wrote to its stdout besides the protocol, in words; None if nothing."""
        child = self._line.child if self._line is not None else None
        if child is None or not child.inbound.noise:
            return None
        count = child.inbound.noise
        lines = "1 line that is" if count == 1 else f"{count} lines that are"
        return self._reach.hidden(f"its stdout holds {lines} not MCP, first {child.inbound.sample!r}")

    def warm(self) -> None:
        """Start connecting, unless that is being done; needs a running event loop."""
        if not self._closed and not self._pause() and (self._line is None or not self._line.usable):
            self._connect()

    async def aclose(self) -> None:
        """End the connection for good."""
        self._closed = True
        if self._line is not None:
            await self._line.aclose()

    async def _with_line(self, use: Callable[[Line], Awaitable[T]]) -> T:
        """Use the connection; once more on a new one if this one turns out to be dead."""
        line = await self._made()
        try:
            return await use(line)
        except LostError as lost:
            if self._closed or (lost.asked and self._reach.type == "stdio"):
                raise lost.cause from lost  # what ended the child may be this very question
        line = await self._made()
        try:
            return await use(line)
        except LostError as lost:
            raise lost.cause from lost

    async def _made(self) -> Line:
        line = self._line
        if line is None or not line.usable:
            line = self._connect()
        await line.wait()
        if line.mode == "legacy":  # a server that the probe killed once is not probed again
            self._modes = ("legacy",)
        return line

    def _connect(self) -> Line:
        if self._closed:
            raise StoreRefused("its connection was closed")
        pause = self._pause()
        if pause and self._last is not None:
            failed = again(self._last)
            raise type(failed)(f"{failed}; it is started again in {pause:.1f} s at the earliest", retry_after_s=pause)
        self.connections += 1
        self._line = line = Line(self._reach, self._modes, self._over)
        return line

    def _pause(self) -> float:
        """Seconds until a child may be started again."""
        if not self._not_before:
            return 0.0
        return max(0.0, self._not_before - anyio.current_time())

    def _over(self, line: Line) -> None:
        """A connection ended: remember why, and when to try again."""
        if line.closing or self._reach.type != "stdio":
            return
        self._failures = 0 if line.answers else self._failures + 1
        self._last = line.cause()
        if not line.made or self._failures > 1:
            pause = min(FIRST_PAUSE_S * 2.0 ** max(0, self._failures - 1), LONGEST_PAUSE_S)
            self._not_before = anyio.current_time() + pause


async def _asked(line: Line, *, tool: str, seen: Advertised | None, send: Request[CallToolResult]) -> CallToolResult:
    if seen is not None and seen.tools.get(tool) != line.advertised.tools.get(tool):
        raise StoreFailed(f"the arguments of its tool {tool} have just changed; ask again")
    return await line.ask(send)


def _encodable(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments that every transport can carry: a lone surrogate would end the connection."""
    cleaned = clean_json(dict(arguments))
    assert isinstance(cleaned, dict)
    return cleaned  # pyright: ignore[reportUnknownVariableType]
