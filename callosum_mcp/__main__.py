"""``python -m callosum_mcp``."""

from __future__ import annotations

from callosum_mcp.cli import main

if __name__ == "__main__":
    main()
