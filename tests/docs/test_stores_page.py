"""docs/stores.md names every option of the built-in store types, with defaults and bounds that hold."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

import pytest

from callosum_mcp.adapters.base import Adapter
from callosum_mcp.adapters.registry import BUILT_IN, adapter_class, create
from callosum_mcp.models.values import StoreSpec

from .markdown import page, section, table_rows

PAGE = "docs/stores.md"
URLS = {"notes": "notes", "postgres": "postgresql://reader@127.0.0.1:9/memories"}


def _documented(type_name: str) -> dict[str, list[str]]:
    return {cells[0].strip("`"): cells for cells in table_rows(section(PAGE, f"## {type_name}"))}


def _made(type_name: str, options: Mapping[str, Any]) -> Adapter:
    url = URLS.get(type_name, "http://127.0.0.1:9")
    return create(StoreSpec(name="store", type=type_name, url=url, options=options))


def _plain(adapter: Adapter) -> dict[str, object]:
    """What an adapter took from its options: its plain values, without what it was made of."""
    values: dict[str, Any] = vars(adapter)
    kept = {name: asdict(value) if is_dataclass(value) else value for name, value in values.items() if name != "spec"}  # pyright: ignore[reportArgumentType]
    return {
        name: value for name, value in kept.items() if isinstance(value, str | bool | int | float | frozenset | dict)
    }


def _options(kind: str) -> list[tuple[str, list[str]]]:
    return [
        (type_name, cells)
        for type_name in BUILT_IN
        for cells in _documented(type_name).values()
        if cells[1] == kind or kind == "any"
    ]


def _ids(value: object) -> str:
    return value if isinstance(value, str) else str(value[0]).strip("`") if isinstance(value, list) else ""  # pyright: ignore[reportUnknownArgumentType]


@pytest.mark.parametrize("type_name", BUILT_IN)
def test_the_options_of_a_type_are_all_documented_and_no_others(type_name: str) -> None:
    assert set(_documented(type_name)) == adapter_class(type_name).options


@pytest.mark.parametrize(("type_name", "cells"), _options("any"), ids=_ids)
def test_an_option_that_is_not_given_has_its_documented_default(type_name: str, cells: list[str]) -> None:
    given: object = json.loads(cells[2].strip("`"))

    assert _plain(_made(type_name, {cells[0].strip("`"): given})) == _plain(_made(type_name, {}))


@pytest.mark.parametrize(("type_name", "cells"), _options("number"), ids=_ids)
def test_a_documented_bound_is_the_bound(type_name: str, cells: list[str]) -> None:
    name = cells[0].strip("`")
    low, high = (int(bound.replace(",", "")) for bound in cells[3].split(" to "))

    for inside in (low, high):
        _made(type_name, {name: inside})
    for outside in (low - 1, high + 1):
        with pytest.raises(ValueError, match=name):
            _made(type_name, {name: outside})


@pytest.mark.parametrize("type_name", BUILT_IN)
def test_what_reading_changes_in_a_store_is_said(type_name: str) -> None:
    said = {"none": "**Reading changes** nothing"}[adapter_class(type_name).side_effects]

    assert said in section(PAGE, f"## {type_name}")


@pytest.mark.parametrize("type_name", BUILT_IN)
def test_a_type_says_what_it_calls_and_which_traps_it_handles(type_name: str) -> None:
    text = section(PAGE, f"## {type_name}")

    assert "**Calls**" in text and "**Traps handled**" in text


def test_the_limit_of_a_reply_is_the_one_in_force() -> None:
    from callosum_mcp.adapters.http import MAX_REPLY_BYTES

    assert f"a reply over {MAX_REPLY_BYTES // 2**20} MiB" in page(PAGE)
