"""Edges: associated memories after the list, marked, shared out in turn, never at the cost of the call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anyio
import pytest
from support.data import federation, scripted

from callosum_mcp.errors import StoreError
from callosum_mcp.federation.stores import Store
from callosum_mcp.models.requests import RecallRequest
from callosum_mcp.models.results import RecallResult
from callosum_mcp.models.values import Hit, StoreReply, StoreSpec
from callosum_mcp.testing import ScriptedStore, hit

ASK = RecallRequest(query="which port does Hermes use")


class Topical(ScriptedStore):
    """A store that also answers by topic, with what it was given."""

    topical = True

    def __init__(self, spec: StoreSpec, hits: Sequence[Hit] = (), **more: Any) -> None:
        self.tagged: list[Hit] = more.pop("tagged", [])
        self.hold: anyio.Event | None = more.pop("hold", None)
        self.asked: list[tuple[list[str], int, list[str]]] = []
        super().__init__(spec, hits, **more)

    async def by_topic(self, topics: Sequence[str], limit: int, exclude: Sequence[str]) -> StoreReply:
        self.asked.append((list(topics), limit, sorted(exclude)))
        if self.hold is not None:
            await self.hold.wait()
        return StoreReply(hits=tuple(self.tagged))


def topical(name: str, *hits: Hit, spec: dict[str, Any] | None = None, **more: Any) -> tuple[Store, Topical]:
    made = Topical(StoreSpec(name=name, type="scripted", **(spec or {})), hits, **more)
    return Store.of(made.spec, made), made


def tagged(store: str, *names: str, topic: str = "hermes", **more: Any) -> list[Hit]:
    return [hit(store, name, f"{store} also knows {name}", topics=(topic,), **more) for name in names]


def edges(answer: RecallResult) -> list[tuple[str, str | None, str | None]]:
    return [(edge.id, edge.edge, edge.edge_of) for edge in answer.edges]


def core(store: str, name: str, *episodes: str, **more: Any) -> Hit:
    recent = [{"id": f"{name}-{n}", "content": text, "created_at": n} for n, text in enumerate(episodes, start=1)]
    return hit(store, name, f"core {name}", metadata={"surroundings": {"recent": recent, **more}})


async def test_a_memorys_topics_bring_more_of_them_after_the_list() -> None:
    store, made = topical(
        "m", hit("m", "1", "one", topics=("hermes", "ops")), hit("m", "2", "two"), tagged=tagged("m", "3")
    )
    answer = await federation(store).recall(ASK)
    assert [shown.id for shown in answer.hits] == ["m:1", "m:2"]
    assert edges(answer) == [("m:3", "topic", "m:1")]
    assert answer.edges[0].receipt == answer.receipts[-1].id == "r3"
    assert made.asked == [(["hermes", "ops"], 3, ["1", "2"])]


async def test_a_facts_project_brings_memories_of_another_store() -> None:
    store, made = topical("m", tagged=tagged("m", "3"))
    fact = hit("loci", "hermes/port", "hermes port = 8443", type="fact", topics=("hermes",))
    answer = await federation(scripted("loci", fact), store).recall(ASK)
    assert edges(answer) == [("m:3", "topic", "loci:hermes/port")]
    assert made.asked == [(["hermes"], 3, [])]


async def test_the_same_id_in_two_stores_is_two_memories() -> None:
    first, one = topical("a", hit("a", "1", "one", topics=("hermes",)), tagged=tagged("a", "2"))
    second, two = topical("b", hit("b", "2", "two", topics=("hermes",)), tagged=tagged("b", "1"))
    answer = await federation(first, second).recall(ASK)
    assert edges(answer) == [("a:2", "topic", "a:1"), ("b:1", "topic", "a:1")]
    assert (one.asked[0][2], two.asked[0][2]) == (["1"], ["2"])


async def test_nothing_is_shown_twice() -> None:
    shared = hit("m", "copy", "the same words", topics=("hermes",))
    old = hit("m", "old", "older", topics=("hermes",), superseded_by="1")
    store, _ = topical(
        "m",
        core("m", "1", "the episode", supersedes_entry={"id": "old", "content": "older"}),
        shared,
        old,
        tagged=[shared, old, *tagged("m", "1-1", "new", "new")],
    )
    other = scripted("first", hit("first", "copy", "The same words"))
    answer = await federation(other, store).recall(ASK.model_copy(update={"include_superseded": True}))
    assert edges(answer) == [("m:1-1", "satellite", "m:1"), ("m:new", "topic", "first:copy")]
    shown = [item.id for item in (*answer.hits, *answer.superseded, *answer.edges)]
    assert len(shown) == len(set(shown))


async def test_what_was_replaced_is_marked() -> None:
    store, _ = topical(
        "m",
        core("m", "1", supersedes_entry={"id": "0", "content": "what held before"}),
        hit("m", "2", "two", topics=("hermes",)),
        tagged=[
            *tagged("m", "3", superseded_by="2", live=False),
            *tagged("m", "4", superseded_at=86_400.0),
            *tagged("m", "5", live=False),
        ],
    )
    answer = await federation(store).recall(ASK)
    assert [(edge.id, edge.edge, edge.superseded_by, edge.superseded_at) for edge in answer.edges] == [
        ("m:0", "supersedes", "1", None),
        ("m:3", "topic", "2", None),
        ("m:4", "topic", None, "1970-01-02T00:00:00Z"),
        ("m:5", "topic", "unknown", None),
    ]


async def test_a_store_that_failed_in_this_call_is_not_asked_again() -> None:
    class Undatable(Topical):
        async def complete(self, hits: Sequence[Hit]) -> list[Hit]:
            raise StoreError("broken")

    spec = StoreSpec(name="undatable", type="scripted")
    undatable = Undatable(spec, [hit("undatable", "1", "one", topics=("hermes",))])
    down, silent = topical("down", fault=StoreError("broken"))
    up, asked = topical("up", hit("up", "1", "two", topics=("hermes",), last_seen=1.0))
    answer = await federation(Store.of(spec, undatable), down, up).recall(ASK)
    assert (len(answer.hits), undatable.asked, silent.asked, len(asked.asked)) == (2, [], [], 1)


async def test_the_budget_is_shared_in_turn_over_the_stores() -> None:
    stores = [
        topical(name, hit(name, "1", f"one {name}", topics=("hermes",)), tagged=tagged(name, "2", "3", "4"))[0]
        for name in "ab"
    ]
    answer = await federation(*stores, edge_budget=3).recall(ASK)
    assert [edge.id for edge in answer.edges] == ["a:2", "b:2", "a:3"]


async def test_no_more_stores_are_asked_by_topic_than_the_budget_has_places() -> None:
    made = [topical(name, hit(name, "1", f"one {name}", topics=("hermes",))) for name in "abc"]
    await federation(*(store for store, _ in made), edge_budget=2).recall(ASK)
    assert [len(adapter.asked) for _, adapter in made] == [1, 1, 0]


async def test_the_satellites_budget_is_shared_in_turn_over_the_cores_newest_first() -> None:
    cores = scripted("m", core("m", "1", "first", "second", "third"), core("m", "2", "other"), core("m", "3"))
    answer = await federation(cores, satellite_budget=3).recall(ASK)
    assert [(edge.id, edge.text, edge.last_seen) for edge in answer.edges] == [
        ("m:1-3", "third", "1970-01-01T00:00:03Z"),
        ("m:2-1", "other", "1970-01-01T00:00:01Z"),
        ("m:1-2", "second", "1970-01-01T00:00:02Z"),
    ]


@pytest.mark.parametrize("around", [None, [], {"recent": "x"}, {"recent": [1, {"id": 2}, {"id": "a", "content": " "}]}])
async def test_odd_surroundings_are_no_edges(around: object) -> None:
    odd = hit("m", "1", "one", metadata={"surroundings": around})
    assert (await federation(scripted("m", odd)).recall(ASK)).edges == []


@pytest.mark.parametrize(
    "knobs", [{"edges_enabled": False}, {"edge_budget": 0, "satellite_budget": 0}], ids=["off", "no budget"]
)
async def test_edges_can_be_switched_off(knobs: dict[str, Any]) -> None:
    store, made = topical("m", core("m", "1", "x"), hit("m", "2", "y", topics=("hermes",)), tagged=tagged("m", "3"))
    assert (await federation(store, **knobs).recall(ASK)).edges == []
    assert made.asked == []


async def test_hits_without_a_topic_ask_for_nothing_and_what_shares_none_is_left_out() -> None:
    plain, made = topical("m", hit("m", "1", "one"))
    assert ((await federation(plain).recall(ASK)).edges, made.asked) == ([], [])
    store, _ = topical("m", hit("m", "1", "one", topics=("hermes",)), tagged=tagged("m", "2", topic="apollo"))
    assert (await federation(store).recall(ASK)).edges == []


async def test_a_store_that_hangs_when_asked_by_topic_costs_its_edges_alone() -> None:
    held = anyio.Event()
    hanging, made = topical("h", hit("h", "1", "one", topics=("hermes",)), hold=held, spec={"timeout_s": 300})
    quick, _ = topical("q", hit("q", "2", "two", topics=("hermes",)), tagged=tagged("q", "3"))
    with anyio.fail_after(5):
        answer = await federation(hanging, quick, deadline_s=0.3, per_store_timeout_s=300).recall(ASK)
    assert (len(answer.hits), edges(answer), answer.partial) == (2, [("q:3", "topic", "h:1")], False)
    assert len(made.asked) == 1 and answer.took_ms < 2_000


async def test_an_edge_has_the_tier_of_its_store_and_no_rank_among_the_hits() -> None:
    store, _ = topical(
        "m", hit("m", "1", "one", topics=("hermes",)), tagged=tagged("m", "2"), spec={"tier": "live-infra"}
    )
    (edge,) = (await federation(store).recall(ASK)).edges
    assert (edge.tier, edge.score, edge.store_rank) == ("live-infra", 0.0, 1)
