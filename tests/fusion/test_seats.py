"""Seats: a store's reserved places are taken from the tail of the list."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from callosum_mcp.fusion import RankedList
from callosum_mcp.fusion.packing import seated
from callosum_mcp.fusion.rrf import rrf
from callosum_mcp.models.knobs import FusionMode
from fusion.worlds import fused, ids, lists, modes, ranked


@given(lists(), modes, st.integers(1, 12), st.integers(0, 4))
def test_seats_keep_the_fused_order_and_every_stores_share(
    given_lists: list[RankedList], mode: FusionMode, seats: int, min_per_store: int
) -> None:
    items = fused(mode, given_lists)
    shown = seated(items, seats, min_per_store)
    assert shown == [item for item in items if item in shown]
    assert len(shown) == min(seats, len(items))
    stores = {address.partition(":")[0] for item in items for address, _ in item.sources}
    if min_per_store * len(stores) <= seats:
        for store in stores:
            held = [item for item in items if any(a.startswith(f"{store}:") for a, _ in item.sources)]
            assert sum(item in shown for item in held) >= min(min_per_store, len(held))


def test_reserved_seats_are_taken_from_the_tail() -> None:
    heavy, light = ranked("heavy", *"12345", weight=9), ranked("light", "6", "7")
    assert ids(seated(rrf([heavy, light]), 3, 1)) == ["heavy:1", "heavy:2", "light:1"]
    assert ids(seated(rrf([heavy, light]), 3, 0)) == ["heavy:1", "heavy:2", "heavy:3"]


def test_a_memory_of_two_stores_is_a_seat_of_both() -> None:
    heavy, light = ranked("heavy", "shared", "2", "3", weight=9), ranked("light", "other", "shared")
    assert ids(seated(rrf([heavy, light]), 2, 1)) == ["heavy:1", "heavy:2"]
