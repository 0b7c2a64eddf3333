"""Where in an answer the result is: structured content, JSON in a text, or the text itself.

Above: `reading`. Below: nothing. Pure. One server puts it in different places by transport and version, so by default
the first that is there is taken: structured content (out of the wrapper ``{"result": …}`` that some libraries put
around it, and decoded where it is JSON in a text), then the JSON of the text block, then the text.
"""

from __future__ import annotations

from typing import cast

from callosum_mcp.adapters.engine.expressions import parsed_json
from callosum_mcp.adapters.engine.plan import Plan
from callosum_mcp.adapters.engine.replies import ToolReply


def payload(reply: ToolReply, plan: Plan) -> object:
    """The result in an answer; None if the answer is empty."""
    if plan.source == "structured":
        return _structured(reply.structured, plan)
    if plan.source == "blocks":
        return [parsed_json(text) for text in reply.texts] or None
    if plan.source == "text":
        return ("\n".join(reply.texts) or None) if plan.only_patterns else _texts(reply.texts)
    structured = _structured(reply.structured, plan)
    return _texts(reply.texts) if structured is None else structured


def _structured(content: object, plan: Plan) -> object:
    """Structured content without its wrapper; an engine behind HTTP wraps nothing."""
    if plan.http is None and isinstance(content, dict):
        members = cast("dict[str, object]", content)
        if not members:
            return None
        if members.keys() == {"result"}:
            content = members["result"]
    return parsed_json(content) if isinstance(content, str) else cast("object", content)


def _texts(texts: tuple[str, ...]) -> object:
    """One text decoded; several as a list, in which some servers put one block per element."""
    held = [text for text in texts if text and not text.isspace()]
    if len(held) == 1:
        return parsed_json(held[0])
    return [parsed_json(text) for text in held] or None
