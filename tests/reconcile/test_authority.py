"""The authority score: DESIGN §4, factor by factor."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callosum_mcp.models.values import Tier
from callosum_mcp.reconcile import WEIGHTS, Ranked, age_days, recency, reconcile, relevance, score
from reconcile.world import DAY_S, NOW, hit, live

TIERS: tuple[Tier, ...] = ("live-infra", "recent-file", "agent-memory", "older-note")
ages = st.floats(min_value=0, max_value=4_000)
shares = st.floats(min_value=0, max_value=1)
ranks = st.integers(min_value=1, max_value=500)


@pytest.mark.promise("P25")
def test_a_40_day_old_memory_that_hermes_is_active_loses_to_live_infra_that_says_stopped() -> None:
    old = hit("memory", "Hermes active", age_days=40.0)
    probe = hit("probe", "Hermes stopped", tier="live-infra", age_days=0.0)

    found = reconcile([Ranked(hit=old), Ranked(hit=probe)], now=NOW, query="is Hermes running?")

    assert found.scores == {"memory:1": pytest.approx(0.6 * math.exp(-4 / 3)), "probe:1": 1.0}
    (conflict,) = found.conflicts
    assert (conflict.winner, conflict.losers, conflict.kind) == ("probe:1", ("memory:1",), "temporal_update")
    assert conflict.reason == "memory stale 40 d, live infra beats agent memory"
    assert conflict.claim == "hermes status"


def test_an_unknown_age_counts_as_one_time_constant() -> None:
    undated = hit("a", "x", age_days=None)

    assert score(undated, now=NOW) == pytest.approx(score(hit("a", "x", age_days=30.0), now=NOW))
    assert score(undated, now=NOW, half_life_days=7.0) == pytest.approx(0.6 * math.exp(-1))


def test_a_hit_from_the_future_is_as_fresh_as_one_of_now() -> None:
    assert age_days(hit("a", "x", age_days=-3.0), NOW) == 0.0
    assert recency(-3.0) == 1.0


def test_no_tier_counts_as_agent_memory_and_no_confidence_as_certain() -> None:
    plain = replace(hit("a", "x", age_days=0.0), tier=None, confidence=None)

    assert score(plain, now=NOW) == WEIGHTS["agent-memory"]


def test_relevance_falls_as_gently_as_a_vote() -> None:
    assert relevance(1) == 1.0
    assert relevance(2, k=60) == pytest.approx(61 / 62)


def test_weights_and_time_constant_are_the_callers() -> None:
    old = hit("a", "x", age_days=10.0)

    given_weights = score(old, now=NOW, half_life_days=10.0, weights={**WEIGHTS, "agent-memory": 0.9})

    assert given_weights == pytest.approx(0.9 * math.exp(-1))


@given(older=ages, newer=ages)
def test_the_newer_never_scores_less(older: float, newer: float) -> None:
    older, newer = max(older, newer), min(older, newer)
    assert score(hit("a", "x", age_days=newer), now=NOW) >= score(hit("a", "x", age_days=older), now=NOW)


@given(low=shares, high=shares)
def test_the_surer_never_scores_less(low: float, high: float) -> None:
    low, high = min(low, high), max(low, high)
    assert score(hit("a", "x", confidence=high), now=NOW) >= score(hit("a", "x", confidence=low), now=NOW)


@given(better=ranks, worse=ranks, k=st.integers(min_value=1, max_value=1_000))
def test_the_better_rank_never_scores_less(better: int, worse: int, k: int) -> None:
    better, worse = min(better, worse), max(better, worse)
    assert score(hit("a", "x"), better, now=NOW, k=k) >= score(hit("a", "x"), worse, now=NOW, k=k)


@given(age=ages, confidence=shares, rank=ranks)
def test_the_higher_tier_never_scores_less_and_a_score_stays_within_0_and_1(
    age: float, confidence: float, rank: int
) -> None:
    scores = [score(hit("a", "x", tier=tier, age_days=age, confidence=confidence), rank, now=NOW) for tier in TIERS]

    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= value <= 1.0 for value in scores)


def test_one_address_in_two_lists_keeps_its_better_score() -> None:
    item = live("kiln: up")

    found = reconcile([Ranked(hit=item, store_rank=9), Ranked(hit=item, store_rank=1)], now=NOW + DAY_S, query="")

    assert found.scores[item.address] == pytest.approx(score(item, 1, now=NOW + DAY_S))
