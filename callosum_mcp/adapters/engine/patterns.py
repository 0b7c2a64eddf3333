"""Regular expressions of presets, each use of which has an end: the texts they read are other people's.

Above: `plan`, `items`, `faults`. Below: Python's ``re`` and the ``regex`` package. A pattern without a repetition is
left to ``re``. Any other can be made to go back and forth over a text for minutes, and nothing stops ``re``; ``regex``
gives up after a time. It is imported at the first use of such a pattern.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

from callosum_mcp.errors import StoreBadReply

LONGEST_S: Final = 0.1
"""Seconds of processor time for one pattern and one reply, since the event loop stands still meanwhile. A pattern that
does not go back over what it has read needs less for a reply at the limit of its size."""

_T = TypeVar("_T")
_ENDLESS = re.compile(r"\{\d*,?\d{6}")  # compiling one takes all memory
_REPEATS = re.compile(r"[*+{]|(?<!\()\?")


class Patience:
    """The time that a pattern may take for the texts of one reply; what else is done between them costs it nothing."""

    def __init__(self) -> None:
        self.left_s = LONGEST_S

    def spend(self, step: Callable[[], _T]) -> _T:
        """What the step gives; its processor time is taken off.

        Raises:
            TimeoutError: If there was none left to begin with, or the step says so itself.
        """
        if self.left_s <= 0:
            raise TimeoutError
        began = time.thread_time()
        try:
            return step()
        finally:
            self.left_s -= time.thread_time() - began


class Pattern:
    """One regular expression.

    Args:
        text: It.
        where: Its place in the preset, for errors.

    Raises:
        ValueError: If it is none.
    """

    def __init__(self, text: str, where: str) -> None:
        if _ENDLESS.search(text):
            raise ValueError(f"{where}: repeats something more than 99,999 times")
        try:
            self._plain = re.compile(text)
        except (re.error, OverflowError, RecursionError) as fault:
            raise ValueError(f"{where}: not a regular expression ({fault})") from None
        self._where = where
        self._bounded: Any = None
        self.named = bool(self._plain.groupindex)
        self.may_be_slow = _REPEATS.search(text) is not None

    def found_in(self, text: str) -> bool:
        """Whether it matches somewhere.

        Raises:
            StoreBadReply: If that takes too long.
        """
        if not self.may_be_slow:
            return self._plain.search(text) is not None
        return self._within_time(lambda: self._regex().search(text, timeout=LONGEST_S) is not None, text)

    def matches(self, text: str, patience: Patience) -> Iterator[dict[str, str | None]]:
        """The named groups of every match; a match in which none took part passes over what is no item.

        Args:
            text: Where to look.
            patience: One for all texts of a reply.

        Raises:
            StoreBadReply: If the matches take too long together.
        """
        if not self.may_be_slow:
            yield from (match.groupdict() for match in self._plain.finditer(text))
            return
        found: Iterator[Any] = self._regex().finditer(text, timeout=max(0.0, patience.left_s))
        while True:
            match = self._within_time(lambda: patience.spend(lambda: next(found, None)), text)
            if match is None:
                return
            groups: dict[str, str | None] = match.groupdict()
            if any(value is not None for value in groups.values()):
                yield groups

    def _regex(self) -> Any:
        if self._bounded is None:
            import regex

            try:
                self._bounded = regex.compile(self._plain.pattern)
            except regex.error as fault:
                raise StoreBadReply(f"{self._where} of its preset cannot be used here: {fault}") from None
        return self._bounded

    def _within_time(self, step: Callable[[], _T], text: str) -> _T:
        try:
            return step()
        except TimeoutError:
            raise StoreBadReply(
                f"its reply was not read: {self._where} of its preset takes more than {LONGEST_S} s over it (stopped "
                f"in a text of {len(text)} characters); write the pattern so that it reads nothing twice"
            ) from None
