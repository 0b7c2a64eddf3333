"""Clients of the real SerenCorpusCallosum keep working against ours, and plain RRF gives the peer's order.

Both stand in front of the same SerenMemory and SerenLoci; what they answer is compared key by key.
"""

import functools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from .conftest import PeerFactory
from .lab import Lab, Seren
from .ours import Callosum, make_callosum
from .server import Server

Json = Any

PLAIN: Mapping[str, Any] = {
    "fusion_mode": "rrf",
    "k": 60,
    "n_results": 10,
    "fetch_multiplier": 2,
    "authority_margin": 0.0,
    "min_per_store": 0,
    "edges_enabled": False,
    "satellite_budget": 0,
}
"""Reciprocal rank fusion and nothing else, in words that both programs know."""
OUR_OWN: Mapping[str, Any] = {"conflicts_enabled": False}
PEERS_OWN: Mapping[str, Any] = {"satellite_edges_enabled": False, "hops": 1}

QUERIES = (
    "Hermes status",
    "Hermes port",
    "Atlas database PostgreSQL version",
    "Which port does Hermes listen on?",
    "Does Tomas answer questions about Hermes?",
    "Lighthouse release day",
    "How many minutes does the UPS run?",
    "What is her favourite colour?",
    "nightly backup of the supplier database",
    "Who owns Hermes and where is the runbook?",
    "GPU build flag for CUDA on thornbox",
    "WireGuard keepalive on the phone",
    "retry limit of the partner API",
    "hazelnut allergy at the dinner",
    "stand-up time of the team",
    "embedding model in one vector space",
)
"""Each brings at least one fact out of Loci. Some are questions, some bags of words; none is the key of a fact and none
asks for a time, for then ours puts that fact, or what is younger, further up (see `KEYS`)."""

KEYS = ("max_retry", "timezone", "log.level")


@pytest.fixture(scope="module")
def theirs(peer: PeerFactory) -> Server:
    """The peer with everything but plain RRF switched off."""
    return peer(federation={**PLAIN, **PEERS_OWN})


@pytest.fixture(scope="module")
def ours(shared_lab: Lab, seren: Seren, tmp_path_factory: pytest.TempPathFactory) -> Callosum:
    """callosum-mcp with the same settings over the same two servers; Loci is asked each question once, as it stands."""
    folder = tmp_path_factory.mktemp("compat") / "own"
    once: dict[str, Any] = {"options": {"widen": False}}
    callosum = make_callosum(shared_lab, folder, seren, federation={**PLAIN, **OUR_OWN}, loci=once, notes=False)
    callosum.http.start()
    return callosum


def order(answer: Json) -> list[tuple[str, str]]:
    return [(hit["store"], hit["id"]) for hit in answer["hits"]]


def differences(theirs: Json, ours: Json, place: str = "") -> Iterator[str]:
    """Where ours lacks a key of theirs or holds another type of value; a null of theirs says nothing about the type."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        mine = cast("dict[str, Json]", ours)
        for key, value in cast("dict[str, Json]", theirs).items():
            if key not in mine:
                yield f"{place}.{key} is missing"
            else:
                yield from differences(value, mine[key], f"{place}.{key}")
    elif isinstance(theirs, list) and isinstance(ours, list):
        for index, (value, other) in enumerate(zip(cast("list[Json]", theirs), cast("list[Json]", ours), strict=False)):
            yield from differences(value, other, f"{place}[{index}]")
    elif theirs is not None and _kind(theirs) != _kind(ours):
        yield f"{place} is {_kind(ours)}, theirs is {_kind(theirs)}"


def values_missing(theirs: Json, ours: Json, place: str = "") -> Iterator[str]:
    """Where ours lacks a value of theirs; more keys of ours are welcome."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        mine = cast("dict[str, Json]", ours)
        for key, value in cast("dict[str, Json]", theirs).items():
            yield from values_missing(value, mine.get(key), f"{place}.{key}")
    elif isinstance(theirs, list) and isinstance(ours, list) and len(cast("list[Json]", ours)) >= len(theirs):  # pyright: ignore[reportUnknownArgumentType]
        for index, (value, other) in enumerate(zip(cast("list[Json]", theirs), cast("list[Json]", ours), strict=False)):
            yield from values_missing(value, other, f"{place}[{index}]")
    elif theirs != ours:
        yield f"{place} is {ours!r}, theirs is {theirs!r}"


def _kind(value: Json) -> str:
    """JSON's type: a number is a number, whole or not."""
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value).__name__


def test_plain_rrf_gives_the_order_of_the_peer(theirs: Server, ours: Callosum) -> None:
    compared: list[str] = []
    for query in QUERIES:
        expected = order(theirs.post("/search", {"query": query}))
        assert order(ours.http.post("/search", {"query": query})) == expected, query
        if any(store == "loci" for store, _ in expected):
            compared.append(query)
    assert compared == list(QUERIES)
    assert len(compared) >= 12


@pytest.mark.parametrize("key", KEYS)
def test_a_key_brings_its_fact_to_the_front_and_changes_nothing_else(theirs: Server, ours: Callosum, key: str) -> None:
    """The one difference: ours never ranks a fact below a memory when the question is the very key of the fact."""
    answer = ours.http.post("/search", {"query": key})
    [first, *rest] = order(answer)
    assert (first[0], answer["hits"][0]["metadata"]["key"]) == ("loci", key)
    assert rest == [hit for hit in order(theirs.post("/search", {"query": key})) if hit != first]


@pytest.mark.parametrize("mode", ["rrf", "rrf_pct", "percentile"])
def test_each_mode_of_the_peer_gives_its_order_under_weights(
    theirs: Server, ours: Callosum, mode: str, request: pytest.FixtureRequest
) -> None:
    weights = [{"name": "memory", "weight": 1.5}, {"name": "loci", "weight": 0.75}]

    even = [{"name": "memory", "weight": 1.0}, {"name": "loci", "weight": 1.0}]
    for server in (theirs, ours.http):
        plain = {"fusion_mode": "rrf", "n_results": 10, "stores": even}
        request.addfinalizer(functools.partial(server.post, "/configure", plain))
        server.post("/configure", {"fusion_mode": mode, "n_results": 15, "stores": weights})
    for query in QUERIES[:6]:
        assert order(ours.http.post("/search", {"query": query})) == order(theirs.post("/search", {"query": query}))


def test_every_field_of_a_search_is_there_with_its_type(theirs: Server, ours: Callosum) -> None:
    for query in QUERIES:
        found = list(differences(theirs.post("/search", {"query": query}), ours.http.post("/search", {"query": query})))
        assert found == [], query


def test_the_fields_of_a_hit_mean_the_same(theirs: Server, ours: Callosum) -> None:
    same = ("store", "id", "store_rank", "native_score", "raw_distance")
    for query in QUERIES:
        pairs = zip(*(server.post("/search", {"query": query})["hits"] for server in (theirs, ours.http)), strict=True)
        for expected, hit in pairs:
            assert {name: hit[name] for name in same} == {name: expected[name] for name in same}
            assert hit["base_relevance"] == pytest.approx(expected["base_relevance"], abs=1e-6)
            assert hit["score"] == pytest.approx(expected["score"], abs=1e-9)
            assert list(values_missing(expected["metadata"], hit["metadata"])) == []
            if hit["store"] == "memory":
                assert hit["content"] == expected["content"]
            else:
                meta = expected["metadata"]
                assert all(part in hit["content"] for part in (meta["key"], meta["why"]))


def test_a_hit_of_a_store_that_the_peer_does_not_know_has_its_fields(theirs: Server, callosum: Callosum) -> None:
    [pattern, *_] = theirs.post("/search", {"query": "Hermes status"})["hits"]
    answer = callosum.http.post("/search", {"query": "Hermes status"})
    [note, *_] = [hit for hit in answer["hits"] if hit["store"] == "notes"]
    own: Json = {"metadata": {}, "native_score": None, "raw_distance": None}  # these depend on the kind of store
    assert list(differences(pattern | own, note)) == []


def test_a_budget_is_kept_and_counted_alike(theirs: Server, ours: Callosum) -> None:
    question = {"query": "Hermes status", "budget_tokens": 120}
    expected, answer = theirs.post("/search", question), ours.http.post("/search", question)
    assert list(differences(expected, answer)) == []
    assert answer["budget_tokens"] == 120
    assert 0 < answer["tokens"] <= 120
    assert len(answer["hits"]) == pytest.approx(len(expected["hits"]), abs=1)  # our texts of facts are a word longer


def test_the_rows_that_other_features_add_are_no_part_of_the_comparison(theirs: Server, ours: Callosum) -> None:
    for server in (theirs, ours.http):
        hits = server.post("/search", {"query": "Hermes incident"})["hits"]
        assert [hit for hit in hits if str(hit["metadata"].get("source", "")).endswith("-edge")] == []


def test_a_store_that_failed_is_named_where_the_peer_names_it(
    shared_lab: Lab, seren: Seren, peer: PeerFactory, tmp_path: Path
) -> None:
    gone = {"url": "http://127.0.0.1:9"}  # the discard port: nobody listens there
    theirs = peer(loci=gone, federation={**PLAIN, **PEERS_OWN})
    ours = make_callosum(shared_lab, tmp_path / "own", seren, loci=gone, federation=PLAIN, notes=False)
    ours.http.start()
    answers = [server.post("/search", {"query": "Hermes status"}) for server in (theirs, ours.http)]
    assert list(differences(*answers)) == []
    assert [answer["stores_searched"] for answer in answers] == [["memory"], ["memory"]]
    assert [[failed["name"] for failed in answer["failed"]] for answer in answers] == [["loci"], ["loci"]]


def test_every_field_of_the_stores_is_there_with_its_meaning(theirs: Server, ours: Callosum) -> None:
    expected, listed = theirs.get("/stores"), ours.http.get("/stores")
    assert list(differences(expected, listed)) == []
    for name in ("active", "k", "n_results", "hops"):
        assert listed[name] == expected[name]
    for theirs_row, row in zip(expected["stores"], listed["stores"], strict=True):
        assert list(values_missing(theirs_row, row)) == []
    assert set(expected["types"]) <= set(listed["types"])


def test_configure_answers_with_what_was_asked_for_and_holds_now(theirs: Server, ours: Callosum) -> None:
    change: dict[str, Any] = {"k": 60, "n_results": 10, "fetch_multiplier": 2, "per_store_timeout_s": 5.0}
    change["stores"] = [{"name": "memory", "weight": 1.0}]
    expected = theirs.post("/configure", change)
    answer = ours.http.post("/configure", change)
    assert list(differences(expected, answer)) == []
    assert list(values_missing(expected, answer)) == []
    assert [row["name"] for row in answer["changed"]["stores"]] == ["memory"]


def test_a_wrong_change_is_refused_with_the_peers_codes(theirs: Server, ours: Callosum) -> None:
    refused: list[dict[str, Any]] = [{"fusion_mode": "bogus"}, {"stores": [{"name": "nobody", "weight": 2.0}]}]
    for body in refused:
        codes: list[int] = []
        for server in (theirs, ours.http):
            with server.client() as client:
                codes.append(client.post("/configure", json=body).status_code)
        assert codes[0] == codes[1], body


def test_a_store_is_added_and_removed_with_the_peers_answers(theirs: Server, ours: Callosum, seren: Seren) -> None:
    body: dict[str, Any] = {"name": "again", "type": "seren_loci", "url": seren.loci.url, "weight": 0.5, "floor": 0.0}
    answers: list[Json] = []
    for server in (theirs, ours.http):
        with server.client() as client:
            steps = [client.post("/stores", json=body), client.post("/stores", json=body)]
            steps += [client.delete("/stores/again"), client.delete("/stores/again")]
        assert [step.status_code for step in steps] == [200, 409, 200, 404]
        answers.append([steps[0].json(), steps[2].json()])
    assert list(differences(answers[0], answers[1])) == []


def test_the_first_page_says_who_answers(theirs: Server, ours: Callosum) -> None:
    assert list(differences(theirs.get("/"), ours.http.get("/"))) == []
    assert ours.http.get("/")["stores"] == theirs.get("/")["stores"]
