"""Two hits weighed as wholes: what a forest says of them, and what stands after that."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callosum_mcp.models.values import Hit
from callosum_mcp.reconcile import Conflict, Ranked, reconcile
from callosum_mcp.reconcile.claims import read
from callosum_mcp.reconcile.pairs import forest
from callosum_mcp.reconcile.pairs.features import Rules, features
from callosum_mcp.reconcile.pairs.settling import ADDED, KEPT, Court, Ruling, settled
from callosum_mcp.reconcile.pairs.view import view
from callosum_mcp.reconcile.pairs.weighing import NEAREST
from callosum_mcp.reconcile.question import understand
from callosum_mcp.reconcile.reconciliation import weighed
from reconcile.world import CASES, NOW, bench, bench_conflicts, hit, live, memory

TREES = '{"features":["share:min","word now"],"trees":[[0,0.5,-1.0,[1,1.5,2.0,0.25]],0.5]}\n'
UNSEEN = sorted((Path(__file__).parents[2] / "bench" / "data" / "conflicts" / "unseen").glob("*.jsonl"))


@pytest.mark.parametrize(
    ("share", "words", "odds"),
    [
        (0.5, (frozenset({"now"}), frozenset({"now"})), -1.0 + 0.5),
        (0.6, (frozenset({"now"}), frozenset({"then"})), 2.0 + 0.5),
        (0.6, (frozenset({"now"}), frozenset({"now", "then"})), 0.25 + 0.5),
    ],
)
def test_the_leaves_that_a_pair_falls_into_add_up_to_its_odds(
    share: float, words: tuple[frozenset[str], frozenset[str]], odds: float
) -> None:
    trees = forest.parsed(TREES)

    assert trees.probability({"share:min": share}, words) == pytest.approx(1 / (1 + math.exp(-odds)))


def _node(feature: int, limit: float, left: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Any]:
    return {"split_feature": feature, "threshold": limit, "left_child": left, "right_child": right}


def test_a_forest_that_is_written_is_the_one_that_is_read() -> None:
    class Booster:
        """As lightgbm tells of itself."""

        def dump_model(self) -> dict[str, Any]:
            inner = _node(2, 1.5, {"leaf_value": 2}, {"leaf_value": 0.25})
            root = _node(0, 0.5, {"leaf_value": -1}, inner)
            return {"tree_info": [{"tree_structure": root}, {"tree_structure": {"leaf_value": 0.5}}]}

    written = bench("train_pairs").dumped(Booster(), ["share:min", "unused", "word now"])

    assert written == TREES
    assert forest.parsed(written) == forest.parsed(TREES)


def test_the_shipped_forest_looks_at_features_that_there_are() -> None:
    question = understand("port of the loom")
    mine, theirs = (view(item, question) for item in (live("loom: port 80"), memory("The loom listens on 81.")))
    known = features(mine, theirs, question, Rules(False, 0, 0, 0, (0, 0)), 2.0, 0.0)

    named = [name for name in forest.shipped().features if not name.startswith(forest.WORD)]
    assert named
    assert set(named) <= known.keys()


ROWS: list[dict[str, Any]] = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


@given(case=st.sampled_from(ROWS))
def test_a_pair_has_the_same_features_in_either_order(case: Mapping[str, Any]) -> None:
    question = understand(case["query"])
    views = [view(bench_conflicts().hit_of(row), question) for row in case["hits"]]

    for a, b in combinations(views, 2):
        ours = features(a, b, question, Rules(True, 2, 1, 0, (2, 1)), 2.0, 0.0)
        assert ours == features(b, a, question, Rules(True, 2, 1, 0, (1, 2)), 2.0, 0.0)


def test_only_the_hits_nearest_to_the_query_are_compared() -> None:
    hits = [hit(f"store-{n}", f"loom note {n}: the weavers met") for n in range(40)]
    hits.append(hit("near", "The wax of the loom comes from Brantol."))

    pairs = [row.pair for row in weighed([Ranked(hit=item) for item in hits], now=NOW, query="wax of the loom")]

    assert len(pairs) == NEAREST * (NEAREST - 1) // 2
    assert sum("near:1" in pair for pair in pairs) == NEAREST - 1


def test_hits_of_one_store_are_not_compared() -> None:
    hits = [Hit(store="facts", id=str(n), text=f"loom: wax {n}") for n in range(3)]

    assert not list(weighed([Ranked(hit=item) for item in hits], now=NOW, query="wax of the loom"))


def test_a_query_without_a_word_weighs_nothing() -> None:
    hits = [live("loom: stopped"), memory("The loom is running.")]

    assert not list(weighed([Ranked(hit=item) for item in hits], now=NOW, query="?"))


class TestSettling:
    """A, B, C and D in the order of their authority."""

    A, B, C, D = "a:1", "b:1", "c:1", "d:1"
    HITS = (
        hit("a", "loom: wax Brantol", tier="live-infra"),
        hit("b", "loom: wax Kestor", tier="recent-file"),
        hit("c", "The loom needs wax from Tarvin."),
        hit("d", "loom notes", tier="older-note"),
    )
    RULED = Conflict(claim="loom wax", winner=A, losers=(B, C), members=(A, B, C), kind="genuine_conflict", reason="x")

    def settled(self, weights: Mapping[tuple[str, str], float], *ruled: Conflict) -> tuple[Conflict, ...]:
        question = understand("wax of the loom")
        court = Court(question, {self.A: 4.0, self.B: 3.0, self.C: 2.0, self.D: 1.0}, NOW)
        ruling = Ruling([read(item, question) for item in self.HITS], [], ruled)
        return settled(ruling, {frozenset(pair): weight for pair, weight in weights.items()}, court)

    def test_a_conflict_of_the_rules_that_is_likely_stands_as_it_is(self) -> None:
        assert self.settled({(self.A, self.B): KEPT, (self.A, self.C): KEPT}, self.RULED) == (self.RULED,)

    def test_a_pair_that_was_not_weighed_is_as_the_rules_have_it(self) -> None:
        assert self.settled({}, self.RULED) == (self.RULED,)

    def test_a_loser_that_hardly_contradicts_the_winner_is_left_out(self) -> None:
        (found,) = self.settled({(self.A, self.B): KEPT - 0.01, (self.A, self.C): KEPT}, self.RULED)

        assert (found.winner, found.losers, found.members) == (self.A, (self.C,), (self.A, self.C))
        assert found.reason == "live infra beats agent memory"

    def test_a_conflict_without_losers_is_none(self) -> None:
        assert not self.settled({(self.A, self.B): 0.0, (self.A, self.C): 0.0}, self.RULED)

    def test_two_hits_that_very_likely_contradict_each_other_do(self) -> None:
        (found,) = self.settled({(self.B, self.C): ADDED, (self.A, self.B): ADDED - 0.01})

        assert (found.claim, found.winner, found.losers) == ("wax of the loom", self.B, (self.C,))
        assert found.kind == "genuine_conflict"

    def test_who_contradicts_the_same_hit_supports_the_winner(self) -> None:
        (found,) = self.settled({(self.A, self.C): 0.9, (self.B, self.C): 0.9})

        assert (found.winner, found.losers, found.members) == (self.A, (self.C,), (self.A, self.B, self.C))

    def test_everybody_the_winner_contradicts_loses_once(self) -> None:
        (found,) = self.settled({(self.A, self.C): 0.9, (self.A, self.B): 0.9, (self.B, self.C): 0.9})

        assert (found.winner, found.losers) == (self.A, (self.B, self.C))

    def test_who_very_likely_contradicts_the_winner_of_the_rules_loses_too(self) -> None:
        (found,) = self.settled({(self.A, self.D): ADDED}, self.RULED)

        assert (found.losers, found.members) == ((self.B, self.C, self.D), (self.A, self.B, self.C, self.D))

    def test_hits_of_a_conflict_that_was_dropped_are_free_for_another(self) -> None:
        (found,) = self.settled({(self.A, self.B): 0.0, (self.A, self.C): 0.0, (self.A, self.D): 0.9}, self.RULED)

        assert (found.winner, found.losers) == (self.A, (self.D,))

    def test_hits_that_the_rules_set_apart_open_no_second_conflict(self) -> None:
        weights = {(self.A, self.B): 0.9, (self.A, self.C): 0.9, (self.B, self.D): 0.9}

        assert self.settled(weights, self.RULED) == (self.RULED,)


def test_a_contradiction_that_no_rule_sees_is_found_all_the_same() -> None:
    now = hit("memo", "The weavers eat lunch at the Heron's now, since the canteen closed.")
    then = hit("wiki", "Weavers: lunch in the canteen, every day at noon.", tier="older-note", age_days=90)
    hits, query = [Ranked(hit=now), Ranked(hit=then)], "where do the weavers eat lunch"

    (pair,) = weighed(hits, now=NOW, query=query)
    (found,) = reconcile(hits, now=NOW, query=query).conflicts

    assert not pair.values["rule"]
    assert (found.winner, found.losers, found.kind) == ("memo:1", ("wiki:1",), "temporal_update")


def test_there_are_unseen_cases_to_measure() -> None:
    assert UNSEEN


@pytest.mark.parametrize("path", UNSEEN, ids=lambda path: path.stem)
def test_cases_that_nothing_was_trained_or_tuned_on_keep_their_floor(path: Path) -> None:
    score = bench_conflicts().measure(path)

    assert score.precision >= 0.70, score.wrong
    assert score.recall >= 0.45, score.wrong
    assert score.winners >= 0.95 * score.hit, score.wrong
