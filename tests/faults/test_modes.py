"""Whatever one store does, over whatever transport: our server answers in time, says what happened, and has the others'
hits; what failed is not asked again in the same call."""

from __future__ import annotations

import json
import time
import unicodedata
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from surface.world import call, check_schema, request

from callosum_mcp.surface.tools import schemas

from .engine import DESCRIBED
from .house import LONG_S, OverHttp, OverStdio, engine, nonce, over_http, over_stdio, settings, texts
from .modes import MODES, ORDER, RETRY_AFTER_S, STDIO_ONLY
from .running import WAYS, Faults, running

STORE_S = 0.4
"""The time of a store that will not answer."""

SLOW_S = 2.0
"""The time of a store that answers a part, which a busy machine must have time for."""

GUARD_S = 10.0
"""Beyond a store's own time: machines that run tests are busy."""

HEALTHY = ["memory-ok", "http-ok"]
SICK = [(way, mode) for mode in MODES for way in WAYS if mode != "ok" and (mode not in STDIO_ONLY or way == "stdio")]
SEREN = ("memory", "loci")
FAILS: dict[str, dict[str, str]] = {
    "hang": {"": "timeout"},
    "drip": {"": "timeout"},
    "refuse": {"": "refused", "stdio": "error"},
    "401": {"": "auth_failed"},
    "404-session": {"memory": "bad_reply", "loci": "bad_reply"},
    "429": {"": "rate_limited"},
    "500": {"": "error"},
    "bad-json": {"": "bad_reply", "sse": "timeout", "stdio": "timeout"},
    "not-a-list": {"": "bad_reply"},
    "huge": {"": "bad_reply"},
    "die-mid-stream": {"": "error"},
    "redirect": {"": "bad_reply", "stdio": ""},
}
"""The reason that a mode gives, by way where it differs; a way without one answers as ever."""


def reason(way: str, mode: str) -> str:
    known = FAILS.get(mode, {})
    return known.get(way, known.get("", ""))


@pytest.fixture(scope="module")
def faults() -> Generator[Faults]:
    ways = {f"{way}-{mode}": way for way, mode in [*SICK, *((way, "ok") for way in WAYS)]}
    with running(ways) as opened:
        more: dict[str, dict[str, Any]] = {"slow": {"ms": 50}, "redirect": {"url": opened.urls["memory-ok"]}}
        for way, mode in SICK:
            opened.set(f"{way}-{mode}", mode, **more.get(mode, {}))
        yield opened


@pytest.fixture(scope="module")
def config(faults: Faults, tmp_path_factory: pytest.TempPathFactory) -> str:
    late = {f"{way}-{mode}": {"timeout_s": STORE_S} for way, mode in SICK if reason(way, mode) == "timeout"}
    return settings(tmp_path_factory.mktemp("modes"), faults, late)


@pytest.fixture(scope="module")
def stdio(config: str) -> Generator[OverStdio]:
    with over_stdio(config) as opened:
        opened.recall(nonce(), stores=[f"{way}-ok" for way in WAYS])
        yield opened


@pytest.fixture(scope="module")
def http(config: str) -> Generator[OverHttp]:
    with over_http(config) as opened:
        opened.recall(nonce(), stores=[f"{way}-ok" for way in WAYS])
        yield opened


def held(faults: Faults, server: OverStdio | OverHttp, way: str, mode: str) -> dict[str, Any]:
    """Ask a sick store beside healthy ones, and check all that is promised whatever it does."""
    sick, asked, since = f"{way}-{mode}", nonce(), faults.now()
    before = time.monotonic()
    answer = server.recall(f"{asked} what is there", stores=[*HEALTHY, sick], budget_tokens=8_000)
    took_s = time.monotonic() - before
    found, why = answer["structuredContent"], reason(way, mode)
    status = engine(answer, sick)
    assert not answer["isError"]
    assert (status["status"], status.get("reason", "")) == ("down" if why else "up", why)
    assert bool(status.get("detail")) or not why
    assert found["partial"] is bool(why)
    assert took_s < STORE_S + GUARD_S, "an answer in the store's time, whatever it does"
    for name in HEALTHY:
        assert engine(answer, name)["status"] == "up"
        assert any(f"{name} keeps {asked}" in text for text in texts(answer))
    assert all(asked in text for text in texts(answer) if f"{sick} was sent" not in text)
    if why:
        once = 2 if mode == "die-mid-stream" and way in SEREN else 1  # a broken connection is tried once more
        assert len(faults.events(sick, "asked", since)) <= once, "later steps leave it alone"
    return answer


@pytest.mark.promise("1a", "2f", "P1", "P2", "P5", "P10", "P11", "P34")
@pytest.mark.parametrize(("way", "mode"), SICK)
def test_a_sick_store_is_a_status_and_the_others_answer(faults: Faults, stdio: OverStdio, way: str, mode: str) -> None:
    answer = held(faults, stdio, way, mode)
    check_schema(schemas()["recall"]["output"], answer["structuredContent"])
    assert json.loads(answer["content"][0]["text"]) == answer["structuredContent"], "either of them is all of it"


@pytest.mark.promise("1a", "P10")
@pytest.mark.parametrize(("way", "mode"), [(way, mode) for way, mode in SICK if way in ("memory", "http")])
def test_a_sick_store_is_a_status_over_http_too(faults: Faults, http: OverHttp, way: str, mode: str) -> None:
    held(faults, http, way, mode)


@pytest.mark.promise("2e")
def test_a_store_that_asks_for_time_says_how_much(stdio: OverStdio) -> None:
    answer = stdio.recall(nonce(), stores=["memory-ok", "loci-429"])
    said = engine(answer, "loci-429")
    assert 0 < said["retry_after_s"] <= RETRY_AFTER_S


@pytest.mark.promise("P8", "P9")
@pytest.mark.parametrize("mode", ["500", "refuse", "401"])
def test_all_stores_failing_is_an_error_with_their_statuses(stdio: OverStdio, mode: str) -> None:
    names = [f"memory-{mode}", f"http-{mode}"]
    answer = stdio.recall(nonce(), stores=names)
    assert answer["isError"]
    check_schema(schemas()["recall"]["output"], answer["structuredContent"])
    assert (answer["structuredContent"]["answer_kind"], answer["structuredContent"]["hits"]) == ("unknown", [])
    assert all(engine(answer, name)["status"] in ("down", "skipped") for name in names)


@pytest.mark.promise("P16")
def test_one_memory_in_several_stores_is_one_hit_with_all_its_sources(stdio: OverStdio) -> None:
    names = ["memory-dup", "http-dup", "sse-dup"]
    hits = stdio.recall(nonce(), stores=names, budget_tokens=8_000)["structuredContent"]["hits"]
    assert len(hits) == 1
    assert sorted({source["store"] for source in hits[0]["sources"]}) == sorted(names)


@pytest.mark.promise("7b")
@pytest.mark.parametrize("way", [way for way in WAYS if way != "loci"])
def test_control_characters_of_a_store_reach_nobody(stdio: OverStdio, way: str) -> None:
    found = texts(stdio.recall(nonce(), stores=[f"{way}-inject"], budget_tokens=8_000))
    assert any(ORDER in text for text in found), "what a store says is passed on as data"
    for text in found:
        assert not [char for char in text if unicodedata.category(char) == "Cc" and char not in "\n\t"]


@pytest.mark.promise("2f")
def test_dates_that_hang_cost_the_stores_time_once(tmp_path: Path) -> None:
    """The store answers its search and hangs in a later step; a question of time has several such steps."""
    with running({"facts": "loci", "memory": "memory"}) as faults:
        config = settings(tmp_path, faults, {"facts": {"timeout_s": SLOW_S}})
        with over_stdio(config) as server:
            server.recall(nonce())
            faults.set("facts", "hang", only="/fact")
            asked = nonce()
            before = time.monotonic()
            answer = server.recall(f"{asked} what is the latest now")
            assert time.monotonic() - before < SLOW_S + GUARD_S
    assert any(f"facts keeps {asked}" in text for text in texts(answer))


@pytest.mark.promise("3f", "P41")
def test_twenty_slow_questions_at_once_take_the_time_of_one(tmp_path: Path) -> None:
    with running({"memory": "memory", "engine": "http"}) as faults:
        with over_stdio(settings(tmp_path, faults)) as server:
            server.recall(nonce())
            faults.set("*", "slow", ms=1_000)
            before = time.monotonic()
            asked = {server.ask(word := nonce()): word for _ in range(20)}
            for identity, word in asked.items():
                found = texts(server.pipe.answer(identity)["result"])
                assert found and all(word in text for text in found)
            assert time.monotonic() - before < GUARD_S < 20


@pytest.mark.promise("7f")
@pytest.mark.parametrize("way", ["http", "sse", "stdio"])
def test_what_an_engine_says_of_its_tools_reaches_no_caller(tmp_path: Path, way: str) -> None:
    with running({"engine": way}) as faults:
        with over_stdio(settings(tmp_path, faults)) as server:
            assert engine(server.recall(nonce(), detail="detailed", trace=True), "engine")["status"] == "up"
            server.pipe.write(
                request(900, "tools/list"), call(901, "list_stores", probe=True), call(902, "ask", query="x")
            )
            assert all("result" in server.pipe.answer(identity) for identity in (900, 901, 902))
            assert DESCRIBED.partition(":")[0] not in json.dumps(server.pipe.messages())


@pytest.mark.promise("P39")
@pytest.mark.parametrize("way", ["http", "sse"])
def test_a_server_that_forgot_our_session_is_asked_in_a_new_one(tmp_path: Path, way: str) -> None:
    with running({"engine": way}) as faults:
        with over_stdio(settings(tmp_path, faults)) as server:
            assert engine(server.recall(nonce()), "engine")["status"] == "up"
            faults.set("engine", "404-session")
            asked = nonce()
            assert any(asked in text for text in texts(server.recall(asked)))


@pytest.mark.promise("2b", "P13", "P15", "P51")
def test_a_store_that_refuses_is_left_alone_for_a_thousand_questions(tmp_path: Path) -> None:
    with running({"sick": "memory"}) as faults:
        faults.set("sick", "refuse")
        with over_http(settings(tmp_path, faults)) as server:
            last: dict[str, Any] = {}
            for _ in range(1_000):
                last = engine(server.recall("Hermes", stores=["sick"]), "sick")
            assert (last["status"], last["reason"]) == ("skipped", "circuit_open")
            assert last["retry_after_s"] > 0
            calls = {store["name"]: store["calls"] for store in server.client.get("/stores").json()["stores"]}
            assert calls["sick"] <= 20, "five, and one now and then to see whether it is well again"
            assert len(server.pipe.complaints) < 20, "nor does it fill the log"
            faults.set("sick", "ok")
            server.client.get("/stores", params={"probe": "1"})
            assert engine(server.recall("Hermes"), "sick")["status"] == "up"


@pytest.mark.promise("5h")
def test_what_a_caller_sends_as_its_token_reaches_no_store(tmp_path: Path) -> None:
    with running({"memory": "memory", "engine": "http", "events": "sse"}) as faults:
        faults.set("*", "echo-headers")
        config = settings(tmp_path, faults, server={"bearer_token_env": "CALLOSUM_TEST_TOKEN"})
        bearer = {"authorization": "Bearer inbound-s3cret", "x-inbound": "inbound-s3cret", "cookie": "inbound-s3cret"}
        with over_http(config, bearer, CALLOSUM_TEST_TOKEN="inbound-s3cret") as server:
            found = texts(server.recall("Hermes", n_results=100, budget_tokens=20_000))
            came = [event["headers"] for name in faults.ways for event in faults.events(name, "asked")]
    assert {text.split(" was sent ")[0] for text in found} == {"memory", "engine", "events"}
    assert len(came) >= 3 and all(came)
    assert "inbound-s3cret" not in json.dumps(came) + " ".join(found)


@pytest.mark.promise("8c", "P42")
@pytest.mark.parametrize("mode", ["ok", "hang", "no-exit-on-eof", "garbage-stdout"])
def test_the_children_of_a_server_end_with_it(tmp_path: Path, mode: str) -> None:
    with running({"child": "stdio", "well": "memory"}) as faults:
        config = settings(tmp_path, faults, {"child": {"timeout_s": 3.0}})
        with over_stdio(config) as server:
            server.recall(nonce())
            faults.set("child", mode)
            server.ask(nonce())
            pids = [event["pid"] for event in faults.events("child", "started")]
            assert pids
            assert server.pipe.end() == 0
        for pid in pids:
            assert not Path(f"/proc/{pid}").exists() or _zombie(pid)


def _zombie(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"


def test_no_test_here_waits_for_the_call_itself() -> None:
    assert LONG_S > STORE_S + GUARD_S
