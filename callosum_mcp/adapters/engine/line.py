"""One life of a connection to an engine: made, used and ended by one task of its own.

Above: `session`, which makes a new line when one has ended. Below: `connecting`. The SDK's client has to be left by
the task that entered it, and must outlive the call that happened to need it first, so this task belongs to no call's
task group: it is an asyncio task that the line holds on to until it has ended. It ends when the line is closed, when
the connection does, or with the event loop, which cancels what is left. A call runs in a task group *inside* it: a
caller that gives up returns at once, while the cancellation goes upstream in its own time, however wedged the
connection is.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

import anyio
import anyio.abc
from mcp.client.session import ClientSession

from callosum_mcp.adapters.engine.advertised import Advertised
from callosum_mcp.adapters.engine.connecting import Watch, connected, listed
from callosum_mcp.adapters.engine.failures import FOREIGN, closed, store_error, telling
from callosum_mcp.adapters.engine.reach import Mode, Reach
from callosum_mcp.errors import StoreBadReply, StoreError, StoreFailed, StoreRefused, StoreTimeout

if TYPE_CHECKING:
    from callosum_mcp.adapters.engine.process import Child

T = TypeVar("T")
Request = Callable[[ClientSession], Awaitable[T]]

CLOSE_S, END_S = 1.9, 2.0
"""Seconds for saying goodbye, and until the rest is cut short: a hung server must not hold its store's end up."""

_CAUSE_S = 1.0  # until the task has found out why the connection ended
_PAGES = 20
_living: set[asyncio.Task[None]] = set()  # the event loop itself holds tasks weakly
_log = logging.getLogger(__name__)


class LostError(Exception):
    """The connection was no good; `cause` says why, `asked` whether the engine may have seen the request."""

    def __init__(self, cause: StoreError, *, asked: bool) -> None:
        self.cause = cause
        self.asked = asked
        super().__init__(str(cause))


@dataclass
class _Asked(Generic[T]):
    """One request on its way."""

    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    done: anyio.Event = field(default_factory=anyio.Event)
    values: list[T] = field(default_factory=list[T])
    fault: BaseException | None = None


class Line:
    """One connection, from its making to its end.

    Args:
        reach: Where to.
        modes: Protocol modes to try, in this order; the next one is for servers that the first one kills.
        over: Called once at its end.
    """

    def __init__(self, reach: Reach, modes: Sequence[Mode], over: Callable[[Line], None]) -> None:
        self._reach = reach
        self._modes = modes
        self._over = over
        self._scope = anyio.CancelScope()
        self._stop = anyio.Event()
        self._settled = anyio.Event()
        self._ended = anyio.Event()
        self._watch = Watch(self._broken)
        self._group: anyio.abc.TaskGroup | None = None
        self._session: ClientSession | None = None
        self._doubted = self._died = False
        self.mode: Mode = modes[0]
        self.made = False
        self.closing = False
        self.answers = 0
        self.fault: StoreError | None = None
        self.advertised = Advertised()
        self._task = asyncio.create_task(self._live(), name="callosum engine")
        _living.add(self._task)
        self._task.add_done_callback(_buried)

    @property
    def usable(self) -> bool:
        """Whether it is being made, or made and not known to have ended."""
        return not (self._stop.is_set() or self._ended.is_set())

    @property
    def child(self) -> Child | None:
        """Its process, if it has one."""
        return self._watch.child

    async def wait(self) -> None:
        """Until it is made.

        Raises:
            StoreError: If it cannot be.
        """
        await self._settled.wait()
        if not self.made:
            raise self.cause()

    async def ask(self, request: Request[T]) -> T:
        """Ask the engine once.

        Raises:
            LostError: If the connection ended before the answer.
            StoreError: If the engine gave no usable answer.
        """
        group = self._group
        if group is None or not self._there():
            raise LostError(self.cause(), asked=False)
        asked = _Asked[T]()
        group.start_soon(self._carry_out, asked, request)
        try:
            await asked.done.wait()
        except anyio.get_cancelled_exc_class():
            asked.scope.cancel()
            self._doubt(group)
            raise
        if asked.values:
            return asked.values[0]
        raise await self._why(asked.fault)

    async def refreshed(self) -> Advertised:
        """The tools the engine advertises, asked again if it said that they changed.

        Raises:
            LostError: If the connection has ended.
            StoreError: If the engine gave no usable answer.
        """
        if not self._there():
            raise LostError(self.cause(), asked=False)
        if self._watch.stale:
            self._watch.stale = False
            self.advertised = await self.ask(listed)
        return self.advertised

    def expired(self, fault: BaseException | None) -> bool:
        """Whether a fault says that the server no longer knows our session (it restarted, or forgot us)."""
        status = self._watch.status
        return self._reach.type == "http" and (
            status == 404 or (status == 400 and fault is not None and "session" in str(fault).lower())
        )

    def stop(self) -> None:
        """End it, without waiting."""
        self.closing = True
        self._halt()

    async def aclose(self) -> None:
        """End it and wait until nothing of it is left, also while the caller is being cancelled."""
        self.stop()
        with anyio.move_on_after(END_S, shield=True):
            await self._ended.wait()
        if not self._ended.is_set():
            self._task.cancel()

    def _there(self) -> bool:
        """Whether the other side is, as far as can be told without asking."""
        if self.child is not None and self.child.dead:
            self._halt()
        return self.usable

    def _halt(self) -> None:
        self._stop.set()
        if not self.made:
            self._scope.cancel()

    def _broken(self, cause: StoreError | None) -> None:
        self._died = self._died or (cause is None and not self._stop.is_set())
        self.fault = self.fault or cause
        if self.made:
            self._stop.set()

    async def _live(self) -> None:
        """The whole life; runs in the line's task."""
        try:
            with self._scope:
                self._scope.deadline = anyio.current_time() + self._reach.connect_timeout_s
                await self._tried()
            if self._scope.cancelled_caught and not self.made and self.fault is None:
                self.fault = self._too_slow()
        except FOREIGN as fault:
            self.fault = self.fault or self._mapped(fault)
        except StoreError as fault:
            self.fault = fault
        finally:
            self._group = self._session = None
            self._stop.set()
            self._ended.set()
            self._settled.set()
            self._over(self)

    async def _tried(self) -> None:
        """Connect in one mode after the other; a connection that was made is not made again here."""
        for mode in self._modes[:-1]:
            try:
                return await self._connect(mode)
            except FOREIGN as fault:
                if self.made or not closed(telling(fault)):
                    raise
        await self._connect(self._modes[-1])

    async def _connect(self, mode: Mode) -> None:
        self._watch.status, self._died = None, False
        async with connected(self._reach, mode, self._watch) as session:
            self.advertised = await listed(session)
            self._scope.deadline = math.inf
            self.mode, self._session = mode, session
            async with anyio.create_task_group() as group:
                self._group, self.made = group, True
                self._settled.set()
                await self._stop.wait()
                self._group = None
                self._scope.deadline = anyio.current_time() + CLOSE_S
                group.cancel_scope.cancel()

    async def _carry_out(self, asked: _Asked[T], request: Request[T]) -> None:
        try:
            with asked.scope:
                assert self._session is not None
                asked.values.append(await request(self._session))
                self.answers += 1
        except FOREIGN as fault:
            asked.fault = fault
        finally:
            asked.done.set()

    async def _why(self, fault: BaseException | None) -> Exception:
        """What to raise for a request without an answer."""
        if fault is not None and not closed(fault) and not self.expired(fault):
            return self._mapped(fault)
        if fault is not None and self.expired(fault):
            self.fault = StoreFailed("its server no longer knows our session")
        self._halt()
        with anyio.move_on_after(_CAUSE_S):
            await self._ended.wait()
        return LostError(self.cause(), asked=True)

    def cause(self) -> StoreError:
        """Why it ended."""
        if self.child is not None and self._died:
            kind = StoreBadReply if self.child.inbound.trouble else StoreFailed
            return kind(self._reach.hidden(self.child.fate()))
        if self.fault is not None:
            return store_error(self.fault, self._reach)
        return StoreRefused("its connection was closed")

    def _mapped(self, fault: BaseException) -> StoreError:
        return store_error(fault, self._reach, self._watch.status)

    def _too_slow(self) -> StoreError:
        words = self.child.last_words() if self.child is not None else ""
        return StoreTimeout(
            self._reach.hidden(
                f"was not connected within {self._reach.connect_timeout_s:g} s{words}; see connect_timeout_s"
            )
        )

    def _doubt(self, group: anyio.abc.TaskGroup) -> None:
        """After a call that nobody waited for: an engine that answers nothing any more is left for a new connection."""
        if not self._doubted and self._group is group:
            self._doubted = True
            group.start_soon(self._examine)

    async def _examine(self) -> None:
        assert self._session is not None
        before = self.answers
        with anyio.move_on_after(self._reach.connect_timeout_s) as scope:
            try:
                await self._session.list_tools()
            except FOREIGN as fault:
                if closed(fault):
                    self._halt()
        self._doubted = False
        if scope.cancelled_caught and self.answers == before:
            self.fault = StoreTimeout("answered nothing any more")
            self._halt()


def _buried(task: asyncio.Task[None]) -> None:
    _living.discard(task)
    if not task.cancelled() and (fault := task.exception()) is not None:
        _log.error("the connection to an engine failed", exc_info=fault)
