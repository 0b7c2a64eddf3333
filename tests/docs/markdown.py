"""Reading the project's Markdown: code blocks, tables, links and headings.

Above: the tests here. Below: the files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docs" / "examples"
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    *sorted(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md")),
)
"""Every page of the project, relative to its root."""

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)


def page(name: str) -> str:
    """The text of a page."""
    return (ROOT / name).read_text(encoding="utf-8")


def section(name: str, heading: str) -> str:
    """What stands under a heading of a page, up to the next heading of the same level or a higher one."""
    level = heading.index(" ")
    _, found, rest = page(name).partition(f"\n{heading}\n")
    assert found, f"{name} has no heading {heading!r}"
    return re.split(rf"^#{{1,{level}}} ", rest, maxsplit=1, flags=re.MULTILINE)[0]


def blocks(name: str, language: str) -> list[str]:
    """The code blocks of a page in one language."""
    return [code for lang, code in _BLOCK.findall(page(name)) if lang == language]


def without_blocks(name: str) -> str:
    """The text of a page without its code blocks."""
    return _BLOCK.sub("", page(name))


def table_rows(text: str) -> Iterator[list[str]]:
    """The cells of each line of each table in a text, head lines left out."""
    before = ""
    for line in text.splitlines():
        if line.startswith("|") and before.startswith("|") and not line.startswith("|--"):
            yield [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        before = line


def links(name: str) -> list[str]:
    """The targets of the links of a page."""
    return _LINK.findall(without_blocks(name))


def anchors(name: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in _HEADING.findall(without_blocks(name)))
    return {heading.strip().replace(" ", "-") for heading in plain}
