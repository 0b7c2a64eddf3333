"""A recall over several stores: scope, deadlines, statuses, filters, and what it never does."""

from __future__ import annotations

import logging
from dataclasses import replace

import anyio
import anyio.lowlevel
import pytest
from support.data import federation, scripted

from callosum_mcp.adapters.base import Adapter
from callosum_mcp.errors import (
    AllStoresFailed,
    InvalidInput,
    Reason,
    StoreAuthFailed,
    StoreError,
    StoreRateLimited,
    StoreRefused,
    UnknownStore,
)
from callosum_mcp.federation.federation import Federation
from callosum_mcp.federation.stores import Connection, Store
from callosum_mcp.models.requests import RecallRequest
from callosum_mcp.models.results import EngineOut, RecallResult
from callosum_mcp.models.values import StoreQuery, StoreReply, StoreSpec, StoreStatus
from callosum_mcp.testing import ScriptedStore, hit

ASK = RecallRequest(query="which port does Hermes use")


def ids(answer: RecallResult) -> list[str]:
    return [shown.id for shown in answer.hits]


def states(answer: RecallResult) -> list[tuple[str, str, Reason | None]]:
    return [(engine.engine, engine.status, engine.reason) for engine in answer.engines]


async def adapter_of(asking: Federation, name: str) -> ScriptedStore:
    async with asking.state.stores.get(name).connection.adapter() as adapter:
        assert isinstance(adapter, ScriptedStore)
        return adapter


async def test_stores_are_merged_and_each_has_a_status() -> None:
    asking = federation(
        scripted("a", hit("a", "1", "one"), hit("a", "2", "two")), scripted("b", hit("b", "3", "three"))
    )
    answer = await asking.recall(ASK)
    assert ids(answer) == ["a:1", "b:3", "a:2"]
    assert [engine.model_copy(update={"ms": None}) for engine in answer.engines] == [
        EngineOut(engine="a", status="up", hits=2),
        EngineOut(engine="b", status="up", hits=1),
    ]
    assert [(receipt.id, receipt.source) for receipt in answer.receipts] == [
        ("r1", "a:1"),
        ("r2", "b:3"),
        ("r3", "a:2"),
    ]
    assert (answer.answer_kind, answer.partial, answer.truncated, answer.note) == ("many", False, False, None)


async def test_only_the_stores_of_the_scope_are_asked() -> None:
    asking = federation(
        scripted("a", hit("a", "1", "one")), scripted("b", hit("b", "2", "two")), scripted("c", more={"enabled": False})
    )
    answer = await asking.recall(RecallRequest(query="x", stores=["a", "c"]))
    assert states(answer) == [("a", "up", None), ("b", "skipped", "out_of_scope"), ("c", "skipped", "disabled")]
    assert (answer.answer_kind, answer.partial) == ("single", False)
    assert (await adapter_of(asking, "b")).queries == []


@pytest.mark.parametrize(
    ("stores", "scope", "said"),
    [
        ([], None, "stores: none is configured"),
        ([scripted("a", more={"enabled": False})], None, "stores: all are disabled"),
        ([scripted("a", more={"enabled": False})], ["a"], "stores: none of a is enabled"),
        ([scripted("a")], [], r"stores: none of \[\] is enabled"),
    ],
)
async def test_nobody_to_ask_is_the_callers_error(stores: list[Store], scope: list[str] | None, said: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{said}"):
        await federation(*stores).recall(RecallRequest(query="x", stores=scope))


async def test_an_unknown_store_is_refused_before_anyone_is_asked() -> None:
    asking = federation(scripted("memory"))
    with pytest.raises(UnknownStore, match=r"^no store named 'memori'; did you mean 'memory'"):
        await asking.recall(RecallRequest(query="x", stores=["memory", "memori"]))
    assert (await adapter_of(asking, "memory")).queries == []


async def test_a_time_filter_that_holds_no_time_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"^since: must not be after until"):
        await federation(scripted("a")).recall(RecallRequest(query="x", since=2, until=1))


@pytest.mark.parametrize(
    ("fault", "reason", "detail"),
    [
        (StoreAuthFailed("no token"), "auth_failed", "no token"),
        (StoreRateLimited("slow\ndown", retry_after_s=3), "rate_limited", "slow down"),
        (KeyError("secret"), "error", "bug in its adapter: KeyError; the log has the trace"),
    ],
)
async def test_a_store_that_fails_becomes_a_status_and_the_others_answer(
    fault: Exception, reason: Reason, detail: str, caplog: pytest.LogCaptureFixture
) -> None:
    asking = federation(scripted("bad", fault=fault), scripted("good", hit("good", "1", "one")))
    with caplog.at_level(logging.ERROR):
        answer = await asking.recall(ASK)
    assert answer.engines[0].model_copy(update={"ms": None}) == EngineOut(
        engine="bad",
        status="down",
        reason=reason,
        detail=detail,
        retry_after_s=3 if reason == "rate_limited" else None,
    )
    assert (ids(answer), answer.partial) == (["good:1"], True)
    assert bool(caplog.records) is not isinstance(fault, StoreError)


async def test_all_stores_failing_is_an_error_with_their_statuses() -> None:
    asking = federation(scripted("a", fault=StoreRefused("nothing listens")), scripted("b", fault=StoreError("broken")))
    with pytest.raises(AllStoresFailed, match=r"a: refused \(nothing listens\); b: error \(broken\)") as failed:
        await asking.recall(ASK)
    assert isinstance(failed.value.answer, RecallResult)
    assert states(failed.value.answer) == [("a", "down", "refused"), ("b", "down", "error")]


@pytest.mark.promise("P8")
async def test_a_required_store_that_fails_fails_the_call() -> None:
    asking = federation(
        scripted("a", more={"required": True}, fault=StoreError("broken")), scripted("b", hit("b", "1", "one"))
    )
    with pytest.raises(AllStoresFailed, match=r"a required store did not answer: a: error \(broken\)"):
        await asking.recall(ASK)
    assert ids(await asking.recall(RecallRequest(query="x", stores=["b"]))) == ["b:1"]


async def test_a_default_store_that_does_not_run_is_no_fault() -> None:
    lacking = scripted("a", more={"optional": True}, fault=StoreRefused("nothing listens"))
    answer = await federation(lacking, scripted("b")).recall(ASK)
    assert (states(answer)[0], answer.partial, answer.answer_kind) == (("a", "skipped", "refused"), False, "none")
    with pytest.raises(AllStoresFailed, match=r"no store answered: a: refused \(not running \(default store\)\)"):
        await federation(lacking).recall(ASK)


@pytest.mark.promise("P9")
@pytest.mark.parametrize(
    ("found", "failing", "kind"), [(0, False, "none"), (0, True, "unknown"), (1, True, "single"), (2, False, "many")]
)
async def test_nothing_found_is_only_said_where_every_store_answered(found: int, failing: bool, kind: str) -> None:
    hits = [hit("a", str(n), f"text {n}") for n in range(found)]
    fault = StoreError("broken") if failing else None
    answer = await federation(scripted("a", *hits), scripted("b", fault=fault)).recall(ASK)
    assert (answer.answer_kind, answer.partial) == (kind, failing)


@pytest.mark.promise("1a")
async def test_a_hanging_store_costs_its_own_time_and_no_more() -> None:
    slow = scripted("slow", more={"timeout_s": 0.05}, gate=anyio.Event())
    asking = federation(slow, scripted("fast", hit("fast", "1", "one")), per_store_timeout_s=300, deadline_s=600)
    with anyio.fail_after(5):
        answer = await asking.recall(ASK)
    assert states(answer) == [("slow", "down", "timeout"), ("fast", "up", None)]
    assert (ids(answer), (await adapter_now(slow)).cancelled) == (["fast:1"], 1)


async def adapter_now(store: Store) -> ScriptedStore:
    async with store.connection.adapter() as adapter:
        assert isinstance(adapter, ScriptedStore)
        return adapter


@pytest.mark.promise("1b", "P52")
@pytest.mark.parametrize(
    "knobs", [{"deadline_s": 0.05, "per_store_timeout_s": 300}, {"deadline_s": 600, "per_store_timeout_s": 0.05}]
)
async def test_the_smaller_of_deadline_and_store_timeout_wins(knobs: dict[str, float]) -> None:
    asking = federation(scripted("slow", gate=anyio.Event()), scripted("fast"), **knobs)
    with anyio.fail_after(5):
        assert states(await asking.recall(ASK))[0] == ("slow", "down", "timeout")


@pytest.mark.promise("1b", "P4")
async def test_a_stores_own_timeout_may_be_longer_than_the_usual_one() -> None:
    gate = anyio.Event()
    patient = scripted("patient", hit("patient", "1", "one"), more={"timeout_s": 300}, gate=gate)
    usual = scripted("usual", gate=anyio.Event())
    asking = federation(patient, usual, per_store_timeout_s=0.02, deadline_s=600)

    async def release(status: StoreStatus) -> None:
        if status.engine == "usual":
            gate.set()

    with anyio.fail_after(5):
        answer = await asking.recall(ASK, on_status=release)
    assert states(answer) == [("patient", "up", None), ("usual", "down", "timeout")]


@pytest.mark.promise("1c", "P52")
async def test_a_callers_timeout_shortens_the_call_and_never_lengthens_it() -> None:
    asking = federation(scripted("slow", gate=anyio.Event()), scripted("fast"), deadline_s=600, per_store_timeout_s=300)
    with anyio.fail_after(5):
        assert (await asking.recall(ASK.model_copy(update={"timeout_ms": 20}))).partial
    asking.state = replace(asking.state, knobs=asking.state.knobs.model_copy(update={"deadline_s": 0.02}))
    with anyio.fail_after(5):
        assert (await asking.recall(ASK.model_copy(update={"timeout_ms": 600_000}))).partial


async def test_cancelling_a_call_cancels_every_store() -> None:
    stores = [scripted(name, gate=anyio.Event()) for name in "abc"]
    asking = federation(*stores, deadline_s=600, per_store_timeout_s=300)
    with anyio.fail_after(5), anyio.move_on_after(0.05):
        await asking.recall(ASK)
    assert [(await adapter_now(store)).cancelled for store in stores] == [1, 1, 1]


async def test_statuses_come_as_the_stores_answer_but_the_order_of_the_answer_is_the_configs() -> None:
    gate, told = anyio.Event(), list[str]()

    async def tell(status: StoreStatus) -> None:
        told.append(status.engine)
        gate.set()

    late, early = scripted("late", hit("late", "1", "one"), gate=gate), scripted("early", hit("early", "2", "two"))
    answer = await federation(late, early).recall(ASK, on_status=tell)
    assert (told, ids(answer), [e.engine for e in answer.engines]) == (
        ["early", "late"],
        ["late:1", "early:2"],
        ["late", "early"],
    )


@pytest.mark.promise("P41")
async def test_many_questions_at_once_do_not_wait_for_each_other() -> None:
    arrived, gate = list[int](), anyio.Event()

    class Waiting(ScriptedStore):
        async def search(self, query: StoreQuery) -> StoreReply:
            arrived.append(1)
            if len(arrived) == 20:
                gate.set()
            return await super().search(query)

    spec = StoreSpec(name="a", type="scripted")
    asking = federation(Store.of(spec, Waiting(spec, gate=gate)))
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(asking.recall, ASK.model_copy(update={"query": f"{ASK.query} {number}"}))


async def test_a_record_is_kept_of_every_store_that_was_asked() -> None:
    asking = federation(scripted("a"), scripted("b", fault=StoreError("broken")))
    for _ in range(2):
        await asking.recall(ASK)
    a, b = (store.connection for store in asking.state.stores.stores)
    assert (a.calls, a.failures, b.calls, b.failures) == (2, 0, 2, 2)
    assert b.last is not None and b.last.reason == "error"


async def test_a_connection_makes_its_adapter_at_first_use() -> None:
    connection = Connection(StoreSpec(name="s", type="seren_memory", url="http://127.0.0.1:9"))
    async with connection.adapter() as first, connection.adapter() as second:
        assert first is second
    await connection.retire()


async def test_an_adapter_that_cannot_be_made_is_a_status() -> None:
    asking = federation(Store.of(StoreSpec(name="s", type="no_such_type")), scripted("b"))
    engine = (await asking.recall(ASK)).engines[0]
    assert (engine.status, engine.reason) == ("down", "error")
    assert engine.detail is not None and engine.detail.startswith("type 'no_such_type' is unknown")


async def test_a_retired_adapter_is_closed_when_its_last_call_ends_even_cancelled() -> None:
    closed = anyio.Event()

    class Closing(ScriptedStore):
        async def aclose(self) -> None:
            await anyio.lowlevel.checkpoint()
            closed.set()

    spec = StoreSpec(name="a", type="scripted")
    adapter: Adapter = Closing(spec, gate=anyio.Event())
    connection = Connection(spec, adapter)
    with anyio.move_on_after(5) as scope:
        async with connection.adapter():
            await connection.retire()
            assert not closed.is_set()
            scope.cancel()
            await anyio.sleep_forever()
    assert closed.is_set()
