"""Presets made on the spot, and recorded replies as the mapping takes them.

Above: the tests of the mapping. Below: the recorded files.
"""

from __future__ import annotations

from typing import Any

from support.replay_engine import captured

from callosum_mcp.adapters.engine.preset import Preset
from callosum_mcp.adapters.engine.reading import EngineReply, ToolReply, read
from callosum_mcp.models.values import Hit, StoreQuery

NOW = 1_795_988_000.0
"""2026-11-29T21:33:20Z, just after the replies were recorded."""

ASKED = StoreQuery(text="is hermes running", limit=5)


def preset(**more: Any) -> Preset:
    """A preset that takes the items of ``$.results`` with their ``text`` for the snippet, or as told."""
    given: dict[str, Any] = {
        "name": "made",
        "title": "Made",
        "about": "For a test.",
        "evidence": "documented",
        "example": "- name: made",
        "tool": ["search"],
        "extract": [{"items": "$.results[*]", "fields": {"id": "id", "snippet": "text"}}],
    }
    return Preset.model_validate({**given, **more})


def one_field(expression: Any, name: str = "title", **more: Any) -> Preset:
    """A preset whose hits have one field besides their text."""
    fields = {"id": "id", "snippet": "text", name: expression}
    return preset(extract=[{"items": "$.results[*]", "fields": fields}], **more)


def recorded(name: str) -> ToolReply:
    """A recorded reply, as ``serena/find_symbol``."""
    call = captured(name)
    if "result" not in call:
        return ToolReply(structured=call["body"])
    result = call["result"]
    return ToolReply(
        texts=tuple(block["text"] for block in result["content"]),
        structured=result.get("structuredContent"),
        is_error=result["isError"],
    )


def said(*texts: str, is_error: bool = False) -> ToolReply:
    """A reply of text blocks alone."""
    return ToolReply(texts=texts, is_error=is_error)


def structured(value: object) -> ToolReply:
    """A reply of structured content alone."""
    return ToolReply(structured=value)


def understood(made: Preset, reply: ToolReply, query: StoreQuery = ASKED) -> EngineReply:
    """What is made of a reply at `NOW`."""
    return read(made, reply, "s", query, now=NOW)


def only_hit(made: Preset, *rows: Any) -> Hit:
    """The one hit of a reply with these results."""
    (hit,) = understood(made, structured({"results": list(rows)})).hits
    return hit
