"""The REST routes: their answers, their refusals, and the peer's fields."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any, cast

import httpx2
import pytest

from callosum_mcp.app import build
from callosum_mcp.models.knobs import Knobs
from callosum_mcp.settings import load

from .fakes import episode
from .world import Served, World, served, world_in, write_config

PEER = Path(__file__).parent.parent / "data" / "peer"


@pytest.fixture(scope="module")
def http(server: Served) -> Generator[httpx2.Client]:
    with server.client() as client:
        yield client


def recorded(name: str) -> dict[str, Any]:
    """The peer's recorded `request` and `answer`."""
    return json.loads((PEER / f"{name}.json").read_text(encoding="utf-8"))


def kind(value: object) -> str:
    if isinstance(value, bool):
        return "boolean"
    return "number" if isinstance(value, int | float) else type(value).__name__


def differing(theirs: dict[str, Any], ours: dict[str, Any], free: frozenset[str] = frozenset()) -> list[str]:
    """The peer's keys that are missing from ours or of another type; `free` ones may be null in either."""
    return [
        f"{key}: {kind(value)} / {kind(ours[key]) if key in ours else 'missing'}"
        for key, value in theirs.items()
        if key not in ours or (kind(value) != kind(ours[key]) and key not in free)
    ]


def test_search_answers_with_every_field_of_the_peer(http: httpx2.Client, world: World) -> None:
    peer = recorded("search_default")
    answer = http.post("/search", json=peer["request"])
    assert answer.status_code == 200
    body = answer.json()
    assert differing(peer["answer"], body, frozenset({"budget_tokens"})) == []
    assert body["stores_searched"] == ["notes", "memory", "loci"]
    theirs = peer["answer"]["hits"]
    for hit in (hit for hit in body["hits"] if hit["store"] == "memory"):
        assert differing(theirs[0], hit) == []
        assert differing(theirs[0]["metadata"], hit["metadata"]) == []
    native = {row["id"]: row for row in world.memory.rows}
    for hit in (hit for hit in body["hits"] if hit["store"] == "memory"):
        row = native[hit["id"]]
        assert (hit["content"], hit["native_score"], hit["raw_distance"]) == (
            row["content"],
            row["score"],
            row["raw_distance"],
        )
        assert hit["base_relevance"] == pytest.approx(1 / (1 + row["raw_distance"]))
        assert hit["metadata"]["tier"] == "short" and hit["metadata"]["topic"] == "hermes"


def test_a_fact_has_the_peers_fields_too(http: httpx2.Client) -> None:
    body = http.post("/search", json={"query": "Hermes status", "stores": ["loci"]}).json()
    theirs = [hit for hit in recorded("search_default")["answer"]["hits"] if hit["store"] == "left-brain"]
    for hit in body["hits"]:
        assert {"store", "id", "content", "score", "store_rank", "base_relevance", "metadata"} <= set(hit)
        assert {"project", "key", "why", "match_kind", "source"} <= set(hit["metadata"])
        assert all(differing(known, hit) == [] for known in theirs)


def test_search_keeps_the_peers_budget(http: httpx2.Client) -> None:
    body = http.post("/search", json={"query": "Hermes", "budget_tokens": 30}).json()
    assert body["budget_tokens"] == 30
    assert 0 < body["tokens"] <= 30
    assert body["tokens"] == sum(-(-len(hit["content"]) // 4) + 1 for hit in body["hits"])


def test_stores_answer_with_every_field_of_the_peer(http: httpx2.Client) -> None:
    peer, body = recorded("stores")["answer"], http.get("/stores").json()
    assert differing(peer, body, frozenset({"budget_tokens"})) == []
    assert [differing(peer["stores"][0], store) for store in body["stores"]] == [[], [], []]
    assert body["active"] == 3 and body["types"] == sorted(body["types"])
    assert {"seren_memory", "seren_loci", "notes"} <= set(body["types"])
    assert set(body["supported_knobs"]) >= set(Knobs.model_fields)


@pytest.mark.parametrize("name", ["configure_k_mode", "configure_store_weight"])
def test_configure_answers_with_every_field_of_the_peer(http: httpx2.Client, name: str) -> None:
    peer = recorded(name)
    renamed = json.loads(json.dumps(peer["request"]).replace("left-brain", "loci"))
    expected = json.loads(json.dumps(peer["answer"]).replace("left-brain", "loci"))
    try:
        body = http.post("/configure", json=renamed).json()
    finally:
        http.post(
            "/configure",
            json={
                "k": 60,
                "fusion_mode": Knobs().fusion_mode,
                "authority_margin": Knobs().authority_margin,
                "stores": [{"name": "loci", "weight": 1, "floor": 0}],
            },
        )
    assert differing(expected, body) == []
    assert set(body["changed"]) == set(renamed)
    for key, value in expected["changed"].items():
        ours = body["changed"][key]
        assert ours == value if key != "stores" else [ours[0] | value[0]] == ours


def test_search_says_who_failed_and_is_an_error_only_if_all_did(tmp_path: Path) -> None:
    with world_in(tmp_path) as world, served(world.application()) as server, server.client() as http:
        world.memory.status = 503
        body = http.post("/search", json={"query": "Hermes"}).json()
        assert [(f["name"], f["reason"].partition(":")[0]) for f in body["failed"]] == [("memory", "error")]
        assert body["partial"] and body["stores_searched"] == ["notes", "loci"]
        http.post("/configure", json={"stores": [{"name": "notes", "enabled": False}]})
        world.loci.status = 401
        for path in ("/search", "/recall"):
            answer = http.post(path, json={"query": "Hermes"})
            assert answer.status_code == 502
            states = {e["engine"]: (e["status"], e["reason"]) for e in answer.json()["engines"]}
            assert states == {
                "notes": ("skipped", "disabled"),
                "memory": ("down", "error"),
                "loci": ("down" if path == "/search" else "skipped", "auth_failed"),  # not asked again with this token
            }
            assert answer.json()["answer_kind"] == "unknown"
        assert http.post("/fetch", json={"id": "memory:s01"}).status_code == 502
        health = http.get("/health").json()
        assert health["ok"] is False
        assert [(e["engine"], e["status"]) for e in health["engines"]] == [("memory", "down"), ("loci", "down")]


def test_health_follows_the_darwin_contract(http: httpx2.Client) -> None:
    body = http.get("/health").json()
    assert body["ok"] is True
    assert [(e["engine"], e["status"]) for e in body["engines"]] == [("notes", "up"), ("memory", "up"), ("loci", "up")]
    assert all({"engine", "status", "last_ingest", "staleness_h"} <= set(e) for e in body["engines"])


def test_ready_says_whether_any_store_may_be_asked(tmp_path: Path) -> None:
    config = write_config(tmp_path, [])
    with served(build(load(config, {}, tmp_path))) as server, server.client() as http:
        assert (http.get("/ready").status_code, http.get("/ready").json()) == (503, {"ready": False})
        assert http.post("/search", json={"query": "x"}).status_code == 422
        assert http.get("/stores").json()["stores"] == []
        assert http.get("/health").json()["engines"] == []


def test_recall_and_fetch_answer_as_the_tools_do(http: httpx2.Client) -> None:
    assert http.get("/ready").json() == {"ready": True}
    found = http.post("/recall", json={"query": "Is Hermes active?", "n_results": 3}).json()
    assert len(found["hits"]) == 3
    full = http.post("/fetch", json={"id": found["hits"][0]["id"]}).json()
    assert full["store"] == found["hits"][0]["store"] and full["receipt"]["source"] == full["id"]


def test_metrics_are_in_the_prometheus_format(http: httpx2.Client) -> None:
    answer = http.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = answer.text.splitlines()
    assert lines[0] == "# TYPE callosum_store_calls_total counter"
    assert all(line.startswith("# TYPE") or line.rpartition(" ")[2] for line in lines)
    assert any(line.startswith('callosum_store_calls_total{store="memory",type="seren_memory"}') for line in lines)


def test_the_root_is_a_page_for_browsers_and_json_for_programs(http: httpx2.Client) -> None:
    page = http.get("/", headers={"accept": "text/html,application/xhtml+xml"})
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "<!doctype html>" in page.text and "http://" not in page.text and "https://" not in page.text
    body = http.get("/").json()
    assert (body["service"], body["stores"], body["skipped"]) == ("callosum-mcp", ["notes", "memory", "loci"], [])
    assert http.get("/", headers={"accept": "application/json"}).json() == body


ROUTES = [
    ("GET", "/"),
    ("GET", "/health"),
    ("GET", "/ready"),
    ("GET", "/stores"),
    ("GET", "/metrics"),
    ("POST", "/search"),
    ("POST", "/recall"),
    ("POST", "/fetch"),
    ("POST", "/configure"),
    ("POST", "/stores"),
    ("DELETE", "/stores/nobody"),
]


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_each_answer_says_what_it_is(http: httpx2.Client, method: str, path: str) -> None:
    content = http.request(method, path, content=b"{}" if method == "POST" else None).headers["content-type"]
    assert content.startswith("text/plain") if path == "/metrics" else content == "application/json"
    if content.startswith("text/"):
        assert "charset=utf-8" in content


BODIES: list[tuple[str, object, str, str]] = [
    ("/search", {}, "query", "required"),
    ("/search", {"query": ""}, "query", "1"),
    ("/search", {"query": "x", "n_results": 0}, "n_results", "1"),
    ("/search", {"query": "x", "n_results": 101}, "n_results", "100"),
    ("/search", {"query": "x", "n_results": "ten"}, "n_results", "1 to 100"),
    ("/search", {"query": "x", "budget_tokens": 0}, "budget_tokens", "1"),
    ("/search", {"query": "a\x00"}, "query", "U+0000"),
    ("/search", {"query": "y" * 8_001}, "query", "8000"),
    ("/search", {"query": "x", "querry": "y"}, "querry", "'query'"),
    ("/recall", {"query": "x", "detail": "all"}, "detail", "concise"),
    ("/fetch", {"id": "nocolon"}, "id", "store:native-id"),
    ("/configure", {"k": 0}, "k", "1"),
    ("/configure", {"fusion_mode": "best"}, "fusion_mode", "rrf"),
    ("/configure", {"n_result": 5}, "n_result", "n_results"),
    ("/configure", {"stores": [{"name": "loci", "weight": 101}]}, "weight", "100"),
    ("/stores", {"name": "x", "type": "seren_memory"}, "url", "required"),
    ("/stores", {"name": "x", "type": "qqqq", "url": "http://127.0.0.1:9"}, "type", "known are"),
    ("/stores", {"name": "x", "type": "seren_loci", "url": "http://192.0.2.1"}, "url", "allow_hosts"),
    ("/stores", {"name": "x", "type": "seren_loci", "url": "http://127.0.0.1:9", "token": "s"}, "token", "token_env"),
]


@pytest.mark.parametrize(("path", "body", "field", "bound"), BODIES)
def test_wrong_input_is_422_with_the_field_and_the_bound(
    http: httpx2.Client, path: str, body: object, field: str, bound: str
) -> None:
    before = http.get("/stores").json()
    answer = http.post(path, json=body)
    assert answer.status_code == 422
    detail = cast("list[dict[str, Any]]", answer.json()["detail"])[0]
    assert field in detail["loc"] and detail["loc"][0] == "body"
    assert field in detail["msg"] and bound in detail["msg"]
    assert set(detail) == {"type", "loc", "msg"} and detail["type"]
    after = http.get("/stores").json()
    assert (after["stores"], after["k"], after["n_results"]) == (before["stores"], before["k"], before["n_results"])


@pytest.mark.parametrize("raw", [b"not json", b"[1]", b'"x"', b"null", b"\xff\xfe", b"[" * 100_000, b"1"])
@pytest.mark.parametrize("path", ["/search", "/recall", "/fetch", "/configure", "/stores"])
def test_a_body_that_is_no_json_object_is_422(http: httpx2.Client, path: str, raw: bytes) -> None:
    answer = http.post(path, content=raw)
    assert answer.status_code == 422
    assert "JSON object" in answer.json()["detail"][0]["msg"]


def test_an_empty_body_is_an_empty_object(http: httpx2.Client) -> None:
    assert "query: is required" in http.post("/search").json()["detail"][0]["msg"]


@pytest.mark.parametrize("path", ["/search", "/configure", "/stores"])
def test_a_body_over_the_limit_is_refused(http: httpx2.Client, path: str) -> None:
    answer = http.post(path, content=b'{"query": "' + b"x" * 1_100_000 + b'"}')
    assert answer.status_code in (413, 422)
    assert "1048576" in str(answer.json()["detail"])
    assert http.get("/ready").status_code == 200


def test_a_body_streamed_without_a_length_is_bounded_too(http: httpx2.Client) -> None:
    def endless() -> Generator[bytes]:
        for _ in range(40):
            yield b" " * 65_536

    answer = http.post("/search", content=endless())
    assert answer.status_code in (413, 422)
    assert http.get("/ready").status_code == 200


def test_unknown_and_taken_names_have_their_own_codes(http: httpx2.Client, world: World) -> None:
    new = {"name": "memory", "type": "seren_memory", "url": world.memory.url}
    codes = {
        "unknown store in scope": http.post("/search", json={"query": "x", "stores": ["nobody"]}),
        "unknown store to configure": http.post("/configure", json={"stores": [{"name": "nobody", "weight": 1}]}),
        "unknown store to delete": http.delete("/stores/nobody"),
        "unknown hit": http.post("/fetch", json={"id": "memory:nothing"}),
        "unknown store of a hit": http.post("/fetch", json={"id": "nobody:1"}),
        "taken name": http.post("/stores", json=new),
        "base store": http.delete("/stores/memory"),
    }
    assert {what: answer.status_code for what, answer in codes.items()} == {
        "unknown store in scope": 404,
        "unknown store to configure": 404,
        "unknown store to delete": 404,
        "unknown hit": 404,
        "unknown store of a hit": 404,
        "taken name": 409,
        "base store": 409,
    }
    assert all(isinstance(answer.json()["detail"], str) for answer in codes.values())
    assert "callosum.json" in codes["base store"].json()["detail"]
    assert http.delete("/stores/a%20b").status_code == 422


def test_wrong_methods_and_paths_are_refused(http: httpx2.Client) -> None:
    assert http.get("/search").status_code == 405
    assert http.put("/stores").status_code == 405
    assert http.post("/sse").status_code == 405
    assert http.get("/nothing").status_code == 404
    assert http.get("/messages/").status_code == 405
    assert http.post("/messages/?session_id=x", json={}).status_code == 400


def test_surrogates_and_numbers_without_a_value_leave_as_plain_json(http: httpx2.Client, world: World) -> None:
    kept = world.memory.rows
    world.memory.rows = [episode("s1", "Hermes \ud800 is active", float("nan"))]
    try:
        answer = http.post("/search", json={"query": "Hermes", "stores": ["memory"]})
    finally:
        world.memory.rows = kept
    assert answer.status_code == 200
    assert [(hit["content"], hit["raw_distance"]) for hit in answer.json()["hits"]] == [("Hermes ? is active", None)]


def test_a_lone_surrogate_in_a_query_is_answered_in_json_that_every_client_reads(http: httpx2.Client) -> None:
    answer = http.post("/search", content=b'{"query": "Hermes \\ud800"}')
    assert answer.status_code in (200, 422)
    assert "Hermes" in answer.content.decode("utf-8")


def test_a_store_is_added_and_removed_over_rest(http: httpx2.Client, world: World) -> None:
    added = http.post("/stores", json={"name": "extra", "type": "seren_loci", "url": world.loci.url, "token": ""})
    assert added.json()["ok"] is True and added.json()["added"] == "extra" and added.json()["active"] == 4
    assert added.json()["store"]["health"]["status"] == "up"
    probed = http.get("/stores?probe=1").json()["stores"]
    assert [store["health"]["status"] for store in probed] == ["up"] * 4
    body = http.delete("/stores/extra").json()
    assert body == {"ok": True, "removed": "extra", "active": 3}
