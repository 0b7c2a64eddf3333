"""SerenMemory: what is asked of it, and what becomes of its recorded replies."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest
from support.data import recorded, running
from support.fake_seren import FakeSeren, of, serving

from callosum_mcp.adapters.http import HttpRequest
from callosum_mcp.adapters.seren_memory import (
    SerenMemory,
    parse_counts,
    parse_search,
    parse_topics,
    search_request,
    topic_request,
    wanted_tiers,
)
from callosum_mcp.errors import StoreBadReply
from callosum_mcp.federation.stores import Store
from callosum_mcp.models.requests import RecallRequest
from callosum_mcp.models.values import Hit, ProbeReport, StoreQuery, StoreReply, StoreSpec
from callosum_mcp.testing import check_adapter

ALL = frozenset({"short", "near", "long"})
CORE = "e550cc67e89142f0adbba6a93641b4ab"


@pytest.fixture
async def fake() -> AsyncGenerator[FakeSeren]:
    async with serving("memory") as store:
        yield store


def spec_of(fake: FakeSeren, **options: object) -> StoreSpec:
    return StoreSpec(name="mem", type="seren_memory", url=fake.url, options=options)


@pytest.fixture
async def memory(fake: FakeSeren) -> AsyncGenerator[SerenMemory]:
    adapter = SerenMemory(spec_of(fake))
    yield adapter
    await adapter.aclose()


def test_a_search_asks_within_the_servers_cap() -> None:
    assert search_request(StoreQuery(text="q", limit=500), frozenset({"long"}), superseded=False) == HttpRequest(
        method="POST",
        path="/search",
        json={
            "query": "q",
            "n_results": 50,
            "include_short": False,
            "include_near": False,
            "include_long": True,
            "include_superseded": False,
            "with_surroundings": True,
        },
    )


def test_superseded_cores_are_asked_for_with_satellites() -> None:
    body = search_request(StoreQuery(text="q", limit=0), ALL, superseded=True, path="/s", surroundings=False).json
    assert isinstance(body, dict)
    assert (body["include_superseded"], body["include_satellites"], body["n_results"]) == (True, True, 1)


def test_a_topic_request_names_topics_and_what_is_known_already() -> None:
    assert topic_request(["hermes"], 3, ALL, ["a"]) == HttpRequest(
        method="POST",
        path="/by_topic",
        json={
            "topics": ["hermes"],
            "n_results": 3,
            "include_short": True,
            "include_near": True,
            "include_long": True,
            "exclude_ids": ["a"],
        },
    )


def test_types_narrow_the_tiers() -> None:
    assert wanted_tiers(StoreQuery(text="q"), ALL) == ALL
    assert wanted_tiers(StoreQuery(text="q", types=frozenset({"long", "fact"})), ALL) == {"long"}


def test_a_recorded_hit_keeps_everything_known_of_it() -> None:
    row = recorded("memory/search_surroundings")["hits"][0]
    hit = parse_search({"hits": [row]}, "mem").hits[0]
    assert hit == Hit(
        store="mem",
        id=CORE,
        text=row["content"],
        type="long",
        topics=("hermes", "incident"),
        last_seen=1795982982.6568005,
        relevance=1 / (1 + row["raw_distance"]),
        metadata={
            **{key: value for key, value in row["metadata"].items() if key != "topic"},
            "store_score": row["score"],
            "raw_distance": row["raw_distance"],
            "surroundings": row["surroundings"],
            **({"matched_via": row["matched_via"]} if row["matched_via"] else {}),
        },
    )


def test_recorded_superseded_cores_are_marked() -> None:
    hits = parse_search(recorded("memory/search_superseded_and_satellites"), "mem").hits
    old = next(hit for hit in hits if hit.id == "9d8ad49875b04d6e9123506fb29b43a2")
    assert (old.superseded, old.live, old.superseded_by) == (True, False, "ed07245fa19f4254a1c22219a032449f")


def test_recorded_topic_hits_have_no_relevance() -> None:
    reply = parse_topics(recorded("memory/by_topic_one"), "mem")
    assert reply.hits and {hit.relevance for hit in reply.hits} == {None}
    assert reply.hits[0].metadata["overlap"] == 1


def test_counts_are_read_per_tier_and_other_numbers_left_out() -> None:
    assert parse_counts(recorded("memory/root")) == {"short": 36, "near": 8, "long": 17}
    assert parse_counts({"tiers": {"short": "many", "long": float("nan")}}) == {}


async def test_it_keeps_the_adapter_contract(memory: SerenMemory) -> None:
    reply = await check_adapter(memory, "Hermes")
    assert [hit.id for hit in reply.hits] == [row["id"] for row in recorded("memory/search_surroundings")["hits"]]


async def test_a_server_that_ignores_the_limit_is_cut_to_it(fake: FakeSeren, memory: SerenMemory) -> None:
    fake.mode = "ignores_n"
    assert len((await memory.search(StoreQuery(text="x", limit=7))).hits) == 7


async def test_types_it_does_not_hold_are_not_asked_for(fake: FakeSeren, memory: SerenMemory) -> None:
    assert await memory.search(StoreQuery(text="x", types=frozenset({"fact"}))) == StoreReply(hits=())
    assert fake.requests == []


async def test_an_empty_tier_is_no_fault_of_a_store_that_holds_others(fake: FakeSeren, memory: SerenMemory) -> None:
    assert (await memory.search(StoreQuery(text="x", types=frozenset({"near"})))).hits == ()
    with pytest.raises(StoreBadReply, match="holds 36 memories: its embedding model is probably missing"):
        await memory.search(StoreQuery(text="x", types=frozenset({"short"})))


async def test_an_empty_store_is_empty(fake: FakeSeren, memory: SerenMemory) -> None:
    fake.memories = []
    fake.root = {"tiers": {"short": 0, "near": 3, "long": 0}}
    assert await memory.search(StoreQuery(text="x")) == StoreReply(hits=())


async def test_a_topic_filter_also_finds_what_carries_the_topic(memory: SerenMemory) -> None:
    reply = await memory.search(StoreQuery(text="x", topics=frozenset({"homelab"})))
    nas = "13c959d0c96e4d469e9cf0df19076c30"
    assert [hit.id for hit in reply.hits] == [nas, f"{nas}-tagged"]


async def test_by_topic_asks_the_configured_path_and_tiers(fake: FakeSeren) -> None:
    memory = SerenMemory(spec_of(fake, include_short=False, search_path="/search", with_surroundings=False))
    reply = await memory.by_topic(["hermes"], 2, exclude=["a"])
    await memory.search(StoreQuery(text="x", include_superseded=True))
    await memory.aclose()
    assert len(reply.hits) == 2
    assert (fake.requests[0].body["include_short"], fake.requests[0].body["exclude_ids"]) == (False, ["a"])
    assert (fake.requests[1].body["include_superseded"], fake.requests[1].body["with_surroundings"]) == (True, False)


async def test_episodes_that_only_came_along_are_no_hits(fake: FakeSeren, memory: SerenMemory) -> None:
    fake.memories = recorded("memory/search_superseded_and_satellites")["hits"]
    hits = (await memory.search(StoreQuery(text="colour", include_superseded=True))).hits
    kinds = {hit.id: (hit.metadata["kind"], hit.superseded) for hit in hits}
    assert kinds["9d8ad49875b04d6e9123506fb29b43a2"] == ("satellite", True)
    assert all(kind == "core" or old for kind, old in kinds.values())


async def test_superseded_memories_are_hidden_until_asked_for(fake: FakeSeren) -> None:
    fake.memories = recorded("memory/search_superseded_and_satellites")["hits"]
    async with running(Store.of(spec_of(fake))) as asking:
        hidden = await asking.recall(RecallRequest(query="colour"))
        shown = await asking.recall(RecallRequest(query="colour", include_superseded=True))
    assert hidden.superseded == []
    assert [hit.id for hit in shown.superseded] == ["mem:9d8ad49875b04d6e9123506fb29b43a2"]
    assert shown.superseded[0].superseded_by == "ed07245fa19f4254a1c22219a032449f"
    assert "mem:9d8ad49875b04d6e9123506fb29b43a2" not in {hit.id for hit in shown.hits}


async def test_fetch_brings_a_core_with_its_episodes(memory: SerenMemory) -> None:
    hit = await memory.fetch(CORE)
    assert hit is not None and (hit.id, hit.type) == (CORE, "long")
    assert hit.metadata["satellites"] == recorded("memory/long_satellites")["satellites"]


async def test_fetch_of_a_short_memory_asks_no_more(fake: FakeSeren, memory: SerenMemory) -> None:
    fake.memories = [{**fake.memories[0], "id": "a/b", "tier": "short"}]
    hit = await memory.fetch("a/b")
    assert hit is not None and "satellites" not in hit.metadata
    assert [asked.path for asked in fake.requests] == ["/memory/a%2Fb"]


async def test_a_core_whose_episodes_are_gone_is_still_fetched(fake: FakeSeren, memory: SerenMemory) -> None:
    whole = fake.answer
    fake.answer = lambda asked: of({}, 404) if "satellites" in asked.path else whole(asked)
    hit = await memory.fetch(CORE)
    assert hit is not None and hit.id == CORE


@pytest.mark.parametrize("hit_id", [".", "..", "nope", "%2e%2e", "../search"])
async def test_an_unknown_id_is_nothing_and_never_another_page(
    fake: FakeSeren, memory: SerenMemory, hit_id: str
) -> None:
    assert await memory.fetch(hit_id) is None
    assert {asked.path.startswith("/memory/") for asked in fake.requests} <= {True}


async def test_a_memory_without_text_is_a_bad_reply(fake: FakeSeren, memory: SerenMemory) -> None:
    fake.memories = [{**fake.memories[0], "content": None}]
    with pytest.raises(StoreBadReply, match="memory has no text"):
        await memory.fetch(CORE)


async def test_a_probe_counts_the_tiers(memory: SerenMemory) -> None:
    assert await memory.probe() == ProbeReport(detail="SerenMemory: 36 short, 8 near, 17 long", entries=61)
