"""SerenLoci: what is asked of it, its every-word rule, and the dates of the facts that are shown."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.data import recorded, running
from support.fake_seren import FakeSeren, of, serving

from callosum_mcp.adapters.http import HttpRequest
from callosum_mcp.adapters.seren_loci import (
    SerenLoci,
    address,
    asked,
    parse_row,
    parse_search,
    search_request,
    split_address,
    wider,
)
from callosum_mcp.federation.federation import Federation
from callosum_mcp.federation.stores import Store
from callosum_mcp.models.requests import FetchRequest, RecallRequest
from callosum_mcp.models.values import Hit, ProbeReport, StoreQuery, StoreReply, StoreSpec
from callosum_mcp.testing import check_adapter
from callosum_mcp.text import iso_utc

OLD_RETRY = "ca0ee814cf5842f5ba9c2fe565d89aac"


@pytest.fixture
async def fake() -> AsyncGenerator[FakeSeren]:
    async with serving("loci") as store:
        yield store


@pytest.fixture
async def loci(fake: FakeSeren) -> AsyncGenerator[SerenLoci]:
    adapter = SerenLoci(StoreSpec(name="facts", type="seren_loci", url=fake.url))
    yield adapter
    await adapter.aclose()


@pytest.fixture
async def asking(fake: FakeSeren) -> AsyncGenerator[Federation]:
    async with running(Store.of(StoreSpec(name="facts", type="seren_loci", url=fake.url))) as federated:
        yield federated


def test_a_search_asks_for_a_bounded_number_of_facts() -> None:
    assert search_request("q", 10**19, "hermes", fundamentals=True, superseded=False) == HttpRequest(
        method="POST",
        path="/search",
        json={
            "query": "q",
            "n_results": 500,
            "include_fundamentals": True,
            "include_superseded": False,
            "project": "hermes",
        },
    )


def test_a_recorded_fact_keeps_everything_known_of_it() -> None:
    assert parse_search(recorded("loci/search_recheck"), "facts", "slo.latency") == StoreReply(
        hits=(
            Hit(
                store="facts",
                id="hermes/slo.latency",
                native_id="94af97739820494fafc03b9e68e5e237",
                text="hermes slo.latency = p95 under 400 ms end to end (because agreed with the partner in the June "
                "review)",
                title="hermes slo.latency",
                path="hermes/slo.latency",
                type="fact",
                topics=("hermes",),
                relevance=1.0,
                exact=True,
                metadata={
                    "project": "hermes",
                    "key": "slo.latency",
                    "value": "p95 under 400 ms end to end",
                    "why": "agreed with the partner in the June review",
                    "match_kind": "exact",
                    "source": "user",
                    "recheck": ["hermes/max_retry superseded"],
                    "store_score": 1.0,
                },
            ),
        )
    )


def test_a_recorded_replaced_version_has_an_address_of_its_own() -> None:
    live, old = parse_search(recorded("loci/search_superseded"), "facts", "max_retry").hits
    assert (live.id, live.exact, live.superseded) == ("hermes/max_retry", True, False)
    assert (old.id, old.exact, old.superseded) == (f"hermes/max_retry@{OLD_RETRY}", False, True)
    assert old.superseded_at == 1795982938.3219783
    assert old.metadata["why_changed"] == "five retries tripped the new limit on 20 November"


def test_a_fact_that_holds_everywhere_names_no_project() -> None:
    hit = parse_row({"id": "1", "project": "*", "key": "shell", "value": "zsh"}, "facts")
    assert hit is not None
    assert (hit.id, hit.text, hit.title, hit.topics) == ("*/shell", "shell = zsh", "shell", ())


@pytest.mark.parametrize(
    ("score", "relevance"), [(0.5, 0.5), ("0.9", 0.9), (1.5, None), (-0.1, None), (float("nan"), None), ([], None)]
)
def test_only_a_score_in_its_range_is_a_relevance(score: object, relevance: float | None) -> None:
    hit = parse_row({"id": "1", "key": "k", "value": "v", "score": score}, "facts")
    assert hit is not None and hit.relevance == relevance


@given(project=st.text(min_size=1), key=st.text(min_size=1), live=st.booleans())
def test_an_address_leads_back_to_its_fact(project: str, key: str, live: bool) -> None:
    assert split_address(address(project, key, OLD_RETRY, live)) == (project, key, "" if live else OLD_RETRY)


@pytest.mark.parametrize(
    ("text", "attempts"),
    [
        ("Is Hermes active?", ["hermes active status state", "hermes", "active", "status"]),
        ("hermes", ["hermes hermes hermes hermes"]),
        ("Hermes port", ["hermes port hermes port", "hermes", "port"]),
        ("which queue does Hermes use", ["queue", "hermes", "use"]),
        ("Stand-up time", ["standup stand time standup stand time", "standup", "stand", "time"]),
        ("???", []),
    ],
)
def test_a_question_widens_step_by_step(text: str, attempts: list[str]) -> None:
    assert wider(text) == attempts


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("When is the stand-up?", "When is the stand-up? standup"),
        ("stand-up time", "stand-up time"),  # every word of so short a question has to match
        ("what happened on 2026-11-29 with x-2", "what happened on 2026-11-29 with x-2"),
    ],
)
def test_a_hyphenated_word_is_also_asked_for_as_one(text: str, sent: str) -> None:
    assert asked(text) == sent


async def test_it_keeps_the_adapter_contract(loci: SerenLoci) -> None:
    reply = await check_adapter(loci, "what is the current status of hermes")
    assert reply.hits[0].id == "hermes/status"


async def test_a_short_question_finds_the_fact_that_says_otherwise(loci: SerenLoci) -> None:
    """The server wants every word of "Is Hermes active?", and the fact says stopped."""
    reply = await loci.search(StoreQuery(text="Is Hermes active?"))
    assert reply.hits[0].text.startswith("hermes status = stopped")
    assert reply.remark == "asked with fewer words: hermes active status state"


async def test_a_question_that_finds_something_is_asked_once(fake: FakeSeren, loci: SerenLoci) -> None:
    await loci.search(StoreQuery(text="hermes port"))
    assert fake.count("/search") == 1


async def test_a_question_nothing_answers_ends(fake: FakeSeren, loci: SerenLoci) -> None:
    assert await loci.search(StoreQuery(text="zebra quagga")) == StoreReply(hits=())
    assert fake.count("/search") == 4


async def test_widening_can_be_switched_off(fake: FakeSeren) -> None:
    loci = SerenLoci(
        StoreSpec(name="facts", type="seren_loci", url=fake.url, options={"widen": False, "project": "hermes"})
    )
    assert (await loci.search(StoreQuery(text="Is Hermes active?"))).hits == ()
    await loci.aclose()
    assert [asked.body["project"] for asked in fake.requests] == ["hermes"]


async def test_types_it_does_not_hold_are_not_asked_for(fake: FakeSeren, loci: SerenLoci) -> None:
    assert await loci.search(StoreQuery(text="x", types=frozenset({"long"}))) == StoreReply(hits=())
    assert fake.requests == []


async def test_dates_are_fetched_for_the_shown_facts_alone(fake: FakeSeren, asking: Federation) -> None:
    answer = await asking.recall(RecallRequest(query="tell me all of hermes", n_results=2))
    assert (fake.count("/fact"), fake.count("/search")) == (2, 1)
    assert [hit.last_seen for hit in answer.hits] == [receipt.last_seen for receipt in answer.receipts]
    assert all(hit.last_seen == iso_utc(_created(fake, hit.id)) for hit in answer.hits)


def _created(fake: FakeSeren, hit_id: str) -> float:
    key = hit_id.removeprefix("facts:hermes/")
    return next(fact["created_at"] for fact in fake.facts if fact["key"] == key and not fact["superseded_at"])


async def test_a_time_filter_has_its_dates(fake: FakeSeren, asking: Federation) -> None:
    moment = _created(fake, "facts:hermes/max_retry")
    since = await asking.recall(RecallRequest(query="tell me all of hermes", since=moment))
    until = await asking.recall(RecallRequest(query="tell me all of hermes", until=moment - 0.1, n_results=50))
    assert "facts:hermes/max_retry" in {hit.id for hit in since.hits}
    assert until.hits and "facts:hermes/max_retry" not in {hit.id for hit in until.hits}


@pytest.mark.parametrize("broken", ["500", "list", "garbage", "404"])
async def test_a_fact_whose_date_fails_is_shown_without(fake: FakeSeren, asking: Federation, broken: str) -> None:
    whole = fake.answer
    replies = {"500": of({}, 500), "list": of([1]), "garbage": replace(of(1), body=b"{"), "404": of({}, 404)}
    fake.answer = lambda asked: replies[broken] if asked.path == "/fact" else whole(asked)
    answer = await asking.recall(RecallRequest(query="hermes port"))
    assert [(hit.id, hit.last_seen) for hit in answer.hits] == [("facts:hermes/port", None)]
    timed = await asking.recall(RecallRequest(query="hermes port", since=0))
    assert timed.engines[0].detail == "1 hits of unknown age left out"
    assert (timed.answer_kind, timed.partial) == ("none", False)


async def test_replaced_versions_are_hidden_until_asked_for(fake: FakeSeren, asking: Federation) -> None:
    hidden = await asking.recall(RecallRequest(query="max_retry"))
    shown = await asking.recall(RecallRequest(query="max_retry", include_superseded=True))
    assert ([hit.id for hit in hidden.hits], hidden.superseded) == (["facts:hermes/max_retry"], [])
    assert [hit.id for hit in shown.hits] == ["facts:hermes/max_retry"]
    assert [hit.id for hit in shown.superseded] == [f"facts:hermes/max_retry@{OLD_RETRY}"]
    assert (shown.superseded[0].superseded_at, shown.superseded[0].why_changed) == (
        "2026-11-29T20:08:58Z",
        "five retries tripped the new limit on 20 November",
    )


async def test_complete_dates_a_replaced_version_too(loci: SerenLoci) -> None:
    found = await loci.search(StoreQuery(text="max_retry", include_superseded=True))
    gone = replace(found.hits[1], id=f"hermes/max_retry@{'0' * 32}")
    live, old, lost = await loci.complete([*found.hits, gone])
    assert (live.last_seen, old.last_seen, lost) == (1795982938.3219783, 1795982937.9461462, gone)


async def test_complete_asks_nothing_for_what_has_its_date(fake: FakeSeren, loci: SerenLoci) -> None:
    known = Hit(store="facts", id="hermes/port", text="x", last_seen=1.0)
    assert await loci.complete([known]) == [known]
    assert fake.requests == []


async def test_fetch_brings_a_fact_with_its_history_and_what_it_rests_on(asking: Federation) -> None:
    live = await asking.fetch(FetchRequest(id="facts:hermes/max_retry"))
    old = await asking.fetch(FetchRequest(id=f"facts:hermes/max_retry@{OLD_RETRY}"))
    assert (live.text, live.superseded_at) == (
        "hermes max_retry = 3 (because the partner lowered the rate window again)",
        None,
    )
    assert live.metadata is not None and len(live.metadata["history"]) == 1
    assert live.metadata["rests_on"] == recorded("loci/fact_citations")["rests_on"]
    assert (old.superseded_by, old.superseded_at) == ("167f2d64522a4f529251222774a13d3f", "2026-11-29T20:08:58Z")


@pytest.mark.parametrize("hit_id", ["nokey", "hermes/", "hermes/nope", f"hermes/max_retry@{'0' * 32}"])
async def test_an_unknown_id_is_nothing(loci: SerenLoci, hit_id: str) -> None:
    assert await loci.fetch(hit_id) is None


async def test_a_fact_without_citations_is_still_fetched(fake: FakeSeren, loci: SerenLoci) -> None:
    whole = fake.answer
    fake.answer = lambda asked: of({}, 404) if asked.path.endswith("citations") else whole(asked)
    hit = await loci.fetch("hermes/port")
    assert hit is not None and hit.metadata["history"] == []


async def test_a_probe_counts_facts_and_projects(fake: FakeSeren, loci: SerenLoci) -> None:
    assert await loci.probe() == ProbeReport(detail="SerenLoci: 59 facts, 7 projects", entries=59)
    fake.answer = lambda asked: of({"live": 3})
    assert await loci.probe() == ProbeReport(detail="SerenLoci: 3 facts", entries=3)
    fake.answer = lambda asked: of({})
    assert await loci.probe() == ProbeReport(detail="SerenLoci")


async def test_a_server_without_a_history_holds_nothing(fake: FakeSeren, loci: SerenLoci) -> None:
    fake.answer = lambda asked: of({"detail": "Not Found"}, 404)
    assert await loci.fetch("hermes/port") is None
