"""Pooled fusion: the store whose texts answer comes first, and without any text it is weighted RRF."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callosum_mcp.fusion import RankedList
from callosum_mcp.fusion.pooled import AGREEMENT, fit, pooled
from callosum_mcp.fusion.rrf import rrf
from callosum_mcp.models.values import Hit
from fusion.worlds import QUERY, constants, fused, ids, lists, ranked


@given(lists(), constants, st.floats(0, 1))
def test_without_any_text_match_the_order_is_that_of_weighted_rrf(
    given_lists: list[RankedList], k: int, pool_weight: float
) -> None:
    scores = {address: item.score for item in rrf(given_lists, k) for address, _ in item.sources}
    order = [scores[address] for address in ids(pooled("zzz qqq", given_lists, k=k, pool_weight=pool_weight))]
    assert len(order) == len(rrf(given_lists, k))
    assert all(second <= first * (1 + 1e-12) for first, second in pairwise(order))


def test_a_store_that_answers_goes_before_one_that_does_not() -> None:
    off = ranked("off", "the rack was painted", "tapes are in the cellar")
    on = ranked("on", "hermes uses port 8443", "the port of hermes was changed")
    assert [address.partition(":")[0] for address in ids(fused("pooled", [off, on]))] == ["on", "on", "off", "off"]


def test_a_hit_without_matching_text_keeps_what_its_store_says_of_its_rank() -> None:
    good = ranked("good", "hermes port 8443", "eight thousand four hundred and forty-three", "hermes port use")
    poor = ranked("poor", "the weather", "the tide")
    assert ids(fused("pooled", [poor, good])).index("good:2") < ids(fused("pooled", [poor, good])).index("poor:1")


def test_a_memory_of_several_stores_keeps_its_best_value_and_a_small_bonus() -> None:
    text = "hermes listens on port 8443"
    stores = [ranked("a", "hermes and its port, at length", text), ranked("b", text), ranked("c", "the tide")]
    both = next(item for item in fused("pooled", stores) if item.hit.text == text)
    best = max(part.value for part in both.parts)
    assert len(both.parts) == 2
    assert both.score == pytest.approx(best * (1 + AGREEMENT), rel=1e-3)
    assert both.hit.address == max(both.parts, key=lambda part: part.value).address


def test_a_weight_multiplies_the_value_of_a_stores_hits() -> None:
    one, two = fused("pooled", [ranked("a", "hermes port")]), fused("pooled", [ranked("a", "hermes port", weight=3)])
    assert two[0].parts[0].value == pytest.approx(3 * one[0].parts[0].value)


@pytest.mark.parametrize(("pool_weight", "first"), [(0.0, "a:1"), (1.0, "a:2")])
def test_the_pool_weight_moves_from_the_stores_order_to_the_text(pool_weight: float, first: str) -> None:
    given_list = [ranked("a", "something else altogether", "hermes uses port 8443")]
    assert ids(pooled(QUERY, given_list, k=60, pool_weight=pool_weight))[0] == first


@given(st.lists(st.floats(0, 50), min_size=1, max_size=50), st.floats(-20, 0))
def test_a_line_passes_through_the_mean_and_never_rises(scores: list[float], steepest: float) -> None:
    line = fit(scores, steepest=steepest)
    assert sum(line) == pytest.approx(sum(scores), abs=1e-6)
    assert all(b - a <= steepest * math.log((i + 2) / (i + 1)) + 1e-6 for i, (a, b) in enumerate(pairwise(line)))


def test_the_heading_above_a_section_counts_as_its_text() -> None:
    section = Hit(store="notes", id="1", text="It is 8443 since spring.", title="Hermes port")
    repeated = replace(section, text="Hermes port: it is 8443 since spring.")
    plain = ranked("other", "the tide is low", "the wind is still")
    for hit in (section, repeated):
        first = fused("pooled", [plain, RankedList(store="notes", hits=(hit,))])[0]
        assert first.hit.store == "notes" and (first.parts[0].text or 0) > 0


def test_nothing_gives_nothing() -> None:
    assert fused("pooled", []) == fused("pooled", [ranked("a")]) == []
