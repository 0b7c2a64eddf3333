"""What the files of the settings look like, to see that one was changed, replaced, or is gone.

Above: the loader and the watch. Below: nothing. A path is looked at, not what was opened there, so a file that took
another's place by its name, or behind a link, is seen as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

Stamp = tuple[int, ...] | None
"""When, how large and which file it was; None if there is none."""


def stamps(files: Iterable[Path]) -> dict[Path, Stamp]:
    """What some files look like now."""
    return {file: _stamp(file) for file in files}


def _stamp(file: Path) -> Stamp:
    try:
        seen = file.stat()
    except OSError:
        return None
    return seen.st_mtime_ns, seen.st_ctime_ns, seen.st_size, seen.st_ino, seen.st_dev
