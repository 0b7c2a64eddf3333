"""What each preset makes of the replies that were recorded of its product, or that its documentation shows.

Above: the tests of engines. Below: the replaying engines. One YAML file per preset says the question, what the product
answers, the exact calls that must be sent, and the hits that must come of the answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from callosum_mcp.models.values import Hit
from callosum_mcp.text import iso_utc

Row = dict[str, Any]

NOW = "<now>"
"""Stands for the present time in the arguments of a call."""

_FOLDER = Path(__file__).parent


@dataclass(frozen=True, kw_only=True)
class Case:
    """One question to one engine.

    Attributes:
        preset: The store type.
        product: Folder of its recorded replies.
        results: What each tool answers: the name of a recorded reply, or one for each word that its arguments may hold
            and one for all ``other``; ``http`` for an engine without tools.
        calls: The calls that are sent, in order: tool and arguments, or method, path, parameters and body.
        hits: What they find: see `shown`.
        options: The store's options.
        ask: The question.
        limit: How many hits at most.
        tools: Name of the recorded list of tools.
        verdict: What the engine says of how many answers there are.
        remark: What the status says.
    """

    preset: str
    product: str
    results: Mapping[str, str | Mapping[str, str]]
    calls: list[list[Any]]
    hits: list[Row]
    ask: str
    limit: int
    options: dict[str, object] = field(default_factory=dict[str, object])
    tools: str = "tools"
    verdict: str | None = None
    remark: str | None = None


def case(preset: str) -> Case:
    """The case of a preset."""
    return Case(preset=preset, **yaml.safe_load((_FOLDER / f"{preset}.yaml").read_text(encoding="utf-8")))


def names() -> list[str]:
    """The presets that have a case."""
    return sorted(file.stem for file in _FOLDER.glob("*.yaml"))


def shown(hit: Hit) -> Row:
    """What a hit says, without what it leaves open; a trust that is made of a file's age depends on the day."""
    said: Row = {
        "id": hit.id,
        "title": hit.title,
        "path": hit.path,
        "text": hit.text,
        "type": hit.type,
        "topics": list(hit.topics),
        "seen": iso_utc(hit.last_seen),
        "gone": iso_utc(hit.superseded_at),
        "gone_by": hit.superseded_by,
        "confidence": hit.confidence,
        "relevance": hit.relevance,
        "tier": None if hit.tier == "recent-file" and hit.last_seen is not None else hit.tier,
        **hit.metadata,
    }
    return {name: value for name, value in said.items() if value not in (None, [])}
