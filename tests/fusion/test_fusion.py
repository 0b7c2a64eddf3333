"""Reciprocal rank fusion and its variants are their formulas: ranks from 1, absent is no vote, one vote a store."""

from __future__ import annotations

from collections import defaultdict
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest
from hypothesis import given, settings

from callosum_mcp.fusion import RankedList
from callosum_mcp.fusion.rrf import percentile, rrf, rrf_pct
from callosum_mcp.models.knobs import FusionMode
from callosum_mcp.text import normalised
from fusion.worlds import constants, fused, ids, lists, ranked


def best_ranks(given_lists: list[RankedList]) -> dict[str, dict[str, tuple[int, RankedList]]]:
    """For each text, each store's best rank of it."""
    best: defaultdict[str, dict[str, tuple[int, RankedList]]] = defaultdict(dict)
    for one in given_lists:
        for rank, hit in enumerate(one.hits, start=1):
            if one.weight > 0:
                best[normalised(hit.text)].setdefault(one.store, (rank, one))
    return dict(best)


@given(lists(), constants)
def test_rrf_is_the_sum_over_the_stores_that_hold_it(given_lists: list[RankedList], k: int) -> None:
    expected = {
        text: sum(one.weight / (k + rank) for rank, one in ranks.values())
        for text, ranks in best_ranks(given_lists).items()
    }
    for formula in (rrf, rrf_pct):
        assert {normalised(item.hit.text): item.score for item in formula(given_lists, k)} == pytest.approx(expected)


@given(lists())
def test_percentile_is_the_highest_of_the_stores_that_hold_it(given_lists: list[RankedList]) -> None:
    expected = {
        text: max(one.weight * 100 * (len(one.hits) - rank + 1) / len(one.hits) for rank, one in ranks.values())
        for text, ranks in best_ranks(given_lists).items()
    }
    assert {normalised(item.hit.text): item.score for item in percentile(given_lists)} == pytest.approx(expected)


@given(lists(), constants)
def test_contributions_add_up_to_the_score(given_lists: list[RankedList], k: int) -> None:
    for formula in (rrf, rrf_pct):
        for item in formula(given_lists, k):
            assert sum(part.value for part in item.parts) == pytest.approx(item.score)
    for item in percentile(given_lists, k):
        assert max(part.value for part in item.parts) == item.score


@pytest.mark.promise("P21")
@pytest.mark.parametrize("mode", ["pooled", "rrf", "rrf_pct", "percentile"])
def test_a_store_without_the_memory_has_no_vote(mode: FusionMode) -> None:
    one, two = ranked("a", "X", "hermes a", "Y"), ranked("b", "hermes b", "hermes c")
    (x, *_) = [item for item in fused(mode, [one, two]) if item.hit.text == "X"]
    assert [(part.address, part.rank) for part in x.parts] == [("a:1", 1)]


@pytest.mark.promise("P21")
def test_a_rank_counts_from_1() -> None:
    assert [(item.score, item.store_rank) for item in rrf([ranked("a", "x")], 60)] == [(1 / 61, 1)]


def test_a_store_votes_once_with_its_best_copy() -> None:
    (first, other) = rrf([ranked("a", "x", "X ", "y")], 60)
    assert (first.score, first.sources) == (1 / 61, (("a:1", 1), ("a:2", 2)))
    assert [part.value for part in first.parts] == [1 / 61, 0.0]
    assert (other.hit.id, other.store_rank) == ("3", 3)


def test_ties_go_to_the_better_rank_then_the_store_configured_first() -> None:
    one, two = ranked("z", "one", "two"), ranked("a", "three", "four")
    assert ids(rrf([one, two])) == ["z:1", "a:1", "z:2", "a:2"]
    assert ids(rrf([two, one])) == ["a:1", "z:1", "a:2", "z:2"]


def test_rrf_pct_breaks_ties_by_percentile() -> None:
    short, long = ranked("short", "one", "two"), ranked("long", "three", "four", "five", "six")
    assert ids(rrf_pct([short, long]))[:4] == ["short:1", "long:1", "long:2", "short:2"]


@pytest.mark.promise("P21")
@pytest.mark.filterwarnings("ignore")  # numba, which compiles ranx, warns of its own types at any moment
@pytest.mark.skipif(find_spec("ranx") is None, reason="ranx is not installed; the extra dev has it")
def test_rrf_agrees_with_ranx_on_overlapping_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")  # compiling takes ranx a minute, and the sums are small
    ranx: Any = import_module("ranx")  # it has no types

    @settings(max_examples=30, deadline=None)
    @given(lists())
    def agree(given_lists: list[RankedList]) -> None:
        even = [RankedList(store=one.store, hits=one.hits) for one in given_lists if one.hits]
        if len(even) < 2:
            return
        runs = [ranx.Run({"q": _scored(one)}) for one in even]
        fused_by_ranx: dict[str, float] = ranx.fuse(runs=runs, method="rrf", params={"k": 60})["q"]
        expected = {text: score for text, score in fused_by_ranx.items() if not text.startswith("gap ")}
        assert {normalised(item.hit.text): item.score for item in rrf(even, 60)} == pytest.approx(expected)

    agree()


def _ranks(one: RankedList) -> dict[str, int]:
    """Each text's best rank; a text that stands twice keeps its place and leaves a gap."""
    found: dict[str, int] = {}
    for rank, hit in enumerate(one.hits, start=1):
        found.setdefault(normalised(hit.text), rank)
    return found


def _scored(one: RankedList) -> dict[str, float]:
    """A run of ranx with every place taken, so that its ranks are ours."""
    places = {rank: text for text, rank in _ranks(one).items()}
    size = len(one.hits)
    return {places.get(rank, f"gap {one.store} {rank}"): float(size - rank) + 1 for rank in range(1, size + 1)}
