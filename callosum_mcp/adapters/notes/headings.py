"""Where the headings of a text are: Markdown, and the one-line headings of Org, AsciiDoc and reStructuredText.

Above: the chunker. Below: text. Pure. Plain text has none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from callosum_mcp.text import one_line

_MARKS = re.compile(
    r"^(?:[ \t]*(?P<fence>`{3,}|~{3,})(?P<info>.*)"
    r"|[ ]{0,3}(?P<hashes>#{1,6})(?:[ \t]+(?P<name>.*))?"
    r"|[ ]{0,3}(?P<under>=+|-+)[ \t]*)$",
    re.MULTILINE,
)
_CLOSING_HASHES = re.compile(r"(?:^|(?<![ \t])[ \t]+)#+[ \t]*$")
_NOT_A_PARAGRAPH = re.compile(r"[ ]{4}|\t|[ ]{0,3}(?:[>|#]|[-*+][ \t]|\d+[.)][ \t]|`{3}|~{3}|[-=*_ \t]+$)")
_ORG = re.compile(r"^(?P<marks>\*+)[ \t]+(?P<name>.+)$", re.MULTILINE)
_ASCIIDOC = re.compile(r"^(?P<marks>={1,6})[ \t]+(?P<name>.+)$", re.MULTILINE)
_RST = re.compile(r"^(?P<name>[^\s].*)\n(?P<under>(?P<mark>[=\-~^\"'*+#:._`])(?P=mark){2,})[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Heading:
    """One heading.

    Attributes:
        level: 1 is the highest.
        name: Its text, on one line.
        start: Offset of its first line.
        end: Offset of the line after it.
    """

    level: int
    name: str
    start: int
    end: int


def headings(text: str, start: int, suffix: str) -> Iterator[Heading]:
    """The headings from an offset on, in order; none for a suffix that has no headings."""
    find = _FINDERS.get(suffix)
    return iter(()) if find is None else find(text, start)


def _markdown(text: str, start: int) -> Iterator[Heading]:
    fence = ""
    free_from = start
    for mark in _MARKS.finditer(text, start):
        if fence or mark["fence"]:
            fence = _fence_after(fence, mark)
            free_from = mark.end()
        elif mark["hashes"]:
            name = _CLOSING_HASHES.sub("", mark["name"] or "")
            yield _heading(text, len(mark["hashes"]), name, mark.start(), mark.end())
            free_from = mark.end()
        elif (line := _lone_line(text, mark.start(), free_from)) is not None:
            yield _heading(text, 1 if mark["under"][0] == "=" else 2, text[line : mark.start()], line, mark.end())
            free_from = mark.end()


def _fence_after(fence: str, mark: re.Match[str]) -> str:
    """The open code fence after a mark, "" if none is: closed by the same character, as long, with nothing behind."""
    found = mark["fence"] or ""
    if fence:
        closes = found.startswith(fence) and not mark["info"].strip()
        return "" if closes else fence
    return "" if "`" in found and "`" in mark["info"] else found


def _lone_line(text: str, underline: int, free_from: int) -> int | None:
    """Where the one-line paragraph above an underline starts; None if there is something else above it."""
    line = text.rfind("\n", 0, max(underline - 1, 0)) + 1
    if line < free_from or line >= underline or _NOT_A_PARAGRAPH.match(text, line, underline - 1):
        return None
    above = text[text.rfind("\n", 0, max(line - 1, 0)) + 1 : line]
    alone = line <= free_from + 1 or above.isspace()
    return line if alone and text[line:underline].strip() else None


def _starred(pattern: re.Pattern[str]) -> Callable[[str, int], Iterator[Heading]]:
    def find(text: str, start: int) -> Iterator[Heading]:
        for mark in pattern.finditer(text, start):
            yield _heading(text, len(mark["marks"]), mark["name"], mark.start(), mark.end())

    return find


def _underlined(text: str, start: int) -> Iterator[Heading]:
    """reStructuredText: the level of an underline is the order in which its character first appears."""
    levels: dict[str, int] = {}
    for mark in _RST.finditer(text, start):
        if len(mark["under"]) >= len(mark["name"].rstrip()) and not mark["name"].startswith(".."):
            level = levels.setdefault(mark["mark"], len(levels) + 1)
            yield _heading(text, level, mark["name"], mark.start(), mark.end())


def _heading(text: str, level: int, name: str, start: int, end: int) -> Heading:
    return Heading(level=level, name=one_line(name), start=start, end=min(end + 1, len(text)))


_FINDERS: dict[str, Callable[[str, int], Iterator[Heading]]] = {
    ".md": _markdown,
    ".markdown": _markdown,
    ".mdx": _markdown,
    ".org": _starred(_ORG),
    ".adoc": _starred(_ASCIIDOC),
    ".rst": _underlined,
}
