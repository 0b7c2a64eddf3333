"""Aligned tables and verdicts, as the benches print them. Pure but for `show`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]


def show(title: str, rows: Sequence[Row], notes: Sequence[str] = ()) -> None:
    """Print a table whose columns are the keys of its first row, with notes between title and head."""
    print(f"\n{title}")
    for note in notes:
        print(f"  {note}")
    if rows:
        cells = [list(rows[0]), *([_cell(value) for value in row.values()] for row in rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        for line in cells:
            print("  " + "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))


def verdict(claim: str, met: bool) -> str:
    """Print one line of verdict, and give it back."""
    line = f"{claim}: {'met' if met else 'NOT met'}"
    print(f"  {line}", flush=True)
    return line


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}" if abs(value) < 100 else f"{value:.0f}"
    return "-" if value is None else str(value)
