"""Docstrings: every public module, class, function and method has one; a module's says what is above and below it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from .markdown import ROOT

PACKAGE = ROOT / "callosum_mcp"
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.stat().st_size)
AT_AN_END = {"__init__.py", "__main__.py", "errors.py", "text.py"}
"""Modules of the package's own folder with nothing above or nothing below them, which their docstrings say freely."""

_Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def _names(paths: list[Path]) -> list[str]:
    return [str(path.relative_to(PACKAGE)) for path in paths]


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _public(body: list[ast.stmt], prefix: str = "") -> Iterator[tuple[str, _Definition]]:
    """The public definitions of a module, and of its public classes."""
    for node in body:
        if not isinstance(node, _Definition) or node.name.startswith("_"):
            continue
        yield prefix + node.name, node
        if isinstance(node, ast.ClassDef):
            yield from _public(node.body, f"{node.name}.")


@pytest.mark.parametrize("path", MODULES, ids=_names(MODULES))
def test_a_module_says_what_is_above_and_below_it(path: Path) -> None:
    said = ast.get_docstring(_tree(path)) or ""

    assert said, "no docstring"
    if path.parent != PACKAGE or path.name not in AT_AN_END:
        assert "Above: " in said and "Below" in said


@pytest.mark.parametrize("path", MODULES, ids=_names(MODULES))
def test_everything_public_in_a_module_has_a_docstring(path: Path) -> None:
    without = [name for name, node in _public(_tree(path).body) if not ast.get_docstring(node)]

    assert without == []


@pytest.mark.parametrize("path", MODULES, ids=_names(MODULES))
def test_the_names_a_module_exports_are_sorted_and_there(path: Path) -> None:
    tree = _tree(path)
    exported = [
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets)
    ]
    for names in exported:
        assert names == sorted(names, key=_constants_classes_functions)
        assert set(names) <= {name for node in _top(tree) for name in _bound(node)}


def _top(tree: ast.Module) -> Iterator[ast.stmt]:
    """The statements at the top of a module, those for type checkers too: such a name is loaded at its first use."""
    for node in tree.body:
        yield from node.body if isinstance(node, ast.If) else [node]


def _constants_classes_functions(name: str) -> tuple[int, str]:
    """The order the linter keeps: constants, then classes, then functions, each by name."""
    return (0 if name.isupper() else 1 if name[:1].isupper() else 2), name


def _bound(node: ast.stmt) -> Iterator[str]:
    """The names a statement at the top of a module binds."""
    if isinstance(node, _Definition):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name for alias in node.names)
    elif isinstance(node, ast.Assign):
        yield from (target.id for target in node.targets if isinstance(target, ast.Name))
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id
