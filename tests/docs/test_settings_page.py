"""docs/settings.md says what the settings models say: every name, type, default, bound and variable."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from callosum_mcp.models.knobs import Knobs
from callosum_mcp.settings.environment import NAMES, PREFIX, overrides
from callosum_mcp.settings.model import Settings

from .markdown import ROOT, page, section, table_rows
from .rows import SECTIONS, line, rows

PAGE = "docs/settings.md"


def _shown(name: str) -> dict[str, list[str]]:
    heading = "## tls and updates" if name in ("tls", "updates") else f"## {name}"
    tables = section(PAGE, heading)
    if name in ("tls", "updates"):
        tables = tables.split("\n\n")[1 if name == "tls" else 2]
    return {cells[0].strip("`"): cells for cells in table_rows(tables)}


def test_every_section_of_the_file_is_a_known_one() -> None:
    assert set(SECTIONS) == set(Settings.model_fields)


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


def test_settings_said_to_be_without_effect_are_read_by_nothing() -> None:
    _, _, rest = page(PAGE).partition("Read by nothing in this version")
    names = re.findall(r"`(\w+)`", rest.partition("\n\n")[0])
    code = "\n".join(module.read_text(encoding="utf-8") for module in _in_use())
    assert names
    for name in names:
        assert not re.search(rf"\bknobs\.{name}\b", code), f"{name} has an effect now: say which in {PAGE}"


def _in_use() -> set[Path]:
    """The modules of the package that the wired program imports, however deep."""
    reached: set[Path] = set()
    left = [ROOT / "callosum_mcp" / "app.py"]
    while left:
        module = left.pop()
        if module.is_file() and module not in reached:
            reached.add(module)
            left += _imported_by(module)
    return reached


def _imported_by(module: Path) -> list[Path]:
    names = re.findall(r"^\s*from (callosum_mcp[\w.]*) import", module.read_text(encoding="utf-8"), re.MULTILINE)
    places = [ROOT.joinpath(*name.split(".")) for name in names]
    return [path for place in places for path in (place.with_suffix(".py"), place / "__init__.py")]
