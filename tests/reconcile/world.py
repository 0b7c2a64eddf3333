"""Hits for the tests of reconciliation: short to write, complete to read."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from callosum_mcp.models.values import Hit, Tier
from callosum_mcp.reconcile import Conflict, Ranked, reconcile

NOW = 1_795_910_400.0
"""2026-11-29T00:00:00Z in Unix seconds."""

DAY_S = 86_400.0

CASES = Path(__file__).with_name("cases.jsonl")
"""Our own labelled cases."""


def bench(name: str) -> ModuleType:
    """A script of ``bench/``, which is no part of a package."""
    folder = str(Path(__file__).parents[2] / "bench")
    if folder not in sys.path:
        sys.path.append(folder)  # last, so that nothing of ours is hidden by a script of the same name
    return importlib.import_module(name)


def bench_conflicts() -> ModuleType:
    """The shipped scorer."""
    return bench("conflicts")


def hit(
    store: str,
    text: str,
    *,
    tier: Tier = "agent-memory",
    age_days: float | None = 1.0,
    confidence: float | None = None,
    title: str | None = None,
    fact: tuple[str, str, str] | None = None,
) -> Hit:
    """A hit of its own store; `fact` is (project, key, value)."""
    return Hit(
        store=store,
        id="1",
        text=text,
        title=title,
        tier=tier,
        last_seen=None if age_days is None else NOW - age_days * DAY_S,
        confidence=confidence,
        metadata=dict(zip(("project", "key", "value"), fact, strict=True)) if fact else {},
    )


def live(text: str, **more: str) -> Hit:
    """What a probe saw today."""
    return hit("live", text, tier="live-infra", age_days=0.1, title=more.get("title"))


def memory(text: str, age_days: float = 30.0) -> Hit:
    """What an agent wrote down a while ago."""
    return hit("memory", text, age_days=age_days)


def fact(project: str, key: str, value: str, text: str = "", age_days: float = 30.0) -> Hit:
    """A keyed fact."""
    return hit("facts", text or f"{project} {key}", fact=(project, key, value), age_days=age_days)


def file(text: str, age_days: float = 3.0, title: str | None = None) -> Hit:
    """A line of a file that changed lately."""
    return hit("files", text, tier="recent-file", age_days=age_days, title=title)


def conflicts(query: str, *hits: Hit) -> Sequence[Conflict]:
    """The conflicts of some hits that all stand first in their stores."""
    return reconcile([Ranked(hit=item) for item in hits], now=NOW, query=query).conflicts
