"""What the adapter wants of an engine, however it is reached.

Above: the adapter. Below: values. Implementations: `tools` (MCP) and `rest` (HTTP and JSON).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from callosum_mcp.adapters.engine.replies import ToolReply
from callosum_mcp.adapters.engine.seconds import Which
from callosum_mcp.errors import StoreError
from callosum_mcp.models.values import Hit, StoreQuery

Params = Mapping[str, object]
"""Values of a preset's params."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answered:
    """The answer to one call, and the params it was asked with."""

    reply: ToolReply
    params: Params


Purpose = Literal["search", "discover", "enrich", "fetch"]
"""What a call is for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Exchange:
    """One call and what came of it, for whoever wants to see it as it was.

    Attributes:
        purpose: What it was for.
        called: Name of the tool, or method and path.
        arguments: What it was called with.
        ms: Milliseconds it took.
        reply: The answer; None if there was none.
        fault: Why there was none.
    """

    purpose: Purpose
    called: str
    arguments: Mapping[str, Any]
    ms: float
    reply: ToolReply | None = None
    fault: StoreError | None = None


Heard = Callable[[Exchange], None]
"""Told of a call when it is over."""


class Engine(Protocol):
    """One engine, asked as its preset says."""

    heard: Heard | None
    """Told of every call, while somebody listens."""

    async def search(self, query: StoreQuery, now: float) -> Sequence[Answered]:
        """The answers to all calls of one search.

        Raises:
            StoreError: If one of them failed.
        """
        ...

    async def second(
        self, which: Which, hit: Hit, params: Params | None, now: float, question: str | None = None
    ) -> ToolReply:
        """The answer to the further call for one hit; without params those of any call are used.

        Raises:
            StoreError: If it failed.
        """
        ...

    async def describe(self, now: float) -> str:
        """What the engine says of itself and what it would be asked, in a line.

        Raises:
            StoreError: If it could not be asked.
        """
        ...

    def remark(self) -> str | None:
        """What was noticed beside the answers and not said yet."""
        ...

    def warm(self) -> None:
        """Start connecting, without waiting."""
        ...

    def waiting(self) -> str | None:
        """What a call that ran out of time was waiting for."""
        ...

    def usage(self) -> dict[str, int]:
        """Requests and connections."""
        ...

    async def aclose(self) -> None:
        """End the connection."""
        ...
