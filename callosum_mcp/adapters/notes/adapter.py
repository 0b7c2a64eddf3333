"""The `notes` store: folders of Markdown and text, searched through a local full-text index.

Above: the fan-out. Below: the reader, loaded with SQLite at the first call. All work on files and SQLite happens in
worker threads; a cancelled call leaves its thread to finish on its own, and disturbs neither the index nor other calls.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from anyio import to_thread

from callosum_mcp.adapters.base import Adapter
from callosum_mcp.adapters.notes.options import OPTION_NAMES, read_options
from callosum_mcp.models.values import Hit, ProbeReport, StoreQuery, StoreReply, StoreSpec

if TYPE_CHECKING:
    from callosum_mcp.adapters.notes.reader import NotesReader


class NotesAdapter(Adapter):
    """A read-only index over folders of Markdown and text files.

    Args:
        spec: ``url`` is the folder, a path or a ``file:`` URL; see `NotesOptions` for the options.

    Attributes:
        on_progress: Called in the indexing thread after each batch, with the files done and the files in all.

    Raises:
        ValueError: If an option is of the wrong kind or out of bounds.
    """

    options: ClassVar[frozenset[str]] = OPTION_NAMES

    def __init__(self, spec: StoreSpec) -> None:
        super().__init__(spec)
        self.on_progress: Callable[[int, int], None] | None = None
        self._options = read_options(spec)
        self._lock = threading.Lock()
        self._opened: NotesReader | None = None

    async def search(self, query: StoreQuery) -> StoreReply:
        """The chunks that hold words of the query, best first by BM25; a remark says if the index is not complete."""
        return await to_thread.run_sync(lambda: self._reader().search(query, self.max_results), abandon_on_cancel=True)

    async def fetch(self, hit_id: str) -> Hit | None:
        """The section a hit stands in, read from the file as it is now, with its neighbours' ids in the metadata."""
        return await to_thread.run_sync(lambda: self._reader().fetch(hit_id), abandon_on_cancel=True)

    async def probe(self) -> ProbeReport:
        """Whether the folders can be read and how much of them is indexed; starts a check and does not wait for it."""
        return await to_thread.run_sync(lambda: self._reader().probe(), abandon_on_cancel=True)

    async def indexed(self) -> None:
        """Wait until the folders are checked and what has changed is indexed; also returns if that fails.

        Raises:
            StoreFailed: If a folder is refused.
        """
        await to_thread.run_sync(lambda: self._reader().wait(), abandon_on_cancel=True)

    async def aclose(self) -> None:
        """Stop indexing after the batch at hand and close the files."""
        with self._lock:
            reader = self._opened
        if reader is not None:
            await to_thread.run_sync(reader.close)

    def _reader(self) -> NotesReader:
        from callosum_mcp.adapters.notes.reader import NotesReader

        with self._lock:
            if self._opened is None:
                self._opened = NotesReader(self.spec, self._options, self._report)
            return self._opened

    def _report(self, done: int, total: int) -> None:
        if self.on_progress is not None:
            self.on_progress(done, total)
