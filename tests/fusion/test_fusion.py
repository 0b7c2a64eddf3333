"""Fusion: order comes from ranks and weights alone, whatever the stores' scores and speed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callosum_mcp.fusion import RankedList
from callosum_mcp.fusion.packing import seated
from callosum_mcp.fusion.rrf import percentile, rrf, rrf_pct
from callosum_mcp.models.values import FusedHit, Hit

Formula = Callable[[list[RankedList], int], list[FusedHit]]

FORMULAS: list[Formula] = [rrf, rrf_pct, percentile]
formulas = st.sampled_from(FORMULAS)
constants = st.integers(1, 10_000)
weights = st.floats(0, 100, allow_nan=False)


def ranked(store: str, *ids: str, weight: float = 1.0) -> RankedList:
    return RankedList(store=store, hits=tuple(Hit(store=store, id=i, text=i) for i in ids), weight=weight)


@st.composite
def lists(draw: st.DrawFn) -> list[RankedList]:
    names = draw(st.lists(st.sampled_from("abcdef"), unique=True, max_size=5))
    made: list[RankedList] = []
    for name in names:
        ids = draw(st.lists(st.text("0123456789", min_size=1, max_size=2), unique=True, max_size=8))
        relevance = draw(st.floats(0, 1))
        hits = tuple(Hit(store=name, id=i, text=f"text {i}", relevance=relevance) for i in ids)
        made.append(RankedList(store=name, hits=hits, weight=draw(weights)))
    return made


def places(fused: list[FusedHit]) -> list[tuple[str, float, int]]:
    return [(item.hit.address, item.score, item.store_rank) for item in fused]


@given(lists(), constants)
def test_rrf_is_the_formula(given_lists: list[RankedList], k: int) -> None:
    expected = {
        hit.address: (one.weight / (k + rank), rank)
        for one in given_lists
        if one.weight > 0
        for rank, hit in enumerate(one.hits, start=1)
    }
    assert {item.hit.address: (item.score, item.store_rank) for item in rrf(given_lists, k)} == expected
    assert {item.hit.address: (item.score, item.store_rank) for item in rrf_pct(given_lists, k)} == expected


@given(lists(), constants)
def test_percentile_is_the_formula(given_lists: list[RankedList], k: int) -> None:
    expected = {
        hit.address: one.weight * (100.0 * (len(one.hits) - rank + 1) / len(one.hits))
        for one in given_lists
        if one.weight > 0
        for rank, hit in enumerate(one.hits, start=1)
    }
    assert {item.hit.address: item.score for item in percentile(given_lists, k)} == expected


@given(lists(), formulas, constants, st.floats(1e-6, 1e6))
def test_scaling_a_stores_relevance_changes_nothing(
    given_lists: list[RankedList], fuse: Formula, k: int, factor: float
) -> None:
    scaled = [
        replace(one, hits=tuple(replace(hit, relevance=(hit.relevance or 0) * factor) for hit in one.hits))
        for one in given_lists
    ]
    assert places(fuse(scaled, k)) == places(fuse(given_lists, k))


@given(lists(), formulas, constants)
def test_the_order_is_total_and_every_hit_of_a_weighed_store_is_there_once(
    given_lists: list[RankedList], fuse: Formula, k: int
) -> None:
    fused = fuse(given_lists, k)
    assert fused == fuse(given_lists, k)
    assert [item.score for item in fused] == sorted((item.score for item in fused), reverse=True)
    held = {hit.address for one in given_lists if one.weight > 0 for hit in one.hits}
    assert sorted(item.hit.address for item in fused) == sorted(held)


@given(lists(), formulas, constants)
def test_a_stores_own_order_is_kept(given_lists: list[RankedList], fuse: Formula, k: int) -> None:
    fused = fuse(given_lists, k)
    for one in given_lists:
        ranks = [item.store_rank for item in fused if item.hit.store == one.store]
        assert ranks == (list(range(1, len(one.hits) + 1)) if one.weight > 0 else [])


@given(lists(), formulas, constants, st.data())
def test_doubling_a_weight_never_lowers_its_hits(
    given_lists: list[RankedList], fuse: Formula, k: int, data: st.DataObject
) -> None:
    if not given_lists:
        return
    chosen = data.draw(st.integers(0, len(given_lists) - 1))
    heavier = [replace(one, weight=one.weight * (2 if i == chosen else 1)) for i, one in enumerate(given_lists)]
    before = [item.hit.address for item in fuse(given_lists, k)]
    after = [item.hit.address for item in fuse(heavier, k)]
    for hit in given_lists[chosen].hits:
        if hit.address in before:
            assert after.index(hit.address) <= before.index(hit.address)


@pytest.mark.parametrize("fuse", FORMULAS)
def test_weight_0_removes_a_store(fuse: Formula) -> None:
    fused = fuse([ranked("a", "1", "2", weight=0), ranked("b", "3")], 60)
    assert [item.hit.address for item in fused] == ["b:3"]


def test_ties_go_to_the_better_rank_then_the_store_configured_first() -> None:
    one, two = ranked("z", "1", "2"), ranked("a", "3", "4")
    assert [item.hit.address for item in rrf([one, two])] == ["z:1", "a:3", "z:2", "a:4"]
    assert [item.hit.address for item in rrf([two, one])] == ["a:3", "z:1", "a:4", "z:2"]


def test_rrf_pct_breaks_ties_by_percentile() -> None:
    short, long = ranked("short", "1", "2"), ranked("long", "3", "4", "5", "6")
    assert [item.hit.address for item in rrf_pct([short, long])][:4] == ["short:1", "long:3", "long:4", "short:2"]


def test_a_rank_counts_from_1() -> None:
    assert places(rrf([ranked("a", "1")], 60)) == [("a:1", 1 / 61, 1)]


@given(lists(), st.integers(1, 12), st.integers(0, 4))
def test_seats_keep_the_fused_order_and_every_stores_share(
    given_lists: list[RankedList], seats: int, min_per_store: int
) -> None:
    fused = rrf(given_lists)
    shown = seated(fused, seats, min_per_store)
    assert shown == [item for item in fused if item in shown]
    assert len(shown) == min(seats, len(fused))
    stores = {item.hit.store for item in fused}
    if min_per_store * len(stores) <= seats:
        for store in stores:
            held = sum(item.hit.store == store for item in fused)
            assert sum(item.hit.store == store for item in shown) >= min(min_per_store, held)


def test_reserved_seats_are_taken_from_the_tail() -> None:
    heavy, light = ranked("heavy", *"12345", weight=9), ranked("light", "6", "7")
    assert [item.hit.address for item in seated(rrf([heavy, light]), 3, 1)] == ["heavy:1", "heavy:2", "light:6"]
    assert [item.hit.address for item in seated(rrf([heavy, light]), 3, 0)] == ["heavy:1", "heavy:2", "heavy:3"]
