"""Each preset against its product's recorded replies, over a real connection: what is sent, and what comes of it."""

from __future__ import annotations

import pytest
from support.replay_engine import (
    ReplayEngine,
    ReplayHttp,
    Result,
    captured,
    result_of,
    served,
    text_result,
)

from callosum_mcp.adapters.engine import catalog
from callosum_mcp.errors import StoreError
from callosum_mcp.models.values import StoreQuery

from .cases import Case, case, names, shown
from .replaying import HTTP, MCP, engine_of, http_of, ids, store, without_the_time


@pytest.mark.parametrize("one", MCP, ids=ids)
async def test_an_engine_behind_mcp_is_asked_and_read_as_recorded(one: Case) -> None:
    engine = engine_of(one)
    with served(engine) as url:
        async with store(one.preset, f"{url}/mcp", one.options) as adapter:
            reply = await adapter.search(StoreQuery(text=one.ask, limit=one.limit))

    # calls of one search go out at the same time and arrive in any order
    assert sorted(without_the_time(engine.calls), key=str) == sorted(one.calls, key=str)
    assert [shown(hit) for hit in reply.hits] == one.hits
    assert (reply.verdict, reply.remark) == (one.verdict, one.remark)
    assert all(hit.tier is not None and hit.store == "engine" for hit in reply.hits)


@pytest.mark.parametrize("one", HTTP, ids=ids)
async def test_an_engine_behind_http_is_asked_and_read_as_documented(one: Case) -> None:
    engine = http_of(captured(f"{one.product}/{one.results['http']}"))
    with served(engine) as url:
        async with store(one.preset, url, one.options) as adapter:
            reply = await adapter.search(StoreQuery(text=one.ask, limit=one.limit))

    asked = [[a.method, a.path, dict(a.params), a.body] for a in engine.requests]
    assert sorted(asked, key=str) == sorted(one.calls, key=str)
    assert [shown(hit) for hit in reply.hits] == one.hits
    assert (reply.verdict, reply.remark) == (one.verdict, one.remark)


def test_every_preset_but_the_templates_has_a_case() -> None:
    templates = {name for name in catalog.names() if catalog.load(name).evidence == "template"}

    assert set(names()) | templates == set(catalog.names())


@pytest.mark.parametrize(
    ("preset", "product", "ask", "results", "options"),
    [
        ("server-memory", "server-memory", "zzzz", {"search_nodes": "none"}, {}),
        ("server-memory", "server-memory", "is hermes running", {"search_nodes": "search_multiword"}, {}),
        ("basic-memory", "basic-memory", "zzzz", {"search_notes": "none"}, {}),
        ("codebase-memory-mcp", "codebase-memory-mcp", "zzzz", {"search_graph": "none"}, {"project": "proj"}),
        ("serena.find_symbol", "serena", "zzzz", {"find_symbol": "find_symbol_none"}, {}),
        ("serena.references", "serena", "zzzz", {"find_symbol": "find_symbol_none"}, {}),
        ("serena.pattern", "serena-sse", "zzzz", {"search_for_pattern": text_result({})}, {}),
        ("mcp-memory-service", "mcp-memory-service", "zzzz", {"memory_search": "none"}, {}),
        ("graphiti.facts", "graphiti", "zzzz", {"search_memory_facts": "facts_none"}, {}),
        ("memgraph", "memgraph", "zzzz", {"run_cypher_query": "documented_none"}, {}),
        ("brainrouter", "brainrouter", "zzzz", {"memory_search": text_result({"memories": [], "count": 0})}, {}),
        ("mem0", "mem0", "zzzz", {"search_memories": text_result({"results": []})}, {}),
    ],
)
async def test_nothing_found_is_no_failure(
    preset: str, product: str, ask: str, results: dict[str, Result | str], options: dict[str, object]
) -> None:
    with served(ReplayEngine.recorded(product, results)) as url:
        async with store(preset, f"{url}/mcp", options) as adapter:
            assert (await adapter.search(StoreQuery(text=ask))).hits == ()


@pytest.mark.parametrize(
    ("preset", "product", "name", "options"),
    [
        ("memos.http", "memos", "documented_none", {}),
        ("brain.http", "brain", "documented_recall_none", {}),
        ("opensearch", "opensearch", "documented_none", {"index": "notes"}),
        ("elasticsearch", "elasticsearch", "documented_none", {"index": "notes"}),
        ("vespa", "vespa", "documented_none", {}),
    ],
)
async def test_nothing_found_over_http_is_no_failure(
    preset: str, product: str, name: str, options: dict[str, object]
) -> None:
    with served(http_of(captured(f"{product}/{name}"))) as url:
        async with store(preset, url, options) as adapter:
            reply = await adapter.search(StoreQuery(text="zzzz"))

    assert reply.hits == ()
    assert reply.verdict == ("none" if preset == "brain.http" else None)


MCP_ERRORS: list[tuple[str, str, str, Result | str, str, str]] = [
    ("server-memory", "server-memory", "search_nodes", "error_bad_args", "bad_reply", "expected string"),
    ("codebase-memory-mcp", "codebase-memory-mcp", "search_graph", "error_unknown_project", "error", "not indexed"),
    ("codebase-memory-mcp", "codebase-memory-mcp", "search_graph", "error_bad_args", "bad_reply", "missing required"),
    ("serena.find_symbol", "serena", "find_symbol", "error_bad_args", "bad_reply", "validation error"),
    ("serena.references", "serena", "find_symbol", "error_bad_args", "bad_reply", "validation error"),
    ("mcp-memory-service", "mcp-memory-service", "memory_search", "error_in_text", "error", "SQLite extension"),
    ("mcp-memory-service", "mcp-memory-service", "memory_search", "error_is_error", "error", "SQLite extension"),
    ("qdrant", "qdrant", "qdrant-find", "error_missing_collection", "error", "missing collection"),
    ("qdrant", "qdrant", "qdrant-find", "error_bad_args", "bad_reply", "required property"),
    ("chroma", "chroma", "chroma_query_documents", "error_missing_collection", "error", r"Collection \[nope\]"),
    ("brainrouter", "brainrouter", "memory_search", "error_bad_args", "bad_reply", "Invalid arguments"),
    ("graphiti.facts", "graphiti", "search_memory_facts", "error_in_result", "error", "graph down"),
    ("graphiti.nodes", "graphiti", "search_nodes", "error_in_result", "error", "graph down"),
    ("memgraph", "memgraph", "run_cypher_query", "error_row", "error", "Could not connect to Memgraph"),
    ("memgraph", "memgraph", "run_cypher_query", "error_write_refused", "error", "not allowed in read-only mode"),
    ("mem0", "mem0", "search_memories", "error_no_network", "error", "Name or service not known"),
    ("openmemory", "openmemory", "search_memory", "documented_error", "error", "currently unavailable"),
    ("cognee", "cognee", "search", "documented_error", "error", "no database"),
    ("brain.mcp", "brain", "recall", "documented_error", "error", "shard unavailable"),
    (
        "serena.find_symbol",
        "serena",
        "find_symbol",
        text_result("The answer is too long (9 characters)."),
        "error",
        "too l",
    ),
]


@pytest.mark.parametrize(("preset", "product", "tool", "result", "reason", "said"), MCP_ERRORS)
async def test_an_error_in_any_shape_is_a_failure_with_the_engines_words(
    preset: str, product: str, tool: str, result: Result | str, reason: str, said: str
) -> None:
    one = case(preset)
    answer = result_of(f"{product}/{result}") if isinstance(result, str) else result
    engine = ReplayEngine(tools=captured(f"{product}/{one.tools}"), results={tool: answer})
    with served(engine) as url:
        async with store(preset, f"{url}/mcp", one.options) as adapter:
            with pytest.raises(StoreError, match=said) as raised:
                await adapter.search(StoreQuery(text="hermes"))

    assert raised.value.reason == reason
    assert [name for name, _ in engine.calls] == [tool]


HTTP_ERRORS = [
    ("memos.http", "memos/documented_error_auth", "auth_failed", "401"),
    ("memos.http", "memos/documented_error_filter", "bad_reply", "invalid filter"),
    ("letta", "letta/documented_error_no_agent", "bad_reply", "Agent with id"),
    ("zep", "zep/documented_error_auth", "auth_failed", "401"),
    ("brain.http", "brain/documented_error_auth", "auth_failed", "401"),
    ("opensearch", "opensearch/documented_error_no_index", "bad_reply", r"404: no such index \[nope\]"),
    ("elasticsearch", "elasticsearch/documented_error_auth", "auth_failed", "401"),
    ("qdrant-rest", "qdrant-rest/documented_error_no_collection", "bad_reply", "404: Not found: Collection"),
    ("meilisearch", "meilisearch/documented_error_no_index", "bad_reply", "Index `nope` not found"),
    ("meilisearch", "meilisearch/documented_error_auth", "auth_failed", "403"),
    ("typesense", "typesense/documented_error_auth", "auth_failed", "401"),
    ("typesense", "typesense/documented_error_no_collection", "bad_reply", "Not found"),
    ("vespa", "vespa/documented_error_query", "bad_reply", "400: Could not set"),
    ("vespa", "vespa/documented_error_timeout", "error", "504: Request timed out"),
]


@pytest.mark.parametrize(("preset", "name", "reason", "said"), HTTP_ERRORS)
async def test_an_error_over_http_is_a_failure_with_the_engines_words(
    preset: str, name: str, reason: str, said: str
) -> None:
    with served(http_of(captured(name))) as url:
        async with store(preset, url, case(preset).options) as adapter:
            with pytest.raises(StoreError, match=said) as raised:
                await adapter.search(StoreQuery(text="hermes"))

    assert raised.value.reason == reason


async def test_an_error_body_under_status_200_is_a_failure_too() -> None:
    for name in ("opensearch/documented_error_no_index", "vespa/documented_error_timeout"):
        with served(ReplayHttp(body=captured(name)["body"])) as url:
            preset = name.partition("/")[0]
            async with store(preset, url, case(preset).options) as adapter:
                with pytest.raises(StoreError):
                    await adapter.search(StoreQuery(text="hermes"))
