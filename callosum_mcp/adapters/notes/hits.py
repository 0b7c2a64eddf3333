"""From chunks to hits and from hit ids back to places in files.

Above: the adapter. Below: the chunker's and the database's values. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from callosum_mcp.adapters.notes.chunk import Chunk
from callosum_mcp.models.values import Hit, StoreSpec, Tier
from callosum_mcp.text import clean, clip

_RECENT_S = 30 * 86_400.0  # a file changed less than 30 days ago is a recent file (the Darwin rules)


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """The file that a hit comes from.

    Attributes:
        path: Its path in the store.
        uri: Its ``file:`` URI.
        topics: Its tags.
        mtime_s: Unix second of its last change.
        dates: Date fields of its front matter, as written.
    """

    path: str
    uri: str
    topics: tuple[str, ...]
    mtime_s: float
    dates: Mapping[str, str]


def hit_id(path: str, line: int) -> str:
    """The id of the chunk that starts at a line of a file."""
    return f"{path}#L{line}"


def parse_hit_id(text: str) -> tuple[str, int] | None:
    """Path and line of a hit id; None if it is none. A missing line means the first."""
    path, mark, digits = text.rpartition("#L")
    if not mark:
        return text, 1
    return (path, int(digits)) if digits.isascii() and digits.isdecimal() and len(digits) < 10 else None


def make_hit(spec: StoreSpec, source: Source, chunk: Chunk, *, now_s: float, limit: int) -> Hit:
    """The hit for a chunk of a file, its text at most `limit` characters."""
    place = hit_id(source.path, chunk.line)
    return Hit(
        store=spec.name,
        id=place,
        text=clip(clean(chunk.text), limit),
        title=clean(chunk.title) or source.path.rpartition("/")[2],
        path=place,
        uri=f"{source.uri}#L{chunk.line}",
        type="note",
        topics=source.topics,
        tier=_tier(now_s - source.mtime_s) if spec.tier is None else None,
        last_seen=source.mtime_s,
        metadata={"lines": [chunk.line, chunk.last_line], **source.dates},
    )


def _tier(age_s: float) -> Tier:
    return "recent-file" if age_s < _RECENT_S else "older-note"
