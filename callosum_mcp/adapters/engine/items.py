"""The items in a result: objects, rows of a table, parallel columns, or matches of a pattern.

Above: `reading`. Below: `paths`. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import cast

from callosum_mcp.adapters.engine.paths import MAX_NODES, Found, Node
from callosum_mcp.adapters.engine.patterns import Patience
from callosum_mcp.adapters.engine.plan import ExtractPlan


def items(extract: ExtractPlan, root: object) -> Found:
    """The items of one kind; missing if the result has no place for them."""
    if extract.mode == "regex":
        return _matches(extract, root)
    if extract.mode == "columns":
        return _from_columns(extract, root)
    found = extract.items.select(root)
    if extract.mode == "objects" or found.missing:
        return found
    names = extract.columns[""].value(root)
    if not isinstance(names, list):
        return Found([], missing=True)
    return Found([(_row(cast("list[object]", names), row), captured) for row, captured in found.nodes])


def _row(names: list[object], row: object) -> object:
    """A row as an object; what is no row stays what it is, and cannot be read."""
    if not isinstance(row, list):
        return row
    return {name: value for name, value in zip(names, cast("list[object]", row), strict=False) if isinstance(name, str)}


def _from_columns(extract: ExtractPlan, root: object) -> Found:
    values = {name: path.value(root) for name, path in extract.columns.items()}
    columns = {name: cast("list[object]", column) for name, column in values.items() if isinstance(column, list)}
    length = max((len(column) for column in columns.values()), default=0)
    nodes: list[Node] = [
        ({name: column[at] for name, column in columns.items() if at < len(column)}, ())
        for at in range(min(length, MAX_NODES))
    ]
    return Found(nodes, missing=not columns)


def _matches(extract: ExtractPlan, root: object) -> Found:
    """Every match in every text; a result that is one text is that text, whatever the path says of elements."""
    found = Found([(root, ())]) if isinstance(root, str) else extract.items.select(root)
    return Found(list(islice(_found_in(extract, found.nodes), MAX_NODES)), missing=found.missing)


def _found_in(extract: ExtractPlan, nodes: list[Node]) -> Iterator[Node]:
    assert extract.pattern is not None
    patience = Patience()
    for text, captured in nodes:
        if isinstance(text, str):
            yield from ((groups, captured) for groups in extract.pattern.matches(text, patience))
