"""A preset made ready for use: every path, expression, template and pattern of it compiled and checked, once.

Above: `asking`, `reading`, the catalogue's checks. Below: `paths`, `expressions`, `templates`. Pure.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from callosum_mcp.adapters.engine import expressions, paths, templates
from callosum_mcp.adapters.engine.expressions import Getter
from callosum_mcp.adapters.engine.patterns import Pattern
from callosum_mcp.adapters.engine.preset import Expression, Extract, Fields, HttpCall, Preset, Second, Source
from callosum_mcp.adapters.engine.templates import OF_HIT, QUESTION, SAFE, Template
from callosum_mcp.models.requests import nearest

Getters = Mapping[str, Getter]
"""The compiled fields of a hit by name."""

_Made = TypeVar("_Made")
_PLACE_WITHOUT_URL = re.compile(r"\{([A-Za-z_]\w*(?:\|[a-z_]+)*)(?<!\|url)\}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Argument:
    """One argument of a tool.

    Attributes:
        names: What it may be called; the first that the tool's schema knows is used.
        required: It must not be left out: it carries the question, or the preset says so.
        template: Its value.
    """

    names: tuple[str, ...]
    required: bool
    template: Template


@dataclass(frozen=True, kw_only=True, slots=True)
class HttpPlan:
    """One request: its parts with placeholders."""

    method: str
    path: Template
    params: Mapping[str, Template]
    body: Template | None
    headers: Mapping[str, Template]


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtractPlan:
    """One kind of items; see `preset.Extract`."""

    mode: str
    items: paths.Path
    columns: Mapping[str, paths.Path]
    pattern: Pattern | None
    where: tuple[tuple[Getter, tuple[str | int | bool, ...]], ...]
    optional: bool
    fields: Getters

    @property
    def place(self) -> str:
        """Where its items should be, in words."""
        return " and ".join(path.text for path in self.columns.values()) if self.mode == "columns" else self.items.text


@dataclass(frozen=True, kw_only=True, slots=True)
class SecondPlan:
    """One further call per hit; see `preset.Second`."""

    args: tuple[Argument, ...]
    http: HttpPlan | None
    items: paths.Path
    fields: Getters


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """All of a preset that is compiled."""

    source: Source
    args: tuple[Argument, ...]
    http: HttpPlan | None
    each: Template | None
    extracts: tuple[ExtractPlan, ...]
    error_paths: tuple[paths.Path, ...]
    error_text: Pattern | None
    none_text: Pattern | None
    verdict: paths.Path | None
    enrich: SecondPlan | None
    fetch: SecondPlan | None
    discover_args: tuple[Argument, ...]
    discover_from: paths.Path | None

    @property
    def only_patterns(self) -> bool:
        """Whether items are found by patterns alone, so that texts are wanted as they came."""
        return all(extract.mode == "regex" for extract in self.extracts)


_PLANS: Final[dict[int, tuple[weakref.ref[Preset], Plan]]] = {}


def plan(preset: Preset) -> Plan:
    """The compiled preset; the same object again for the same preset.

    Raises:
        ValueError: If a path, an expression, a placeholder or a pattern is wrong; the text names the field.
    """
    held = _PLANS.get(id(preset))
    if held is not None and held[0]() is preset:
        return held[1]
    made = _compiled(preset)
    key = id(preset)
    _PLANS[key] = (weakref.ref(preset, lambda _gone: _PLANS.pop(key, None)), made)
    return made


def _compiled(preset: Preset) -> Plan:
    for name in preset.params:
        if name in QUESTION | SAFE:
            raise ValueError(f"params.{name}: the name is taken; call it otherwise")
    asked = {*preset.params, *QUESTION, *SAFE, "types", "topics"}
    joined, errors = preset.query.one_filter, preset.errors
    return Plan(
        source=preset.source,
        args=_arguments(preset.args, asked if joined else asked - {"filter"}, "args"),
        http=None if preset.http is None else _http(preset.http, asked if joined else asked - {"filter"}, "http"),
        each=None if joined is None else templates.joinable(joined.each, {*preset.params, "term"}, "query.or.each"),
        extracts=tuple(_extract(extract, f"extract[{at}]") for at, extract in enumerate(preset.extract)),
        error_paths=tuple(_at(f"errors.path[{at}]", paths.compiled, path) for at, path in enumerate(errors.path)),
        error_text=_pattern(errors.text, "errors.text"),
        none_text=_pattern(errors.none, "errors.none"),
        verdict=None if preset.verdict is None else _at("verdict.from", paths.compiled, preset.verdict.from_),
        enrich=_second(preset.enrich, preset, "enrich"),
        fetch=_second(preset.fetch, preset, "fetch"),
        discover_args=()
        if preset.discover is None
        else _arguments(preset.discover.args, preset.params, "discover.args"),
        discover_from=None if preset.discover is None else _at("discover.from", paths.compiled, preset.discover.from_),
    )


def _at(where: str, make: Callable[[Any], _Made], given: object) -> _Made:
    try:
        return make(given)
    except ValueError as fault:
        raise ValueError(f"{where}: {fault}") from None


def _pattern(text: str | None, where: str) -> Pattern | None:
    return None if text is None else Pattern(text, where)


def _arguments(args: Mapping[str, object], known: Collection[str], where: str) -> tuple[Argument, ...]:
    return tuple(_argument(key, value, known, f"{where}.{key}") for key, value in args.items())


def _argument(key: str, value: object, known: Collection[str], where: str) -> Argument:
    template = templates.compiled(value, known, where)
    names = tuple(name.strip() for name in key.removesuffix("!").split("|"))
    if not all(names):
        raise ValueError(f"{where}: an argument without a name")
    return Argument(names=names, required=key.endswith("!") or bool(template.names & QUESTION), template=template)


def _http(call: HttpCall, known: Collection[str], where: str) -> HttpPlan:
    path = _PLACE_WITHOUT_URL.sub(r"{\1|url}", call.path)
    ours = set(known) - QUESTION - OF_HIT - {"types", "topics"}
    return HttpPlan(
        method=call.method,
        path=templates.compiled(path, known, f"{where}.path"),
        params={key: templates.compiled(value, known, f"{where}.params.{key}") for key, value in call.params.items()},
        body=None if call.body is None else templates.compiled(call.body, known, f"{where}.json"),
        headers={key: templates.compiled(value, ours, f"{where}.headers.{key}") for key, value in call.headers.items()},
    )


def _extract(extract: Extract, where: str) -> ExtractPlan:
    columns = _columns(extract, where)
    pattern = _pattern(extract.pattern, f"{where}.pattern")
    if (pattern is not None and pattern.named) != (extract.mode == "regex"):
        raise ValueError(f"{where}.pattern: mode regex needs a pattern with named groups, the other modes need none")
    return ExtractPlan(
        mode=extract.mode,
        items=_at(f"{where}.items", paths.compiled, extract.items),
        columns=columns,
        pattern=pattern,
        where=tuple(
            (_at(f"{where}.where.{key}", expressions.compiled, key), tuple(values))
            for key, values in extract.where.items()
        ),
        optional=extract.optional,
        fields=_fields(_given(extract.fields), f"{where}.fields"),
    )


def _columns(extract: Extract, where: str) -> dict[str, paths.Path]:
    given = extract.columns
    if extract.mode == "table":
        if not isinstance(given, str):
            raise ValueError(f"{where}.columns: mode table needs the path of the column names, as $.cols")
        return {"": _at(f"{where}.columns", paths.compiled, given)}
    if extract.mode == "columns":
        if not isinstance(given, dict) or not given:
            raise ValueError(f"{where}.columns: mode columns needs a path for each name, as {{id: $.ids[0]}}")
        return {name: _at(f"{where}.columns.{name}", paths.compiled, path) for name, path in given.items()}
    if given is not None:
        raise ValueError(f"{where}.columns: only modes table and columns have columns (mode is {extract.mode})")
    return {}


def _given(fields: Fields) -> dict[str, Expression]:
    found = {name: getattr(fields, name) for name in Fields.model_fields}
    return {name: value for name, value in found.items() if value is not None}


def _fields(fields: Mapping[str, Expression], where: str) -> Getters:
    for name in fields:
        if name not in Fields.model_fields:
            raise ValueError(f"{where}.{name}: is unknown; {nearest(name, sorted(Fields.model_fields))}")
    return {name: _at(f"{where}.{name}", expressions.compiled, value) for name, value in fields.items()}


def _second(second: Second | None, preset: Preset, where: str) -> SecondPlan | None:
    if second is None:
        return None
    known = {*preset.params, *OF_HIT, "query", "question", "now_iso", "now_s"}
    return SecondPlan(
        args=_arguments(second.args, known, f"{where}.args"),
        http=None if second.http is None else _http(second.http, known, f"{where}.http"),
        items=_at(f"{where}.items", paths.compiled, second.items),
        fields=_fields(second.fields, f"{where}.fields"),
    )
