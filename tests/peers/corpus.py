"""The typed view of `corpus.toml`: what the real servers hold after seeding, and which rows are known to clash.

Pure: no clock and no network. Ages are days before the moment of seeding (`seed.py` supplies it), so a row that is
0.2 days old here is 0.2 days old on the server in every run.
"""

import functools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

_Row = TypeVar("_Row")
_FILE = Path(__file__).with_name("corpus.toml")


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    project: str
    key: str
    value: str
    why: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Edit:
    """A later write that replaces the live value of a fact; the old one stays in its history."""

    project: str
    key: str
    value: str
    why: str
    why_changed: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Retirement:
    """A fact that is no longer live and has no successor."""

    project: str
    key: str
    why_changed: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Citation:
    """`project/key` rests on `on_project/on_key`."""

    project: str
    key: str
    on_project: str
    on_key: str
    why: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Short:
    """A short-term memory. `id` is its native id on the server."""

    id: str
    days_ago: float
    topic: str
    content: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Near:
    """An intention. `due_in_days` belongs to the trigger `time`, `event` to the trigger `event`."""

    id: str
    trigger: Literal["time", "event", "always"]
    topic: str
    intent: str
    days_ago: float = 3.0
    due_in_days: float | None = None
    event: str | None = None
    completed: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Operation:
    """One step of a draft. `name` and `target` are names of cores; the server gives a core its id when approved."""

    name: str
    kind: Literal["new_core", "verbatim", "supersede", "attach"]
    topic: str
    content: str
    sources: Sequence[str] = ()
    evidence_count: int | None = None
    target: str | None = None
    contradicts: str | None = None
    verdict: Literal["approve", "deny"] | None = None
    critique: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    summary: str
    operations: Sequence[Operation]


@dataclass(frozen=True, kw_only=True, slots=True)
class Label:
    """One thing said on both sides: `fact` in project/key, `said` in `memory` (a short's id or a core's name)."""

    topic: str
    query: str
    project: str
    key: str
    fact: str
    memory: str
    said: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Corpus:
    facts: Sequence[Fact]
    edits: Sequence[Edit]
    retirements: Sequence[Retirement]
    citations: Sequence[Citation]
    shorts: Sequence[Short]
    nears: Sequence[Near]
    drafts: Sequence[Draft]
    promotions: Sequence[str]
    conflicts: Sequence[Label]
    agreements: Sequence[Label]


@functools.cache
def load() -> Corpus:
    """The whole corpus; a row with an unknown or a missing field is a TypeError that names it."""
    tables = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return Corpus(
        facts=_rows(Fact, tables["facts"]),
        edits=_rows(Edit, tables["edits"]),
        retirements=_rows(Retirement, tables["retirements"]),
        citations=_rows(Citation, tables["citations"]),
        shorts=_rows(Short, tables["shorts"]),
        nears=_rows(Near, tables["nears"]),
        drafts=tuple(_draft(row) for row in tables["drafts"]),
        promotions=tuple(tables["promotions"]),
        conflicts=_rows(Label, tables["conflicts"]),
        agreements=_rows(Label, tables["agreements"]),
    )


def _draft(row: Mapping[str, Any]) -> Draft:
    return Draft(summary=row["summary"], operations=_rows(Operation, row["operations"]))


def _rows(of: type[_Row], rows: Sequence[Mapping[str, Any]]) -> tuple[_Row, ...]:
    return tuple(of(**row) for row in rows)
