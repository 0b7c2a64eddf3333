"""What a `notes` store may be told, read once and checked without touching the disk.

Above: the adapter's constructor. Below: nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast
from urllib.parse import urlsplit
from urllib.request import url2pathname

from callosum_mcp.adapters.options import flag, string
from callosum_mcp.models.values import StoreSpec

DEFAULT_INCLUDE = ("*.md", "*.markdown", "*.mdx", "*.txt", "*.text", "*.rst", "*.org", "*.adoc")
"""Files that are indexed unless ``include`` says otherwise."""

OPTION_NAMES = frozenset(
    {
        "folders",
        "include",
        "exclude",
        "gitignore",
        "hidden",
        "max_file_bytes",
        "max_files",
        "cache_dir",
        "recheck_s",
        "first_wait_s",
    }
)
"""Every key that ``options`` of a `notes` store understands."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NotesOptions:
    """The checked options of one `notes` store.

    Attributes:
        folders: The folders, as configured.
        include: Gitignore-style globs of the files to index.
        exclude: Gitignore-style globs of files and folders to leave out.
        gitignore: Honour ``.gitignore`` files, those of the enclosing repository included.
        hidden: Also index files and folders whose name starts with a dot.
        max_file_bytes: Larger files are skipped and counted.
        max_files: Files beyond this many are left out, and the answer says so.
        cache_dir: Folder of the index; "" means the user's cache folder.
        recheck_s: Seconds a finished check of the folders is trusted at least; 0 checks before every search.
        first_wait_s: Seconds a search waits at most for the index to be complete.
    """

    folders: tuple[str, ...]
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    gitignore: bool
    hidden: bool
    max_file_bytes: int
    max_files: int
    cache_dir: str
    recheck_s: float
    first_wait_s: float


def read_options(spec: StoreSpec) -> NotesOptions:
    """The options of a store, defaults filled in.

    Raises:
        ValueError: If one is of the wrong kind or out of bounds; the text names it and the bound.
    """
    options = spec.options
    return NotesOptions(
        folders=_folders(spec),
        include=_texts(options, "include", DEFAULT_INCLUDE),
        exclude=_texts(options, "exclude", ()),
        gitignore=flag(options, "gitignore", True),
        hidden=flag(options, "hidden", False),
        max_file_bytes=int(_number(options, "max_file_bytes", 2 * 1024**2, low=1, high=64 * 1024**2)),
        max_files=int(_number(options, "max_files", 100_000, low=1, high=1_000_000)),
        cache_dir=string(options, "cache_dir", ""),
        recheck_s=_number(options, "recheck_s", 2.0, low=0, high=3600),
        first_wait_s=_number(options, "first_wait_s", 1.5, low=0, high=60),
    )


def _folders(spec: StoreSpec) -> tuple[str, ...]:
    more = _texts(spec.options, "folders", ())
    places = (spec.url, *more) if spec.url else more
    return tuple(dict.fromkeys(_local_path(place) for place in places)) or (".",)


def _local_path(place: str) -> str:
    """A folder given as a path or a ``file:`` URL; ``file://~/notes`` and ``file://./notes`` are understood too."""
    if "\0" in place:
        raise ValueError("option folders: a path holds no null character")
    if not place.lower().startswith("file:"):
        return place
    url = urlsplit(place)
    path = url2pathname(url.path)
    if url.netloc in ("", "localhost"):
        return path or "."
    return url.netloc + path if os.sep == "/" or url.netloc in ("~", ".") else rf"\\{url.netloc}{path}"


def _texts(options: Mapping[str, object], name: str, default: tuple[str, ...]) -> tuple[str, ...]:
    value = options.get(name, default)
    items = cast("list[object] | tuple[object, ...]", value) if isinstance(value, list | tuple) else (None,)
    texts = tuple(item for item in items if isinstance(item, str) and item.strip())
    if len(texts) != len(items):
        raise ValueError(f"option {name}: must be a list of non-empty texts (got {value!r})")
    return texts


def _number(options: Mapping[str, object], name: str, default: float, *, low: float, high: float) -> float:
    value = options.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise ValueError(f"option {name}: must be a number from {low} to {high} (got {value!r})")
    return value
