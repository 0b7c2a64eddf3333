"""Whatever a Seren store answers, a recall ends in a status or a clean answer."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import AsyncGenerator
from dataclasses import replace

import anyio
import pytest
from support.data import running
from support.fake_seren import FAULTS, WIRES, FakeSeren, Kind, serving

from callosum_mcp.errors import AllStoresFailed
from callosum_mcp.federation.federation import Federation
from callosum_mcp.federation.stores import Store
from callosum_mcp.models.requests import RecallRequest
from callosum_mcp.models.results import EngineOut, RecallResult
from callosum_mcp.models.values import StoreSpec

DOWN: dict[str, tuple[str, str]] = {
    "401": ("auth_failed", "refused our token (401); set token, token_env or token_keyring of this store"),
    "403": ("auth_failed", "refused our token (403); set token, token_env or token_keyring of this store"),
    "429": ("rate_limited", "asks us to slow down (429)"),
    "500": ("error", "answered 500: database is locked"),
    "safe_mode": (
        "error",
        "answered 503: safe_mode, embedder_mismatch, the index was made by another model",
    ),
    "redirect": ("bad_reply", "redirects (307) to another place; put the final URL in the config"),
    "html": ("bad_reply", "reply is HTML (is a proxy or a login page in front of it?)"),
    "garbage": ("bad_reply", 'reply is not JSON: \'{"hits": [{"id": "a", "con\''),
    "list": ("bad_reply", "reply is a list, not an object"),
    "no_hits_field": ("bad_reply", "reply has no list under 'hits'"),
    "deep_body": ("bad_reply", f"reply is not JSON: '{'[' * 59}…'"),
    "huge": ("bad_reply", "reply is larger than 4 MiB and was not read"),
    "huge_chunked": ("bad_reply", "reply is larger than 4 MiB and was not read"),
    "bomb": ("bad_reply", "reply is larger than 4 MiB and was not read"),
    "bad_gzip": ("bad_reply", "reply cannot be decompressed"),
    "close": ("error", "the connection broke before the answer was complete"),
}
"""Modes that end in a status, with its reason and what it says."""

BY_KIND: dict[tuple[str, Kind], tuple[str, str]] = {
    ("nulls", "memory"): ("bad_reply", "none of its 4 rows can be read"),
    ("nulls", "loci"): ("bad_reply", "none of its 12 rows can be read"),
    ("empty", "memory"): (
        "bad_reply",
        "found nothing although it holds 53 memories: its embedding model is probably missing",
    ),
}
CLEAN = sorted({*FAULTS, "close_first"} - {*DOWN, "nulls", "empty"})
QUERY = RecallRequest(query="Hermes")


@pytest.fixture(params=["memory", "loci"])
async def fake(request: pytest.FixtureRequest, carrier: str) -> AsyncGenerator[FakeSeren]:
    async with serving(request.param) as store:
        yield store


@pytest.fixture
async def asking(fake: FakeSeren) -> AsyncGenerator[Federation]:
    spec = StoreSpec(name="seren", type=f"seren_{fake.kind}", url=fake.url)
    async with running(Store.of(spec), per_store_timeout_s=30, deadline_s=30) as asking:
        yield asking


def expected_faults() -> list[str]:
    return sorted({*DOWN, *(mode for mode, _ in BY_KIND)})


def only(engines: list[EngineOut]) -> EngineOut:
    assert len(engines) == 1
    return engines[0].model_copy(update={"ms": None})


async def recall_fails(asking: Federation, request: RecallRequest = QUERY) -> RecallResult:
    with pytest.raises(AllStoresFailed) as failed:
        await asking.recall(request)
    assert isinstance(failed.value.answer, RecallResult)
    return failed.value.answer


def test_every_mode_has_its_expectation() -> None:
    assert {*DOWN, *CLEAN, *(mode for mode, _ in BY_KIND), "hang", "drip", "stale"} == {*FAULTS, *WIRES}


@pytest.mark.promise("P12")
@pytest.mark.parametrize("mode", expected_faults())
async def test_a_fault_becomes_a_status_that_says_what_to_do(fake: FakeSeren, asking: Federation, mode: str) -> None:
    known = DOWN.get(mode) or BY_KIND.get((mode, fake.kind))
    if known is None:
        pytest.skip("an empty answer of this kind of store is no fault")
    reason, detail = known
    fake.mode = mode
    answer = await recall_fails(asking)
    assert only(answer.engines) == EngineOut(
        engine="seren",
        status="down",
        reason=reason,  # pyright: ignore[reportArgumentType]
        detail=detail,
        retry_after_s=7.0 if mode == "429" else None,
    )
    assert (answer.answer_kind, answer.partial, answer.hits) == ("unknown", True, [])


@pytest.mark.promise("9a")
@pytest.mark.parametrize("detail", ["concise", "detailed"])
@pytest.mark.parametrize("mode", CLEAN)
async def test_odd_rows_still_make_a_clean_answer(fake: FakeSeren, asking: Federation, mode: str, detail: str) -> None:
    fake.mode = mode
    answer = await asking.recall(RecallRequest(query="Hermes", detail=detail))  # pyright: ignore[reportArgumentType]
    assert (answer.partial, answer.answer_kind) == (False, "many")
    assert answer.hits
    assert len(json.dumps(answer.wire(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))) <= 7_200


async def test_the_good_rows_beside_a_null_count(fake: FakeSeren, asking: Federation) -> None:
    whole = await asking.recall(QUERY)
    fake.mode = "some_nulls"
    answer = await asking.recall(QUERY)
    engine = only(answer.engines)
    assert engine.detail == "2 rows could not be read"
    assert len(answer.hits) >= len(whole.hits)


@pytest.mark.promise("1a")
async def test_a_silent_store_is_down_within_its_own_time(fake: FakeSeren, asking: Federation) -> None:
    state = asking.state
    for mode in ("hang", "drip"):
        fake.mode = mode
        asking.state = replace(state, knobs=state.knobs.model_copy(update={"per_store_timeout_s": 0.05}))
        with anyio.fail_after(5):
            answer = await recall_fails(asking)
            await fake.gone.wait()
        assert only(answer.engines).reason == "timeout"


async def test_a_connection_the_server_closed_is_retried_once(fake: FakeSeren, asking: Federation) -> None:
    fake.mode = "stale"
    first = await asking.recall(QUERY)
    opened = fake.connections
    again = await asking.recall(QUERY)
    assert [hit.id for hit in again.hits] == [hit.id for hit in first.hits]
    assert only(again.engines).status == "up"
    assert fake.connections > opened


async def test_an_empty_answer_is_none_only_where_the_store_is_empty_too(fake: FakeSeren, asking: Federation) -> None:
    if fake.kind == "memory":
        pytest.skip("a vector search that finds nothing is a fault of a store that holds something")
    fake.mode = "empty"
    answer = await asking.recall(QUERY)
    assert (answer.answer_kind, answer.partial, only(answer.engines).status) == ("none", False, "up")


@pytest.mark.promise("3d")
@pytest.mark.parametrize("mode", ["huge", "huge_chunked", "bomb", "many"])
async def test_memory_stays_bounded(fake: FakeSeren, asking: Federation, mode: str) -> None:
    fake.mode = mode
    await _any_answer(asking)  # makes the fake's own reply, which lives in this process
    tracemalloc.start()
    try:
        await _any_answer(asking)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100 * 2**20


async def _any_answer(asking: Federation) -> None:
    try:
        await asking.recall(QUERY)
    except AllStoresFailed as failed:
        assert failed.answer is not None


@pytest.mark.usefixtures("carrier")
async def test_a_dead_address_is_refused() -> None:
    async with serving("memory") as fake:
        url = fake.url
    async with running(Store.of(StoreSpec(name="gone", type="seren_memory", url=url))) as asking:
        answer = await recall_fails(asking)
    assert only(answer.engines) == EngineOut(
        engine="gone", status="down", reason="refused", detail="no connection: nothing listens at its address"
    )
