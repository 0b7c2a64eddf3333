"""Which file a hit stands in, and what that file's time says of it.

Above: `asking`, the adapter (which asks the file system). Below: models. Pure: nothing here touches a file.
"""

from __future__ import annotations

import ntpath
import posixpath
import re
from dataclasses import replace
from typing import Final

from callosum_mcp.adapters.engine import times
from callosum_mcp.adapters.engine.preset import Preset
from callosum_mcp.models.values import Hit, Tier

RECENT_S: Final = 30 * 86_400.0
"""A file changed within so many seconds is recent; an older one is a note."""

_IN_FILE = re.compile(r"(?:#[^/\\]*|(?::L?\d+(?:-L?\d+)?(?::\d+)?))$")


def file_of(path: str | None) -> str | None:
    """The file of a hit's path, without a line (``a.py:12-20``) or an anchor (``a.md#L3``); None if there is none."""
    return (_IN_FILE.sub("", path.strip()) or None) if path else None


def file_under(root: str, hit: Hit) -> str | None:
    """The file of a hit below a folder, spelled out; None if its path is no file's or leads out of the folder.

    Symbolic links are not looked at: whoever opens the file has to.
    """
    file = file_of(hit.path)
    if file is None or "\x00" in file or "://" in file:
        return None
    paths = ntpath if "\\" in root or re.match(r"[A-Za-z]:", root) else posixpath
    base = paths.normpath(root)
    whole = paths.normpath(paths.join(base, file))
    inside = paths.normcase(whole).startswith(paths.normcase(base.rstrip("/\\") + paths.sep))
    return whole if inside else None


def dated(hit: Hit, changed: float, preset: Preset, now: float) -> Hit:
    """A hit whose engine tells no time, with the Unix second its file was changed at."""
    last_seen = hit.last_seen if hit.last_seen is not None else times.past(changed, now)
    return replace(hit, last_seen=last_seen, tier=tier_of(preset, last_seen, now))


def tier_of(preset: Preset, last_seen: float | None, now: float) -> Tier | None:
    """The trust of a hit: the preset's, or that of a file of this age; a file of unknown age is a note."""
    if not preset.tier_from_file:
        return preset.tier
    recent = last_seen is not None and now - last_seen < RECENT_S
    return "recent-file" if recent else "older-note"
