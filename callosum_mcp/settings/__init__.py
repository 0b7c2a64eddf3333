"""The only reader of files and environment; everything else gets plain values.

Above: app and the command line. Below: models. `load` gives settings that can be used or one `SettingsError`.
"""

from __future__ import annotations

from callosum_mcp.settings.load import DEFAULT_STORES, Loaded, load
from callosum_mcp.settings.model import Settings
from callosum_mcp.settings.tokens import token_from
from callosum_mcp.settings.watch import Watch

__all__ = ["DEFAULT_STORES", "Loaded", "Settings", "Watch", "load", "token_from"]
