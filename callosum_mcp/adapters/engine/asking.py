"""A question turned into the calls of an engine: nothing but what its preset names, filled in.

Above: the adapter, `seconds`. Below: `plan`, `templates`, `terms`. Pure. Every placeholder was checked when the preset
was compiled, so that filling in cannot fail for what a question holds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from callosum_mcp.adapters.engine import templates
from callosum_mcp.adapters.engine.expressions import as_text
from callosum_mcp.adapters.engine.plan import Argument, HttpPlan, Plan, plan
from callosum_mcp.adapters.engine.preset import Preset
from callosum_mcp.adapters.engine.ranking import ranks_here
from callosum_mcp.adapters.engine.templates import Template, Values
from callosum_mcp.adapters.engine.terms import terms
from callosum_mcp.errors import StoreBadReply
from callosum_mcp.models.values import StoreQuery
from callosum_mcp.text import clean, iso_utc

MAX_TERM: Final = 200
"""Characters of one term; no word is longer, and a pasted line without spaces is cut."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HttpAsked:
    """One request to an engine behind HTTP.

    Attributes:
        method: ``GET``, or ``POST`` for a search that takes its query as a body.
        path: Below the store's URL; every value in it is percent-encoded.
        params: Query parameters, not encoded yet.
        body: JSON body, None for none.
        headers: Besides the store's own.
    """

    method: str
    path: str
    params: Mapping[str, str] = field(default_factory=dict[str, str])
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


def calls(
    preset: Preset, params: Mapping[str, object], query: StoreQuery, now: float, known: Collection[str] | None
) -> list[dict[str, Any]]:
    """The arguments of each call of the preset's tool, none twice.

    Args:
        preset: The engine.
        params: Values of the preset's params.
        query: What is asked.
        now: Unix seconds, for ``{now_iso}``.
        known: Names of arguments in the tool's input schema; None where it tells none.

    Raises:
        StoreBadReply: If the tool does not take an argument that must not be left out.
    """
    ready = plan(preset)
    return _distinct(arguments(ready.args, values, known) for values in _rounds(preset, ready, params, query, now))


def http_calls(preset: Preset, params: Mapping[str, object], query: StoreQuery, now: float) -> list[HttpAsked]:
    """The requests of one search, none twice.

    Raises:
        StoreBadReply: If a value cannot stand in the path of a URL.
    """
    ready = plan(preset)
    if ready.http is None:
        return []
    return _distinct(request(ready.http, values) for values in _rounds(preset, ready, params, query, now))


def discover_call(preset: Preset, params: Mapping[str, object], known: Collection[str] | None) -> dict[str, Any]:
    """The arguments of the call that lists the values of a param that the user left out."""
    return arguments(plan(preset).discover_args, present(params), known)


def left_out(preset: Preset, known: Collection[str]) -> tuple[str, ...]:
    """The arguments that the tool's input schema does not know and that are therefore not sent, for a remark."""
    return tuple(one.names[0] for one in plan(preset).args if not one.required and _name(one, known) is None)


def arguments(args: Sequence[Argument], values: Values, known: Collection[str] | None) -> dict[str, Any]:
    """Arguments filled in, under the names that the tool knows; one without a value is left out.

    Raises:
        StoreBadReply: If the tool does not take an argument that must not be left out.
    """
    filled: dict[str, Any] = {}
    for one in args:
        name = _name(one, known)
        if name is None and one.required:
            takes = ", ".join(sorted(known or ())) or "none"
            raise StoreBadReply(
                f"its tool takes no argument {' or '.join(one.names)} (it takes {takes}); set args in its options"
            )
        value = one.template.fill(values)
        if name is not None and not templates.omitted(value):
            filled[name] = value
    return filled


def request(call: HttpPlan, values: Values) -> HttpAsked:
    """One request filled in.

    Raises:
        StoreBadReply: If a value cannot stand in the path of a URL.
    """
    path = call.path.fill(values)
    if not isinstance(path, str) or any(part in (".", "..") for part in path.split("?")[0].split("/")):
        raise StoreBadReply("cannot be asked for this: a value of its URL is missing, or is . or ..")
    body = None if call.body is None else call.body.fill(values)
    return HttpAsked(
        method=call.method,
        path=path,
        params=_texts(call.params, values),
        body=None if templates.omitted(body) else body,
        headers=_texts(call.headers, values),
    )


def present(params: Mapping[str, object]) -> dict[str, object]:
    """The params that have a value; an empty text leaves the choice to the engine."""
    return {name: value for name, value in params.items() if value is not None and value != ""}


def _name(one: Argument, known: Collection[str] | None) -> str | None:
    if known is None:
        return one.names[0]
    return next((name for name in one.names if name in known), None)


def _texts(parts: Mapping[str, Template], values: Values) -> dict[str, str]:
    filled = ((name, part.fill(values)) for name, part in parts.items())
    texts = ((name, as_text(value, ",")) for name, value in filled if not templates.omitted(value))
    return {name: text for name, text in texts if text is not None}


_Call = Any


def _distinct(made: Iterator[_Call]) -> list[_Call]:
    found: list[_Call] = []
    for call in made:
        if call not in found:
            found.append(call)
    return found


def _rounds(
    preset: Preset, ready: Plan, params: Mapping[str, object], query: StoreQuery, now: float
) -> Iterator[Values]:
    """What placeholders stand for, once per call."""
    text = clean(query.text)
    asked = [term[:MAX_TERM] for term in terms(text, preset.query)] if preset.query.mode != "verbatim" else [text]
    same = {**present(params), **_of_query(preset, query, now), "question": text, "terms": asked}
    joined = preset.query.one_filter
    if joined is not None and ready.each is not None:
        pieces = (ready.each.fill({**same, "term": term}) for term in asked)
        yield {**same, "query": text, "term": asked[0], "filter": joined.join.join(cast("Iterator[str]", pieces))}
        return
    for term in asked[: preset.query.max_calls]:
        yield {**same, "query": term, "term": term}


def _of_query(preset: Preset, query: StoreQuery, now: float) -> dict[str, object]:
    """An engine that does not rank is asked for all it may give: the best may be anywhere in it."""
    return {
        "limit": preset.max_results if ranks_here(preset) else min(query.limit, preset.max_results),
        "now_iso": iso_utc(now),
        "now_s": int(now),
        "since_iso": iso_utc(query.since),
        "since_s": None if query.since is None else int(query.since),
        "until_iso": iso_utc(query.until),
        "until_s": None if query.until is None else int(query.until),
        "types": sorted(query.types) or None,
        "topics": sorted(query.topics) or None,
    }
