"""What may not change an answer in any mode: scores, empty stores; and what a weight may do."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callosum_mcp.fusion import RankedList
from callosum_mcp.models.knobs import FusionMode
from callosum_mcp.models.values import FusedHit, Hit
from fusion.worlds import constants, fused, lists, modes, weights

CHANGES: list[Callable[[float], float]] = [
    lambda x: x * 1e-6,
    lambda x: x * 1e6,
    lambda x: x + 7,
    lambda x: math.exp(x) - 1,
    lambda x: math.atan(x) / 2,
    lambda x: -1 / (x + 1),
]


def bytes_of(items: list[FusedHit]) -> list[tuple[str, float, int, object, object]]:
    return [(item.hit.address, item.score, item.store_rank, item.sources, item.parts) for item in items]


@given(lists(), modes, constants, st.data())
def test_no_rescaling_of_a_stores_scores_changes_anything(
    given_lists: list[RankedList], mode: FusionMode, k: int, data: st.DataObject
) -> None:
    def rescaled(hit: Hit) -> Hit:
        value = None if hit.relevance is None else change(hit.relevance)
        return replace(hit, relevance=value, confidence=value, metadata={"store_score": value})

    changed: list[RankedList] = []
    for one in given_lists:
        change = data.draw(st.sampled_from(CHANGES))
        changed.append(replace(one, hits=tuple(map(rescaled, one.hits))))
    assert bytes_of(fused(mode, changed, k=k)) == bytes_of(fused(mode, given_lists, k=k))


@given(lists(), modes, constants, weights, st.data())
def test_an_empty_store_changes_nothing(
    given_lists: list[RankedList], mode: FusionMode, k: int, weight: float, data: st.DataObject
) -> None:
    more = list(given_lists)
    more.insert(data.draw(st.integers(0, len(more))), RankedList(store="empty", hits=(), weight=weight))
    assert bytes_of(fused(mode, more, k=k)) == bytes_of(fused(mode, given_lists, k=k))


@pytest.mark.promise("P20")
@given(lists(), modes, constants)
def test_weight_0_is_as_if_the_store_were_not_there(given_lists: list[RankedList], mode: FusionMode, k: int) -> None:
    there = [one for one in given_lists if one.weight > 0]
    assert bytes_of(fused(mode, given_lists, k=k)) == bytes_of(fused(mode, there, k=k))


@pytest.mark.promise("P23")
@given(lists(), modes, constants)
def test_the_order_is_total_and_every_hit_is_there_once(
    given_lists: list[RankedList], mode: FusionMode, k: int
) -> None:
    items = fused(mode, given_lists, k=k)
    assert bytes_of(items) == bytes_of(fused(mode, given_lists, k=k))
    assert [item.score for item in items] == sorted((item.score for item in items), reverse=True)
    held = sorted(hit.address for one in given_lists if one.weight > 0 for hit in one.hits)
    assert sorted(address for item in items for address, _ in item.sources) == held
    assert all(item.sources[0] == (item.hit.address, item.store_rank) for item in items)


@given(lists(disjoint=True), st.sampled_from(["rrf", "rrf_pct", "percentile"]), constants)
def test_a_stores_own_order_is_kept(given_lists: list[RankedList], mode: FusionMode, k: int) -> None:
    items = fused(mode, given_lists, k=k)
    for one in given_lists:
        ranks = [item.store_rank for item in items if item.hit.store == one.store]
        assert ranks == (list(range(1, len(one.hits) + 1)) if one.weight > 0 else [])


@pytest.mark.promise("P20")
@given(lists(), modes, constants, st.data())
def test_doubling_a_weight_never_lowers_its_hits(
    given_lists: list[RankedList], mode: FusionMode, k: int, data: st.DataObject
) -> None:
    if not given_lists:
        return
    chosen = data.draw(st.integers(0, len(given_lists) - 1))
    heavier = [replace(one, weight=one.weight * (2 if i == chosen else 1)) for i, one in enumerate(given_lists)]
    store = given_lists[chosen].store
    before, after = _others_above(fused(mode, given_lists, k=k), store), _others_above(fused(mode, heavier, k=k), store)
    for hit in given_lists[chosen].hits:
        if hit.address in before:
            assert after[hit.address] <= before[hit.address]


@pytest.mark.promise("P20")
def test_a_heavier_store_makes_no_other_stores_ties_worth_more() -> None:
    port, moved = "the port of Apollo is 22", "Apollo was moved to the new rack in spring"
    b = RankedList(store="b", hits=(_said("b", "1", port), _said("b", "2", moved)), weight=3.0)
    c = RankedList(store="c", hits=(_said("c", "1", "nothing of this is asked for"),), weight=100.0)
    texts = [
        "Hermes listens on port 8443 of the edge host",
        "Hermes listens on port 8443 of the edge host",
        port,
        "Hermes uses it",
        port,
        moved,
    ]
    e = RankedList(store="e", hits=tuple(_said("e", str(n), text) for n, text in enumerate(texts, 1)), weight=1.0)
    before, after = (
        _others_above(fused("pooled", [replace(b, weight=weight), c, e], k=1), "b")
        for weight in (b.weight, 2 * b.weight)
    )
    assert all(after[address] <= before[address] for address in before)


def _said(store: str, identity: str, text: str) -> Hit:
    return Hit(store=store, id=identity, text=text)


def _others_above(items: list[FusedHit], store: str) -> dict[str, set[str]]:
    """For each hit of a store, the memories above it that the store does not hold."""
    above: dict[str, set[str]] = {}
    others: set[str] = set()
    for item in items:
        own = [address for address, _ in item.sources if address.startswith(f"{store}:")]
        above |= {address: set(others) for address in own}
        if not own:
            others |= {address for address, _ in item.sources}
    return above
