"""What a field of a hit is made of, compiled to a function of one item.

Above: `hits`. Below: `paths`, `times`. Pure. ``a | b`` is the first that is not empty (0 and false are values),
``{x}:{y+1}`` a text of several values, empty if one of them is; ``=text`` the text itself; a conversion turns one value
into another.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, cast

from callosum_mcp.adapters.engine import paths, times
from callosum_mcp.adapters.engine.preset import Converted, Expression
from callosum_mcp.text import clean, clean_json, compact_json, finite

Getter = Callable[[object, Sequence[str]], object]
"""A compiled expression: an item and the captured keys in, a value out, None if there is none."""

_PLACE = re.compile(r"\{([^{}]+)\}")
_SUM = re.compile(r"(?P<path>.+?)\s*(?P<plus>[+-]\s*\d{1,9})")
_ALTERNATIVE = re.compile(r"\s*\|\s*(?![^{}]*\})")
_MAX_DEPTH: Final = 8  # lists in lists that are still written out
_MAX_DIGITS: Final = 40  # more is no id and no count; Python itself refuses to write out more than 4,300


def compiled(expression: Expression) -> Getter:
    """A field's expression ready for use.

    Raises:
        ValueError: If it is none.
    """
    return _of_text(expression) if isinstance(expression, str) else _converted(expression)


def is_empty(value: object) -> bool:
    """Whether the next alternative is looked at: nothing, a blank text, an empty list or map; 0 is a value."""
    if isinstance(value, str):
        return not value or value.isspace()
    return value is None or value == [] or value == {}


def as_text(value: object, join: str = ", ", depth: int = _MAX_DEPTH) -> str | None:
    """A value written out and cleaned: a list joined, a map as JSON; None if nothing is left of it."""
    if isinstance(value, str):
        return (value if value.isascii() and value.isprintable() else clean(value)).strip() or None
    if isinstance(value, list):
        parts = (as_text(item, join, depth - 1) for item in cast("list[object]", value)[: paths.MAX_NODES])
        return (join.join(part for part in parts if part is not None) or None) if depth else None
    if isinstance(value, dict):
        return clean(compact_json(clean_json(cast("object", value)))) if value else None
    return _number(value)


def parsed_json(text: str) -> object:
    """The object or list that a text spells; the text itself if it spells none."""
    start = text.lstrip()[:1]
    if start not in ("{", "["):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _number(value: object) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if abs(value) < 10**_MAX_DIGITS else None
    return None if (number := finite(value)) is None else str(number)


@lru_cache(maxsize=2_000)
def _of_text(text: str) -> Getter:
    paths.check_length(text)
    if text.lstrip().startswith("="):
        literal = text.lstrip()[1:]
        return lambda _item, _captured: literal
    head, *rest = _ALTERNATIVE.split(text, maxsplit=1)
    if not head.strip():
        raise ValueError(f"expression {text!r} has an empty alternative")
    first = _template(head) if "{" in head else _path(head)
    return _either(first, _of_text(rest[0])) if rest else first


def _either(first: Getter, second: Getter) -> Getter:
    def get(item: object, captured: Sequence[str]) -> object:
        value = first(item, captured)
        return second(item, captured) if is_empty(value) else value

    return get


def _path(text: str) -> Getter:
    path = paths.compiled(text)
    if path.whole:
        return lambda item, _captured: None if isinstance(item, dict) else item
    if len(path.steps) == 1 and isinstance(path.steps[0], str):
        name = path.steps[0]
        return lambda item, _captured: cast("dict[str, object]", item).get(name) if isinstance(item, dict) else None
    return path.value


def _template(text: str) -> Getter:
    pieces = _PLACE.split(text)
    literals, places = pieces[::2], [_place(inner) for inner in pieces[1::2]]
    if any("{" in literal or "}" in literal for literal in literals):
        raise ValueError(f"template {text!r} has a brace without its other half")

    def get(item: object, captured: Sequence[str]) -> object:
        written = [literals[0]]
        for place, literal in zip(places, literals[1:], strict=True):
            said = as_text(place(item, captured))
            if said is None:
                return None
            written += [said, literal]
        return "".join(written)

    return get


def _place(inner: str) -> Getter:
    added = _SUM.fullmatch(inner.strip())
    if added is None:
        return _of_text(inner)
    base, plus = _of_text(added["path"]), int(added["plus"].replace(" ", ""))

    def get(item: object, captured: Sequence[str]) -> object:
        number = finite(base(item, captured))
        return None if number is None else int(number) + plus

    return get


def _converted(given: Converted) -> Getter:
    base = _of_text(given.from_)
    inner = None if given.json_ is None else _of_text(given.json_)
    join, unit, meanings = given.join, given.time, given.map

    def get(item: object, captured: Sequence[str]) -> object:
        value = base(item, captured)
        if inner is not None:
            value = inner(parsed_json(value) if isinstance(value, str) else value, ())
        if unit is not None:
            return times.moment(value, unit)
        if join is not None:
            value = as_text(value, join)
        return value if meanings is None else _meaning(value, meanings)

    return get


def _meaning(value: object, meanings: dict[str, str]) -> object:
    said = as_text(value)
    return value if said is None else meanings.get(said, value)
