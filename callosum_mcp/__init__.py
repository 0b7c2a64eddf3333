"""callosum-mcp: one question, every memory.

One MCP server in front of every memory store an agent has. It asks them all at once, merges what they answer into one
ranked list, and says where each line came from, who disagreed and who did not answer. It writes to none of them.
"""

from __future__ import annotations

__version__ = "0.1.0"

__all__ = ["__version__"]
