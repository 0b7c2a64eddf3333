"""The texts of a hit: a keyed value as lines like those of a file, and what is written around it.

Above: `claims`. Below: nothing. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import cast

from callosum_mcp.models.values import Hit


def meta(hit: Hit, name: str) -> str:
    """A word of a hit's metadata; empty if it has none."""
    found = hit.metadata.get(name)
    return found if isinstance(found, str) else ""


_SMALL, _CAPITAL = str.maketrans("01", "ol"), str.maketrans("01", "OI")
_MISREAD = re.compile(r"(?<=[^\W\d_])[01]+(?=[^\W\d_])")


def unscanned(text: str) -> str:
    """A scanner's text with digits inside words read as the letters they look like (``para11el``)."""
    return _MISREAD.sub(_as_letters, text)


def _as_letters(match: re.Match[str]) -> str:
    before = match.string[match.start() - 1]
    return match.group().translate(_CAPITAL if before.isupper() else _SMALL)


def texts(hit: Hit, key: str, value: str) -> Iterator[tuple[str, bool]]:
    """The texts of a hit; a keyed value becomes ``key = value``, one line a member if it is JSON."""
    if value:
        name = key.replace(".", " ").replace("/", " ")
        yield "\n".join(f"{name} {inner} = {text}".replace("  ", " ") for inner, text in _members(value)), True
    if hit.text != value:
        yield hit.text, False


def _members(value: str) -> list[tuple[str, str]]:
    if value[:1] in ("{", "["):
        try:
            return list(_flattened("", json.loads(value)))
        except (ValueError, RecursionError):  # no JSON, or nested beyond reading
            return [("", value)]
    return [("", value)]


def _flattened(prefix: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, inner in cast("dict[str, object]", value).items():
            yield from _flattened(f"{prefix} {name}".strip(), inner)
    elif isinstance(value, list):
        yield prefix, " ".join(str(item) for item in cast("list[object]", value))
    else:
        yield prefix, json.dumps(value) if isinstance(value, bool) else str(value)
