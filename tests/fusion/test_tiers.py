"""A tier is what the store's owner says, else what the adapter knows, else what an agent wrote down."""

from __future__ import annotations

import pytest

from callosum_mcp.models.values import Hit, Tier
from callosum_mcp.reconcile.tiers import tier_of


@pytest.mark.parametrize(
    ("store", "own", "tier"),
    [
        ("live-infra", "older-note", "live-infra"),
        (None, "older-note", "older-note"),
        (None, None, "agent-memory"),
    ],
)
def test_the_owner_decides_then_the_adapter(store: Tier | None, own: Tier | None, tier: Tier) -> None:
    assert tier_of(Hit(store="s", id="1", text="x", tier=own), store) == tier
