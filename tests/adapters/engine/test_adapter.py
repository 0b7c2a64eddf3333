"""The adapter over a real engine: what is sent, what comes of it, and what is said when it does not."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from callosum_mcp.adapters import registry
from callosum_mcp.adapters.base import Adapter
from callosum_mcp.adapters.engine import adapter as module
from callosum_mcp.adapters.engine import files
from callosum_mcp.adapters.engine.adapter import EngineAdapter
from callosum_mcp.errors import StoreBadReply, StoreFailed, StoreRefused
from callosum_mcp.federation.federation import Federation, State
from callosum_mcp.federation.stores import Store, StoreSet
from callosum_mcp.models.knobs import Knobs
from callosum_mcp.models.requests import RecallRequest
from callosum_mcp.models.values import Hit, StoreQuery, StoreSpec, StoreStatus, TransportSpec

from .engines import HERE, Network, entries
from .test_session import asked, kill, pids, until

EXTRACT = [{"items": "$.hits[*]", "fields": {"id": "id", "snippet": "text", "last_seen": "at"}}]
OPTIONS: Mapping[str, object] = {
    "tool": ["seek", "find"],
    "args": {"query": "{query}", "limit": "{limit|int}"},
    "extract": EXTRACT,
}


def spec(*switches: str, options: Mapping[str, object] = OPTIONS, name: str = "small", **more: Any) -> StoreSpec:
    transport = TransportSpec(
        type="stdio", command=sys.executable, args=("-S", "-E", str(HERE / "small_engine.py"), *switches)
    )
    return StoreSpec(name=name, type="mcp", transport=transport, options=options, **more)


@asynccontextmanager
async def made(given: StoreSpec) -> AsyncGenerator[Adapter]:
    adapter = registry.create(given)
    try:
        yield adapter
    finally:
        await adapter.aclose()


def arguments(log: Path) -> list[dict[str, Any]]:
    return [entry["arguments"] for entry in asked(log, "tools/call")]


async def test_a_search_sends_what_the_options_say_and_reads_the_answer(log: Path) -> None:
    async with made(spec("--log", str(log))) as adapter:
        reply = await adapter.search(StoreQuery(text="where is hermes", limit=7))
    assert [(hit.store, hit.id, hit.text, hit.last_seen) for hit in reply.hits] == [
        ("small", "a", "a says where is hermes", 1_793_491_200.0),
        ("small", "b", "b says where is hermes", None),
    ]
    assert arguments(log) == [{"query": "where is hermes", "limit": 7}]
    assert (reply.remark, reply.verdict) == (None, None)
    assert adapter.usage() == {"requests": 1, "connections": 1}


async def test_the_engines_own_verdict_is_kept() -> None:
    options = {**OPTIONS, "verdict": {"from": "$.kind"}}
    async with made(spec(options=options)) as adapter:
        assert (await adapter.search(StoreQuery(text="verdict"))).verdict == "single"


async def test_a_server_without_the_tool_is_a_bad_reply_that_says_what_it_has() -> None:
    async with made(spec("--tool", "locate")) as adapter:
        said = r"^its server has no tool seek or find among its 2 tools; is type mcp right\? The log has their names$"
        with pytest.raises(StoreBadReply, match=said):
            await adapter.search(StoreQuery(text="x"))
        with pytest.raises(StoreBadReply, match=said):
            await adapter.probe()


async def test_a_tool_that_is_not_advertised_is_called_only_where_the_options_allow_it() -> None:
    async with made(spec("--tool", "locate", options={**OPTIONS, "tool": "find", "allow_unlisted": True})) as adapter:
        assert (await adapter.search(StoreQuery(text="x"))).hits


async def test_a_probe_says_who_answers_and_what_it_would_be_asked(log: Path) -> None:
    async with made(spec("--log", str(log))) as adapter:
        report = await adapter.probe()
    assert report.detail == "MCP 2025-06-18 over stdio, 2 tools; asks find(query, limit)"
    assert asked(log, "tools/call") == []


async def test_a_probe_reports_noise_and_what_is_not_sent() -> None:
    options = {**OPTIONS, "args": {"query": "{query}", "mode": "exact"}}
    async with made(spec("--noisy", options=options)) as adapter:
        detail = (await adapter.probe()).detail
        assert "; asks find(query); without mode, which its tool does not take; its stdout holds 3 lines" in detail
        assert "lines that are not MCP" in str((await adapter.search(StoreQuery(text="x"))).remark)
        assert (await adapter.search(StoreQuery(text="x"))).remark is None


async def test_a_pinned_argument_that_the_tool_does_not_take_stops_the_call(log: Path) -> None:
    options = {**OPTIONS, "args": {"query": "{query}", "action!": "list"}}
    async with made(spec("--log", str(log), options=options)) as adapter:
        for call in (adapter.probe(), adapter.search(StoreQuery(text="x"))):
            with pytest.raises(StoreBadReply, match="takes no argument action"):
                await call
    assert asked(log, "tools/call") == []


async def test_a_probe_names_an_argument_that_the_tool_wants_and_nobody_gives() -> None:
    async with made(spec(options={**OPTIONS, "args": {"limit": "{limit|int}"}})) as adapter:
        with pytest.raises(
            StoreBadReply, match=r"^its tool wants arguments that the preset does not give \(1\); set args in op"
        ):
            await adapter.probe()


async def test_a_tool_whose_arguments_changed_while_in_use_is_reported_once(log: Path, tmp_path: Path) -> None:
    drift = tmp_path / "drift"
    async with made(spec("--log", str(log), "--drift", str(drift))) as adapter:
        assert (await adapter.search(StoreQuery(text="x"))).remark is None
        drift.touch()
        await kill(pids(log)[-1])
        changed = "the arguments of its tool find changed while it was in use"
        assert (await adapter.search(StoreQuery(text="x"))).remark == changed
        assert (await adapter.search(StoreQuery(text="x"))).remark is None
        assert changed in (await adapter.probe()).detail


async def test_a_list_that_the_server_says_has_changed_is_read_again(log: Path, tmp_path: Path) -> None:
    drift = tmp_path / "drift"
    async with made(spec("--log", str(log), "--drift", str(drift))) as adapter:
        await adapter.search(StoreQuery(text="x"))
        drift.touch()
        await adapter.search(StoreQuery(text="announce"))
        await until(lambda: len(asked(log, "tools/list")) == 1)
        remark = (await adapter.search(StoreQuery(text="x"))).remark
    assert remark == "the arguments of its tool find changed while it was in use"
    assert len(pids(log)) == 1


DISCOVERING: Mapping[str, object] = {
    **OPTIONS,
    "args": {"query": "{query}", "limit": "{limit|int}", "place": "{place}"},
    "discover": {"param": "place", "tool": "list_places", "from": "$.places[*]"},
}


@pytest.fixture
def finding(monkeypatch: pytest.MonkeyPatch) -> None:
    """Type `mcp` with a param that can be found."""
    from callosum_mcp.adapters.engine import catalog
    from callosum_mcp.adapters.engine.preset import Param

    whole = catalog.load("mcp")
    given = whole.model_copy(update={"params": {"place": Param(description="Where.", required=True)}})
    monkeypatch.setattr(EngineAdapter, "preset", given, raising=False)


class Finding(EngineAdapter):
    """An engine whose preset finds the places to search by itself."""


@pytest.mark.usefixtures("finding")
async def test_a_param_left_out_is_found_once_per_connection_and_each_value_is_asked(log: Path) -> None:
    adapter = Finding(spec("--log", str(log), "--extra", "place", options=DISCOVERING))
    try:
        reply = await adapter.search(StoreQuery(text="x"))
        await adapter.search(StoreQuery(text="y"))
        detail = (await adapter.probe()).detail
    finally:
        await adapter.aclose()
    calls = [entry["name"] for entry in asked(log, "tools/call")]
    assert calls.count("list_places") == 1 and calls.count("find") == 6
    places = [str(given["place"]) for given in arguments(log) if "place" in given]
    assert sorted(places) == ["one", "one", "three", "three", "two", "two"]
    assert [hit.id for hit in reply.hits] == ["a", "b"] and "asks find(query, limit, place)" in detail


@pytest.mark.usefixtures("finding")
async def test_an_engine_that_lists_nothing_to_search_says_which_option_to_set() -> None:
    options = {**DISCOVERING, "discover": {"param": "place", "tool": "list_places", "from": "$.nowhere[*]"}}
    adapter = Finding(spec("--extra", "place", options=options))
    try:
        with pytest.raises(StoreFailed, match=r"^list_places lists nothing to search; set option place$"):
            await adapter.search(StoreQuery(text="x"))
    finally:
        await adapter.aclose()


async def test_a_hit_that_was_shown_can_be_fetched_and_one_that_was_not_is_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MAX_SHOWN", 2)
    async with made(spec()) as adapter:
        found = (await adapter.search(StoreQuery(text="x"))).hits
        assert await adapter.fetch("a") == found[0]
        assert await adapter.fetch("nowhere") is None
        monkeypatch.setattr(module, "MAX_SHOWN", 1)
        await adapter.search(StoreQuery(text="y"))
        assert await adapter.fetch("a") is None


FETCHING: Mapping[str, object] = {
    **OPTIONS,
    "fetch": {"tool": "find", "args": {"query": "{id}"}, "items": "$", "fields": {"snippet": "whole", "id": "id"}},
}


async def test_an_engine_that_can_be_asked_for_one_hit_is_asked() -> None:
    async with made(spec(options=FETCHING)) as adapter:
        found = await adapter.fetch("a")
        assert found == Hit(store="small", id="a", text="the whole of a")
        assert await adapter.fetch("none") is None
        assert await adapter.fetch("missing") is None
        with pytest.raises(StoreFailed, match="database is locked"):
            await adapter.fetch("locked")


ENRICHING: Mapping[str, object] = {
    **OPTIONS,
    "enrich": {
        "tool": "find",
        "args": {"query": "{id}"},
        "max": 1,
        "items": "$",
        "fields": {"last_seen": "at", "title": "id"},
    },
}


async def test_what_a_search_leaves_out_is_asked_for_the_first_few_hits_once(log: Path) -> None:
    async with made(spec("--log", str(log), options=ENRICHING)) as adapter:
        found = (await adapter.search(StoreQuery(text="x"))).hits
        complete = await adapter.complete([found[1], found[0]])
        assert [(hit.id, hit.last_seen is not None) for hit in complete] == [("b", True), ("a", True)]
        before = len(asked(log, "tools/call"))
        await adapter.complete([complete[0]])
        assert len(asked(log, "tools/call")) == before


async def test_a_text_that_only_a_further_call_has_is_there_in_the_search_itself() -> None:
    options = {**ENRICHING, "enrich": {"tool": "find", "args": {"query": "{id}"}, "fields": {"snippet": "whole"}}}
    async with made(spec(options=options)) as adapter:
        found = await adapter.search(StoreQuery(text="x"))
        assert [hit.text for hit in found.hits] == ["the whole of a", "the whole of b"]
        assert await adapter.complete(found.hits) == list(found.hits)


async def test_a_hit_that_cannot_be_completed_stays_as_it_is_and_is_counted() -> None:
    enrich = {"tool": "find", "args": {"query": "is error"}, "fields": {"snippet": "whole"}}
    async with made(spec(options={**OPTIONS, "enrich": enrich})) as adapter:
        found = await adapter.search(StoreQuery(text="x"))
    assert found.hits[0].text == "a says x"
    assert str(found.remark).startswith("2 of 2 hits could not be completed: ")


async def test_hits_without_a_time_take_that_of_their_file_if_it_is_inside_the_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "here.py").touch()
    (tmp_path / "outside.py").touch()
    (root / "link.py").symlink_to(tmp_path / "outside.py")
    os.utime(root / "here.py", (1_790_000_000, 1_790_000_000))
    fields = {"id": "path", "snippet": "path", "path": "path"}
    options = {**OPTIONS, "extract": [{"items": "$.files[*]", "fields": fields}]}
    options["last_seen"] = {"stat_root": str(root)}
    query = StoreQuery(text="files " + json.dumps(["here.py:3", "link.py", "../outside.py", "gone.py"]))
    async with made(spec(options=options)) as adapter:
        times = {hit.id: hit.last_seen for hit in (await adapter.search(query)).hits}
        monkeypatch.setattr(files, "MAX_FILES", 0)
        capped = [hit.last_seen for hit in (await adapter.search(query)).hits]
    assert times == {"here.py:3": 1_790_000_000.0, "link.py": None, "../outside.py": None, "gone.py": None}
    assert capped == [None] * 4


async def test_several_terms_are_asked_one_call_each_and_a_failed_one_fails_the_search(log: Path) -> None:
    options = {**OPTIONS, "query": {"mode": "terms"}, "args": {"query": "{term}"}}
    async with made(spec("--log", str(log), options=options)) as adapter:
        await adapter.search(StoreQuery(text="hermes atlas"))
        assert sorted(str(given) for given in arguments(log)) == ["{'query': 'atlas'}", "{'query': 'hermes'}"]
        with pytest.raises(StoreFailed, match="locked"):
            await adapter.search(StoreQuery(text="hermes locked"))


async def test_nothing_is_asked_of_a_closed_adapter_and_warming_it_does_nothing(log: Path) -> None:
    adapter = registry.create(spec("--log", str(log)))
    await adapter.aclose()
    adapter.warm()
    with pytest.raises(StoreRefused):
        await adapter.search(StoreQuery(text="x"))
    assert entries(log) == []


def federation(*specs: StoreSpec, **knobs: Any) -> Federation:
    return Federation(State(stores=StoreSet(tuple(Store.of(one) for one in specs)), knobs=Knobs(**knobs)))


async def closed(federated: Federation) -> None:
    for store in federated.state.stores.stores:
        await store.connection.retire()


@pytest.mark.promise("P2")
async def test_an_engine_that_hangs_in_its_handshake_holds_no_other_up_and_is_said_to_be_connecting() -> None:
    federated = federation(spec(name="good"), spec("--hang-in-initialize", name="stuck", timeout_s=1.0))
    try:
        with anyio.fail_after(10):
            result = await federated.recall(RecallRequest(query="hermes"))
    finally:
        await closed(federated)
    good, stuck = result.engines
    assert (good.status, len(result.hits)) == ("up", 2)
    assert (stuck.status, stuck.reason) == ("down", "timeout")
    assert str(stuck.detail).endswith("s: still connecting (cold start); that goes on, and a later call finds it warm")


async def test_an_engine_killed_in_a_recall_is_down_within_its_time_and_the_next_recall_has_it(log: Path) -> None:
    federated = federation(spec("--log", str(log), timeout_s=8.0), deadline_s=9.0)
    try:
        await federated.recall(RecallRequest(query="hermes"))

        async def killed() -> None:
            await until(lambda: len(asked(log, "tools/call")) == 2)
            os.kill(pids(log)[-1], signal.SIGKILL)

        statuses: list[StoreStatus] = []
        async with anyio.create_task_group() as group:
            group.start_soon(killed)
            statuses.extend((await federated.gather(RecallRequest(query="hang"))).statuses)
        (down,) = statuses
        assert (down.status, down.detail) == ("down", "its process was ended by SIGKILL")
        assert down.ms is not None and down.ms < 8_000
        again = await federated.recall(RecallRequest(query="hermes"))
        assert [(engine.status, engine.hits) for engine in again.engines] == [("up", 2)]
    finally:
        await closed(federated)


async def test_warming_the_federation_connects_its_engines(log: Path) -> None:
    federated = federation(
        spec("--log", str(log)), spec(name="off", enabled=False), StoreSpec(name="n", type="nothing")
    )
    try:
        federated.warm()
        await until(lambda: asked(log, "tools/list"))
    finally:
        await closed(federated)
    federated.warm()
    assert len(pids(log)) == 1 and len(entries(log)) > 1


async def test_the_same_works_over_the_network(served: Network) -> None:
    for path in ("/mcp", "/sse"):
        given = StoreSpec(name="net", type="mcp", url=served.url + path, options={**OPTIONS, "tool": "find"})
        async with made(given) as adapter:
            assert [hit.id for hit in (await adapter.search(StoreQuery(text="hermes"))).hits] == ["a", "b"]
            assert "MCP 2026-07-28 over" in (await adapter.probe()).detail


def test_a_placeholder_that_is_wrong_is_refused_before_anything_is_asked() -> None:
    with pytest.raises(ValueError, match=r"^option args\.query: .*qery"):
        registry.create(spec(options={**OPTIONS, "args": {"query": "{qery}"}}))
