"""One question over the real SerenMemory, the real SerenLoci and a folder of notes, also while one of them fails."""

import json
import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import anyio
import httpx2
import pytest
from anyio import to_thread
from mcp.client import Client
from pydantic import SecretStr

from callosum_mcp.adapters.base import Adapter
from callosum_mcp.adapters.seren_loci import SerenLoci
from callosum_mcp.adapters.seren_memory import SerenMemory
from callosum_mcp.models.values import StoreQuery, StoreSpec
from callosum_mcp.testing import check_adapter
from callosum_mcp.text import epoch_seconds

from . import corpus
from .conftest import CallosumFactory, SerenFactory
from .lab import Seren
from .ours import TRANSPORTS, Callosum, Transport
from .server import Server

Answer = dict[str, Any]
Record = Callable[[str, object], None]

EVERYWHERE = "Hermes status"
"""A question that memory, loci and the notes all hold something for."""
STORES = ["memory", "loci", "notes"]
TIMEOUT_S = 0.8
SHORT_PATIENCE = {"per_store_timeout_s": TIMEOUT_S, "deadline_s": 3.0}
GUARD_S = 1.0
"""What a busy machine may add to a timeout before a test fails; the figure itself is printed and recorded."""


async def recall(client: Client, query: str, **arguments: Any) -> Answer:
    """What a model sees: the structured content, after checking that the text says the same."""
    result = await client.call_tool("recall", {"query": query, **arguments})
    [block] = result.content
    assert block.type == "text"
    if result.is_error:
        raise AssertionError(block.text)
    assert json.loads(block.text) == result.structured_content
    answer: Answer = dict(result.structured_content or {})
    return answer


def engines(answer: Answer) -> dict[str, Any]:
    """Each store's status, or its reason if it is not up."""
    return {engine["engine"]: engine.get("reason", engine["status"]) for engine in answer["engines"]}


def all_up(answer: Answer) -> bool:
    return not answer["partial"] and set(engines(answer).values()) == {"up"}


def stores_of(answer: Answer) -> set[str]:
    return {hit["store"] for hit in answer["hits"]}


def said_by(callosum: Callosum, query: str, *arguments: str) -> Answer:
    """What the command ``recall`` prints."""
    done = callosum.run("recall", query, "--json", *arguments)
    assert done.returncode == 0, done.stderr
    answer: Answer = json.loads(done.stdout)
    return answer


@pytest.fixture(params=TRANSPORTS)
def transport(request: pytest.FixtureRequest) -> Transport:
    chosen: Transport = request.param
    return chosen


@asynccontextmanager
async def connected(callosum: Callosum, transport: Transport) -> AsyncGenerator[Client]:
    """A client over a transport; the HTTP side is started if it is needed and does not run."""
    if transport != "stdio" and callosum.http.pid is None:
        await to_thread.run_sync(callosum.http.start)
    async with callosum.client(transport) as client:
        yield client


@contextmanager
def timed(record: Record, what: str) -> Generator[None]:
    """Measure how far beyond the store's timeout a call took, and fail beyond the guard."""
    started = time.perf_counter()
    yield
    over_s = time.perf_counter() - started - TIMEOUT_S
    record("ms_beyond_timeout", round(over_s * 1_000, 1))
    print(f"\n{what}: answered {over_s * 1_000:.1f} ms after the timeout of {TIMEOUT_S * 1_000:.0f} ms")  # noqa: T201
    assert over_s < GUARD_S


def test_the_command_answers_from_all_three(callosum: Callosum) -> None:
    answer = said_by(callosum, EVERYWHERE)
    assert all_up(answer)
    assert stores_of(answer) == set(STORES)
    shown = [*answer["hits"], *answer["edges"]]
    assert [hit["receipt"] for hit in shown] == [receipt["id"] for receipt in answer["receipts"]]
    page = callosum.run("recall", EVERYWHERE)
    assert page.returncode == 0
    assert all(hit["id"] in page.stdout for hit in answer["hits"])


async def test_a_client_gets_hits_from_all_three(callosum: Callosum, transport: Transport) -> None:
    async with connected(callosum, transport) as client:
        answer = await recall(client, EVERYWHERE)
    assert all_up(answer)
    assert [engine["engine"] for engine in answer["engines"]] == STORES
    assert stores_of(answer) == set(STORES)


async def test_every_way_in_gives_the_same_list(callosum: Callosum) -> None:
    lists = [[hit["id"] for hit in said_by(callosum, EVERYWHERE)["hits"]]]
    for transport in TRANSPORTS:
        async with connected(callosum, transport) as client:
            lists.append([hit["id"] for hit in (await recall(client, EVERYWHERE))["hits"]])
    rest = callosum.http.post("/recall", {"query": EVERYWHERE})
    lists.append([hit["id"] for hit in rest["hits"]])
    assert all(ids == lists[0] for ids in lists)


async def test_a_stopped_store_is_refused_and_the_others_answer(
    breakable_seren: Seren, make_callosum: CallosumFactory, transport: Transport
) -> None:
    async with connected(make_callosum(breakable_seren), transport) as client:
        assert all_up(await recall(client, EVERYWHERE))
        await to_thread.run_sync(breakable_seren.loci.stop)
        without = await recall(client, EVERYWHERE)
        assert without["partial"] is True
        assert engines(without) == {"memory": "up", "loci": "refused", "notes": "up"}
        assert stores_of(without) == {"memory", "notes"}
        await to_thread.run_sync(breakable_seren.loci.start)
        assert all_up(await recall(client, EVERYWHERE))


def test_the_command_says_which_store_is_stopped(breakable_seren: Seren, make_callosum: CallosumFactory) -> None:
    callosum = make_callosum(breakable_seren)
    breakable_seren.memory.stop()
    answer = said_by(callosum, EVERYWHERE)
    assert answer["partial"] is True
    assert engines(answer) == {"memory": "refused", "loci": "up", "notes": "up"}
    breakable_seren.loci.stop()
    alone = make_callosum(breakable_seren, notes=False).run("recall", EVERYWHERE, "--json")
    assert alone.returncode == 1
    assert engines(json.loads(alone.stdout)) == {"memory": "refused", "loci": "refused"}


async def test_a_store_that_hangs_costs_its_timeout_and_no_more(
    breakable_seren: Seren,
    make_callosum: CallosumFactory,
    transport: Transport,
    record_property: Record,
) -> None:
    servers = {"memory": breakable_seren.memory, "loci": breakable_seren.loci}
    async with connected(make_callosum(breakable_seren, federation=SHORT_PATIENCE), transport) as client:
        for hanging, server in servers.items():
            assert all_up(await recall(client, EVERYWHERE))
            with server.paused(), timed(record_property, f"{transport}, {hanging} hangs"):
                without = await recall(client, EVERYWHERE)
            assert without["partial"] is True
            assert engines(without) == {**dict.fromkeys(STORES, "up"), hanging: "timeout"}
            assert stores_of(without) == set(STORES) - {hanging}
        assert all_up(await recall(client, EVERYWHERE))


def test_the_command_waits_for_a_hanging_store_no_longer_than_its_timeout(
    breakable_seren: Seren, make_callosum: CallosumFactory, record_property: Record
) -> None:
    callosum = make_callosum(breakable_seren, federation=SHORT_PATIENCE)
    with breakable_seren.memory.paused():
        answer = said_by(callosum, EVERYWHERE)
    assert engines(answer)["memory"] == "timeout"
    over_ms = answer["took_ms"] - TIMEOUT_S * 1_000
    record_property("ms_beyond_timeout", round(over_ms, 1))
    print(f"\ncommand, memory hangs: answered {over_ms:.1f} ms after the timeout")  # noqa: T201
    assert over_ms < GUARD_S * 1_000
    assert all_up(said_by(callosum, EVERYWHERE))


def test_a_proxy_of_the_environment_is_not_asked_for_loopback(seren: Seren, make_callosum: CallosumFactory) -> None:
    nowhere = "http://127.0.0.1:9"  # the discard port: whoever asks it for a connection is refused
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy"), nowhere)
    assert all_up(said_by(make_callosum(seren, environ={**proxies, "NO_PROXY": ""}), EVERYWHERE))


def test_a_short_question_brings_the_fact_that_loci_alone_does_not_find(callosum: Callosum) -> None:
    answer = said_by(callosum, "Is Hermes active?")
    first_ten = [hit["id"] for hit in answer["hits"][:10]]
    assert "loci:hermes/status" in first_ten
    assert "memory:s01" in first_ten


CONTRADICTIONS = [
    (label, question)
    for label in corpus.load().conflicts
    for question in (label.query, label.topic)
    if "," not in question
]


@pytest.mark.parametrize(
    ("label", "question"), CONTRADICTIONS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_both_sides_of_a_contradiction_are_in_the_first_ten(
    callosum: Callosum, seren: Seren, label: corpus.Label, question: str
) -> None:
    first_ten = [hit["id"] for hit in said_by(callosum, question)["hits"][:10]]
    assert seren.seeded is not None
    memory = seren.seeded.memory_id(label.memory)
    assert {f"loci:{label.project}/{label.key}", f"memory:{memory}"} <= set(first_ten)


@pytest.mark.parametrize("key", ["standup.time", "tomas.contact", "ups.runtime"])
def test_an_exact_key_leads(callosum: Callosum, key: str) -> None:
    assert said_by(callosum, key)["hits"][0]["id"].endswith(f"/{key}")


def test_the_memory_that_is_in_both_stores_appears_once_with_both(
    private_seren: Seren, make_callosum: CallosumFactory
) -> None:
    said = "The Quillon gateway restarts every Sunday at four in the morning."
    private_seren.memory.post("/short", {"id": "twice", "topic": "quillon", "content": said})
    fact = {"project": "quillon", "key": "restart", "value": said.rstrip("."), "why": "its cache grows"}
    private_seren.loci.post("/fact", fact)
    hits = said_by(make_callosum(private_seren), "When does the Quillon gateway restart?")["hits"]
    [both] = [hit for hit in hits if "Quillon" in hit["text"]]
    assert {(source["store"], source["id"]) for source in both["sources"]} == {
        ("memory", "twice"),
        ("loci", "quillon/restart"),
    }


def test_a_memory_whose_embedder_is_gone_is_down_and_not_empty(
    make_seren: SerenFactory, make_callosum: CallosumFactory
) -> None:
    pair = make_seren(embedder=False)
    bare = pair.memory.post("/search", {"query": EVERYWHERE})
    assert bare == {"query": EVERYWHERE, "hits": [], "searched_tiers": ["short", "near", "long"]}
    answer = said_by(make_callosum(pair), EVERYWHERE)
    [memory] = [engine for engine in answer["engines"] if engine["engine"] == "memory"]
    assert (memory["status"], memory["reason"]) == ("down", "bad_reply")
    assert "embedding model is probably missing" in memory["detail"]
    assert answer["partial"] is True


def test_an_empty_memory_is_up_and_holds_nothing(make_seren: SerenFactory, make_callosum: CallosumFactory) -> None:
    answer = said_by(make_callosum(make_seren(empty=True), notes=False), EVERYWHERE)
    assert all_up(answer)
    assert (answer["answer_kind"], answer["hits"]) == ("none", [])


def test_tokens_reach_their_store_alone(make_seren: SerenFactory, make_callosum: CallosumFactory) -> None:
    pair = make_seren(memory_token="for-memory", loci_token="for-loci")
    memory, loci = {"token_env": "MEMORY_TOKEN"}, {"token_env": "LOCI_TOKEN"}
    right = {"MEMORY_TOKEN": "for-memory", "LOCI_TOKEN": "for-loci"}
    assert all_up(said_by(make_callosum(pair, memory=memory, loci=loci, environ=right), EVERYWHERE))
    wrong = make_callosum(pair, memory=memory, loci=loci, environ={**right, "LOCI_TOKEN": "for-memory"})
    answer = said_by(wrong, EVERYWHERE)
    assert engines(answer) == {"memory": "up", "loci": "auth_failed", "notes": "up"}
    assert "for-memory" not in wrong.run("doctor").stdout + json.dumps(answer)
    nobody = said_by(make_callosum(pair), EVERYWHERE)
    assert engines(nobody) == {"memory": "auth_failed", "loci": "auth_failed", "notes": "up"}


@asynccontextmanager
async def opened(kind: type[SerenMemory] | type[SerenLoci], server: Server) -> AsyncGenerator[Adapter]:
    token = SecretStr(server.token) if server.token else None
    adapter = kind(StoreSpec(name="store", type="seren", url=server.url, token=token))
    try:
        yield adapter
    finally:
        await adapter.aclose()


async def test_seren_memory_keeps_the_contract_of_adapters(seren: Seren) -> None:
    async with opened(SerenMemory, seren.memory) as adapter:
        reply = await check_adapter(adapter, EVERYWHERE)
        report = await adapter.probe()
    assert {hit.type for hit in reply.hits} <= {"short", "near", "long"}
    assert all(hit.last_seen is not None and hit.relevance is not None for hit in reply.hits)
    assert seren.seeded is not None
    assert report.entries == seren.seeded.memories


async def test_seren_loci_keeps_the_contract_of_adapters(seren: Seren) -> None:
    async with opened(SerenLoci, seren.loci) as adapter:
        reply = await check_adapter(adapter, EVERYWHERE)
        complete = await adapter.complete(reply.hits)
        report = await adapter.probe()
    assert seren.seeded is not None
    assert report.entries == seren.seeded.facts
    assert [hit.last_seen for hit in complete] == [pytest.approx(seren.seeded.at, abs=60.0)] * len(complete)


async def test_the_store_caps_are_respected(seren: Seren) -> None:
    async with opened(SerenMemory, seren.memory) as memory, opened(SerenLoci, seren.loci) as loci:
        assert len((await memory.search(StoreQuery(text=EVERYWHERE, limit=10_000))).hits) == 50
        assert (await loci.search(StoreQuery(text=EVERYWHERE, limit=10**9))).hits


async def test_connections_that_idle_as_long_as_the_server_keeps_them_are_never_lost(seren: Seren) -> None:
    """uvicorn closes a connection after 5 s; a request sent at that moment is lost unless it is sent again."""

    async def ask_twice(kind: type[SerenMemory] | type[SerenLoci], server: Server, idle_s: float) -> None:
        async with opened(kind, server) as adapter:
            await adapter.probe()
            await anyio.sleep(idle_s)  # SLEEP: in real time on purpose, the clock is the server's; all of them at once
            assert (await adapter.search(StoreQuery(text=EVERYWHERE, limit=5))).hits

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            for idle_s in (3.9, 3.99, 4.01, 4.5, 4.9, 4.96, 4.98, 5.0, 5.02, 5.2):
                tasks.start_soon(ask_twice, SerenMemory, seren.memory, idle_s)
                tasks.start_soon(ask_twice, SerenLoci, seren.loci, idle_s)


def test_a_core_is_fetched_with_its_episodes_and_what_it_replaced(callosum: Callosum, seren: Seren) -> None:
    assert seren.seeded is not None
    cores = seren.seeded.cores
    hermes = callosum.http.post("/fetch", {"id": f"memory:{cores['core-hermes']}"})
    assert (hermes["type"], hermes["tier"], hermes["topics"]) == ("long", "agent-memory", ["hermes", "incident"])
    assert any("312 duplicates were credited" in episode["content"] for episode in hermes["metadata"]["satellites"])
    yellow = callosum.http.post("/fetch", {"id": f"memory:{cores['core-yellow']}"})
    assert "blue" in json.dumps(yellow["metadata"]["supersedes"])
    assert yellow["receipt"]["source"] == yellow["id"]


def test_a_fact_is_fetched_with_its_history_and_what_rests_on_it(callosum: Callosum) -> None:
    fact = callosum.http.post("/fetch", {"id": "loci:hermes/max_retry"})
    assert fact["text"].startswith("hermes max_retry = 3 (because ")
    [earlier] = fact["metadata"]["history"]
    assert "hermes max_retry = 5" in earlier["value"]
    assert earlier["why_changed"] == "five retries tripped the new limit on 20 November"
    assert {link["key"] for link in fact["metadata"]["rested_on_by"]} == {"slo.latency", "retry.backoff"}
    assert fact["last_seen"]


def test_a_section_of_a_note_is_fetched(callosum: Callosum) -> None:
    [hit, *_] = callosum.http.post("/recall", {"query": "Hermes metrics port", "stores": ["notes"]})["hits"]
    assert "9464" in callosum.http.post("/fetch", {"id": hit["id"]})["text"]


@pytest.mark.parametrize("hit_id", ["memory:nothing", "loci:hermes/nothing", "notes:nothing.md#L1"])
def test_what_a_store_does_not_hold_is_not_found(callosum: Callosum, hit_id: str) -> None:
    with callosum.http.client() as client:
        answer = client.post("/fetch", json={"id": hit_id})
    assert answer.status_code == 404
    assert hit_id.partition(":")[2] in answer.json()["detail"]


def test_every_hit_can_be_fetched_by_its_id(callosum: Callosum) -> None:
    question = {"query": EVERYWHERE, "n_results": 40, "budget_tokens": 20_000}
    for hit in callosum.http.post("/recall", question)["hits"]:
        assert callosum.http.post("/fetch", {"id": hit["id"]})["text"]


def test_what_was_replaced_is_shown_only_when_asked_for(callosum: Callosum, seren: Seren) -> None:
    assert seren.seeded is not None
    cores = seren.seeded.cores
    question: dict[str, Any] = {"query": "her favourite colour", "n_results": 20, "budget_tokens": 20_000}
    plain = callosum.http.post("/recall", question)
    assert plain["superseded"] == []
    asked = callosum.http.post("/recall", {**question, "include_superseded": True})
    blue, yellow = f"memory:{cores['core-blue']}", f"memory:{cores['core-yellow']}"
    for answer in (plain, asked):
        ids = [hit["id"] for hit in answer["hits"]]
        assert blue not in ids
        assert yellow in ids
    [replaced] = [hit for hit in asked["superseded"] if hit["id"] == blue]
    assert replaced["superseded_by"] == cores["core-yellow"]


def test_a_fact_that_was_replaced_says_when_and_why(callosum: Callosum) -> None:
    question = {"query": "UPS runtime minutes at 240 W", "budget_tokens": 5_000, "include_superseded": True}
    answer = callosum.http.post("/recall", {**question, "stores": ["loci"]})
    [live] = [hit for hit in answer["hits"] if hit["id"] == "loci:homelab/ups.runtime"]
    assert "8 minutes" in live["text"]
    [old] = [hit for hit in answer["superseded"] if hit["id"].startswith("loci:homelab/ups.runtime@")]
    assert "11 minutes" in old["text"]
    assert (old["why_changed"], old["path"]) == ("battery aged", "homelab/ups.runtime")
    assert old["superseded_at"]
    again = callosum.http.post("/fetch", {"id": old["id"]})
    assert (again["id"], again["superseded_at"]) == (old["id"], old["superseded_at"])


def test_a_time_filter_keeps_what_was_seen_inside_it(callosum: Callosum, seren: Seren) -> None:
    assert seren.seeded is not None
    month_ago, yesterday = seren.seeded.at - 30 * 86_400, seren.seeded.at - 86_400
    question: dict[str, Any] = {"query": "Hermes active status", "n_results": 30, "budget_tokens": 20_000}
    old = callosum.http.post("/recall", {**question, "until": month_ago})
    assert all_up(old)
    assert {hit["id"] for hit in old["hits"]} == {"memory:o01", "memory:o02"}
    fresh = callosum.http.post("/recall", {**question, "since": yesterday})
    assert all_up(fresh)
    assert stores_of(fresh) == set(STORES)
    assert [hit["id"] for hit in fresh["hits"] if (epoch_seconds(hit["last_seen"]) or 0.0) < yesterday] == []
    assert {"memory:s01", "loci:hermes/status"} <= {hit["id"] for hit in fresh["hits"]}


def test_a_topic_filter_keeps_what_carries_the_topic(callosum: Callosum) -> None:
    question = {"query": "Which disk fails?", "topics": ["NAS"], "detail": "detailed", "budget_tokens": 20_000}
    answer = callosum.http.post("/recall", question)
    assert all_up(answer)
    assert {"memory:s20", "memory:n02"} <= {hit["id"] for hit in answer["hits"]}
    assert [hit["id"] for hit in answer["hits"] if "nas" not in hit["topics"]] == []


def test_a_scope_asks_nobody_else(callosum: Callosum) -> None:
    answer = callosum.http.post("/recall", {"query": EVERYWHERE, "stores": ["loci"]})
    assert engines(answer) == {"memory": "out_of_scope", "loci": "up", "notes": "out_of_scope"}
    assert stores_of(answer) == {"loci"}


def test_an_added_store_is_asked_over_every_surface_at_once(seren: Seren, make_callosum: CallosumFactory) -> None:
    callosum = make_callosum(seren, loci={"enabled": False})
    callosum.http.start()
    added = callosum.http.post("/stores", {"name": "facts", "type": "seren_loci", "url": seren.loci.url})
    assert added["store"]["health"]["status"] == "up"

    async def over_mcp() -> set[str]:
        async with callosum.client("sse") as client:
            return stores_of(await recall(client, EVERYWHERE))

    assert anyio.run(over_mcp) == {"memory", "notes", "facts"}
    assert stores_of(said_by(callosum, EVERYWHERE)) == {"memory", "notes", "facts"}  # kept in the overlay
    with callosum.http.client() as client:
        assert client.delete("/stores/facts").status_code == httpx2.codes.OK
    assert anyio.run(over_mcp) == {"memory", "notes"}
