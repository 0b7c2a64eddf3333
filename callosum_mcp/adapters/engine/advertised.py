"""What an engine advertises: its tools and what each takes. Nothing here is trusted, only compared.

Above: the adapter. Below: nothing. Pure.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast


@dataclass(frozen=True, kw_only=True, slots=True)
class Tool:
    """One advertised tool.

    Attributes:
        names: Names of its arguments; None if its schema does not list them.
        required: Those it does not go without.
        digest: Hash of its input schema, for noticing that it changed.
    """

    names: frozenset[str] | None
    required: frozenset[str]
    digest: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Advertised:
    """What one server said of itself."""

    tools: Mapping[str, Tool] = field(default_factory=dict[str, Tool])
    server: str = ""
    version: str = ""
    protocol: str = ""

    def first(self, names: Sequence[str]) -> str | None:
        """The first of these tools that is advertised."""
        return next((name for name in names if name in self.tools), None)


def tool_of(schema: Mapping[str, Any]) -> Tool:
    """A tool out of its input schema."""
    properties: object = schema.get("properties")
    required: object = schema.get("required")
    return Tool(
        names=frozenset(cast("dict[str, object]", properties)) if isinstance(properties, dict) else None,
        required=frozenset(map(str, cast("list[object]", required))) if isinstance(required, list) else frozenset(),
        digest=hashlib.sha256(json.dumps(schema, sort_keys=True, default=str).encode()).hexdigest()[:12],
    )
