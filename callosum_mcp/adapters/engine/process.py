"""A child process that speaks MCP on its stdin and stdout: started, listened to, ended, reaped.

Above: `connecting`. Below: anyio's processes. The child leads a group of its own, so that whatever it starts ends with
it; it gets the few variables every program needs and those its store declares; its stderr is kept, not shown, and its
last words explain a failure.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import anyio
import anyio.abc
from mcp.client.stdio import get_default_environment

from callosum_mcp.adapters.engine import children
from callosum_mcp.adapters.engine.frames import Inbound, Outbound
from callosum_mcp.errors import StoreRefused
from callosum_mcp.text import one_line

if TYPE_CHECKING:
    from callosum_mcp.adapters.engine.reach import Reach

EXIT_S, TERM_S, KILL_S = 0.9, 0.5, 0.4
"""Seconds to end by itself at the end of its stdin, then on SIGTERM, then to be reaped after SIGKILL: less than the two
seconds that closing a store may take."""

_LINES, _LINE = 20, 300
_SHOWN = 200
_POLL_S = 0.01
_GONE = (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError, OSError)


class Child:
    """One running child.

    Args:
        process: It.
        ended: Called once when it closes its stdout, which is how a connection ends.
    """

    def __init__(self, process: anyio.abc.Process, ended: Callable[[], None]) -> None:
        assert process.stdin and process.stdout and process.stderr
        self._process = process
        self._stderr = process.stderr
        self._by_us = False
        self._words: deque[str] = deque(maxlen=_LINES)
        self.inbound = Inbound(process.stdout, ended)
        self.outbound = Outbound(process.stdin)

    def fate(self) -> str:
        """What became of it, with its last words."""
        return f"{self._end()}{self.last_words()}"

    def last_words(self) -> str:
        """The end of what it wrote to stderr, in brackets; "" if it wrote nothing."""
        said = " / ".join(list(self._words)[-3:])
        return f" (it said: {said[-_SHOWN:].strip()})" if said else ""

    def _end(self) -> str:
        code = self._process.returncode
        if self.inbound.trouble:
            return self.inbound.trouble
        if code is None or self._by_us:
            return "its process closed its output"
        if code < 0:
            return f"its process was ended by {_signal_name(-code)}"
        return f"its process ended with code {code}"

    @property
    def dead(self) -> bool:
        """Whether it has ended, be it that the event loop has not heard of it yet."""
        if self._process.returncode is not None:
            return True
        if sys.platform == "win32":
            return False
        try:
            return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return True

    async def listen(self) -> None:
        """Keep the last lines of its stderr until it ends."""
        rest = ""
        with suppress(*_GONE):
            while True:
                rest += (await self._stderr.receive()).decode("utf-8", "replace")
                *lines, rest = rest.split("\n")
                self._words.extend(one_line(line, _LINE) for line in lines if line.strip())
                rest = rest[-4 * _LINE :]
        if rest.strip():
            self._words.append(one_line(rest, _LINE))

    async def end(self) -> None:
        """Close its stdin and see to it that it, and all it has started, ends."""
        group = self._process.pid
        with suppress(*_GONE):
            await self.outbound.aclose()
        if not await self._ended_within(EXIT_S):
            self._signal(group, signal.SIGTERM)
            await self._ended_within(TERM_S)
        elif children.alive(group):  # what it leaves behind
            self._signal(group, signal.SIGTERM)
            await self._nothing_left_within(group, TERM_S)
        self._signal(group, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
        await self._ended_within(KILL_S)

    def kill(self) -> None:
        """End its group now, without waiting; nothing happens if it is gone."""
        group = self._process.pid
        if self._process.returncode is None or children.alive(group):
            self._signal(group, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
        children.forget(group)
        transport: Any = getattr(getattr(self._process, "_process", None), "_transport", None)
        if transport is not None:  # else its pipes stay open for as long as a survivor holds the other ends
            with suppress(PermissionError, ProcessLookupError):
                transport.close()

    def _signal(self, group: int, number: int) -> None:
        self._by_us = self._by_us or self._process.returncode is None
        if sys.platform == "win32":
            with suppress(ProcessLookupError, PermissionError):
                self._process.terminate()
        else:
            children.signalled(group, number)

    async def _ended_within(self, seconds: float) -> bool:
        deadline = anyio.current_time() + seconds
        while self._process.returncode is None:  # wait() also waits for pipes that others may hold
            if anyio.current_time() >= deadline:
                return False
            await anyio.sleep(_POLL_S)
        return True

    async def _nothing_left_within(self, group: int, seconds: float) -> None:
        with anyio.move_on_after(seconds):
            while children.alive(group):  # noqa: ASYNC110 -- nothing tells of the end of a grandchild
                await anyio.sleep(_POLL_S)


@asynccontextmanager
async def running(reach: Reach, ended: Callable[[], None]) -> AsyncGenerator[Child]:
    """Start an engine's command; when the block ends, nothing of it is left.

    Raises:
        StoreRefused: If it cannot be started.
    """
    child = Child(await _started(reach), ended)
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(child.listen)
            try:
                yield child
            finally:
                with anyio.CancelScope(shield=True):
                    group.start_soon(child.inbound.drain)
                    await child.end()
                group.cancel_scope.cancel()
    finally:
        child.kill()  # also where even the shield was broken: the event loop is being closed


async def _started(reach: Reach) -> anyio.abc.Process:
    environment = {**get_default_environment(), **reach.env}
    program = _found(reach, environment.get("PATH"))
    folder = _expanded(reach.cwd) if reach.cwd else None
    try:
        process = await anyio.open_process(
            [program, *reach.command[1:]], env=environment, cwd=folder, start_new_session=sys.platform != "win32"
        )
    except (OSError, ValueError) as fault:
        why = getattr(fault, "strerror", None) or str(fault)
        raise StoreRefused(f"its command {reach.command[0]!r} cannot be started: {one_line(why, 120)}") from fault
    children.remember(process.pid)
    return process


def _found(reach: Reach, path: str | None) -> str:
    named = _expanded(reach.command[0])
    if reach.cwd and os.path.dirname(named):
        named = os.path.join(_expanded(reach.cwd), named)
    program = shutil.which(named, path=path)
    if program is None:
        raise StoreRefused(
            f"its command {reach.command[0]!r} is not found; install it, or put its full path into transport.command"
        )
    return program


def _expanded(path: str) -> str:
    return os.path.expanduser(path)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
