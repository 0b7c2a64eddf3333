"""The process's stdin and stdout, taken for the protocol before anything else can use them.

Above: the command line, which takes them first of all, and the stdio surface. Below: the system. Whatever a library, an
adapter or a child prints afterwards goes to stderr, be it by ``print`` or straight to descriptor 1, and whoever reads
descriptor 0 meets its end. Text is UTF-8 with ``\\n``, whatever the locale.
"""

from __future__ import annotations

import io
import os
import sys
from dataclasses import dataclass
from typing import BinaryIO, TextIO


@dataclass(frozen=True, slots=True)
class Wire:
    """Both ends of the pipe to the client; they stay open until the process ends, since a thread may block in one."""

    reading: BinaryIO
    writing: BinaryIO

    def lines(self) -> TextIO:
        """What the client says; bytes that are no UTF-8 are replaced."""
        return _Borrowed(self.reading, encoding="utf-8", errors="replace", newline="\n")

    def answers(self) -> TextIO:
        """What the client is told."""
        return _Borrowed(self.writing, encoding="utf-8", errors="replace", newline="\n")


class _Borrowed(io.TextIOWrapper):
    """Text over bytes that are not its own to close."""

    def close(self) -> None:
        if not self.closed and self.buffer is not None:  # pyright: ignore[reportUnnecessaryComparison] -- None once detached
            self.detach()


def take() -> Wire | None:
    """Stdin and stdout for the protocol alone; None if there is no stdout, so that nobody can be answered."""
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison] -- it was closed before the start
        return None
    return Wire(_taken(0, sys.stdin, "rb"), _taken(1, sys.stdout, "wb"))


def _taken(number: int, stream: TextIO | None, mode: str) -> BinaryIO:
    if stream is None:
        return open(os.devnull, "rb")
    if not _is(stream, number):  # somebody put another stream in its place
        return stream.buffer
    private = _above_standard(number)
    _put_in_place(number)
    return os.fdopen(private, mode, closefd=False)  # pyright: ignore[reportReturnType] -- a binary mode


def _is(stream: TextIO, number: int) -> bool:
    try:
        return stream.buffer.fileno() == number
    except (AttributeError, OSError, ValueError):
        return False


def _above_standard(number: int) -> int:
    """A copy of a descriptor that no child inherits and that is none of the standard three."""
    if sys.platform == "win32":
        return os.dup(number)
    import fcntl

    return fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 3)


def _put_in_place(number: int) -> None:
    """Stderr in the place of stdout, nothing at all in that of stdin."""
    other = os.open(os.devnull, os.O_RDWR)
    try:
        os.dup2(2 if number == 1 and _is_open(2) else other, number)
    finally:
        os.close(other)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
