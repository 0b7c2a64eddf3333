"""A store that keeps failing is left alone for a while, says so at once, and comes back by itself."""

from __future__ import annotations

import itertools

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.data import federation, scripted

from callosum_mcp.adapters import registry
from callosum_mcp.errors import (
    AllStoresFailed,
    StoreAuthFailed,
    StoreError,
    StoreRateLimited,
    StoreRefused,
)
from callosum_mcp.federation import breaker as breakers
from callosum_mcp.federation.administration import Administration, AdminPolicy
from callosum_mcp.federation.breaker import Breaker, Pass, Refusal, blamed
from callosum_mcp.federation.federation import Federation
from callosum_mcp.federation.overlay import Overlay
from callosum_mcp.federation.stores import Store
from callosum_mcp.models.requests import ListStoresRequest, RecallRequest
from callosum_mcp.models.results import EngineOut, RecallResult
from callosum_mcp.models.values import StoreSpec, StoreStatus
from callosum_mcp.testing import ScriptedStore, hit

DOWN = StoreStatus(engine="s", status="down", reason="refused", detail="nothing listens", ms=1.0)
UP = StoreStatus(engine="s", status="up", ms=1.0)


class Time:
    """Seconds that pass when a test says so."""

    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def breaker(time: Time) -> Breaker:
    return Breaker(time)


def opened(breaker: Breaker, status: StoreStatus = DOWN, times: int = breakers.IN_A_ROW) -> Refusal:
    for _ in range(times):
        breaker.record(status)
    refusal = breaker.admit()
    assert isinstance(refusal, Refusal)
    return refusal


@pytest.mark.promise("2a")
def test_five_failures_in_a_row_open_it(breaker: Breaker) -> None:
    for _ in range(4):
        breaker.record(DOWN)
    assert breaker.admit() == Pass()
    breaker.record(DOWN)
    assert isinstance(breaker.admit(), Refusal)
    assert breaker.circuit == "open"


def test_an_answer_in_between_starts_the_count_anew(breaker: Breaker) -> None:
    for status in [DOWN] * 4 + [UP] + [DOWN] * 4:
        breaker.record(status)
    assert breaker.circuit == "closed"


@pytest.mark.promise("2a")
def test_half_of_ten_calls_in_a_minute_open_it(breaker: Breaker, time: Time) -> None:
    for _ in range(4):
        breaker.record(DOWN)
        breaker.record(UP)
    breaker.record(UP)
    assert breaker.circuit == "closed"
    breaker.record(DOWN)
    assert breaker.circuit == "open"


def test_failures_of_a_minute_ago_do_not_count(breaker: Breaker, time: Time) -> None:
    for status in [DOWN, UP] * 4:
        breaker.record(status)
    time.now += 61
    breaker.record(UP)
    breaker.record(DOWN)
    assert breaker.circuit == "closed"


@pytest.mark.promise("2c")
def test_one_alone_tries_after_the_wait(breaker: Breaker, time: Time) -> None:
    assert opened(breaker).retry_after_s == pytest.approx(2.0)
    time.now += 2.0
    assert breaker.circuit == "half_open"
    assert breaker.admit() == Pass(trying=True)
    other = breaker.admit()
    assert isinstance(other, Refusal) and other.retry_after_s == 0.1


@pytest.mark.promise("2c")
def test_its_success_closes_the_breaker_and_its_failure_doubles_the_wait(breaker: Breaker, time: Time) -> None:
    opened(breaker)
    waits: list[float] = []
    for _ in range(7):
        time.now += 60
        leave = breaker.admit()
        assert isinstance(leave, Pass)
        breaker.record(DOWN, leave)
        refusal = breaker.admit()
        assert isinstance(refusal, Refusal) and refusal.retry_after_s is not None
        waits.append(refusal.retry_after_s)
    assert waits == pytest.approx([4, 8, 16, 32, 60, 60, 60])
    time.now += 60
    leave = breaker.admit()
    assert isinstance(leave, Pass)
    breaker.record(UP, leave)
    assert breaker.admit() == Pass() and breaker.circuit == "closed"
    assert opened(breaker).retry_after_s == pytest.approx(2.0)


def test_calls_that_were_under_way_do_not_lengthen_the_wait(breaker: Breaker) -> None:
    assert opened(breaker, times=64).retry_after_s == pytest.approx(2.0)


def test_one_who_tried_and_was_cancelled_lets_another_try(breaker: Breaker, time: Time) -> None:
    opened(breaker)
    time.now += 2
    leave = breaker.admit()
    assert isinstance(leave, Pass)
    breaker.let_go(leave)
    assert breaker.admit() == Pass(trying=True)


@pytest.mark.promise("2e")
def test_a_store_that_asks_for_time_gets_it_at_once(breaker: Breaker, time: Time) -> None:
    slow_down = StoreStatus(engine="s", status="down", reason="rate_limited", detail="429", retry_after_s=30.0)
    assert opened(breaker, slow_down, times=1).retry_after_s == pytest.approx(30)
    time.now += 29
    assert breaker.circuit == "open"
    time.now += 1
    assert breaker.admit() == Pass(trying=True)


def test_no_store_can_ask_to_be_left_alone_for_more_than_an_hour(breaker: Breaker) -> None:
    slow_down = StoreStatus(engine="s", status="down", reason="rate_limited", detail="429", retry_after_s=1e9)
    assert opened(breaker, slow_down, times=1).retry_after_s == pytest.approx(3_600)


@pytest.mark.promise("2d")
def test_a_token_that_was_refused_is_not_sent_again(breaker: Breaker, time: Time) -> None:
    denied = StoreStatus(engine="s", status="down", reason="auth_failed", detail="401")
    assert opened(breaker, denied, times=1).retry_after_s is None
    time.now += 1e9
    assert isinstance(breaker.admit(), Refusal)


@pytest.mark.parametrize(("ms", "own_s", "counts"), [(200, 4, False), (1_000, 4, True), (50, 0.05, True)])
def test_a_store_is_blamed_for_a_timeout_only_if_it_had_time(ms: float, own_s: float, counts: bool) -> None:
    late = StoreStatus(engine="s", status="down", reason="timeout", ms=ms)
    assert blamed(late, own_s) is counts


@pytest.mark.promise("2c")
@given(st.lists(st.sampled_from(["fail", "answer", "wait"]), max_size=80))
def test_it_never_stays_open_for_good_and_never_lets_two_try(steps: list[str]) -> None:
    time = Time()
    breaker = Breaker(time)
    for step in steps:
        time.now += 61 if step == "wait" else 0.5
        leave, other = breaker.admit(), breaker.admit()
        assert not (isinstance(leave, Pass) and leave.trying and isinstance(other, Pass))
        if isinstance(leave, Pass):
            breaker.record(DOWN if step == "fail" else UP, leave)
    time.now += 61
    assert isinstance(breaker.admit(), Pass)


# Through the federation


class Counting(ScriptedStore):
    """Fails as told, and counts how often it was asked."""

    asked = 0

    async def _answer(self) -> None:
        self.asked += 1
        await super()._answer()


def counting(fault: Exception | None, name: str = "sick", **spec: object) -> tuple[Store, Counting]:
    declared = StoreSpec(name=name, type="scripted", **spec)  # pyright: ignore[reportArgumentType]
    adapter = Counting(declared, [hit(name, "1", "Hermes uses 8443")], fault=fault)
    return Store.of(declared, adapter), adapter


def _no_token(env: str, keyring: str) -> None:
    return None


async def asked_often(asking: Federation, times: int = 20) -> list[RecallResult]:
    return [await asking.recall(RecallRequest(query=f"which port does Hermes use {n}")) for n in range(times)]


def last(answers: list[RecallResult], name: str = "sick") -> EngineOut:
    return next(engine for engine in answers[-1].engines if engine.engine == name)


@pytest.mark.promise("2b")
async def test_a_store_that_refuses_is_asked_five_times_and_then_left_alone() -> None:
    store, adapter = counting(StoreRefused("nothing listens"))
    answers = await asked_often(federation(store, scripted("well", hit("well", "1", "Hermes"))), 60)
    engine = last(answers)
    assert adapter.asked == 5
    assert (engine.status, engine.reason) == ("skipped", "circuit_open")
    assert engine.retry_after_s is not None and 0 < engine.retry_after_s <= 2.0
    assert "refused: nothing listens" in (engine.detail or "")
    assert answers[-1].partial and answers[-1].hits


@pytest.mark.promise("P51")
async def test_nothing_found_without_a_store_that_is_left_alone_is_unknown() -> None:
    answers = await asked_often(federation(counting(StoreError("broken"))[0], scripted("well")))
    assert {answer.answer_kind for answer in answers} == {"unknown"}


async def test_all_stores_left_alone_is_an_error_with_their_statuses() -> None:
    asking = federation(counting(StoreError("broken"))[0])
    with pytest.raises(AllStoresFailed):
        await asked_often(asking, 1)
    for number in range(9):
        with pytest.raises(AllStoresFailed, match="sick: "):
            await asking.recall(RecallRequest(query=f"x{number}"))


async def test_a_default_store_that_does_not_run_is_skipped_as_before() -> None:
    store, adapter = counting(StoreRefused("nothing listens"), optional=True)
    answers = await asked_often(federation(store, scripted("well", hit("well", "1", "Hermes"))))
    assert (last(answers).status, last(answers).reason, answers[-1].partial) == ("skipped", "refused", False)
    assert adapter.asked == 5


@pytest.mark.parametrize(
    ("fault", "reason"),
    [(StoreAuthFailed("401"), "auth_failed"), (StoreRateLimited("429", retry_after_s=9.0), "rate_limited")],
)
async def test_these_are_not_asked_a_second_time(fault: StoreError, reason: str) -> None:
    store, adapter = counting(fault)
    answers = await asked_often(federation(store, scripted("well", hit("well", "1", "Hermes"))))
    assert (last(answers).status, last(answers).reason, adapter.asked) == ("skipped", reason, 1)
    assert answers[-1].partial


@pytest.mark.promise("2d")
async def test_a_probe_by_hand_asks_it_all_the_same_and_an_answer_closes_the_breaker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(registry.BUILT_IN, "scripted", ("callosum_mcp.testing", "ScriptedStore"))
    store, adapter = counting(StoreAuthFailed("401"))
    asking = federation(store, scripted("well", hit("well", "1", "Hermes")))
    await asked_often(asking)
    adapter.fault = None
    assert asking.state.stores.get("sick").connection.breaker.circuit == "open"
    admin = Administration(asking, Overlay(None, _no_token), _no_token, AdminPolicy())
    assert (await admin.list_stores(ListStoresRequest())).stores[0].circuit == "open"
    listed = await admin.list_stores(ListStoresRequest(probe=True))
    assert listed.stores[0].health is not None and listed.stores[0].health.status == "up"
    answers = await asked_often(asking, 1)
    assert last(answers).status == "up"


@pytest.mark.promise("2g")
async def test_a_caller_in_a_hurry_does_not_get_a_store_left_alone() -> None:
    spec = StoreSpec(name="sick", type="scripted")
    asking = federation(Store.of(spec, ScriptedStore(spec, gate=anyio.Event())), scripted("well"))
    for number in range(8):
        answer = await asking.recall(RecallRequest(query=f"x{number}", timeout_ms=100))
        assert last([answer]).reason == "timeout"


@pytest.mark.promise("2g")
async def test_a_call_that_is_cancelled_while_it_tries_lets_the_next_one_try(monkeypatch: pytest.MonkeyPatch) -> None:
    store, adapter = counting(StoreError("broken"))
    asking = federation(store, scripted("well"))
    await asked_often(asking, 6)
    clock = itertools.count(2_000_000_000.0)
    monkeypatch.setattr(store.connection.breaker, "_clock", lambda: next(clock))
    adapter.fault, adapter.gate = None, anyio.Event()
    with anyio.move_on_after(0.1):
        await asked_often(asking, 1)
    adapter.gate.set()
    assert last(await asked_often(asking, 1)).status == "up"
