"""The progress of a first index, for a person at a terminal.

Above: the commands. Below: the notes adapter. A server answers at once with what is indexed so far; a command whose
process ends with its answer would leave most of a large folder for the next time. So on a terminal, and only there, it
waits for the index and says how far it is. Whatever is indexed when Ctrl-C ends it stays indexed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TextIO

from callosum_mcp.adapters.notes import NotesAdapter
from callosum_mcp.federation.stores import Store


class Line:
    """One line of a terminal that is written over, and wiped in the end.

    Args:
        name: The store being indexed.
        stream: The terminal.
    """

    def __init__(self, name: str, stream: TextIO) -> None:
        self._name = name
        self._stream = stream
        self._shown = 0

    def show(self, done: int, total: int) -> None:
        """Say how many files are done; nothing once all are, so a small folder shows no line at all."""
        if done < total:
            self._write(f"indexing {self._name}: {done:,} of {total:,} files")

    def wipe(self) -> None:
        """Leave the line as if nothing had been written."""
        if self._shown:
            self._write("")
            self._stream.write("\r")
            self._stream.flush()

    def _write(self, text: str) -> None:
        self._stream.write("\r" + text.ljust(self._shown))
        self._stream.flush()
        self._shown = len(text)


async def wait_for_indexes(stores: Iterable[Store], stream: TextIO) -> None:
    """Wait until the notes among some stores are indexed, if the stream is a terminal; a failure is left to the search.

    Raises:
        StoreError: If an adapter cannot be made.
    """
    if not stream.isatty():
        return
    for store in stores:
        async with store.connection.adapter() as adapter:
            if isinstance(adapter, NotesAdapter):
                await _shown(adapter, Line(adapter.spec.name, stream))


async def _shown(adapter: NotesAdapter, line: Line) -> None:
    adapter.on_progress = line.show
    try:
        await adapter.indexed()
    finally:
        adapter.on_progress = None
        line.wipe()
