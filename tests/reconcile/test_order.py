"""The same hits in any order give the same reconciliation."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from callosum_mcp.reconcile import Ranked, reconcile
from reconcile.world import CASES as FILE
from reconcile.world import NOW, bench_conflicts

hit_of = bench_conflicts().hit_of
CASES: list[dict[str, Any]] = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
QUERIES = [case["query"] for case in CASES]


@given(case=st.sampled_from(CASES), data=st.data())
def test_a_cases_hits_in_any_order_give_the_same_conflicts_and_scores(
    case: dict[str, Any], data: st.DataObject
) -> None:
    hits = [Ranked(hit=hit_of(row)) for row in case["hits"]]
    shuffled = data.draw(st.permutations(hits))

    assert reconcile(shuffled, now=NOW, query=case["query"]) == reconcile(hits, now=NOW, query=case["query"])


@given(picked=st.lists(st.sampled_from(CASES), min_size=2, max_size=6), query=st.sampled_from(QUERIES), data=st.data())
def test_many_hits_of_many_subjects_in_any_order_too(
    picked: list[dict[str, Any]], query: str, data: st.DataObject
) -> None:
    hits = [Ranked(hit=hit_of(row), store_rank=rank) for case in picked for rank, row in enumerate(case["hits"], 1)]
    shuffled = data.draw(st.permutations(hits))

    assert reconcile(shuffled, now=NOW, query=query) == reconcile(hits, now=NOW, query=query)


@given(text=st.text(max_size=300), query=st.text(max_size=60), value=st.text(max_size=40))
def test_any_text_at_all_is_read_without_a_crash(text: str, query: str, value: str) -> None:
    row = {
        "store": "a",
        "kind": "x",
        "tier": "older-note",
        "id": "1",
        "text": text,
        "last_seen": None,
        "confidence": None,
    }
    other = {**row, "store": "b", "key": "port", "project": "p", "value": value}

    found = reconcile([Ranked(hit=hit_of(row)), Ranked(hit=hit_of(other))], now=NOW, query=query)

    assert set(found.scores) == {"a:1", "b:1"}
