"""How a process that serves ends: when its client has gone or the system says so, whatever still blocks in it.

Above: `serve`, `connect`. Below: the system. A signal ends it at once. The end of stdin, and the death of the process
that started it, leave it a moment to close what is open; then it goes, also if a thread hangs in a system call or in a
write to a pipe that nobody reads, which nothing interrupts.
"""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from collections.abc import Callable, Sequence
from types import FrameType, TracebackType
from typing import Any, Final, Self

from callosum_mcp.cli import EXIT_OK, leave
from callosum_mcp.surface.wire import Wire

AFTER_THE_CLIENT_S: Final = 2.5
"""Seconds for closing, once the client has gone: a stdio engine gets 1.8 of them to end by itself."""

AFTER_A_SIGNAL_S: Final = 5.0
"""Seconds for all that an HTTP server does after a signal; answers get two of them."""

_WATCH_S = 1.0
_THREADS_S = 0.3
_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


class Ending:
    """Watches over a process that serves one client by stdio, while the block runs.

    Args:
        wire: To and from the client.
    """

    def __init__(self, wire: Wire) -> None:
        self._stdin, self._stdout = wire.reading.fileno(), wire.writing.fileno()
        self._over = threading.Event()
        self._last_moment = _Alarm()
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, _at_once) for number in _SIGNALS}
        threading.Thread(target=self._watch, args=(os.getppid(),), name="callosum-parent", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._last_moment.off()
        not_held_up(EXIT_OK)
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def soon(self) -> None:
        """The client says no more: all must be over in a moment."""
        self._last_moment.on(AFTER_THE_CLIENT_S, EXIT_OK)

    def _watch(self, parent: int) -> None:
        """Wait for the death of the parent, or for a client that has closed its ends.

        There is a thread for that since the event loop may be what hangs.
        """
        pipes = _Pipes((self._stdin, self._stdout))
        while not self._over.is_set():
            hung_up = pipes.hung_up(self._over, _WATCH_S)
            if self._over.is_set():
                return
            if os.getppid() != parent or self._stdout in hung_up:
                leave(EXIT_OK)
                return
            if self._stdin in hung_up:
                self.soon()


class _Pipes:
    """The client's ends of two pipes."""

    def __init__(self, descriptors: Sequence[int]) -> None:
        self._poll: Any = None
        if hasattr(select, "poll"):
            self._poll = polled = select.poll()
            for descriptor in descriptors:
                polled.register(descriptor, 0)  # errors and hang-ups only

    def hung_up(self, over: threading.Event, seconds: float) -> list[int]:
        """Those that were closed since the last time, waited for."""
        if self._poll is None:
            over.wait(seconds)
            return []
        found = [descriptor for descriptor, _ in self._poll.poll(seconds * 1_000)]
        for descriptor in found:
            self._poll.unregister(descriptor)
        return found


class _Alarm:
    """Ends the process at a moment, unless it is called off."""

    def __init__(self) -> None:
        self._set = threading.Lock()
        self._off = threading.Event()

    def on(self, seconds: float, code: int) -> None:
        """Set it; a second time changes nothing."""
        if self._set.acquire(blocking=False):
            threading.Thread(target=self._ring, args=(seconds, code), name="callosum-end", daemon=True).start()

    def off(self) -> None:
        """The process ends by itself."""
        self._off.set()

    def _ring(self, seconds: float, code: int) -> None:
        if not self._off.wait(seconds):
            leave(code)


def drained(first: Callable[[int, FrameType | None], None]) -> Callable[[int, FrameType | None], None]:
    """What a signal does to an HTTP server: the first lets it finish, within a time; a second ends it at once.

    Args:
        first: Tells the server to finish.
    """
    alarm, asked = _Alarm(), False

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            _at_once(number, frame)
        asked = True
        alarm.on(AFTER_A_SIGNAL_S, 128 + number)
        first(number, frame)

    return handle


def not_held_up(code: int) -> None:
    """Leave now if a thread is still at work: the end of the interpreter, if this is it, would wait for it."""
    if threading.current_thread() is not threading.main_thread():
        return
    until = time.monotonic() + _THREADS_S
    others = [one for one in threading.enumerate() if not one.daemon and one is not threading.main_thread()]
    for thread in others:
        thread.join(max(0.0, until - time.monotonic()))
    if any(thread.is_alive() for thread in others):
        leave(code)


def _at_once(number: int, frame: FrameType | None) -> None:
    del frame
    leave(128 + number)
