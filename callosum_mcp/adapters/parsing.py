"""Reading loosely typed replies: what is not as promised is skipped and counted, never guessed.

Above: the adapters' parse functions. Below: text. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import cast

from callosum_mcp.errors import StoreBadReply
from callosum_mcp.models.values import Hit, StoreReply
from callosum_mcp.text import clean

MAX_ROWS = 500
"""Rows read of one reply, whatever the store sent."""

SPARE_ROWS = 10
"""Rows read beyond what was asked for, in case some of the first cannot be read."""


def as_object(value: object, what: str = "reply") -> Mapping[str, object]:
    """A JSON object, or the store's fault.

    Raises:
        StoreBadReply: If it is anything else.
    """
    if isinstance(value, dict):
        return cast("dict[str, object]", value)
    raise StoreBadReply(f"{what} is {_kind(value)}, not an object")


def rows(reply: object, key: str, limit: int = MAX_ROWS) -> list[object]:
    """The list under a key of an object, at most `limit` of it and some more in place of rows that cannot be read.

    Raises:
        StoreBadReply: If there is no list.
    """
    value = as_object(reply).get(key)
    if not isinstance(value, list):
        raise StoreBadReply(f"reply has no list under {key!r}")
    return list(islice(cast("list[object]", value), min(limit + SPARE_ROWS, MAX_ROWS)))


def parsed(items: Iterable[object], parse: Callable[[Mapping[str, object]], Hit | None]) -> StoreReply:
    """Hits of the rows that can be read, each id once; the others are counted in the remark.

    Raises:
        StoreBadReply: If there were rows and none can be read.
    """
    hits: dict[str, Hit] = {}
    broken = 0
    for item in items:
        hit = parse(cast("dict[str, object]", item)) if isinstance(item, dict) else None
        if hit is None:
            broken += 1
        else:
            hits.setdefault(hit.id, hit)
    if broken and not hits:
        raise StoreBadReply(f"none of its {broken} rows can be read")
    return StoreReply(hits=tuple(hits.values()), remark=f"{broken} rows could not be read" if broken else None)


def text_of(row: Mapping[str, object], key: str) -> str | None:
    """A cleaned, non-blank string; finite numbers and booleans are written out."""
    value = row.get(key)
    if value is None:
        return None
    if isinstance(value, str) and value.isascii() and value.isprintable():
        return value.strip() or None
    if isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        value = str(value)
    if not isinstance(value, str):
        return None
    return clean(value).strip() or None


def mapping_of(row: Mapping[str, object], key: str) -> Mapping[str, object]:
    """A nested object, empty if it is missing or something else."""
    value = row.get(key)
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def strings_of(row: Mapping[str, object], key: str) -> tuple[str, ...]:
    """A list of strings; anything else in it is left out."""
    value = row.get(key)
    if not isinstance(value, list):
        return ()
    return tuple(clean(item) for item in cast("list[object]", value) if isinstance(item, str))


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, list):
        return "a list"
    return "a string" if isinstance(value, str) else "a number or a boolean"
