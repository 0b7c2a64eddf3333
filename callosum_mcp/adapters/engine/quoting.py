"""Values written as literals of other languages, so that nothing of a question is read as syntax there.

Above: `templates`. Below: text. Pure. Each function takes any plain value and returns one literal, or text that means
nothing but itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, cast
from urllib.parse import quote

from callosum_mcp.text import clean, clean_json, finite

_PATTERN_SIGNS = re.compile(r"[\\.^$*+?()\[\]{}|]")
_BEFORE_U = re.compile(r"(?<=\\)(?=[uU])")
_CYPHER_SIGNS = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_CYPHER_SIGN = re.compile(r"[\\'\n\r\t]")


def as_json(value: object) -> str:
    """A JSON literal; a text comes with its double quotes, which CEL and most filter languages read alike."""
    return json.dumps(clean_json(value), ensure_ascii=False, allow_nan=False)


def as_cypher(value: object) -> str:
    """A Cypher literal; a text comes with its single quotes.

    Some servers turn ``\\uXXXX`` into a character before they look for quotes, even behind an escaped backslash, so no
    literal may hold that: such a text is written as a sum of literals in parentheses.
    """
    if isinstance(value, list | tuple):
        return f"[{', '.join(as_cypher(item) for item in cast('list[object]', value))}]"
    if value is None or isinstance(value, bool | int | float):
        return as_json(value)
    pieces = [f"'{_CYPHER_SIGN.sub(_escaped, piece)}'" for piece in _BEFORE_U.split(clean(str(value)))]
    return pieces[0] if len(pieces) == 1 else f"({' + '.join(pieces)})"


def as_pattern(value: object) -> str:
    """A regular expression that matches the text alone; only the signs that every dialect lets one escape are."""
    return _PATTERN_SIGNS.sub(r"\\\g<0>", clean(str(value)))


def as_url_part(value: object) -> str:
    """One segment of a URL's path, or one value of its query."""
    return quote(clean(str(value)), safe="")


def as_integer(value: object) -> int | None:
    """A whole number, None for what is none."""
    number = finite(value)
    return None if number is None else int(number)


def _escaped(match: re.Match[str]) -> str:
    return _CYPHER_SIGNS[match[0]]


FILTERS: Final[Mapping[str, Callable[[object], object]]] = MappingProxyType(
    {"cypher": as_cypher, "int": as_integer, "json": as_json, "regex_escape": as_pattern, "url": as_url_part}
)
"""What may stand behind the ``|`` of a placeholder."""
