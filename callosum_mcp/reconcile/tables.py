"""Markdown tables as sentences, each cell with the heads of its row and column; lines of a listing as settings.

Above: `reading`. Below: nothing. Pure.
"""

from __future__ import annotations

import re

_SETTING = re.compile(r"^([a-z][a-z0-9]*[a-z0-9_.-]{5,})[ \t]+([^\s:=]+[^\s:=.,;])$", re.MULTILINE | re.IGNORECASE)
_RULE = re.compile(r"^\s*\|?\s*:?-{2,}:?\s*(?:[|+]\s*:?-{2,}:?\s*)*\|?\s*$")


def spelled_out(text: str) -> str:
    """A text whose tables are written as lines like ``row column: cell``; other text stays as it is."""
    if "\n" in text:
        text = _SETTING.sub(r"\1 = \2", text)
    if "|" not in text or "--" not in text:
        return text
    lines = text.split("\n")
    rules = [at for at in range(1, len(lines)) if _RULE.match(lines[at]) and "|" in lines[at - 1]]
    for at in reversed(rules):
        end = next((i for i in range(at + 1, len(lines)) if "|" not in lines[i]), len(lines))
        lines[at - 1 : end] = _rows(_cells(lines[at - 1]), [_cells(line) for line in lines[at + 1 : end]])
    return "\n".join(lines)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _rows(heads: list[str], rows: list[list[str]]) -> list[str]:
    return [f"{row[0]} {head}: {cell}" for row in rows for head, cell in zip(heads[1:], row[1:], strict=False) if cell]
