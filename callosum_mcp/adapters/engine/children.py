"""The process groups that this process has started and not yet ended, for the ways out that run no ``finally``.

Above: `process`, and the command line's abrupt ends: `os._exit`, and SIGTERM where nobody waits for it. Below: the
system.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress

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
    """Tell every group that is left to end, and do not wait."""
    for group in list(_groups):
        with suppress(OSError):
            signalled(group, signal.SIGTERM)
        forget(group)


def end_all_on_sigterm() -> None:
    """Let SIGTERM end every group before it does to this process what it would have done."""
    before = signal.getsignal(signal.SIGTERM)

    def ended(number: int, frame: object) -> None:
        end_all()
        signal.signal(signal.SIGTERM, before)
        os.kill(os.getpid(), number)

    signal.signal(signal.SIGTERM, ended)
