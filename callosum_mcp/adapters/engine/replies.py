"""What an engine answered, before and after it is understood.

Above: the adapter, `reading`. Below: models.
"""

from __future__ import annotations

from dataclasses import dataclass

from callosum_mcp.models.values import Hit


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolReply:
    """One answer as it came.

    Attributes:
        texts: Its text blocks, in order.
        structured: Its structured content, or the body of an HTTP answer; None if it has none.
        is_error: The engine says that the call failed.
    """

    texts: tuple[str, ...] = ()
    structured: object = None
    is_error: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineReply:
    """One answer as it was understood.

    Attributes:
        hits: Clean hits in the engine's order, each id once.
        verdict: How many answers there are in the engine's own view (``none``, ``single``, ``many``), if it says so.
        remark: What of it could not be read.
    """

    hits: tuple[Hit, ...]
    verdict: str | None = None
    remark: str | None = None
