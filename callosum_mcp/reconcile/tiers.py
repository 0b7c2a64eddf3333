"""How far a hit is trusted: the tier of the store, else of the hit.

Above: the federation. Below: models. Pure.
"""

from __future__ import annotations

from callosum_mcp.models.values import Hit, Tier

DEFAULT_TIER: Tier = "agent-memory"
"""What an agent wrote down once, which is what most stores hold."""


def tier_of(hit: Hit, store_tier: Tier | None) -> Tier:
    """The tier of a hit: what the store's owner says, else what its adapter knows, else `DEFAULT_TIER`."""
    return store_tier or hit.tier or DEFAULT_TIER
