"""The tables of the cache file of a `notes` store, and opening it.

Above: the database. Below: nothing. The full-text table is contentless: it holds the words alone, and the shown text
stands compressed beside it. It keeps no sizes either, since looking one up for each match took four fifths of a search
over 140,000 chunks; the length of a text is brought in for the best matches only (see `FIND`).
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path

SCHEMA_VERSION = 1
"""Any change of the tables, of the chunker or of the indexed form is a new version; older files are rebuilt."""

_BUSY_S = 2.0  # several batches of another process; after that we go on with what is there
_LOG_BYTES = 16 * 1024**2  # a write-ahead log that grew under a long read shrinks back to this
_FILLER = "\ue000 " * 10_000
_SCHEMA = (
    "CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, mtime_ns INTEGER NOT NULL,"
    " size INTEGER NOT NULL, indexed REAL NOT NULL, chunks INTEGER NOT NULL,"
    " about TEXT NOT NULL, topics TEXT NOT NULL, dates TEXT NOT NULL)",
    "CREATE TABLE chunks (id INTEGER PRIMARY KEY, file INTEGER NOT NULL, line INTEGER NOT NULL,"
    " last_line INTEGER NOT NULL, size INTEGER NOT NULL, title TEXT NOT NULL, text BLOB NOT NULL)",
    "CREATE INDEX chunks_of_file ON chunks (file)",
    "CREATE VIRTUAL TABLE words USING fts5(title, about, body, content='', columnsize=0,"
    " tokenize='porter unicode61 remove_diacritics 2')",
    # Without sizes bm25() takes each text as -3 words long, one per column. That is next to nothing as long as the
    # average is far from zero, which this text of a character that nobody can ask for sees to in a small index.
    f"INSERT INTO words (rowid, title, about, body) VALUES (0, '', '', '{_FILLER}')",
    f"PRAGMA user_version = {SCHEMA_VERSION}",
)

COUNT_UP_TO = "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)"
"""How many chunks hold a term, counted no further than a limit."""

FIND = """
SELECT top.path, c.line, c.last_line, c.title, c.text, f.topics, f.dates, f.mtime_ns
FROM (
  SELECT c.id, c.file, f.path, best.score / (1.3 + 0.9 * c.size / 750.0) AS score, c.line
  FROM (
    SELECT id, score FROM (
      SELECT rowid AS id, bm25(words, 4.0, 2.0, 1.0) AS score FROM words
      WHERE words MATCH :match AND (:all OR +rowid IN (
        SELECT chunks.id FROM files JOIN chunks ON chunks.file = files.id
        WHERE (:since IS NULL OR files.mtime_ns / 1e9 >= :since) AND (:until IS NULL OR files.mtime_ns / 1e9 <= :until)
          AND (:topics IS NULL OR EXISTS (SELECT 1 FROM json_each(:topics) t WHERE instr(files.topics, t.value)))))
      ORDER BY rowid DESC LIMIT :most)
    ORDER BY score LIMIT max(400, 4 * :limit)
  ) best
  CROSS JOIN chunks c ON c.id = best.id CROSS JOIN files f ON f.id = c.file
  ORDER BY 4, f.path, c.line
  LIMIT :limit
) top
CROSS JOIN chunks c ON c.id = top.id CROSS JOIN files f ON f.id = top.file
ORDER BY top.score, top.path, top.line
"""
"""The best chunks, headings above names above text. The divisor is BM25's for a word that stands once in a text of that
length (k1 = 1.2, b = 0.75, as in FTS5; Robertson and Zaragoza 2009, 10.1561/1500000019), 750 characters being half of
the usual longest chunk. No more than `most` matches are scored, those indexed last. Texts are large and read last."""


def connect(path: str) -> sqlite3.Connection:
    """A connection to a file that is there: opening one that was deleted meanwhile must not create an empty one.

    Raises:
        sqlite3.OperationalError: If it is not there or cannot be opened.
    """
    uri = f"{Path(path).as_uri()}?mode=rw"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, timeout=_BUSY_S)
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


def connect_to_write(path: str) -> sqlite3.Connection:
    """A connection to a cache file, which is created with its tables if it is not there.

    Raises:
        OSError: If no file can be kept there.
        sqlite3.OperationalError: If no database can be kept there.
        sqlite3.DatabaseError: If the file is there but is no cache of this version.
    """
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    # For its owner alone, as it holds the text of the notes.
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    writer = connect(path)
    try:
        _prepare(writer)
    except BaseException:
        writer.close()
        raise
    return writer


def discard(path: str) -> None:
    """Delete a cache file with what SQLite keeps beside it.

    Raises:
        OSError: If one is there and cannot be deleted.
    """
    for ending in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            os.unlink(path + ending)


def _prepare(writer: sqlite3.Connection) -> None:
    """Switch to write-ahead logging, so that readers never wait, and create the tables of a new file."""
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute(f"PRAGMA journal_size_limit = {_LOG_BYTES}")
    if _version(writer) == SCHEMA_VERSION:
        return
    writer.execute("BEGIN IMMEDIATE")
    (tables,) = writer.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if tables and _version(writer) != SCHEMA_VERSION:
        raise sqlite3.DatabaseError("the cache file is of another version")
    for statement in () if tables else _SCHEMA:
        writer.execute(statement)
    writer.execute("COMMIT")


def _version(connection: sqlite3.Connection) -> int:
    return connection.execute("PRAGMA user_version").fetchone()[0]
