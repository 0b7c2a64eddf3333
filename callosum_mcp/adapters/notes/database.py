"""Reading and writing the cache file of a `notes` store: one thread writes, any thread reads.

Above: the cache and the index. Below: the schema, and query for the indexed form of words, which has to be
the same when a chunk is removed as it was when the chunk was added.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
import zlib
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from callosum_mcp.adapters.notes.chunk import Chunk, Document
from callosum_mcp.adapters.notes.query import index_form
from callosum_mcp.adapters.notes.scan import Signature
from callosum_mcp.adapters.notes.schema import COUNT_UP_TO, FIND, connect, connect_to_write
from callosum_mcp.models.values import StoreQuery

_MANY_CHUNKS = 5_000  # fewer are not worth counting
_MOST_SCORED = 12_000  # matches of one search: 10 to 20 ms
_FEW_SCORED = 4_000  # matches of words so common that one is as good as another
_MOST_COUNTED = 24_000  # matches of a term that are only counted, at a tenth of the time
_ADD_FILE = (
    "INSERT INTO files (path, mtime_ns, size, indexed, chunks, about, topics, dates) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
_ADD_CHUNK = "INSERT INTO chunks (id, file, line, last_line, size, title, text) VALUES (?, ?, ?, ?, ?, ?, ?)"
_ADD_WORDS = "INSERT INTO words (rowid, title, about, body) VALUES (?, ?, ?, ?)"
_REMOVE_WORDS = "INSERT INTO words (words, rowid, title, about, body) VALUES ('delete', ?, ?, ?, ?)"


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One chunk that matches, with what is known of its file."""

    path: str
    chunk: Chunk
    topics: tuple[str, ...]
    dates: dict[str, str]
    mtime_ns: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Totals:
    """How much is indexed, and the Unix second of the last change to the index (None while it is empty)."""

    files: int
    chunks: int
    indexed: float | None


class Known(NamedTuple):
    """A file as the index knows it."""

    signature: Signature
    file_id: int


class Database:
    """One open cache file.

    Args:
        path: Where it is; created with its tables if it is not there.

    Raises:
        OSError: If no file can be kept there.
        sqlite3.OperationalError: If no database can be kept there.
        sqlite3.DatabaseError: If the file is there but is no cache of this version.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._closed = False
        self._idle: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        self._writer = connect_to_write(path)
        self._seen_version: int | None = None
        self._known: dict[str, Known] = {}

    def close(self) -> None:
        """Close every connection; a search still running closes its own when it ends."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in [*idle, self._writer]:
            connection.close()

    def known(self) -> dict[str, Known]:
        """The indexed files by path; read again only if another process wrote. For the writing thread alone."""
        (version,) = self._writer.execute("PRAGMA data_version").fetchone()
        if version != self._seen_version:
            rows = self._writer.execute("SELECT path, mtime_ns, size, id FROM files")
            self._known = {path: Known(Signature(mtime, size), key) for path, mtime, size, key in rows}
            self._seen_version = version
        return self._known

    @contextmanager
    def writing(self) -> Generator[None]:
        """One transaction of the writing thread: all of it or nothing."""
        self._writer.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._writer.execute("COMMIT")
        except BaseException:
            self._seen_version = None
            with suppress(sqlite3.Error):
                self._writer.execute("ROLLBACK")
            raise

    def add(self, path: str, signature: Signature, document: Document) -> None:
        """Put a file into the index; inside `writing`, after any older version was removed."""
        front, chunks = document.front, document.chunks
        about = " ".join([os.path.splitext(path)[0], front.about, *front.topics]).strip()
        dates = json.dumps(dict(front.dates))
        values = (path, *signature, time.time(), len(chunks), about, _lined(front.topics), dates)
        file_id = self._writer.execute(_ADD_FILE, values).lastrowid or 0
        (first,) = self._writer.execute("SELECT coalesce(max(id), 0) + 1 FROM chunks").fetchone()
        self._writer.executemany(_ADD_CHUNK, _chunk_rows(chunks, first, file_id))
        texts = ((number, chunk.title, chunk.text) for number, chunk in enumerate(chunks, first))
        self._writer.executemany(_ADD_WORDS, _word_rows(texts, about))
        self._known[path] = Known(signature, file_id)

    def remove(self, path: str) -> None:
        """Take a file out of the index, if it is in; inside `writing`."""
        known = self._known.pop(path, None)
        if known is None:
            return
        key = (known.file_id,)
        (about,) = self._writer.execute("SELECT about FROM files WHERE id = ?", key).fetchone()
        rows = self._writer.execute("SELECT id, title, text FROM chunks WHERE file = ?", key).fetchall()
        texts = ((number, title, _plain(text)) for number, title, text in rows)
        self._writer.executemany(_REMOVE_WORDS, _word_rows(texts, about))
        self._writer.execute("DELETE FROM chunks WHERE file = ?", key)
        self._writer.execute("DELETE FROM files WHERE id = ?", key)

    def merge(self, pages: int) -> bool:
        """Bring the full-text segments closer to one, by about that many pages; False if nothing was left to do."""
        before = self._writer.total_changes
        self._writer.execute("INSERT INTO words (words, rank) VALUES ('merge', ?)", (pages,))
        return self._writer.total_changes - before > 1

    def find(self, terms: Sequence[str], query: StoreQuery, limit: int) -> list[Row]:
        """The chunks that match any of some FTS5 terms best, then by path and line. From any thread."""
        topics = [f"\n{topic.lower()}\n" for topic in sorted(query.topics)]
        values = {
            "all": not query.timed and not topics,
            "since": query.since,
            "until": query.until,
            "topics": json.dumps(topics) if topics else None,
            "limit": limit,
        }
        with self._reading() as connection:
            for match, most in _matches(connection, terms):
                found = connection.execute(FIND, {**values, "match": match, "most": most}).fetchall()
                if found:
                    return [_row(values) for values in found]
        return []

    def totals(self) -> Totals:
        """How much is indexed. From any thread."""
        with self._reading() as connection:
            row = connection.execute("SELECT count(*), coalesce(sum(chunks), 0), max(indexed) FROM files").fetchone()
        return Totals(files=row[0], chunks=row[1], indexed=row[2])

    @contextmanager
    def _reading(self) -> Generator[sqlite3.Connection]:
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        connection = connection or connect(self.path)
        try:
            yield connection
        finally:
            with self._lock:
                keep = not self._closed
                if keep:
                    self._idle.append(connection)
            if not keep:
                connection.close()


def _matches(connection: sqlite3.Connection, terms: Sequence[str]) -> list[tuple[str, int]]:
    """What to ask FTS5 for, with the most matches to score; the second is for when the first finds nothing.

    Scoring is nearly all the work of a search, and it grows with the matches. So the rarest terms are asked for, as far
    as their matches go into `_MOST_SCORED`; less rare ones count where they stand beside those; and the others hardly
    tell one chunk from another, least of all those in half of all chunks, to which BM25 gives no weight. If every term
    is common, the two rarest must stand together.
    """
    (chunks,) = connection.execute("SELECT coalesce(max(id), 0) FROM chunks").fetchone()
    if len(terms) == 1 or chunks < _MANY_CHUNKS:
        return [(" OR ".join(terms), _MOST_SCORED)]
    common = min(chunks // 2, _MOST_COUNTED // (1 + len(terms) // 4))
    counts = [(connection.execute(COUNT_UP_TO, (term, common)).fetchone()[0], term) for term in terms]
    found = sorted((one for one in counts if one[0]), key=lambda one: one[0])
    sums = [*accumulate(count for count, _ in found)]
    telling = [(total, term) for (count, term), total in zip(found, sums, strict=True) if count < common]
    rare = " OR ".join(term for total, term in telling if total <= _MOST_SCORED)
    beside = " OR ".join(term for total, term in telling if total <= _MOST_COUNTED)
    if rare:
        return [(rare if rare == beside else f"({rare}) AND ({beside})", _MOST_SCORED)]
    rarest = [term for _, term in found[:2]]
    return [(" AND ".join(rarest), _FEW_SCORED), (rarest[0], _FEW_SCORED)] if rarest else []


def _chunk_rows(chunks: Iterable[Chunk], first: int, file_id: int) -> Iterator[tuple[object, ...]]:
    for number, chunk in enumerate(chunks, first):
        text = zlib.compress(chunk.text.encode(), 1)
        yield number, file_id, chunk.line, chunk.last_line, len(chunk.text), chunk.title, text


def _word_rows(texts: Iterable[tuple[int, str, str]], about: str) -> Iterator[tuple[int, str, str, str]]:
    about_form = index_form(about)
    for number, title, text in texts:
        yield number, index_form(title), about_form, index_form(text)


def _row(values: tuple[str, int, int, str, bytes, str, str, int]) -> Row:
    path, line, last_line, title, text, topics, dates, mtime_ns = values
    return Row(
        path=path,
        chunk=Chunk(line=line, last_line=last_line, title=title, text=_plain(text)),
        topics=tuple(topics.strip("\n").split("\n\n")) if topics else (),
        dates=json.loads(dates),
        mtime_ns=mtime_ns,
    )


def _plain(blob: bytes) -> str:
    return zlib.decompress(blob).decode()


def _lined(topics: Iterable[str]) -> str:
    """Topics in a form that `instr` finds whole ones in."""
    return "".join(f"\n{topic}\n" for topic in topics)
