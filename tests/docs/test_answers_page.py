"""docs/answers.md names every field, tool, argument, reason and route; docs/clients.md every command and exit code."""

from __future__ import annotations

import re
from typing import get_args

import pytest
from pydantic import BaseModel
from starlette.routing import Route

from callosum_mcp.app import build
from callosum_mcp.cli import doctor
from callosum_mcp.cli.arguments import parser
from callosum_mcp.errors import Reason
from callosum_mcp.models import asking, results
from callosum_mcp.models.values import Status, Tier
from callosum_mcp.settings import load
from callosum_mcp.surface.rest import rest_routes
from callosum_mcp.surface.tools import ALIASES, TOOLS, Tool

from .markdown import ROOT, page, section, table_rows

PAGE = "docs/answers.md"
PLACES: dict[type[BaseModel], str] = {
    results.RecallResult: "## RecallResult",
    results.HitOut: "## RecallResult",
    results.ReceiptOut: "## RecallResult",
    results.ConflictOut: "## RecallResult",
    results.EngineOut: "## RecallResult",
    results.SourceOut: "## RecallResult",
    asking.AskResult: "## AskResult",
    asking.AskReceipt: "## AskResult",
    asking.AskHit: "## AskResult",
    asking.AskConflict: "## AskResult",
    asking.Synthesis: "## AskResult",
    results.FetchResult: "## The other answers",
    results.StoresResult: "## The other answers",
    results.StoreOut: "## The other answers",
    results.AddResult: "## The other answers",
    results.RemoveResult: "## The other answers",
    results.ConfigureResult: "## The other answers",
    results.Change: "## The other answers",
}


def _names(text: str) -> set[str]:
    return set(re.findall(r"`([\w.-]+)`", text))


def _routes() -> list[Route]:
    application = build(load(ROOT / "docs/examples/memory.yaml", {}, ROOT), keep_overlay=False)
    return rest_routes(application.services())


@pytest.mark.parametrize("model", PLACES, ids=lambda model: model.__name__)
def test_every_field_of_an_answer_is_documented(model: type[BaseModel]) -> None:
    assert set(model.model_fields) - _names(section(PAGE, PLACES[model])) == set()


def test_no_answer_is_left_out_of_this_test() -> None:
    found = {
        value
        for value in (*vars(results).values(), *vars(asking).values())
        if isinstance(value, type) and issubclass(value, BaseModel) and not value.__name__.startswith("_")
    }
    assert found - set(PLACES) <= {BaseModel, results.Knobs}


@pytest.mark.parametrize("tool", [*TOOLS, *ALIASES], ids=lambda tool: tool.name)
def test_a_tool_and_its_arguments_are_documented(tool: Tool) -> None:
    rows = {cells[0]: cells[1] for cells in table_rows(section(PAGE, "## Tools and their arguments"))}
    documented = _names(rows[f"`{tool.name}`"])
    if tool.name == "configure":
        documented |= _names(page("docs/settings.md"))

    assert set(tool.request.model_fields) - documented == set()


def test_the_readme_names_every_tool() -> None:
    assert {tool.name for tool in TOOLS} <= _names(section("README.md", "## Tools"))


def test_every_route_is_documented_and_no_other() -> None:
    served = {f"{method} {route.path}" for route in _routes() for method in (route.methods or set()) - {"HEAD"}}
    documented = {cells[0].strip("`") for cells in table_rows(section(PAGE, "## REST"))}

    assert documented == served


@pytest.mark.parametrize("vocabulary", [Reason, Status, Tier, asking.SynthesisStatus])
def test_every_word_of_a_vocabulary_is_explained(vocabulary: object) -> None:
    assert set(get_args(vocabulary)) - _names(page(PAGE)) == set()


def test_every_code_of_the_doctor_has_a_line() -> None:
    codes = {str(value) for name, value in vars(doctor).items() if name.startswith("EXIT_")}
    documented = {cells[0] for cells in table_rows(section("docs/clients.md", "## Troubleshooting"))}

    assert codes <= documented


def test_every_command_is_named_in_the_docs() -> None:
    commands = re.findall(r"\{([\w,]+)\}", parser().format_usage()) or [_commands()]
    text = page("README.md") + page("docs/clients.md") + page("docs/architecture.md")

    for command in commands[0].split(","):
        assert f"`{command}`" in text or f"callosum-mcp {command}" in text, f"{command} is not documented"


def _commands() -> str:
    return ",".join(re.findall(r"^    (\w+) ", parser().format_help(), re.MULTILINE))
