"""Front matter: the block of settings at the top of a Markdown file, as far as a search needs it.

Above: the chunker. Below: text. Pure. A reader of a few lines, not of YAML: a full parser takes longer than
all the rest of a file, and a broken block must not lose the notes below it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from callosum_mcp.text import one_line

_BLOCK = re.compile(r"(---|\+\+\+)[ \t]*\n(.*?)^\1[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"([A-Za-z][\w-]*(?: +[\w-]+)*)[ \t]*[:=](?:[ \t]+|$)(.*)")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.+)")
_DATES = frozenset({"date", "created", "updated", "modified", "last_modified", "published"})
_TOPICS = ("tags", "topics", "categories", "keywords")
_ABOUT = ("name", "description", "summary", "aliases")
_BLOCK_SCALARS = frozenset({">", "|", ">-", "|-", ">+", "|+"})


@dataclass(frozen=True, kw_only=True, slots=True)
class FrontMatter:
    """What the top of a file says of the whole file.

    Attributes:
        end: Offset of the first character after the block; 0 if there is none.
        title: The file's title.
        topics: Its tags, lower case, each once.
        about: Further words to find it by: name, description, aliases.
        dates: Its date fields, as written.
    """

    end: int = 0
    title: str | None = None
    topics: tuple[str, ...] = ()
    about: str = ""
    dates: tuple[tuple[str, str], ...] = ()


def read_front_matter(text: str) -> FrontMatter:
    """The front matter of a text that starts with ``---`` (YAML) or ``+++`` (TOML); empty if it has none."""
    block = _BLOCK.match(text) if text.startswith(("---", "+++")) else None
    fields = {} if block is None else _fields(block.group(2))
    if block is None or not fields:
        return FrontMatter()
    topics = (topic.lstrip("#").lower() for name in _TOPICS for topic in _list(fields.get(name, [])))
    return FrontMatter(
        end=block.end(),
        title=" ".join(fields.get("title", [])) or None,
        topics=tuple(dict.fromkeys(topic for topic in topics if topic)),
        about=" ".join(item for name in _ABOUT for item in fields.get(name, [])),
        dates=tuple((name, " ".join(values)) for name, values in fields.items() if name in _DATES and values),
    )


def _fields(block: str) -> dict[str, list[str]]:
    """Each field's values: the text behind its name, or the list items and indented lines below it."""
    fields: dict[str, list[str]] = {}
    values: list[str] = []
    for line in block.split("\n"):
        if field := _FIELD.match(line):
            values = fields.setdefault(field.group(1).lower(), [])
            rest = field.group(2)
        else:
            item = _ITEM.match(line)
            rest = item.group(1) if item else line if line.startswith((" ", "\t")) else ""
        if (value := _unquoted(rest)) and value not in _BLOCK_SCALARS:
            values.append(value)
    return fields


def _list(values: list[str]) -> list[str]:
    """Values as single entries: ``[a, b]``, ``a, b`` and one per line mean the same."""
    return [_unquoted(entry) for value in values for entry in value.strip("[]").split(",")]


def _unquoted(text: str) -> str:
    return one_line(text.strip().strip("\"'"), 500)
