"""From the text of one file to its chunks: by heading, long sections at paragraphs, each with its line numbers.

Above: the index and `fetch`. Below: headings, front matter, text. Pure. The text is never split into a list of lines:
searching it with compiled patterns is several times faster, and the first index of a large folder is mostly this.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from callosum_mcp.adapters.notes.frontmatter import FrontMatter, read_front_matter
from callosum_mcp.adapters.notes.headings import Heading, headings

_TARGET = 1500  # characters: about 400 tokens, a paragraph or three; small enough that several fit one answer
_LONGEST = 1800  # a rest shorter than this stays whole rather than leave a crumb
_TRAIL = " > "
_BINARY_PROBE = 8192  # bytes; a NUL this early means binary to git and grep too


@dataclass(frozen=True, kw_only=True, slots=True)
class Chunk:
    """One piece of a file.

    Attributes:
        line: First line, from 1: the heading's for the first piece below it.
        last_line: Last line with text.
        title: The headings that lead here (``Ops > Backups``); "" if there is none.
        text: The lines below the heading, or the heading where nothing is below it.
        section: Counts the sections of the file; pieces of one long section share it.
    """

    line: int
    last_line: int
    title: str
    text: str
    section: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """One file, read."""

    front: FrontMatter
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Section:
    start: int
    body: int
    end: int
    title: str
    name: str = ""
    parent: bool = False


class _Lines:
    """Line numbers of ascending offsets, counted once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._offset = 0
        self._line = 1

    def at(self, offset: int) -> int:
        self._line += self._text.count("\n", self._offset, offset)
        self._offset = offset
        return self._line


def decode(data: bytes) -> str | None:
    """The text of a file with plain line ends; None if it is binary. Broken UTF-8 shows as replacement characters."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = data.decode("utf-16", "replace")
    elif b"\0" in data[:_BINARY_PROBE] or b"\0" in data:
        return None
    else:
        text = data.decode("utf-8-sig", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_document(text: str, suffix: str) -> Document:
    """The chunks of a text.

    Args:
        text: As `decode` gives it.
        suffix: The file name's, lower case with its dot; decides what a heading looks like.
    """
    front = read_front_matter(text)
    lines = _Lines(text)
    sections = enumerate(_sections(text, front, suffix))
    chunks = [chunk for number, section in sections for chunk in _pieces(text, section, number, lines)]
    if front.end and not chunks:
        chunks = [_whole(text, front)]
    return Document(front=front, chunks=tuple(chunks))


def _whole(text: str, front: FrontMatter) -> Chunk:
    block = text[: front.end].strip()
    return Chunk(line=1, last_line=1 + block.count("\n"), section=0, title=front.title or "", text=block)


def _sections(text: str, front: FrontMatter, suffix: str) -> Iterator[_Section]:
    found = list(headings(text, front.end, suffix))
    first = found[0].start if found else len(text)
    yield _Section(start=front.end, body=front.end, end=first, title=front.title or "")
    trail: list[Heading] = []
    end = Heading(level=0, name="", start=len(text), end=len(text))
    for heading, following in pairwise([*found, end]):
        trail = [above for above in trail if above.level < heading.level] + [heading]
        yield _Section(
            start=heading.start,
            body=heading.end,
            end=following.start,
            title=_title(front, trail),
            name=heading.name,
            parent=following.level > heading.level,
        )


def _title(front: FrontMatter, trail: list[Heading]) -> str:
    names = [heading.name for heading in trail if heading.name]
    top = [front.title] if front.title and front.title not in names[:1] else []
    return _TRAIL.join([*top, *names])


def _pieces(text: str, section: _Section, number: int, lines: _Lines) -> Iterator[Chunk]:
    """The chunks of one section; an empty one has one only if it is a leaf with a name."""
    start = _skip_blank(text, section.body, section.end)
    if start == section.end:
        if section.name and not section.parent:
            line = lines.at(section.start)
            last = lines.at(max(section.start, section.body - 1))
            yield Chunk(line=line, last_line=last, section=number, title=section.title, text=section.name)
        return
    first = section.start if section.name else start
    while start < section.end:
        cut = _cut(text, start, section.end)
        body = text[start:cut].rstrip()
        line = lines.at(first)
        last = lines.at(start + len(body))
        yield Chunk(line=line, last_line=last, section=number, title=section.title, text=body)
        first = start = _skip_blank(text, cut, section.end)


def _cut(text: str, start: int, end: int) -> int:
    """Where the chunk that begins at `start` ends: always at a line end, so that no two chunks share a line."""
    if end - start <= _LONGEST:
        return end
    limit = start + _TARGET
    paragraph = text.rfind("\n\n", start + _TARGET // 4, limit)
    if paragraph >= 0:
        return paragraph + 1
    line_end = text.rfind("\n", start, limit)
    if line_end < 0:
        line_end = text.find("\n", limit, end)
    return end if line_end < 0 else line_end + 1


def _skip_blank(text: str, start: int, end: int) -> int:
    """The start of the first line with text in a range of whole lines; `end` if there is none."""
    while start < end:
        line_end = text.find("\n", start, end)
        stop = end if line_end < 0 else line_end + 1
        if not text[start:stop].isspace():
            return start
        start = stop
    return end


@dataclass(frozen=True, kw_only=True, slots=True)
class Passage:
    """A section as it stands in its file, with its neighbours.

    Attributes:
        chunk: The chunk that was asked for, or the nearest one where the file has changed.
        first_line: First line of `text`, from 1.
        last_line: Last line of `text`.
        text: The lines, heading included.
        before: The chunk above.
        after: The chunk below.
        front: The file's front matter.
    """

    chunk: Chunk
    first_line: int
    last_line: int
    text: str
    before: Chunk | None
    after: Chunk | None
    front: FrontMatter


def passage_at(text: str, suffix: str, line: int, limit: int) -> Passage | None:
    """The section at a line, as much of it as about `limit` characters hold; None if the text is empty."""
    document = read_document(text, suffix)
    chunks = document.chunks
    if not chunks:
        return None
    at = min(range(len(chunks)), key=lambda index: (abs(chunks[index].line - line), index))
    first, last = _extent(chunks, at, limit)
    lines = text.split("\n")[chunks[first].line - 1 : chunks[last].last_line]
    return Passage(
        chunk=chunks[at],
        first_line=chunks[first].line,
        last_line=chunks[last].last_line,
        text="\n".join(lines),
        before=chunks[first - 1] if first else None,
        after=chunks[last + 1] if last + 1 < len(chunks) else None,
        front=document.front,
    )


def _extent(chunks: tuple[Chunk, ...], at: int, limit: int) -> tuple[int, int]:
    """First and last index of the chunks of one section around `at`: downwards first, as one reads."""
    first = last = at
    size = len(chunks[at].text)
    while size < limit and last + 1 < len(chunks) and chunks[last + 1].section == chunks[at].section:
        last += 1
        size += len(chunks[last].text)
    while size < limit and first and chunks[first - 1].section == chunks[at].section:
        first -= 1
        size += len(chunks[first].text)
    return first, last
