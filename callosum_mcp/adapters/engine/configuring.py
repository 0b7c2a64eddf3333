"""A preset and the options of one store, put together: what stands in the options wins over the preset.

Above: `catalog`. Below: `preset`. Pure. Two kinds of options: the preset's own params, which its templates name in
braces (``{project}``), and the parts of a preset that may be replaced (`OVERRIDABLE`). In the mapping of a reply and in
pinned text a param also stands for the name of a field (``_source.<text_field>``); its value has to look like one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import partial
from typing import Any, cast

from pydantic import BaseModel, ValidationError

from callosum_mcp.adapters.engine import preset as contract
from callosum_mcp.adapters.engine.preset import OVERRIDABLE, Param, Preset
from callosum_mcp.models.requests import nearest, reason

Value = str | int | float | bool

MAX_TEXT = 2_000
"""Characters of a param's text."""

_SPELLINGS = {"or": "one_filter", "json": "body", "from": "from_"}
"""Names that users write and names of the fields, where a word of Python or of JSON stands in the way."""

_SPELT = frozenset({"query", "http", "verdict", "discover"})
_MARK = re.compile(r"<([a-z][a-z0-9_]*)>")
_FIELD_NAME = re.compile(r"[\w@$-]+(\.[\w@$-]+)*")
_FILLED = ("args", "http", "extract", "errors", "verdict", "enrich", "fetch", "discover")


def configured(preset: Preset, options: Mapping[str, object]) -> tuple[Preset, dict[str, object]]:
    """A preset with a store's overrides in it, and the values of its params.

    Args:
        preset: As it came from its file.
        options: The store's ``options``.

    Returns:
        The preset that is in force, and a value for each param that has one.

    Raises:
        ValueError: If an option is unknown (with the nearest name), of the wrong kind, or missing.
    """
    _check_names(preset, options)
    given = {name: _param(name, param, options) for name, param in preset.params.items()}
    changes = {name: value for name, value in options.items() if name not in preset.params}
    changed = _overridden(preset, changes) if changes else preset
    values: dict[str, object] = {name: value for name, value in given.items() if value is not None}
    _check_present(changed, values)
    return _filled(changed, given), values


def faults(failure: ValidationError) -> str:
    """One line out of pydantic's report on a preset: every field that is wrong, and how."""
    errors = failure.errors(include_url=False)
    said = [f"{_place(error['loc'])}: {_reason(error)}" for error in errors[:5]]
    return "; ".join(said if len(errors) <= 5 else [*said, f"and {len(errors) - 5} more"])


def _place(loc: tuple[int | str, ...]) -> str:
    """Where a field stands, without the names of the alternatives that pydantic puts between."""
    return ".".join(str(part) for part in loc if isinstance(part, int) or not re.search(r"[A-Z\[]", part))


def _reason(error: Any) -> str:
    if error["type"] != "extra_forbidden":
        return reason(error, [])
    close = get_close_matches(str(error["loc"][-1]), _field_names(), n=1)
    return f"is unknown; did you mean {close[0]!r}?" if close else "is unknown"


def _field_names() -> list[str]:
    models = [value for value in vars(contract).values() if isinstance(value, type) and issubclass(value, BaseModel)]
    return sorted({_SPELT_AS.get(name, name) for model in models for name in model.model_fields})


_SPELT_AS = {field: word for word, field in _SPELLINGS.items()}


def _check_names(preset: Preset, options: Mapping[str, object]) -> None:
    known = {*preset.params, *OVERRIDABLE}
    for name in options:
        if name not in known:
            raise ValueError(f"option {name!r} is unknown for type {preset.name}; {_near(name, preset)}")


def _near(name: str, preset: Preset) -> str:
    """The nearest of all options, or the preset's own: the list of what can be replaced is long."""
    close = get_close_matches(name.lower(), sorted({*preset.params, *OVERRIDABLE}), n=1)
    return nearest(name, close or sorted(preset.params) or sorted(OVERRIDABLE))


def _param(name: str, param: Param, options: Mapping[str, object]) -> Value | None:
    value = options.get(name, param.default)
    if value is None:
        return None
    kind, wanted = _wanted(param)
    if not isinstance(value, kind) or (isinstance(value, bool) and bool not in kind):
        raise ValueError(f"option {name}: must be {wanted}{_got(value, param)}")
    if isinstance(value, str) and len(value) > MAX_TEXT:
        raise ValueError(f"option {name}: must have at most {MAX_TEXT:,} characters (got {len(value):,})")
    return cast("Value", value)


def _wanted(param: Param) -> tuple[tuple[type, ...], str]:
    if isinstance(param.default, bool):
        return (bool,), "true or false"
    if isinstance(param.default, int):
        return (int,), "a whole number"
    if isinstance(param.default, float):
        return (int, float), "a number"
    return (str, int, float), "text or a number"


def _got(value: object, param: Param) -> str:
    shown = isinstance(value, str | int | float) and not param.secret
    return f" (got {str(value)[:60]!r})" if shown else f" (got {type(value).__name__})"


def _overridden(preset: Preset, changes: Mapping[str, object]) -> Preset:
    whole = preset.model_dump(exclude_unset=True)
    for name, value in changes.items():
        whole[name] = _merged(whole.get(name), _spelt(name, value))
    return _validated({name: value for name, value in whole.items() if value is not None})


def _validated(whole: Mapping[str, object]) -> Preset:
    try:
        return Preset.model_validate(whole)
    except ValidationError as fault:
        raise ValueError(f"option {faults(fault)}") from None


def _spelt(name: str, value: object) -> object:
    """An override with the fields' own names, so that it can be laid over what the preset has."""
    if name == "tool" and isinstance(value, str):
        return [value]
    if name in _SPELT and isinstance(value, dict):
        given = cast("dict[str, object]", value)
        return {_SPELLINGS.get(key, key): item for key, item in given.items()}
    return value


def _merged(old: object, new: object) -> object:
    """A mapping is laid over the preset's, key by key, null removing one; anything else takes its place."""
    if not (isinstance(old, dict) and isinstance(new, dict)):
        return new
    both = {**cast("dict[str, object]", old), **cast("dict[str, object]", new)}
    return {key: value for key, value in both.items() if value is not None}


def _check_present(preset: Preset, values: Mapping[str, object]) -> None:
    for name, param in preset.params.items():
        found_out = preset.discover is not None and preset.discover.param == name
        if param.required and values.get(name) in (None, "") and not found_out:
            raise ValueError(f"option {name}: missing for type {preset.name}; {param.description}")
    if preset.kind == "mcp" and not preset.tool:
        raise ValueError("option tool: missing; name the tool that searches, and only one that reads")
    if preset.kind == "http" and preset.http is None:
        raise ValueError("option http: missing; give the method and path of the search, and only one that reads")
    if not preset.extract:
        raise ValueError("option extract: missing; say where the items are and which field is the snippet")


def _filled(preset: Preset, values: Mapping[str, Value | None]) -> Preset:
    """The preset with the names of fields in place of ``<param>``."""
    whole = preset.model_dump(exclude_unset=True)
    fill = partial(_fill, values=values)
    filled = {name: _walked(part, fill) if name in _FILLED else part for name, part in whole.items()}
    return preset if filled == whole else _validated(filled)


def _walked(part: object, fill: Callable[[str], str]) -> object:
    """A part with every text in it filled; what becomes empty by that is left out."""
    if isinstance(part, str):
        return fill(part)
    if isinstance(part, dict):
        items = cast("dict[str, object]", part).items()
        walked = [(key, item, item if key == "pattern" else _walked(item, fill)) for key, item in items]
        return {key: new for key, old, new in walked if new != "" or old == ""}
    if isinstance(part, list):
        pairs = [(item, _walked(item, fill)) for item in cast("list[object]", part)]
        return [new for old, new in pairs if new != "" or old == ""]
    return part


def _fill(text: str, values: Mapping[str, Value | None]) -> str:
    """A text with names of fields in it; an alternative whose param is empty is left out."""
    marks = [name for name in _MARK.findall(text) if name in values]
    if not marks:
        return text
    kept = [part for part in text.split(" | ") if all(values[name] not in (None, "") for name in _own(part, values))]
    return _MARK.sub(lambda mark: _field_name(mark, values), " | ".join(kept))


def _own(part: str, values: Mapping[str, Value | None]) -> list[str]:
    return [name for name in _MARK.findall(part) if name in values]


def _field_name(mark: re.Match[str], values: Mapping[str, Value | None]) -> str:
    name = mark[1]
    if name not in values:
        return mark[0]
    value = str(values[name])
    if not _FIELD_NAME.fullmatch(value):
        raise ValueError(f"option {name}: must be the name of a field, as body or meta.title (got {value[:60]!r})")
    return value
