"""Every tool over stdio, Streamable HTTP and SSE, for clients of both protocol eras."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent

from .world import World, check_schema, structured

NEVER_SAID = ("pydantic", "errors.", "further information", "Traceback", "docs")
TOOL_NAMES = ["recall", "ask", "fetch", "list_stores", "add_store", "remove_store", "configure"]


def text_of(result: CallToolResult) -> str:
    assert len(result.content) == 1
    block = result.content[0]
    assert isinstance(block, TextContent)
    return block.text


async def answer(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """A successful call's structured content, which must keep every promise an answer makes."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    tools = {listed.name: listed for listed in (await client.list_tools()).tools}
    schema = tools[tool].output_schema
    assert schema is not None
    check_schema(schema, result.structured_content)
    assert json.loads(text_of(result)) == result.structured_content
    return structured(result)


async def refusal(client: Client, tool: str, arguments: dict[str, Any]) -> str:
    """A refused call's text."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    said = text_of(result)
    assert [part for part in NEVER_SAID if part in said] == []
    return said


async def test_the_era_is_the_one_the_client_asked_for(client: Client, request: pytest.FixtureRequest) -> None:
    wanted = "2025-11-25" if "legacy" in request.node.name else "2026-07-28"
    assert client.protocol_version == wanted


async def test_the_tools_are_listed_in_one_order(client: Client) -> None:
    listed = [[tool.name for tool in (await client.list_tools()).tools] for _ in range(2)]
    assert listed == [TOOL_NAMES, TOOL_NAMES]


@pytest.mark.promise("P33")
async def test_recall_brings_hits_of_every_store(client: Client) -> None:
    found = await answer(client, "recall", query="Is Hermes active?", n_results=20)
    assert {hit["store"] for hit in found["hits"]} == {"notes", "memory", "loci"}
    assert {(engine["engine"], engine["status"]) for engine in found["engines"]} == {
        ("notes", "up"),
        ("memory", "up"),
        ("loci", "up"),
    }
    assert found["answer_kind"] == "single" and not found["partial"]


async def test_a_detailed_recall_keeps_its_schema_too(client: Client) -> None:
    found = await answer(
        client, "recall", query="Hermes", detail="detailed", include_superseded=True, since="2020-01-01", trace=True
    )
    assert found["hits"][0]["type"]


async def test_each_hit_can_be_fetched(client: Client) -> None:
    found = await answer(client, "recall", query="Is Hermes active?", n_results=20)
    ids = [hit["id"] for hit in found["hits"]]
    fetched = [(await answer(client, "fetch", id=hit_id))["id"] for hit_id in ids]
    assert [i.partition(":")[0] for i in fetched] == [i.partition(":")[0] for i in ids]


async def test_list_stores_probes_when_asked(client: Client) -> None:
    quiet = await answer(client, "list_stores")
    asked = await answer(client, "list_stores", probe=True)
    assert not any("health" in store for store in quiet["stores"])
    assert [store["health"]["status"] for store in asked["stores"]] == ["up", "up", "up"]


async def test_a_store_can_be_added_searched_and_removed(client: Client, world: World) -> None:
    added = await answer(client, "add_store", name="second", type="seren_memory", url=world.memory.url)
    assert added["added"]["managed"] and added["added"]["health"]["status"] == "up" and added["active"] == 4
    found = await answer(client, "recall", query="Hermes", stores=["second"])
    assert {hit["store"] for hit in found["hits"]} == {"second"}
    assert await answer(client, "remove_store", name="second") == {"removed": "second", "active": 3}
    assert "second" in await refusal(client, "recall", {"query": "Hermes", "stores": ["second"]})


async def test_configure_says_what_changed(client: Client) -> None:
    changed = await answer(client, "configure", k=10, stores=[{"name": "loci", "weight": 2}])
    assert changed["changed"] == [
        {"setting": "k", "old": 60, "new": 10},
        {"setting": "stores.loci.weight", "old": 1.0, "new": 2.0},
    ]
    assert (await answer(client, "list_stores"))["settings"]["k"] == 10
    await answer(client, "configure", k=60, stores=[{"name": "loci", "weight": 1}])
    assert (await answer(client, "configure"))["changed"] == []


REFUSED: list[tuple[str, dict[str, Any], list[str]]] = [
    ("recall", {"query": "x", "n_results": 0}, ["n_results", "1", "0"]),
    ("recall", {"query": "x", "n_results": 101}, ["n_results", "100", "101"]),
    ("recall", {"query": "x", "n_results": "ten"}, ["n_results", "1 to 100", "ten"]),
    ("recall", {"query": ""}, ["query", "1"]),
    ("recall", {"query": " \t "}, ["query", "blank"]),
    ("recall", {}, ["query", "required"]),
    ("recall", {"query": "y" * 1_000_000}, ["query", "8000"]),
    ("recall", {"query": "a\x00b"}, ["query", "U+0000", "1"]),
    ("recall", {"query": "a\x1b[31m"}, ["query", "U+001B"]),
    ("recall", {"query": None}, ["query", "string"]),
    ("recall", {"query": "x", "stores": ["memroy"]}, ["memroy", "'memory'"]),
    ("recall", {"query": "x", "stores": "memory"}, ["stores", "list"]),
    ("recall", {"query": "x", "n_result": 5}, ["n_result", "unknown", "'n_results'"]),
    ("recall", {"query": "x", "budget_tokens": 20_001}, ["budget_tokens", "20000"]),
    ("recall", {"query": "x", "budget_tokens": 1}, ["budget_tokens", "200"]),
    ("recall", {"query": "x", "detail": "all"}, ["detail", "concise", "detailed"]),
    ("recall", {"query": "x", "since": "tomorrow"}, ["since", "ISO 8601"]),
    ("recall", {"query": "x", "since": "2026-02-01", "until": "2026-01-01"}, ["since", "until"]),
    ("recall", {"query": "x", "timeout_ms": 0}, ["timeout_ms", "1"]),
    ("fetch", {"id": "nobody:1"}, ["nobody"]),
    ("fetch", {"id": "no-colon"}, ["id", "store:native-id"]),
    ("fetch", {"id": "memory:unknown"}, ["id", "unknown"]),
    ("fetch", {}, ["id", "required"]),
    ("list_stores", {"probe": "perhaps"}, ["probe"]),
    ("add_store", {"name": "memory", "type": "seren_memory", "url": "http://127.0.0.1:9"}, ["name", "memory"]),
    ("add_store", {"name": "a b", "type": "seren_memory", "url": "http://127.0.0.1:9"}, ["name"]),
    ("add_store", {"name": "x", "type": "seren_memroy", "url": "http://127.0.0.1:9"}, ["type", "'seren_memory'"]),
    ("add_store", {"name": "x", "type": "seren_memory", "url": "ftp://127.0.0.1"}, ["url"]),
    ("add_store", {"name": "x", "type": "seren_memory", "url": "//example.org"}, ["url"]),
    ("add_store", {"name": "x", "type": "notes", "url": "http://127.0.0.1:9"}, ["type", "config file"]),
    ("add_store", {"name": "x", "type": "seren_memory", "url": "http://127.0.0.1:9", "weight": -1}, ["weight", "0"]),
    ("add_store", {"name": "x", "type": "seren_loci", "url": "http://127.0.0.1:9", "token_env": "HOME"}, ["token_env"]),
    ("remove_store", {"name": "memory"}, ["memory", "callosum.json"]),
    ("remove_store", {"name": "nobody"}, ["nobody"]),
    ("configure", {"k": 0}, ["k", "1"]),
    ("configure", {"k": "many"}, ["k", "1 to 10000"]),
    ("configure", {"fusion_mode": "best"}, ["fusion_mode", "rrf"]),
    ("configure", {"kk": 5}, ["kk", "unknown"]),
    ("configure", {"stores": [{"name": "nobody", "weight": 2}]}, ["nobody"]),
    ("configure", {"stores": [{"name": "loci", "floor": 2}]}, ["floor", "1"]),
    ("configure", {"stores": {"loci": 2}}, ["stores", "list"]),
    ("configure", {"stores": ["loci"]}, ["stores.0", "name"]),
    ("recal", {"query": "x"}, ["recal", "unknown", "'recall'"]),
]


async def test_a_wrong_argument_is_an_error_that_names_the_field_and_the_bound(client: Client) -> None:
    said = [(tool, given, await refusal(client, tool, given)) for tool, given, _ in REFUSED]
    lacking = [
        (tool, str(given)[:80], text)
        for (tool, given, text), (_, _, wanted) in zip(said, REFUSED, strict=True)
        if not all(word in text for word in wanted)
    ]
    assert lacking == []
    assert [text for _, _, text in said if len(text) > 600] == []
    assert (await answer(client, "list_stores"))["stores"], "the server goes on"


@pytest.mark.promise("4f")
async def test_a_refused_change_changes_nothing(client: Client) -> None:
    before = (await answer(client, "list_stores"))["settings"]
    await refusal(client, "configure", {"k": 5, "n_results": 0})
    await refusal(client, "configure", {"k": 5, "stores": [{"name": "nobody"}]})
    assert (await answer(client, "list_stores"))["settings"] == before


async def test_progress_tells_of_each_store_once(client: Client) -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    await client.call_tool("recall", {"query": "Hermes"}, progress_callback=note)
    assert [(progress, total) for progress, total, _ in told] == [(1, 3), (2, 3), (3, 3)]
    assert {message for _, _, message in told} == {"notes: up", "memory: up", "loci: up"}


async def test_progress_of_a_scoped_recall_counts_the_stores_asked(client: Client) -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    await client.call_tool("recall", {"query": "Hermes", "stores": ["loci"]}, progress_callback=note)
    assert told == [(1, 1, "loci: up")]


async def test_the_stores_and_a_hit_can_be_read_as_resources(client: Client) -> None:
    listed = (await client.list_resources()).resources
    assert [str(resource.uri) for resource in listed] == ["callosum://stores"]
    templates = (await client.list_resource_templates()).resource_templates
    assert [template.uri_template for template in templates] == ["callosum://hit/{+id}"]
    stores = (await client.read_resource("callosum://stores")).contents[0]
    hit = (await client.read_resource("callosum://hit/loci:hermes/status")).contents[0]
    assert (stores.mime_type, hit.mime_type) == ("application/json", "application/json")
    assert [store["name"] for store in json.loads(stores.model_dump()["text"])["stores"]] == ["notes", "memory", "loci"]
    assert json.loads(hit.model_dump()["text"])["id"] == "loci:hermes/status"


@pytest.mark.parametrize(
    "uri", ["callosum://nothing", "callosum://hit/nobody:1", "callosum://hit/x", "callosum://hit/"]
)
async def test_an_unknown_resource_is_a_protocol_error(client: Client, uri: str) -> None:
    with pytest.raises(MCPError) as caught:
        await client.read_resource(uri)
    assert caught.value.error.code == -32602
    assert [part for part in NEVER_SAID if part in caught.value.error.message] == []


async def test_the_briefing_prompt_names_the_topic(client: Client) -> None:
    prompts = (await client.list_prompts()).prompts
    assert [(p.name, [a.name for a in p.arguments or []]) for p in prompts] == [("briefing", ["topic"])]
    got = await client.get_prompt("briefing", {"topic": "Hermes"})
    assert "Hermes" in got.messages[0].model_dump()["content"]["text"]


@pytest.mark.parametrize(
    ("name", "arguments", "wanted"), [("brief", {"topic": "x"}, "briefing"), ("briefing", {}, "topic")]
)
async def test_a_wrong_prompt_is_a_protocol_error(
    client: Client, name: str, arguments: dict[str, str], wanted: str
) -> None:
    with pytest.raises(MCPError, match=wanted):
        await client.get_prompt(name, arguments)
