"""The hits of a recall: how many are asked for, which pass, with which tier, and what completes them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import anyio
import pytest
from support.data import federation, scripted

from callosum_mcp.errors import StoreError
from callosum_mcp.federation.stores import Store
from callosum_mcp.models.requests import RecallRequest
from callosum_mcp.models.results import RecallResult
from callosum_mcp.models.values import Hit, StoreSpec
from callosum_mcp.testing import ScriptedStore, hit

ASK = RecallRequest(query="which port does Hermes use")


def ids(answer: RecallResult) -> list[str]:
    return [shown.id for shown in answer.hits]


async def asked_of(store: Store) -> ScriptedStore:
    async with store.connection.adapter() as adapter:
        assert isinstance(adapter, ScriptedStore)
        return adapter


async def test_each_store_is_asked_for_no_more_than_it_can_give() -> None:
    store = scripted("a")
    asking = federation(store, fetch_multiplier=50)
    await asking.recall(ASK.model_copy(update={"n_results": 100}))
    await asking.recall(ASK.model_copy(update={"n_results": 2}))
    assert [query.limit for query in (await asked_of(store)).queries] == [500, 100]


@pytest.mark.promise("P22")
async def test_a_floor_drops_known_relevance_below_it_and_nothing_else() -> None:
    hits = [
        hit("a", "low", "w", relevance=0.2),
        hit("a", "unknown", "x"),
        hit("a", "high", "y", relevance=0.3),
        hit("a", "nan", "z", relevance=float("nan")),
    ]
    answer = await federation(scripted("a", *hits, more={"floor": 0.3})).recall(ASK)
    assert [(shown.id, shown.store_rank) for shown in answer.hits] == [("a:unknown", 1), ("a:high", 2), ("a:nan", 3)]


async def test_types_topics_and_times_are_filtered_before_ranks_are_given() -> None:
    hits = [
        hit("a", "1", "w", type="fact", topics=("hermes",), last_seen=100.0),
        hit("a", "2", "x", type="note", topics=("hermes", "ops"), last_seen=200.0),
        hit("a", "3", "y", type="note", topics=("ops",), last_seen=300.0),
        hit("a", "4", "z", type="note", topics=("ops",)),
    ]
    asking = federation(scripted("a", *hits))

    async def places(**more: Any) -> list[tuple[str, int]]:
        answer = await asking.recall(RecallRequest(query="x", **more))
        return [(shown.id, shown.store_rank) for shown in answer.hits]

    assert await places(types=["note"]) == [("a:2", 1), ("a:3", 2), ("a:4", 3)]
    assert await places(topics=[" Hermes "]) == [("a:1", 1), ("a:2", 2)]
    assert await places(since=200, until=250) == [("a:2", 1)]
    assert await places(since=300) == [("a:3", 1)]
    answer = await asking.recall(RecallRequest(query="x", until=100))
    assert (ids(answer), answer.engines[0].detail) == (["a:1"], "1 hits of unknown age left out")


@pytest.mark.promise("P25")
async def test_superseded_hits_take_no_rank_and_are_shown_when_asked_for() -> None:
    hits = [
        hit("a", "old", "x", superseded_at=5.0),
        hit("a", "older", "y", live=False),
        hit("a", "new", "z"),
        hit("a", "gone", "w", superseded_by="new"),
    ]
    asking = federation(scripted("a", *hits))
    hidden = await asking.recall(ASK)
    shown = await asking.recall(ASK.model_copy(update={"include_superseded": True}))
    assert ([(h.id, h.store_rank) for h in hidden.hits], hidden.superseded) == ([("a:new", 1)], [])
    assert ids(shown) == ["a:new"]
    assert [old.id for old in shown.superseded] == ["a:old", "a:older", "a:gone"]


async def test_tiers_come_from_the_store_then_the_hit() -> None:
    asking = federation(
        scripted("a", hit("a", "1", "x", tier="older-note"), more={"tier": "live-infra"}),
        scripted("b", hit("b", "2", "y")),
    )
    assert [shown.tier for shown in (await asking.recall(ASK)).hits] == ["live-infra", "agent-memory"]


async def test_a_third_partys_odd_hits_are_made_safe_or_left_out() -> None:
    odd = [
        Hit(store="elsewhere", id="1", text="half an emoji \ud83d", title=" ", last_seen=1e20, confidence=float("nan")),
        hit("a", "1", "the same id again"),
        hit("a", "", "no id"),
        hit("a", "2", " \n"),
        hit("a", "3", "ok", last_seen=float("inf"), relevance=7.0, confidence=0.5, metadata={"s": {1}, "n": 10**400}),
    ]
    answer = await federation(scripted("a", *odd)).recall(ASK.model_copy(update={"detail": "detailed"}))
    assert [(shown.id, shown.text, shown.last_seen, shown.confidence) for shown in answer.hits] == [
        ("a:1", "half an emoji ?", None, None),
        ("a:3", "ok", None, 0.5),
    ]
    assert answer.hits[1].metadata == {"s": "{1}", "n": 10**400}


async def test_what_a_search_leaves_out_is_asked_for_shown_hits_alone() -> None:
    asked: list[str] = []

    class Dating(ScriptedStore):
        async def complete(self, hits: Any) -> list[Hit]:
            asked.extend(one.id for one in hits)
            return [replace(one, last_seen=86_400.0) for one in hits]

    spec = StoreSpec(name="a", type="scripted")
    hits = [hit("a", str(n), f"x{n}", last_seen=1.0 if n == 0 else None) for n in range(9)]
    answer = await federation(Store.of(spec, Dating(spec, hits))).recall(ASK.model_copy(update={"n_results": 3}))
    assert asked == ["1", "2"]
    assert [shown.last_seen for shown in answer.hits] == ["1970-01-01T00:00:01Z", *["1970-01-02T00:00:00Z"] * 2]


async def test_a_completion_that_fails_or_hangs_costs_only_what_it_would_add() -> None:
    class Failing(ScriptedStore):
        async def complete(self, hits: Any) -> list[Hit]:
            raise StoreError("broken")

    class Hanging(ScriptedStore):
        async def complete(self, hits: Any) -> list[Hit]:
            await anyio.sleep_forever()
            return []

    specs = [StoreSpec(name=name, type="scripted", timeout_s=0.05) for name in "ab"]
    asking = federation(
        Store.of(specs[0], Failing(specs[0], [hit("a", "1", "x")])),
        Store.of(specs[1], Hanging(specs[1], [hit("b", "2", "y")])),
    )
    with anyio.fail_after(5):
        answer = await asking.recall(ASK)
    assert (ids(answer), answer.partial) == (["a:1", "b:2"], False)


async def test_min_per_store_keeps_seats() -> None:
    many = scripted("many", *(hit("many", str(n), f"x{n}") for n in range(9)), more={"weight": 9})
    few = scripted("few", hit("few", "1", "y"))
    asking = federation(many, few, min_per_store=1, fusion_mode="rrf")
    assert ids(await asking.recall(ASK.model_copy(update={"n_results": 2}))) == ["many:0", "few:1"]
