"""docs/settings.md says what the settings models say: every name, type, default, bound and variable."""

from __future__ import annotations

import re

import pytest

from callosum_mcp.models.knobs import Knobs
from callosum_mcp.settings.environment import NAMES, PREFIX, overrides
from callosum_mcp.settings.model import Settings

from .markdown import page, section, table_rows
from .rows import SECTIONS, line, rows

PAGE = "docs/settings.md"


def _shown(name: str) -> dict[str, list[str]]:
    heading = "## tls and updates" if name in ("tls", "updates") else f"## {name}"
    tables = section(PAGE, heading)
    if name in ("tls", "updates"):
        tables = tables.split("\n\n")[1 if name == "tls" else 2]
    return {cells[0].strip("`"): cells for cells in table_rows(tables)}


def test_every_section_of_the_file_is_a_known_one() -> None:
    assert set(SECTIONS) - {"answer.backends", "stores.transport"} == set(Settings.model_fields)


@pytest.mark.parametrize("name", SECTIONS)
def test_a_section_is_documented_as_its_model_has_it(name: str) -> None:
    shown = _shown(name)
    for setting, cells in rows(name):
        given = shown.get(setting, [])
        wanted = line(cells, given[5] if len(given) > 5 else SECTIONS[name].model_fields[setting].description or "")
        assert given[:5] == cells, f"{PAGE}, section {name}, should say:\n{wanted}"
        assert len(given) == 6 and given[5], f"{PAGE}: {name}.{setting} has no meaning"


@pytest.mark.parametrize("name", SECTIONS)
def test_a_section_documents_nothing_that_is_gone(name: str) -> None:
    assert set(_shown(name)) <= set(SECTIONS[name].model_fields)


def test_every_mode_of_fusion_is_explained() -> None:
    modes = str(Knobs.model_json_schema()["properties"]["fusion_mode"]["enum"])
    explained = section(PAGE, "## federation").partition("\n`fusion_mode`:")[2]
    for mode in re.findall(r"\w+", modes):
        assert f"`{mode}`" in explained, f"{PAGE} does not explain fusion_mode {mode}"


def test_every_variable_is_documented() -> None:
    text = page(PAGE)
    for name in [*NAMES, "CONFIG", "RUNTIME_STORES"]:
        assert f"`{PREFIX}{name}`" in text


def test_every_documented_variable_of_the_peer_sets_something() -> None:
    named = set(re.findall(r"`(SEREN_SCC_\w+)`", page(PAGE))) - {"SEREN_SCC_CONFIG", "SEREN_SCC_RUNTIME_STORES"}
    assert len(named) == 10
    for variable in named:
        assert [source for source, _ in overrides({variable: "1"}).values()] == [variable]
