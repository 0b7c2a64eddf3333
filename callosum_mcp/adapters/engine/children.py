"""The process groups that this process has started and not yet ended, for the ways out that run no ``finally``.

Above: `process`, and the command line's abrupt ends: `os._exit`, and SIGTERM where nobody waits for it. Below: the
system.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

PATIENCE_S = 0.3
"""Seconds that a child has after SIGTERM where nothing else waits for it."""

_POLL_S = 0.01
_groups: set[int] = set()


def remember(group: int) -> None:
    """A child was started as the leader of this group."""
    _groups.add(group)


def forget(group: int) -> None:
    """The group was ended."""
    _groups.discard(group)


def alive(group: int) -> bool:
    """Whether anything of a group is left, be it a zombie."""
    return signalled(group, 0)


def signalled(group: int, number: int) -> bool:
    """Send a signal to a whole group; False if nothing of it is left."""
    if sys.platform == "win32":
        return False
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    except PermissionError:  # a member that changed its user; nothing more can be done from here
        return True
    return True


def end_all() -> None:
    """End every group that is left: each is told to, and one that does not in a moment is killed."""
    left = [group for group in list(_groups) if signalled(group, signal.SIGTERM)]
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until and any(alive(group) for group in left):
        time.sleep(_POLL_S)
    for group in left:
        signalled(group, signal.SIGKILL)
    _groups.clear()


def end_all_on_sigterm() -> None:
    """Let SIGTERM end every group before it does to this process what it would have done, where signals are handled."""
    if threading.current_thread() is not threading.main_thread():
        return
    before = signal.getsignal(signal.SIGTERM)

    def ended(number: int, frame: object) -> None:
        end_all()
        signal.signal(signal.SIGTERM, before)
        os.kill(os.getpid(), number)

    signal.signal(signal.SIGTERM, ended)
