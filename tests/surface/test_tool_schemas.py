"""What a model is shown of each tool: flat, described, bounded, the same every time, and never a store's business."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import anyio
import jsonschema
import pytest
from mcp.client.client import Client
from mcp_types import Tool

from callosum_mcp.app import build
from callosum_mcp.settings import load
from callosum_mcp.surface import tools
from callosum_mcp.surface.mcp_server import encodable

from .world import Served, check_schema, connected, http_target, served, structured, world_in, write_config

Node = dict[str, Any]


@pytest.fixture(scope="module")
async def listed(server: Served) -> list[Tool]:
    async with connected(http_target(server.url), "auto") as client:
        return (await client.list_tools()).tools


def nodes(value: object, path: str = "") -> Iterator[tuple[str, Node]]:
    """Every object of a schema with its place."""
    if isinstance(value, dict):
        node = cast("Node", value)
        yield path, node
        for key, item in node.items():
            yield from nodes(item, f"{path}/{key}")
    elif isinstance(value, list):
        for index, item in enumerate(cast("list[object]", value)):
            yield from nodes(item, f"{path}/{index}")


def schema_of(tool: Tool) -> Node:
    return tool.input_schema


def arguments(listed: list[Tool]) -> Iterator[tuple[str, Node]]:
    """Every argument of every tool, nested ones too, as (place, schema)."""
    for tool in listed:
        for path, node in nodes(schema_of(tool), tool.name):
            for name, inner in cast("dict[str, Node]", node.get("properties", {})).items():
                yield f"{path}.{name}", inner


@pytest.mark.promise("P35")
async def test_a_schema_is_flat(listed: list[Tool]) -> None:
    for tool in listed:
        for schema in (schema_of(tool), cast("Node", tool.output_schema)):
            jsonschema.Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
            assert not {"anyOf", "oneOf", "allOf", "$ref", "$defs"} & set(schema)
            assert "$ref" not in json.dumps(schema)
        assert schema_of(tool)["additionalProperties"] is False


async def test_every_argument_says_what_it_is(listed: list[Tool]) -> None:
    assert [place for place, node in arguments(listed) if len(node.get("description", "")) < 10] == []


def unbounded(node: Node) -> bool:
    kinds = {"integer": ("minimum", "exclusiveMinimum"), "number": ("minimum", "exclusiveMinimum")}
    kind = node.get("type")
    if kind is None:
        return not node.get("anyOf") or any(unbounded(option) for option in node["anyOf"])
    if kind in kinds:
        return not (any(low in node for low in kinds[kind]) and {"maximum", "exclusiveMaximum"} & set(node))
    if kind == "string":
        return not ("enum" in node or "pattern" in node or "maxLength" in node)
    return kind == "array" and ("maxItems" not in node or unbounded(node.get("items", {})))


async def test_every_number_text_and_list_is_bounded(listed: list[Tool]) -> None:
    loose = [place for place, node in arguments(listed) if unbounded(node)]
    assert loose == []


@pytest.mark.promise("P35")
async def test_a_list_says_what_is_in_it_and_nothing_carries_a_title(listed: list[Tool]) -> None:
    for tool in listed:
        for place, node in nodes([tool.input_schema, tool.output_schema], tool.name):
            assert node.get("type") != "array" or "items" in node, place
            in_properties = place.endswith("/properties")
            assert in_properties or not isinstance(node.get("title"), str), place


async def test_a_default_satisfies_its_own_schema(listed: list[Tool]) -> None:
    for _, node in arguments(listed):
        if "default" in node:
            check_schema(node, node["default"])


async def test_names_and_texts_fit_every_client(listed: list[Tool]) -> None:
    for tool in listed:
        assert re.fullmatch(r"[a-z][a-z0-9_]{0,40}", tool.name)
        assert tool.title and 20 <= len((tool.description or "").encode()) <= 2_048
    shown_to_models = [(tool.name, tool.description, tool.input_schema) for tool in listed]
    assert len(json.dumps(shown_to_models)) < 10_000


async def test_annotations_tell_reading_from_changing(listed: list[Tool]) -> None:
    hints = {t.name: (a.read_only_hint, a.destructive_hint, a.idempotent_hint) for t in listed if (a := t.annotations)}
    assert hints == {
        "recall": (True, False, True),
        "ask": (True, False, True),
        "fetch": (True, False, True),
        "list_stores": (True, False, True),
        "add_store": (False, False, True),
        "remove_store": (False, False, True),
        "configure": (False, False, True),
    }


async def test_the_list_is_the_same_bytes_in_every_process(tmp_path: Path) -> None:
    with world_in(tmp_path / "a") as one, world_in(tmp_path / "b") as two:
        answers: list[str] = []
        for world in (one, two):
            with served(world.application()) as server:
                async with connected(http_target(server.url), "auto") as client:
                    answers.append((await client.list_tools()).model_dump_json())
    assert answers[0] == answers[1]


def test_the_shipped_schemas_are_those_of_the_models() -> None:
    assert tools.schemas() == tools.made_schemas()


def test_an_answer_that_json_cannot_carry_is_made_so() -> None:
    clean = {"text": "x", "score": 1.5}
    assert encodable(clean) == (clean, '{"text":"x","score":1.5}')
    assert encodable({"text": "\ud800", "score": float("nan")}) == (
        {"text": "?", "score": None},
        '{"text":"?","score":null}',
    )


@pytest.mark.promise("P46")
async def test_instructions_are_short_and_warn_of_injected_text(server: Served) -> None:
    for mode in ("auto", "legacy"):
        async with connected(http_target(server.url), mode) as client:
            said = client.instructions or ""
            assert 200 < len(said) <= 500
            assert "recall" in said and "data" in said and "instructions" in said
            assert client.server_info is not None and client.server_info.name == "callosum-mcp"


async def everything_listed(client: Client) -> int:
    with anyio.fail_after(5):
        listed = await client.list_tools()
        await client.list_resources()
        await client.list_resource_templates()
        await client.list_prompts()
        await client.call_tool("list_stores", {})
    return len(listed.tools)


@pytest.mark.promise("P6")
async def test_listing_touches_no_store_even_if_all_hang(tmp_path: Path) -> None:
    with world_in(tmp_path) as world:
        for store in world.stores:
            store.gate.clear()
        with served(world.application()) as server:
            async with connected(http_target(server.url), "auto") as client:
                assert await everything_listed(client) == 7
        assert [store.asked for store in world.stores] == [[], []]
        assert not (tmp_path / "cache").exists()


@pytest.mark.promise("P7")
async def test_a_server_starts_with_every_store_down_and_says_so_when_asked(tmp_path: Path) -> None:
    with world_in(tmp_path / "gone") as world:
        dead = [store.url for store in world.stores]
    stores = [{"name": f"dead{n}", "type": "seren_memory", "url": url} for n, url in enumerate(dead)]
    world_config = write_config(tmp_path, stores)
    with served(build(load(world_config, {}, tmp_path))) as server:
        async with connected(http_target(server.url), "auto") as client:
            assert await everything_listed(client) == 7
            result = await client.call_tool("recall", {"query": "Hermes"})
    assert result.is_error
    said = result.content[0].model_dump()["text"]
    assert all(word in said for word in ("no store answered", "dead0: refused", "dead1: refused"))
    assert "http://" not in said
    body = structured(result)
    assert [engine["reason"] for engine in body["engines"]] == ["refused", "refused"]
    assert body["answer_kind"] == "unknown"
