"""Where the cache file of a `notes` store is, and what happens when it cannot be used.

Above: the index. Below: the database. The file lies on local disk in the user's cache folder, never beside the notes:
these may be on a network share, where SQLite fails. A broken or older file is thrown away; where none can be kept, a
temporary one serves.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import tempfile
import threading
import time
import unicodedata
import zlib
from dataclasses import asdict

import platformdirs

from callosum_mcp.adapters.notes.database import Database
from callosum_mcp.adapters.notes.options import NotesOptions
from callosum_mcp.adapters.notes.roots import Root
from callosum_mcp.adapters.notes.schema import discard
from callosum_mcp.text import compact_json, one_line

_APPLICATION = "callosum-mcp"
_NOT_CONTENT = frozenset({"folders", "cache_dir", "recheck_s", "first_wait_s"})
_OPEN_TRIES = 10
_OPEN_PAUSE_S = 0.05
_RUINED = frozenset(
    {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_IOERR}
)

DatabaseFault = (sqlite3.Error, zlib.error)
"""What reading or writing a database may raise."""


def is_busy(exc: Exception) -> bool:
    """Whether another process held the file for too long."""
    return _code(exc) == sqlite3.SQLITE_BUSY


def is_ruined(exc: Exception) -> bool:
    """Whether the file is damaged or gone, so that a new one is the cure."""
    return isinstance(exc, zlib.error) or _code(exc) in _RUINED


def cache_file(roots: tuple[Root, ...], options: NotesOptions) -> str:
    """The path of the cache file: one for each set of folders and of options that decide what is in it."""
    content = {name: value for name, value in asdict(options).items() if name not in _NOT_CONTENT}
    # The indexed form depends on Python's Unicode tables: two versions must not edit one index.
    key = compact_json([[root.path for root in roots], content, unicodedata.unidata_version])
    folder = os.path.expanduser(options.cache_dir) or os.path.join(platformdirs.user_cache_dir(_APPLICATION), "notes")
    return os.path.abspath(os.path.join(folder, hashlib.sha256(key.encode()).hexdigest()[:24] + ".sqlite3"))


class Cache:
    """The database of one store, opened at first use.

    Attributes:
        remark: What a person should know of where it is kept; None if all is well.
    """

    def __init__(self, roots: tuple[Root, ...], options: NotesOptions) -> None:
        self.remark: str | None = None
        self._path = cache_file(roots, options)
        self._lock = threading.Lock()
        self._database: Database | None = None
        self._condemned: Database | None = None
        self._temporary: tempfile.TemporaryDirectory[str] | None = None

    def database(self) -> Database:
        """The open database.

        Raises:
            OSError: If not even a temporary file can be kept.
            sqlite3.Error: If this Python's SQLite cannot do it.
        """
        with self._lock:
            if self._database is None:
                self._database = self._open()
            return self._database

    def condemn(self, database: Database) -> None:
        """Have a ruined database replaced by the next `renewed`."""
        with self._lock:
            if database is self._database:
                self._condemned = database

    def renewed(self) -> Database:
        """As `database`, with a condemned one replaced by an empty one. For the writing thread alone.

        Raises:
            OSError: If not even a temporary file can be kept.
            sqlite3.Error: If this Python's SQLite cannot do it.
        """
        with self._lock:
            if self._condemned is not None:
                self._condemned.close()
                discard(self._condemned.path)
                self._condemned = self._database = None
        return self.database()

    def close(self) -> None:
        """Close the database and remove a temporary one."""
        with self._lock:
            if self._database is not None:
                self._database.close()
            if self._temporary is not None:
                self._temporary.cleanup()
            self._database = self._temporary = None

    def _open(self) -> Database:
        try:
            return _opened(self._path)
        except (OSError, sqlite3.Error) as exc:
            why = f"{os.path.dirname(self._path)} cannot be used ({one_line(str(exc))})"
            self.remark = f"the index is kept in a temporary folder: {why}"
        if self._temporary is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="callosum-notes-", ignore_cleanup_errors=True)
        return _opened(os.path.join(self._temporary.name, "notes.sqlite3"))


def _opened(path: str) -> Database:
    """The database at a path, with a file that is no cache of this version thrown away first."""
    for _ in range(_OPEN_TRIES):
        try:
            return Database(path)
        except sqlite3.OperationalError as exc:
            if not is_busy(exc):
                raise
            time.sleep(_OPEN_PAUSE_S)
        except sqlite3.DatabaseError:
            discard(path)
    return Database(path)


def _code(exc: Exception) -> int:
    # The low byte is the kind of failure, the others its detail.
    return getattr(exc, "sqlite_errorcode", 0) & 0xFF
