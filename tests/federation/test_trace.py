"""A trace says of every hit why it stands where it stands, and of every hit that is not shown why not."""

from __future__ import annotations

from typing import Any

import pytest
from support.data import federation, scripted

from callosum_mcp.errors import StoreRefused
from callosum_mcp.federation.stores import Store
from callosum_mcp.models.knobs import MAX_BUDGET_TOKENS
from callosum_mcp.models.requests import RecallRequest
from callosum_mcp.models.values import Hit, StoreSpec
from callosum_mcp.testing import ScriptedStore, hit
from callosum_mcp.text import compact_json

QUERY = "which port does Hermes use"


async def trace(*stores: Store, knobs: dict[str, Any] | None = None, **asked: Any) -> dict[str, Any]:
    answer = await federation(*stores, **(knobs or {})).recall(RecallRequest(query=QUERY, trace=True, **asked))
    assert answer.trace is not None
    return answer.trace


def dropped(told: dict[str, Any]) -> dict[str, str]:
    return {entry["id"]: entry["why"] for entry in told["dropped"]}


async def test_nothing_is_traced_unless_asked_for() -> None:
    answer = await federation(scripted("a", hit("a", "1", "x"))).recall(RecallRequest(query=QUERY))
    assert answer.trace is None and "trace" not in answer.wire()


async def test_each_hit_has_its_votes() -> None:
    told = await trace(
        scripted("a", hit("a", "1", "one"), hit("a", "2", "both")),
        scripted("b", hit("b", "9", "Both"), more={"weight": 2}),
        knobs={"fusion_mode": "rrf"},
    )
    shared, single = told["hits"]
    assert shared == {
        "id": "b:9",
        "place": 1,
        "score": pytest.approx(2 / 61 + 1 / 62, rel=1e-5),
        "votes": [
            {"id": "b:9", "rank": 1, "weight": 2.0, "value": pytest.approx(2 / 61, rel=1e-5)},
            {"id": "a:2", "rank": 2, "weight": 1.0, "value": pytest.approx(1 / 62, rel=1e-5)},
        ],
    }
    assert (single["id"], single["place"]) == ("a:1", 2)
    assert told["settings"]["fusion_mode"] == "rrf"


async def test_pooled_tells_the_text_score_and_the_line_of_the_store() -> None:
    told = await trace(scripted("a", hit("a", "1", "hermes uses the port 8443"), hit("a", "2", "the tide")))
    first, second = (entry["votes"][0] for entry in told["hits"])
    assert first["text"] > 0 and second["text"] == 0
    assert first["fitted"] > second["fitted"]
    assert first["value"] == pytest.approx((first["text"] + first["fitted"]) / 2, rel=1e-3)


async def test_a_lead_and_the_tie_break_are_told() -> None:
    told = await trace(
        scripted("a", hit("a", "1", "hermes port 8443", last_seen=1.0)),
        scripted("l", hit("l", "k", "key = value", exact=True, relevance=1.0, last_seen=4e9)),
        until=5e9,
    )
    assert [(entry["id"], entry.get("lead")) for entry in told["hits"]] == [("l:k", "exact"), ("a:1", None)]
    assert told["hits"][0]["temporal"] > 0


async def test_a_reserved_seat_is_told() -> None:
    told = await trace(
        scripted("many", *(hit("many", str(n), f"x{n}") for n in range(9)), more={"weight": 9}),
        scripted("few", hit("few", "1", "y")),
        knobs={"fusion_mode": "rrf", "min_per_store": 1},
        n_results=2,
    )
    assert [(entry["id"], entry.get("seat")) for entry in told["hits"]] == [
        ("many:0", None),
        ("few:1", "reserved: min_per_store"),
    ]


async def test_every_reason_for_leaving_a_hit_out_is_told() -> None:
    def a(name: str, **more: Any) -> Hit:
        return hit("a", name, f"text {name}", **{"type": "note", "topics": ("ops",), "last_seen": 50.0, **more})

    hits = [
        a("low", relevance=0.1),
        a("kind", type="fact"),
        a("topic", topics=("x",)),
        a("early", last_seen=1.0),
        a("late", last_seen=99.0),
        a("undated", last_seen=None),
        a("old", superseded_by="best"),
        a("best"),
        a("second"),
        a("third"),
    ]
    told = await trace(
        scripted("a", *hits, more={"floor": 0.5}),
        scripted("off", hit("off", "w", "silent", type="note", topics=("ops",), last_seen=50.0), more={"weight": 0}),
        types=["note"],
        topics=["ops"],
        since=10,
        until=60,
        n_results=2,
    )
    assert [entry["id"] for entry in told["hits"]] == ["a:best", "a:second"]
    assert dropped(told) == {
        "a:low": "floor",
        "a:kind": "types",
        "a:topic": "topics",
        "a:early": "since/until",
        "a:late": "since/until",
        "a:undated": "unknown age",
        "a:old": "superseded",
        "off:w": "weight 0",
        "a:third": "no seat: beyond n_results",
    }
    assert told["stores"]["a"]["raw"] == [one.id for one in hits]


async def test_what_the_budget_cost_is_told() -> None:
    long = [hit("a", str(n), f"{n} " + "word " * 400) for n in range(9)]
    old = hit("a", "old", "o " * 800, superseded_by="1")
    told = await trace(scripted("a", *long, old), budget_tokens=200, include_superseded=True)
    why = dropped(told)
    assert why["a:8"] == why["a:old"] == "budget"
    assert set(why.values()) == {"budget"}


async def test_each_store_tells_its_time_and_its_connections() -> None:
    class Counting(ScriptedStore):
        def usage(self) -> dict[str, int]:
            return {"requests": 3, "reused": 2}

    spec = StoreSpec(name="a", type="scripted")
    told = await trace(
        Store.of(spec, Counting(spec, [hit("a", "1", "x")])),
        scripted("b", fault=StoreRefused("nothing listens")),
        scripted("c", more={"enabled": False}),
    )
    ms = told["stores"]["a"].pop("ms")
    assert ms >= 0 and told["stores"]["a"] == {
        "status": "up",
        "raw": ["1"],
        "connections": {"requests": 3, "reused": 2},
    }
    assert set(told["stores"]["b"]) == {"status", "ms"}
    assert told["stores"]["c"] == {"status": "skipped"}


@pytest.mark.parametrize(("length", "left_out"), [(20, set[str]()), (3_000, {"dropped", "stores", "hits"})])
async def test_a_trace_is_bounded(length: int, left_out: set[str]) -> None:
    stores = [
        scripted(f"s{s}", *(hit(f"s{s}", f"{n}-{'i' * length}", f"text {s} {n}") for n in range(60))) for s in range(5)
    ]
    answer = await federation(*stores).recall(RecallRequest(query=QUERY, trace=True, n_results=50))
    assert answer.trace is not None
    assert len(compact_json(answer.wire())) <= 4 * MAX_BUDGET_TOKENS + 400
    assert {part for part, told in answer.trace.items() if isinstance(told, str)} == left_out
    assert answer.tokens <= 1_800
