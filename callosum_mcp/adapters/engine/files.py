"""The change times of files, for engines that name a path and no time.

Above: the adapter. Below: the file system, in a thread. A file counts only inside the folder that the settings name,
its symbolic links followed.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import anyio.to_thread

from callosum_mcp.adapters.engine.places import dated, file_under
from callosum_mcp.adapters.engine.preset import Preset
from callosum_mcp.models.values import Hit

MAX_FILES = 200
"""Files looked at for one search; the hits after these keep no time."""


async def with_file_times(hits: Sequence[Hit], preset: Preset, now: float) -> tuple[Hit, ...]:
    """The hits, those without a time dated by their files where the preset names a folder."""
    root = preset.last_seen.stat_root
    lacking = {hit.id: file_under(root, hit) for hit in hits if hit.last_seen is None} if root else {}
    files = dict.fromkeys(file for file in lacking.values() if file is not None)
    if not root or not files:
        return tuple(hits)
    times = await anyio.to_thread.run_sync(_changed, root, list(files)[:MAX_FILES], abandon_on_cancel=True)

    def with_time(hit: Hit) -> Hit:
        moment = times.get(lacking.get(hit.id) or "")
        return hit if moment is None else dated(hit, moment, preset, now)

    return tuple(with_time(hit) for hit in hits)


def _changed(root: str, files: Sequence[str]) -> dict[str, float]:
    """When each file that is there, and inside the root, was changed, in Unix seconds."""
    base = os.path.realpath(root)
    found: dict[str, float] = {}
    for file in files:
        try:
            real = os.path.realpath(file)
            if os.path.commonpath([base, real]) == base:
                found[file] = os.stat(real).st_mtime
        except (OSError, ValueError):
            continue
    return found
