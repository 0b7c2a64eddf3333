"""The page of promises, and the marks in the tests, as two lists that can be compared.

Above: the test here. Below: the files. A mark is ``@pytest.mark.promise("id", …)`` at a test function; it is read out
of the source, so that nothing is imported or run.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .markdown import ROOT, page, table_rows

PAGE = "docs/promises.md"
TESTS = ROOT / "tests"
_TEST = re.compile(r"`([\w/]+\.py)::(\w+)`")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One promise of the page.

    Attributes:
        id: What marks call it.
        promise: It, in words.
        tests: What holds it, as ``file::test`` below `TESTS`.
    """

    id: str
    promise: str
    tests: tuple[str, ...]


def promises(text: str | None = None) -> list[Row]:
    """The rows of the page, in its order."""
    rows = table_rows(page(PAGE) if text is None else text)
    return [
        Row(id=cells[0], promise=cells[1], tests=tuple("::".join(t) for t in _TEST.findall(cells[2]))) for cells in rows
    ]


def named(rows: list[Row]) -> set[tuple[str, str]]:
    """Which test the page names for which promise."""
    return {(test, row.id) for row in rows for test in row.tests}


def marked(folder: Path = TESTS) -> set[tuple[str, str]]:
    """Which test is marked with which promise."""
    return {
        (f"{file.relative_to(folder)}::{name}", identity)
        for file in folder.rglob("test_*.py")
        for name, identity in _marks(file)
    }


def _marks(file: Path) -> Iterator[tuple[str, str]]:
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.promise":
                    yield from ((node.name, str(ast.literal_eval(argument))) for argument in decorator.args)
