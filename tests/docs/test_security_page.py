"""Promises about SECURITY.md: each line has a test that exists; and about what the package stands on."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from typing import Any

import pytest

from .markdown import ROOT, section

HELD_BY = re.compile(r"`([\w/]+\.py)::(\w+)`")
UNBOUNDED_ALLOWED = frozenset({"dev"})  # nobody but us installs these


def rows() -> list[str]:
    """The lines of the table of promises."""
    lines = [line for line in section("SECURITY.md", "## What we defend").splitlines() if line.startswith("| ")]
    return [line for line in lines if not line.startswith("| promise |")]


@cache
def named_in(name: str) -> frozenset[str]:
    """The names of the tests in a file."""
    text = (ROOT / "tests" / name).read_text(encoding="utf-8")
    return frozenset(re.findall(r"^(?:async )?def (test_\w+)", text, re.MULTILINE))


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[2:50])
def test_each_defence_is_held_by_tests_that_exist(row: str) -> None:
    named = HELD_BY.findall(row)
    assert named
    missing = [f"{file}::{test}" for file, test in named if test not in named_in(file)]
    assert missing == []


def test_what_is_not_defended_is_said() -> None:
    assert len(re.findall(r"^- \*\*", section("SECURITY.md", "## What we do not defend"), re.MULTILINE)) >= 8
    assert section("SECURITY.md", "## Report a weakness")


def requirements() -> list[str]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        project: dict[str, Any] = tomllib.load(file)["project"]
    extras: dict[str, list[str]] = project["optional-dependencies"]
    return [
        *project["dependencies"],
        *(one for name in sorted(extras.keys() - UNBOUNDED_ALLOWED) for one in extras[name]),
    ]


@pytest.mark.parametrize("requirement", requirements())
def test_every_dependency_that_users_install_has_an_upper_bound(requirement: str) -> None:
    assert re.search(r"(,|^[\w\[\]-]+)<\d|==\d", requirement.partition(";")[0]), requirement


def test_ci_audits_the_dependencies() -> None:
    steps = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert re.search(r'^step "[^"]*advisor[^"]*" audit$', steps, re.MULTILINE)
    audit = steps.partition("audit() {")[2].partition("\n}\n")[0]
    assert "timeout " in audit and "pip-audit" in audit and "Not audited" in audit
