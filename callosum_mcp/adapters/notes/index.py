"""Keeping the index of a `notes` store fresh: a background thread checks the folders and indexes what has changed.

Above: the reader. Below: the scanner, the chunker and the cache. Searches read what is indexed so far and never wait
for the thread longer than they want to. It is a daemon thread: the process ends without waiting for it, and a batch
that was not committed is read again next time.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from callosum_mcp.adapters.notes.cache import Cache, DatabaseFault, is_busy, is_ruined
from callosum_mcp.adapters.notes.chunk import decode, read_document
from callosum_mcp.adapters.notes.database import Database, Row, Totals
from callosum_mcp.adapters.notes.options import NotesOptions
from callosum_mcp.adapters.notes.roots import resolve_roots
from callosum_mcp.adapters.notes.scan import Scanner, Tree
from callosum_mcp.errors import StoreError, StoreFailed
from callosum_mcp.models.values import StoreQuery

Progress = Callable[[int, int], None]
"""Told the files done and the files in all after each batch; called in the indexing thread."""

_BATCH_BYTES = 2 * 1024**2  # about half a second of work: how long another process, or a close, waits for us
_BATCH_FILES = 500
_WALKS_TRUSTED = 10.0  # a check is trusted for this many times its length: on a slow share 10 % of the time is enough
_WAITED_WALK_S = 0.05  # a check takes about as long as the last one; a longer one is not worth a search's time
_MERGE_PAGES = 500
_CLOSE_WAIT_S = 5.0

T = TypeVar("T")


@dataclass(kw_only=True, slots=True)
class Check:
    """One pass over the folders.

    Attributes:
        background: Searches do not wait for it, as the index was complete at the last one and it takes long.
        done: Set when it is over, however it ended.
        indexed: Files that are up to date in the index.
        total: Files of the store; None while the folders are still being read.
        too_large: Files left out for their size.
        full: There are more files than the store may hold.
        busy: Another process is writing to the same index; what it has not done yet is missing.
        failure: Why it could not be done.
        ended: Unix second of its successful end.
    """

    background: bool = False
    done: threading.Event = field(default_factory=threading.Event)
    indexed: int = 0
    total: int | None = None
    too_large: int = 0
    full: bool = False
    busy: bool = False
    failure: str | None = None
    ended: float | None = None


class Index:
    """The searchable state of some folders."""

    def __init__(self, options: NotesOptions, on_progress: Progress) -> None:
        roots = resolve_roots(options.folders)
        self.scanner = Scanner(roots, options)
        self._cache = Cache(roots, options)
        self._options = options
        self._on_progress = on_progress
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._check: Check | None = None
        self._trusted_until = 0.0
        self._slow = False

    @property
    def remark(self) -> str | None:
        """What a person should know of where the index is kept."""
        return self._cache.remark

    def refresh(self) -> Check:
        """The check now going on, the last one if it can still be trusted, or a new one.

        Raises:
            StoreFailed: If the index is closed.
        """
        with self._lock:
            if self._stop.is_set():
                raise StoreFailed("the notes store is closed")
            check = self._check
            if check is None or (check.done.is_set() and time.monotonic() >= self._trusted_until):
                check = self._check = Check(background=self._slow)
                self._thread = threading.Thread(target=self._run, args=(check,), name="callosum-notes", daemon=True)
                self._thread.start()
            return check

    def settle(self) -> Check:
        """As `refresh`, after waiting for its end unless it is in the background, but not longer than the options say.

        Raises:
            StoreFailed: If the folders could not be checked.
        """
        check = self.refresh()
        return check if check.background else self._awaited(check)

    def _awaited(self, check: Check) -> Check:
        check.done.wait(self._options.first_wait_s)
        if check.done.is_set() and check.ended is None and not check.busy:
            raise StoreFailed(check.failure or "the check of the folders was broken off")
        return check

    def find(self, terms: Sequence[str], query: StoreQuery, limit: int) -> list[Row]:
        """The best chunks for some FTS5 terms.

        Raises:
            StoreFailed: If the index cannot be read.
        """
        return self._read(lambda database: database.find(terms, query, limit))

    def totals(self) -> Totals:
        """How much is indexed.

        Raises:
            StoreFailed: If the index cannot be read.
        """
        return self._read(Database.totals)

    def close(self) -> None:
        """End the thread and close the files."""
        with self._lock:
            self._stop.set()
            thread = self._thread
        if thread is not None:
            thread.join(_CLOSE_WAIT_S)
        self._cache.close()

    def _read(self, read: Callable[[Database], T]) -> T:
        """Read from the database; one that turns out to be ruined is rebuilt first, as far as the waiting time goes."""
        try:
            database = self._cache.database()
            try:
                return read(database)
            except DatabaseFault as exc:
                if not is_ruined(exc):
                    raise
                self._cache.condemn(database)
            self._trusted_until = 0.0
            self._awaited(self.refresh())
            return read(self._cache.database())
        except (OSError, *DatabaseFault) as exc:
            raise StoreFailed(f"the notes index cannot be read: {exc}") from exc

    def _run(self, check: Check) -> None:
        self._slow = False  # unless this one ends well too: what has failed must be told by the next search
        try:
            self._examine(check)
        except StoreError as exc:
            check.failure = str(exc)
        except (OSError, *DatabaseFault) as exc:
            check.busy = is_busy(exc)
            check.failure = None if check.busy else f"the notes index cannot be kept: {exc}"
        finally:
            check.done.set()

    def _examine(self, check: Check) -> None:
        started = time.monotonic()
        tree = self.scanner.walk(self._stop.is_set)
        if self._stop.is_set():
            return
        walked_s = time.monotonic() - started
        check.too_large, check.full = tree.too_large, tree.full
        self._update(check, tree)
        check.ended = time.time()
        recheck_s = self._options.recheck_s
        self._slow = recheck_s > 0 and walked_s > _WAITED_WALK_S
        self._trusted_until = time.monotonic() + (max(recheck_s, _WALKS_TRUSTED * walked_s) if recheck_s else 0.0)

    def _update(self, check: Check, tree: Tree) -> None:
        database = self._cache.renewed()
        try:
            self._bring_up_to_date(database, check, tree)
        except DatabaseFault as exc:
            if not is_ruined(exc):
                raise
            self._cache.condemn(database)
            self._bring_up_to_date(self._cache.renewed(), check, tree)

    def _bring_up_to_date(self, database: Database, check: Check, tree: Tree) -> None:
        changed = _changed(database, tree)
        check.total = len(tree.files)
        check.indexed = len(tree.files) - sum(path in tree.files for path in changed)
        for batch in _batches(changed, tree):
            if self._stop.is_set():
                return
            with database.writing():
                self._write(database, batch, tree)
            check.indexed += sum(path in tree.files for path in batch)
            self._on_progress(check.indexed, check.total)
        if len(changed) > _BATCH_FILES:
            self._merge(database)

    def _write(self, database: Database, batch: list[str], tree: Tree) -> None:
        known = database.known()
        for path in batch:
            signature = tree.files.get(path)
            if path in known and known[path].signature == signature:
                continue  # another process was faster
            database.remove(path)
            data = None if signature is None else self._contents(path)
            if signature is not None and data is not None:
                text = decode(data) or ""
                database.add(path, signature, read_document(text, os.path.splitext(path)[1].lower()))

    def _contents(self, path: str) -> bytes | None:
        """The bytes of a file; None if it has vanished, cannot be read, or has become a link that leads outside."""
        real = self.scanner.real_path(path)
        try:
            return None if real is None else _bytes_of(real, self._options.max_file_bytes)
        except OSError:
            return None

    def _merge(self, database: Database) -> None:
        """Merge the full-text segments after much was written: searches read one instead of many."""
        while not self._stop.is_set():
            with database.writing():
                if not database.merge(_MERGE_PAGES):
                    return


def _bytes_of(path: str, limit: int) -> bytes:
    with open(path, "rb") as file:
        return file.read(limit)


def _changed(database: Database, tree: Tree) -> list[str]:
    """The paths to index again or to remove; the newest notes first, as they are asked for most."""
    known = database.known()
    gone = [path for path in known if path not in tree.files]
    new = [path for path, signature in tree.files.items() if path not in known or known[path].signature != signature]
    return gone + sorted(new, key=lambda path: (-tree.files[path].mtime_ns, path))


def _batches(paths: list[str], tree: Tree) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for path in paths:
        batch.append(path)
        size += tree.files[path].size if path in tree.files else 0
        if size >= _BATCH_BYTES or len(batch) >= _BATCH_FILES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
