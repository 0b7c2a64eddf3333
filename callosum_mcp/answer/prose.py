"""Prose with receipts: sentences, the marks in them, and how they are told apart.

Above: merge, grounding, ask. Below: text. Pure. Every sentence of an answer carries a mark: ``[r1]`` for what a memory
says, ``[engines]`` for what this call knows of the stores.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from callosum_mcp.text import clean, clip

ENGINES = "[engines]"
"""The mark of a sentence about the stores: engines[] of the same answer bears it out."""

_MARK = re.compile(r"[\[【(]\s*(r\d{1,4}(?:\s*[,;]\s*r\d{1,4})*)\s*[\])】]", re.IGNORECASE)
_MARKS = re.compile(rf"(?:{_MARK.pattern}\s*)+", re.IGNORECASE)
_MARKED_LATE = re.compile(r"[.!?…。]+\s*(\[r\d+\])")
_END = re.compile(r"[.!?…]+[\"'”’»)\]]*(?=\s|$)|[。！？]+|\n+")
_LEADING = re.compile(rf"(?:\s|{_MARK.pattern})+", re.IGNORECASE)
_ABBREVIATED = re.compile(
    r"(?:^|[\s(])(?:e\.g|i\.e|z\.\s?B|bzw|approx|ca|cf|vs|etc|no|nr|st|dr|mr|mrs|ms|p|ex|fig|[A-Z])\.$", re.IGNORECASE
)
_STOPS = re.compile(r"[.!?…]+(?=[\"'”’»)\]]*\s)")
_BULLET = re.compile(r"^\s*(?:[-*•#>]+|\d{1,3}[.)])\s+")
_EMPHASIS = re.compile(r"[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of an answer, as it is shown, with the receipts it cites."""

    text: str
    marks: tuple[str, ...] = ()


def sentence(text: str) -> Sentence:
    """A sentence with the marks that stand in it, each written as ``[r1]``."""
    shown = _MARK.sub(lambda found: "".join(f"[{one}]" for one in _ids(found.group(1))), text)
    return Sentence(shown, tuple(dict.fromkeys(one for found in _MARK.finditer(text) for one in _ids(found.group(1)))))


def split(text: str) -> list[str]:
    """The sentences of a text; marks that stand behind a full stop belong to the sentence before it."""
    found: list[str] = []
    start = 0
    for end in _END.finditer(text):
        if end.start() < start or _ABBREVIATED.search(text[start : end.end()]):
            continue
        trailing = _LEADING.match(text, end.end())
        stop = trailing.end() if trailing is not None and _MARK.search(trailing.group()) else end.end()
        found.append(text[start:stop])
        start = stop
    return [piece.strip() for piece in (*found, text[start:]) if piece.strip()]


def written(text: str) -> list[Sentence]:
    """The sentences of a model's text, without its Markdown, each with its full stop behind its marks."""
    pieces = (piece for line in clean(text).splitlines() for piece in split(_EMPHASIS.sub("", _BULLET.sub("", line))))
    return [_ended(piece) for piece in pieces]


def _ended(piece: str) -> Sentence:
    told = sentence(piece)
    text = " ".join(_MARKED_LATE.sub(r" \1", told.text).rstrip(" .…。").split())
    return Sentence(f"{text}.", told.marks)


def segments(told: Sentence) -> list[tuple[str, tuple[str, ...]]]:
    """The parts of a sentence, each with the marks it ends in; words behind the last mark belong to the part before."""
    found: list[tuple[str, tuple[str, ...]]] = []
    last = 0
    for group in _MARKS.finditer(told.text):
        text = told.text[last : group.start()].strip(" .;,")
        marks = sentence(group.group()).marks
        if text or not found:
            found.append((text, marks))
        else:
            found[-1] = (found[-1][0], (*found[-1][1], *marks))
        last = group.end()
    rest = told.text[last:].strip(" .;,")
    return [*found[:-1], (f"{found[-1][0]} {rest}".strip(), found[-1][1])] if found else []


def unmarked(text: str) -> str:
    """A text without its marks."""
    return " ".join(re.sub(r"\s+([.,;:!?])", r"\1", _MARK.sub("", text)).split())


def quoted(text: str, limit: int) -> str:
    """Words of a memory that can stand inside a sentence of ours: one line, no full stop, no marks of its own."""
    line = " ".join(_MARK.sub(" ", clean(text)).split()).replace("[", "(").replace("]", ")")
    line = _MARK.sub("", line)  # what was a mark inside a mark
    return _STOPS.sub("", clip(line, limit)).rstrip(" .!?…。！？;,:") + ("…" if len(line) > limit else "")


def joined(sentences: Sequence[Sentence]) -> str:
    """The prose."""
    return " ".join(one.text for one in sentences)


def _ids(listed: str) -> list[str]:
    return [one.strip().lower() for one in re.split(r"[,;]", listed)]
