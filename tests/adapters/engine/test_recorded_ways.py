"""What single products need besides a search: params found out, further calls, fetches, transports, any question."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from support.replay_engine import (
    Asked,
    ReplayEngine,
    ReplayHttp,
    Row,
    captured,
    result_of,
    served,
    stdio_calls,
    stdio_command,
    text_result,
)

from callosum_mcp.adapters.engine import catalog
from callosum_mcp.adapters.engine.asking import calls, http_calls
from callosum_mcp.errors import StoreError
from callosum_mcp.models.values import StoreQuery, TransportSpec
from callosum_mcp.testing import NASTY_QUERIES, check_adapter
from callosum_mcp.text import iso_utc

from .cases import Case, case, shown
from .replaying import HTTP, MCP, by_word, engine_of, http_of, ids, store


async def test_the_project_of_a_code_graph_is_found_out() -> None:
    engine = ReplayEngine.recorded("codebase-memory-mcp", {"search_graph": "search", "list_projects": "projects"})
    with served(engine) as url:
        async with store("codebase-memory-mcp", f"{url}/sse", {}) as adapter:
            first = await adapter.search(StoreQuery(text="validate token", limit=2))
            await adapter.search(StoreQuery(text="hash", limit=2))

    assert [hit.id for hit in first.hits] == [
        "proj.app.auth.TokenStore.validate_token",
        "proj.app.auth.validate_token_header",
    ]
    assert [tool for tool, _ in engine.calls] == ["list_projects", "search_graph", "search_graph"]
    assert [arguments.get("project") for _, arguments in engine.calls] == [None, "proj", "proj"]


async def test_both_forms_of_serenas_result_are_read() -> None:
    found: list[list[str]] = []
    for product in ("serena", "serena-sse"):
        with served(ReplayEngine.recorded(product, {"find_symbol": "find_symbol"})) as url:
            async with store("serena.find_symbol", f"{url}/sse", {}) as adapter:
                found.append([hit.id for hit in (await adapter.search(StoreQuery(text="validate_token"))).hits])

    assert found[0] == found[1]
    assert set(found[0]) == {
        "app/main.py#validate_token_header",
        "app/auth.py#TokenStore/validate_token",
        "app/auth.py#validate_token_header",
    }


async def test_an_older_serena_is_asked_by_its_own_name_of_the_argument() -> None:
    older = {"name": "find_symbol", "inputSchema": {"type": "object", "properties": {"name_path": {"type": "string"}}}}
    engine = ReplayEngine(tools=[older], results={"find_symbol": result_of("serena/find_symbol")})
    with served(engine) as url:
        async with store("serena.find_symbol", f"{url}/mcp", {}) as adapter:
            reply = await adapter.search(StoreQuery(text="validate_token"))

    assert engine.calls == [("find_symbol", {"name_path": "validate_token"})]
    assert reply.hits


async def test_times_and_confidence_of_brainrouter_come_of_a_second_call() -> None:
    engine = ReplayEngine.recorded("brainrouter", {"memory_search": "search", "memory_get": "get"})
    with served(engine) as url:
        async with store("brainrouter", f"{url}/mcp", {}) as adapter:
            found = await adapter.search(StoreQuery(text="is hermes running", limit=5))
            (first,) = await adapter.complete(found.hits[:1])
            whole = await adapter.fetch("m1")

    assert engine.calls[1:] == [("memory_get", {"recordId": "m1"})] * 2
    assert (first.id, iso_utc(first.last_seen), first.confidence) == ("m1", "2026-10-20T00:00:00Z", 0.8)
    assert (first.path, first.text) == ("ops/hermes.md", found.hits[0].text)
    assert whole is not None and whole.text == first.text


async def test_brainrouter_is_never_asked_without_the_date_that_makes_it_read_only() -> None:
    tools = captured("brainrouter/tools")
    for tool in tools:
        tool["inputSchema"]["properties"].pop("asOf", None)
    engine = ReplayEngine(tools=tools, results={"memory_search": result_of("brainrouter/search")})
    with served(engine) as url:
        async with store("brainrouter", f"{url}/mcp", {}) as adapter:
            with pytest.raises(StoreError, match="asOf"):
                await adapter.search(StoreQuery(text="hermes"))

    assert engine.calls == []


async def test_one_entity_of_a_graph_is_fetched_in_full() -> None:
    engine = ReplayEngine.recorded("server-memory", {"search_nodes": "search", "open_nodes": "fetch"})
    with served(engine) as url:
        async with store("server-memory", f"{url}/mcp", {}) as adapter:
            whole = await adapter.fetch("Hermes")

    assert engine.calls == [("open_nodes", {"names": ["Hermes"]})]
    assert whole is not None and whole.text == "Hermes is stopped since 2026-10-20\nHermes ran on CT241"


async def test_openmemorys_other_form_of_a_result_is_read() -> None:
    engine = ReplayEngine(
        tools=captured("openmemory/documented_tools"),
        results={"search_memory": result_of("openmemory/documented_search_results")},
    )
    with served(engine) as url:
        async with store("openmemory", f"{url}/sse", {}) as adapter:
            (hit,) = (await adapter.search(StoreQuery(text="hermes"))).hits

    assert (hit.id, iso_utc(hit.last_seen), hit.relevance) == ("b7d1", "2026-10-20T00:00:00Z", 0.77)


async def test_an_engine_on_stdin_and_stdout_is_asked_as_over_http(tmp_path: Path) -> None:
    one = case("basic-memory")
    command, *args = stdio_command(engine_of(one), tmp_path)
    transport = TransportSpec(type="stdio", command=command, args=tuple(args), connect_timeout_s=60)

    async with store(one.preset, "", one.options, transport=transport) as adapter:
        reply = await adapter.search(StoreQuery(text=one.ask, limit=one.limit))

    assert sorted((list(call) for call in stdio_calls(tmp_path)), key=str) == sorted(one.calls, key=str)
    assert [shown(hit) for hit in reply.hits] == one.hits


@pytest.mark.parametrize("preset", ["darwin-rag", "darwin-memgraph"])
@pytest.mark.parametrize("wrap", ["results", None])
async def test_a_template_reads_the_usual_forms(preset: str, wrap: str | None) -> None:
    row = {"id": 7, "title": "Hermes", "path": "ops/hermes.md", "text": "Hermes is stopped.", "updated_at": 1792454400}
    rows: object = [row] if wrap is None else {wrap: [row]}
    tool = catalog.load(preset).tool[1]
    properties = {"q": {"type": "string"}, "top_k": {"type": "integer"}}
    schema = {"type": "object", "properties": properties, "required": ["q"]}
    engine = ReplayEngine(tools=[{"name": tool, "inputSchema": schema}], results={tool: text_result(rows)})
    with served(engine) as url:
        async with store(preset, f"{url}/sse", {}) as adapter:
            (hit,) = (await adapter.search(StoreQuery(text="hermes", limit=3))).hits

    assert engine.calls == [(tool, {"q": "hermes", "top_k": 3})]
    assert (hit.id, hit.title, hit.text) == ("7", "Hermes", "Hermes is stopped.")
    assert iso_utc(hit.last_seen) == "2026-10-20T00:00:00Z"


async def test_headers_of_a_store_reach_an_engine_behind_http() -> None:
    engine = http_of(captured("typesense/documented_search"))
    headers = {"X-TYPESENSE-API-KEY": "key-for-searching"}
    with served(engine) as url:
        async with store("typesense", url, case("typesense").options, headers=headers) as adapter:
            await adapter.search(StoreQuery(text="hermes"))

    (asked,) = engine.requests
    assert isinstance(asked, Asked) and asked.headers["x-typesense-api-key"] == "key-for-searching"


async def test_one_document_of_a_search_engine_is_fetched_in_full() -> None:
    found, nothing = captured("opensearch/documented_search")["body"], captured("opensearch/documented_none")["body"]
    engine = ReplayHttp(answer=lambda asked: (200, found if "a1" in json.dumps(asked.body) else nothing))
    with served(engine) as url:
        async with store("opensearch", url, case("opensearch").options) as adapter:
            whole, gone = await adapter.fetch("a1"), await adapter.fetch("no-such-id")

    assert whole is not None and gone is None
    assert (whole.id, whole.title, iso_utc(whole.last_seen)) == ("a1", "Hermes", "2026-10-20T08:00:00Z")
    assert [asked.path for asked in engine.requests] == ["/notes/_search"] * 2
    assert engine.requests[0].body == {
        "size": 1,
        "query": {"ids": {"values": ["a1"]}},
        "_source": ["body", "title", "path", "updated"],
    }


def _schema(one: Case) -> dict[str, Any]:
    tool = catalog.load(one.preset).tool[0]
    listed = {tool["name"]: tool["inputSchema"] for tool in captured(f"{one.product}/{one.tools}")}
    return listed.get(tool, {"type": "object"})


@pytest.mark.parametrize("one", MCP, ids=ids)
def test_whatever_is_asked_the_arguments_are_those_of_the_tool(one: Case) -> None:
    preset, params = catalog.configured(catalog.load(one.preset), one.options)
    schema = _schema(one)
    known = frozenset(schema["properties"]) if "properties" in schema else None
    for query in NASTY_QUERIES:
        made = calls(preset, params, StoreQuery(text=query), time.time(), known)
        assert 1 <= len(made) <= preset.query.max_calls
        for arguments in made:
            jsonschema.validate(arguments, schema)
            assert known is None or set(arguments) <= known


@pytest.mark.parametrize("one", HTTP, ids=ids)
def test_whatever_is_asked_the_request_goes_to_the_same_place(one: Case) -> None:
    preset, params = catalog.configured(catalog.load(one.preset), one.options)
    usual = http_calls(preset, params, StoreQuery(text="hermes"), time.time())
    for query in NASTY_QUERIES:
        made = http_calls(preset, params, StoreQuery(text=query), time.time())
        assert 1 <= len(made) <= preset.query.max_calls
        assert {(asked.method, asked.path) for asked in made} == {(asked.method, asked.path) for asked in usual}
        assert all(asked.params.keys() == usual[0].params.keys() for asked in made)


def _nodes(arguments: Row) -> Row:
    return result_of(f"server-memory/{'fetch' if arguments['names'] == ['Hermes'] else 'none'}")


@pytest.mark.parametrize(
    ("preset", "engine"),
    [
        (
            "server-memory",
            ReplayEngine.recorded(
                "server-memory",
                {
                    "search_nodes": by_word("server-memory", {"hermes": "search", "other": "none"}),
                    "open_nodes": _nodes,
                },
            ),
        ),
        ("qdrant", engine_of(case("qdrant"))),
        ("mcp-memory-service", engine_of(case("mcp-memory-service"))),
        ("graphiti.nodes", engine_of(case("graphiti.nodes"))),
    ],
)
async def test_a_preset_keeps_the_contract_of_every_adapter(preset: str, engine: ReplayEngine) -> None:
    with served(engine) as url:
        async with store(preset, f"{url}/sse", {}) as adapter:
            reply = await check_adapter(adapter, "hermes")

    assert reply.hits and {tool for tool, _ in engine.calls} <= {*engine.results}
