"""Many calls at once: identical ones share their work, too many are refused in clear words, nobody loses an answer."""

from __future__ import annotations

import anyio
import anyio.lowlevel
import pytest
from support.data import federation, scripted

from callosum_mcp.errors import AllStoresFailed, Overloaded, StoreError
from callosum_mcp.federation.federation import Federation
from callosum_mcp.federation.stores import Store
from callosum_mcp.models.requests import FetchRequest, RecallRequest
from callosum_mcp.models.results import RecallResult
from callosum_mcp.models.values import Hit, StoreQuery, StoreReply, StoreSpec, StoreStatus
from callosum_mcp.testing import ScriptedStore, hit

ASK = RecallRequest(query="which port does Hermes use")


class Gated(ScriptedStore):
    """Waits for its gate; tells when it was asked, and how many calls it answers at once."""

    def __init__(self, spec: StoreSpec, *hits: Hit, fault: Exception | None = None) -> None:
        super().__init__(spec, hits, fault=fault, gate=anyio.Event())
        self.arrived = anyio.Event()
        self.inside = self.most = 0

    async def search(self, query: StoreQuery) -> StoreReply:
        self.inside += 1
        self.most = max(self.most, self.inside)
        self.arrived.set()
        try:
            return await super().search(query)
        finally:
            self.inside -= 1

    def open(self) -> None:
        assert self.gate is not None
        self.gate.set()


def gated(*hits: Hit, fault: Exception | None = None, concurrency: int = 32) -> tuple[Store, Gated]:
    spec = StoreSpec(name="a", type="scripted", concurrency=concurrency)
    adapter = Gated(spec, *hits, fault=fault)
    return Store.of(spec, adapter), adapter


async def settled() -> None:
    for _ in range(50):
        await anyio.lowlevel.checkpoint()


class Callers:
    """Calls that run beside the test, and what became of each."""

    def __init__(self, asking: Federation) -> None:
        self.asking = asking
        self.answers: dict[int, RecallResult] = {}
        self.errors: dict[int, Exception] = {}

    async def call(self, number: int, request: RecallRequest = ASK) -> None:
        try:
            self.answers[number] = await self.asking.recall(request)
        except (Overloaded, AllStoresFailed) as error:
            self.errors[number] = error


@pytest.mark.promise("3a")
async def test_identical_questions_share_one_fan_out() -> None:
    store, adapter = gated(hit("a", "1", "Hermes uses 8443"))
    callers = Callers(federation(store))
    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(callers.call, number)
        await settled()
        adapter.open()
    assert len(adapter.queries) == 1
    assert {tuple(h.id for h in answer.hits) for answer in callers.answers.values()} == {("a:1",)}
    assert len(callers.answers) == 20 and callers.asking.flights.shared == 19


async def test_the_shape_of_an_answer_is_each_callers_own() -> None:
    store, adapter = gated(hit("a", "1", "Hermes uses 8443", topics=("ops",)))
    callers = Callers(federation(store))
    wanted: list[dict[str, object]] = [{}, {"detail": "detailed"}, {"trace": True}]
    async with anyio.create_task_group() as group:
        for number, more in enumerate(wanted):
            group.start_soon(callers.call, number, ASK.model_copy(update=more))
        await settled()
        adapter.open()
    plain, detailed, traced = (callers.answers[number] for number in range(3))
    assert len(adapter.queries) == 1
    assert (plain.hits[0].topics, detailed.hits[0].topics) == (None, ["ops"])
    assert plain.trace is None and traced.trace is not None


@pytest.mark.promise("3a")
@pytest.mark.parametrize("more", [{"n_results": 3}, {"query": "another"}, {"types": ["fact"]}, {"timeout_ms": 900}])
async def test_different_questions_share_nothing(more: dict[str, object]) -> None:
    store, adapter = gated(hit("a", "1", "Hermes uses 8443", type="fact"))
    callers = Callers(federation(store))
    async with anyio.create_task_group() as group:
        group.start_soon(callers.call, 1)
        group.start_soon(callers.call, 2, ASK.model_copy(update=more))
        await settled()
        adapter.open()
    assert len(adapter.queries) == 2


@pytest.mark.promise("1f")
async def test_those_who_share_keep_their_answer_when_the_first_goes_away() -> None:
    store, adapter = gated(hit("a", "1", "Hermes uses 8443"))
    callers = Callers(federation(store))
    async with anyio.create_task_group() as group:
        async with anyio.create_task_group() as first:
            first.start_soon(callers.call, 1)
            await adapter.arrived.wait()
            group.start_soon(callers.call, 2)
            await settled()
            first.cancel_scope.cancel()
        await settled()
        adapter.open()
    assert list(callers.answers) == [2] and callers.answers[2].hits


async def test_a_failure_is_shared_as_well() -> None:
    store, adapter = gated(fault=StoreError("broken"))
    callers = Callers(federation(store))
    async with anyio.create_task_group() as group:
        for number in range(3):
            group.start_soon(callers.call, number)
        await settled()
        adapter.open()
    assert [type(error) for error in callers.errors.values()] == [AllStoresFailed] * 3
    assert len(adapter.queries) == 1


async def test_everybody_is_told_of_every_store() -> None:
    store, adapter = gated(hit("a", "1", "Hermes"))
    asking = federation(store)
    told: dict[int, list[str]] = {1: [], 2: []}

    async def call(number: int) -> None:
        async def tell(status: StoreStatus) -> None:
            told[number].append(status.engine)

        await asking.recall(ASK, tell)

    async with anyio.create_task_group() as group:
        group.start_soon(call, 1)
        group.start_soon(call, 2)
        await settled()
        adapter.open()
    assert told == {1: ["a"], 2: ["a"]}


@pytest.mark.promise("3e")
async def test_no_answer_is_kept_unless_asked_for() -> None:
    asking = federation(scripted("a", hit("a", "1", "Hermes")))
    for _ in range(3):
        await asking.recall(ASK)
    assert asking.state.stores.get("a").connection.calls == 3


async def test_a_kept_answer_is_given_again_until_it_is_old() -> None:
    asking = federation(scripted("a", hit("a", "1", "Hermes")), cache_s=30)
    first = await asking.recall(ASK)
    second = await asking.recall(ASK)
    assert (first.hits, asking.flights.cached) == (second.hits, 1)
    assert asking.state.stores.get("a").connection.calls == 1


async def test_a_change_of_the_settings_forgets_what_was_kept() -> None:
    asking = federation(scripted("a", hit("a", "1", "Hermes")), cache_s=30)
    await asking.recall(ASK)
    asking.state = type(asking.state)(stores=asking.state.stores, knobs=asking.state.knobs)
    await asking.recall(ASK)
    assert asking.state.stores.get("a").connection.calls == 2


@pytest.mark.promise("3e")
async def test_an_answer_without_a_store_is_never_kept() -> None:
    asking = federation(scripted("a", hit("a", "1", "x")), scripted("b", fault=StoreError("broken")), cache_s=30)
    for _ in range(3):
        await asking.recall(ASK)
    assert asking.state.stores.get("a").connection.calls == 3


@pytest.mark.promise("3e")
async def test_the_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("callosum_mcp.federation.flights.MAX_KEPT", 2)
    asking = federation(scripted("a", hit("a", "1", "x")), cache_s=30)
    for question in ("one", "two", "three", "one"):
        await asking.recall(RecallRequest(query=question))
    assert asking.state.stores.get("a").connection.calls == 4


@pytest.mark.promise("3b")
async def test_one_call_too_many_is_refused_in_clear_words() -> None:
    store, adapter = gated(hit("a", "1", "Hermes"))
    callers = Callers(federation(store, max_in_flight=2, max_queued=1))
    async with anyio.create_task_group() as group:
        for number in range(5):
            group.start_soon(callers.call, number, RecallRequest(query=f"question {number}"))
        await settled()
        assert (callers.asking.admission.in_flight, callers.asking.admission.waiting) == (2, 1)
        adapter.open()
    assert len(callers.answers) == 3
    assert {str(error) for error in callers.errors.values()} == {
        "overloaded: 2 calls are being answered and 1 wait; ask again in a second"
    }


@pytest.mark.promise("3b")
async def test_a_call_that_waits_past_its_deadline_is_refused() -> None:
    store, adapter = gated(hit("a", "1", "Hermes"))
    callers = Callers(federation(store, max_in_flight=1))
    async with anyio.create_task_group() as group:
        group.start_soon(callers.call, 1)
        await adapter.arrived.wait()
        await callers.call(2, RecallRequest(query="other", timeout_ms=100))
        adapter.open()
    assert isinstance(callers.errors[2], Overloaded) and 1 in callers.answers


@pytest.mark.promise("3b")
async def test_a_place_is_free_again_after_a_call_was_cancelled() -> None:
    store, adapter = gated(hit("a", "1", "Hermes"))
    asking = federation(store, max_in_flight=1, max_queued=0)
    with anyio.move_on_after(0.05):
        await asking.recall(ASK)
    adapter.open()
    assert (await asking.fetch(FetchRequest(id="a:1"))).id == "a:1"


@pytest.mark.promise("3c")
async def test_a_store_is_sent_no_more_calls_at_once_than_it_may_get() -> None:
    store, adapter = gated(hit("a", "1", "Hermes"), concurrency=3)
    callers = Callers(federation(store))
    async with anyio.create_task_group() as group:
        for number in range(9):
            group.start_soon(callers.call, number, RecallRequest(query=f"question {number}"))
        await settled()
        adapter.open()
    assert (adapter.most, len(callers.answers)) == (3, 9)


async def test_a_store_that_is_crowded_says_so_when_time_is_up() -> None:
    store, adapter = gated(hit("a", "1", "Hermes"), concurrency=1)
    callers = Callers(federation(store, scripted("b")))
    async with anyio.create_task_group() as group:
        group.start_soon(callers.call, 1)
        await adapter.arrived.wait()
        group.start_soon(callers.call, 3, RecallRequest(query="waits"))
        await settled()
        await callers.call(4, RecallRequest(query="other", timeout_ms=100))
        adapter.open()
    assert "1 calls were before it" in (callers.answers[4].engines[0].detail or "")


@pytest.mark.promise("1g")
async def test_a_soft_deadline_returns_with_those_who_answered() -> None:
    slow, adapter = gated(hit("a", "1", "Hermes"))
    asking = federation(slow, scripted("b", hit("b", "2", "Hermes uses 8443")), soft_deadline_s=0.05)
    with anyio.fail_after(3):
        answer = await asking.recall(ASK)
    assert [found.id for found in answer.hits] == ["b:2"]
    engine = answer.engines[0]
    assert (engine.status, engine.reason, answer.partial) == ("down", "timeout", True)
    assert "soft_deadline_s" in (engine.detail or "")
    assert adapter.cancelled == 1


@pytest.mark.promise("1g")
async def test_a_soft_deadline_waits_for_the_first_answer() -> None:
    slow, adapter = gated(hit("a", "1", "Hermes"))
    callers = Callers(federation(slow, soft_deadline_s=0.02))
    async with anyio.create_task_group() as group:
        group.start_soon(callers.call, 1)
        await adapter.arrived.wait()
        await anyio.sleep(0.05)
        adapter.open()
    assert callers.answers[1].hits


async def test_a_soft_deadline_costs_nothing_where_all_answer_in_time() -> None:
    asking = federation(scripted("a", hit("a", "1", "Hermes")), scripted("b"), soft_deadline_s=5)
    with anyio.fail_after(3):
        assert not (await asking.recall(ASK)).partial
