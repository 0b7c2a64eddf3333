"""Rows of the tables in docs/, read from the models, so that the docs and the program cannot drift apart.

Above: the tests here; `python -m tests.docs.rows` prints the tables. Below: the settings models.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt, MaxLen, MinLen
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from callosum_mcp.models.knobs import Knobs
from callosum_mcp.models.requests import NAME_PATTERN
from callosum_mcp.settings.answer_model import Answer, BackendSection
from callosum_mcp.settings.environment import NAMES, PREFIX
from callosum_mcp.settings.model import (
    Federation,
    Logging,
    Security,
    Server,
    Settings,
    StoreSection,
    Surface,
    Tls,
    TransportSection,
    Updates,
)

SECTIONS: dict[str, type[BaseModel]] = {
    "server": Server,
    "federation": Federation,
    "stores": StoreSection,
    "stores.transport": TransportSection,
    "answer": Answer,
    "answer.backends": BackendSection,
    "surface": Surface,
    "security": Security,
    "logging": Logging,
    "tls": Tls,
    "updates": Updates,
}
"""Every section of the settings file and the model of what stands in it."""

_LISTED: dict[Any, str] = {
    StoreSection: "list of stores",
    BackendSection: "list of backends",
    Literal["darwin_ask"]: "list of `darwin_ask`",
}
_WORDS = {str: "text", int: "integer", float: "number", bool: "true or false", SecretStr: "secret"}


def rows(section: str) -> Iterator[tuple[str, list[str]]]:
    """Name and cells (name, type, default, bound, variable) of each setting; our own before the peer's."""
    model = SECTIONS[section]
    for name, field in sorted(model.model_fields.items(), key=lambda item: item[0] not in _own(model)):
        variable = next((PREFIX + key for key, place in NAMES.items() if place == (section, name)), None)
        cells = [f"`{name}`", _type(field), _default(field), _bound(field) or "–", f"`{variable}`" if variable else "–"]
        yield name, cells


def _own(model: type[BaseModel]) -> set[str]:
    return set(Knobs.model_fields) if model is Federation else set(model.model_fields) - {"managed"}


def _type(field: FieldInfo) -> str:
    return _type_name(field.annotation)


def _type_name(kind: Any) -> str:
    if get_origin(kind) is Annotated:
        return _type_name(get_args(kind)[0])
    if get_origin(kind) is Literal:
        return ", ".join(f"`{value}`" for value in get_args(kind))
    if get_origin(kind) in (Union, types.UnionType):
        return _type_name(next(part for part in get_args(kind) if part is not type(None)))
    if get_origin(kind) is list:
        inner = get_args(kind)[0]
        return _LISTED[inner] if inner in _LISTED else f"list of {_type_name(inner)}s"
    return "mapping" if get_origin(kind) is dict or kind is TransportSection else _WORDS[kind]


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, list):
        items = cast("list[object]", value)
        return "`[" + ", ".join(str(item) for item in items) + "]`" if items else "none"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`" if value not in (None, "", {}) else "none"


def _bound(field: FieldInfo) -> str:
    limits = list(_limits(field))
    if any(getattr(limit, "pattern", None) == NAME_PATTERN for limit in limits):
        return "1 to 64 letters, digits, `_` `.` `-`"
    low = next((limit for limit in limits if isinstance(limit, Ge | Gt)), None)
    high = next((limit for limit in limits if isinstance(limit, Le | Lt)), None)
    if any(isinstance(limit, MinLen) for limit in limits):
        return "not empty"
    longest = next((limit.max_length for limit in limits if isinstance(limit, MaxLen)), None)
    unit = "entries" if get_origin(field.annotation) is list else "characters"
    return f"at most {longest} {unit}" if longest else _between(low, high)


def _between(low: Ge | Gt | None, high: Le | Lt | None) -> str:
    floor = "" if low is None else f"above {_number(low.gt)}" if isinstance(low, Gt) else _number(low.ge)
    top = "" if high is None else f"below {_number(high.lt)}" if isinstance(high, Lt) else _number(high.le)
    if isinstance(low, Ge):
        return f"{floor} to {top}" if top else f"at least {floor}"
    return f"{floor}, at most {top}" if floor and top else floor or top


def _number(value: object) -> str:
    return f"{value:,}"


def _limits(field: FieldInfo) -> Iterator[Any]:
    for kind in (field.annotation, *get_args(field.annotation)):
        if get_origin(kind) is Annotated:
            for extra in get_args(kind)[1:]:
                yield from getattr(extra, "metadata", [extra])
    yield from field.metadata


def line(cells: list[str], meaning: str) -> str:
    """One line of a Markdown table."""
    return f"| {' | '.join([*cells, meaning])} |"


def _main() -> None:
    for section, model in SECTIONS.items():
        print(f"\n## {section}\n")  # noqa: T201 - this prints tables for the docs
        for name, cells in rows(section):
            print(line(cells, model.model_fields[name].description or ""))  # noqa: T201
    assert set(SECTIONS) - {"answer.backends", "stores.transport"} == set(Settings.model_fields)


if __name__ == "__main__":
    _main()
