"""Arguments of a call, as a preset writes them: typed values with placeholders, compiled and checked once.

Above: `asking`. Below: `quoting`. Pure. ``"{limit|int}"`` alone is a number and ``"{query}"`` alone the text as it is;
between other text a placeholder is written out. What came from a question or from an engine is never written into
other text as it is: there it needs a filter, and a filter that brings quotation marks must not stand in some.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from callosum_mcp.adapters.engine.expressions import as_text
from callosum_mcp.adapters.engine.quoting import FILTERS
from callosum_mcp.models.requests import nearest

Values = Mapping[str, object]
"""What placeholders stand for in one call; None leaves out whatever is made of it."""

QUESTION: Final = frozenset({"query", "term", "terms", "question", "filter"})
"""Placeholders that carry the question."""

OF_HIT: Final = frozenset({"id", "native_id", "title", "path", "file", "type", "uri"})
"""Placeholders of a second call: what the engine said of one hit."""

SAFE: Final = frozenset({"limit", "now_iso", "now_s", "since_iso", "until_iso", "since_s", "until_s", "filter"})
"""Placeholders made by us: `filter` is joined of pieces that were checked themselves."""

_FROM_OUTSIDE = (QUESTION | OF_HIT | {"types", "topics"}) - SAFE
_PLACE = re.compile(r"\{([A-Za-z_]\w*)((?:\|[a-z_]+)*)\}")
_CYPHER_WORD = re.compile(r"\b(?:MATCH|RETURN|WHERE|CALL|UNWIND)\b")
_NOTHING: Final = object()  # left out, where None is a null that the preset wants sent


@dataclass(frozen=True, slots=True)
class Template:
    """A compiled value.

    Attributes:
        names: The placeholders in it.
        fill: The value with every placeholder filled in, `omitted` if it is to be left out.
    """

    names: frozenset[str]
    fill: Callable[[Values], object]


@dataclass(frozen=True, slots=True)
class _Place:
    name: str
    filters: tuple[str, ...]

    def value(self, values: Values) -> object:
        found = values.get(self.name)
        if found is None:
            return None
        for name in self.filters:
            found = FILTERS[name](found)
        return found


def omitted(value: object) -> bool:
    """Whether a filled template says that there is nothing to send."""
    return value is _NOTHING


def joinable(text: str, known: Collection[str], where: str) -> Template:
    """As `compiled`, for a text that will stand among others: even a placeholder alone needs its filter there.

    Raises:
        ValueError: As in `compiled`.
    """
    template = compiled(text, known, where)
    if template.names & _FROM_OUTSIDE and _PLACE.fullmatch(text) and "|" not in text:
        raise ValueError(f"{where}: {text} is joined with others and needs a filter: {', '.join(sorted(FILTERS))}")
    return template


def compiled(value: object, known: Collection[str], where: str) -> Template:
    """A value with placeholders, ready for use.

    Args:
        value: Text, number, boolean, null, or a list or an object of such.
        known: Names that placeholders may have.
        where: What it belongs to, for errors.

    Raises:
        ValueError: If a placeholder is unknown, or would let a question be read as syntax.
    """
    if isinstance(value, str):
        return _of_text(value, known, where)
    if isinstance(value, dict):
        return _of_object(cast("dict[str, object]", value), known, where)
    if isinstance(value, list):
        return _of_list(cast("list[object]", value), known, where)
    return Template(frozenset(), lambda _values: value)


def _of_object(value: Mapping[str, object], known: Collection[str], where: str) -> Template:
    parts = {key: compiled(inner, known, f"{where}.{key}") for key, inner in value.items()}

    def fill(values: Values) -> object:
        filled = ((key, part.fill(values)) for key, part in parts.items())
        kept = {key: inner for key, inner in filled if inner is not _NOTHING}
        return kept if kept or not parts else _NOTHING

    return Template(_names(list(parts.values())), fill)


def _of_list(value: Sequence[object], known: Collection[str], where: str) -> Template:
    parts = [compiled(inner, known, f"{where}[{index}]") for index, inner in enumerate(value)]

    def fill(values: Values) -> object:
        kept = [inner for part in parts if (inner := part.fill(values)) is not _NOTHING]
        return kept if kept or not parts else _NOTHING

    return Template(_names(parts), fill)


def _names(parts: Sequence[Template]) -> frozenset[str]:
    return frozenset[str]().union(*(part.names for part in parts))


def _of_text(text: str, known: Collection[str], where: str) -> Template:
    pieces = _PLACE.split(text)
    literals = pieces[::3]
    places = [_place(name, filters, known, where) for name, filters in zip(pieces[1::3], pieces[2::3], strict=True)]
    names = frozenset(place.name for place in places)
    if not places:
        return Template(names, lambda _values: text)
    if literals == ["", ""]:
        return Template(names, _alone(places[0]))
    _check_quoting(literals, places, where)
    return Template(names, _written(literals, places))


def _place(name: str, filters: str, known: Collection[str], where: str) -> _Place:
    if name not in known:
        raise ValueError(f"{where}: placeholder {{{name}}} is unknown; {nearest(name, sorted(known))}")
    wanted = tuple(filters.split("|")[1:])
    for one in wanted:
        if one not in FILTERS:
            raise ValueError(f"{where}: filter {one!r} is unknown; {nearest(one, sorted(FILTERS))}")
    return _Place(name, wanted)


def _alone(place: _Place) -> Callable[[Values], object]:
    def fill(values: Values) -> object:
        value = place.value(values)
        return _NOTHING if value is None else value

    return fill


def _written(literals: Sequence[str], places: Sequence[_Place]) -> Callable[[Values], object]:
    def fill(values: Values) -> object:
        written = [literals[0]]
        for place, literal in zip(places, literals[1:], strict=True):
            value = place.value(values)
            said = value if isinstance(value, str) else as_text(value)
            if said is None:
                return _NOTHING
            written += [said, literal]
        return "".join(written)

    return fill


def _check_quoting(literals: Sequence[str], places: Sequence[_Place], where: str) -> None:
    """Refuse what would let a question end its literal and go on as syntax."""
    cypher = _CYPHER_WORD.search(" ".join(literals)) is not None
    quoted = any(sign in literal for literal in literals for sign in "'\"`")
    before = ""
    for literal, place in zip(literals, places, strict=False):
        before += literal
        if place.name not in _FROM_OUTSIDE or place.filters[-1:] == ("int",):
            continue
        shown = f"{where}: {{{place.name}}}"
        if not place.filters:
            raise ValueError(f"{shown} stands between other text and needs a filter: {', '.join(sorted(FILTERS))}")
        if _in_quotes(before):
            raise ValueError(f"{shown} stands in quotation marks; leave them out, json and cypher bring their own")
        if cypher and place.filters[-1] != "cypher":
            raise ValueError(f"{shown} stands in Cypher and must end in |cypher")
        if quoted and place.filters[-1] == "regex_escape":
            raise ValueError(f"{shown} is no literal yet; write |regex_escape|json or |regex_escape|cypher")


def _in_quotes(text: str) -> bool:
    """Whether a text ends inside a quotation, as nearly every language counts them."""
    open_: str | None = None
    escaped = False
    for sign in text:
        if escaped:
            escaped = False
        elif sign == "\\":
            escaped = True
        elif sign in "'\"`" and open_ in (None, sign):
            open_ = None if open_ else sign
    return open_ is not None
