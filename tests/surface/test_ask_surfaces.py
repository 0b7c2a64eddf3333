"""`ask` and its alias over every transport, as a route and on two ports, in the shapes of the Darwin contract."""

from __future__ import annotations

import json
import re
from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from answer.model_server import model_server
from mcp.client.client import Client
from mcp_types import TextContent

from .world import (
    Pipe,
    Served,
    World,
    check_schema,
    connected,
    http_target,
    pipe,
    served,
    sse_target,
    structured,
    world_in,
    write_config,
)

QUESTION = "Is Hermes active?"


@pytest.fixture(scope="module")
def darwin(tmp_path_factory: pytest.TempPathFactory) -> Generator[World]:
    with world_in(tmp_path_factory.mktemp("darwin"), surface={"aliases": ["darwin_ask"]}) as found:
        yield found


@pytest.fixture(scope="module")
def front_door(darwin: World) -> Generator[Served]:
    with served(darwin.application()) as running:
        yield running


async def asked(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    [block] = result.content
    assert isinstance(block, TextContent) and not result.is_error, block
    assert json.loads(block.text) == result.structured_content
    return structured(result)


async def test_ask_answers_over_every_transport_as_its_schema_says(client: Client) -> None:
    answer = await asked(client, "ask", query=QUESTION)
    tools = {listed.name: listed for listed in (await client.list_tools()).tools}
    schema = tools["ask"].output_schema
    assert schema is not None
    check_schema(schema, answer)
    assert re.search(r"\[r1\]", answer["answer"])
    assert {hit["engine"] for hit in answer["hits"]} == {"notes", "memory", "loci"}
    assert "darwin_ask" not in tools
    searched = await asked(client, "ask", query=QUESTION, mode="search", scope=["loci"], k=1)
    check_schema(schema, searched)
    assert (searched["answer"], [hit["engine"] for hit in searched["hits"]]) == (None, ["loci"])


@pytest.mark.parametrize("way", ["http", "sse"])
async def test_the_alias_is_there_where_the_settings_name_it(front_door: Served, way: str) -> None:
    target = http_target(front_door.url) if way == "http" else sse_target(front_door.url)
    async with connected(target, "auto") as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        answer = await asked(client, "darwin_ask", query=QUESTION, mode="both", scope=["memory", "loci"])
        refused = await client.call_tool("darwin_ask", {"query": QUESTION, "k": 3})
    assert set(listed["darwin_ask"].input_schema["properties"]) == {"query", "mode", "scope"}
    assert {hit["engine"] for hit in answer["hits"]} == {"memory", "loci"}
    assert refused.is_error


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"query": "x", "mode": "talk"}, ["mode", "'chat', 'search' or 'both'"]),
        ({"query": "x", "k": 0}, ["k", "1", "0"]),
        ({"query": "x", "k": 101}, ["k", "100"]),
        ({"query": "x", "scope": ["memroy"]}, ["memroy", "'memory'"]),
        ({"query": "x", "synthesise": True}, ["synthesise", "'synthesize'"]),
        ({"query": " "}, ["query"]),
    ],
)
def test_a_wrong_question_is_422_with_the_field_and_the_bound(
    server: Served, arguments: dict[str, Any], said: list[str]
) -> None:
    with server.client() as client:
        answer = client.post("/ask", json=arguments)
    assert answer.status_code in (422, 404)
    assert [part for part in said if part not in answer.text] == []


def test_post_ask_and_health_are_the_contracts(server: Served) -> None:
    with server.client() as client:
        answer = client.post(
            "/ask", json={"query": QUESTION, "mode": "both", "scope": None, "k": 12, "synthesize": True}
        )
        health = client.get("/health").json()
    body = answer.json()
    assert answer.status_code == 200
    assert list(body)[:6] == ["answer", "receipts", "hits", "conflicts", "engines", "took_ms"]
    assert [engine["status"] for engine in body["engines"]] == ["up", "up", "up"]
    assert health["ok"] is True
    assert {key for engine in health["engines"] for key in engine} >= {"engine", "status", "last_ingest", "staleness_h"}


def test_all_stores_down_is_502_with_their_statuses(tmp_path: Path) -> None:
    with world_in(tmp_path) as world:
        config = write_config(tmp_path, [{"name": "memory", "type": "seren_memory", "url": world.memory.url}])
        world.memory.status = 500
        assert config == world.config
        with served(world.application()) as running, running.client() as client:
            answer = client.post("/ask", json={"query": QUESTION})
    assert answer.status_code == 502
    assert [(e["engine"], e["status"], e["reason"]) for e in answer.json()["engines"]] == [("memory", "down", "error")]
    assert "no store answered" in answer.json()["detail"]


async def test_all_stores_down_is_a_tool_error_with_their_statuses(tmp_path: Path) -> None:
    with world_in(tmp_path) as world:
        write_config(tmp_path, [{"name": "memory", "type": "seren_memory", "url": world.memory.url}])
        world.memory.status = 500
        with served(world.application()) as running:
            async with connected(http_target(running.url), "auto") as client:
                result = await client.call_tool("ask", {"query": QUESTION})
    assert result.is_error and structured(result)["engines"][0]["status"] == "down"


def test_one_process_listens_on_the_ports_of_the_settings(tmp_path: Path) -> None:
    with world_in(tmp_path, server={"ports": [0, 0]}) as world:
        with pipe("serve", "--transport", "http", "--config", str(world.config)) as opened:
            urls = _announced(opened)
            answers = [httpx2.post(f"{url}/ask", json={"query": QUESTION}, trust_env=False).json() for url in urls]
    assert len(set(urls)) == 2
    assert all(answer["hits"] for answer in answers)
    assert {len(answer["hits"]) for answer in answers} == {len(answers[0]["hits"])}


def _announced(opened: Pipe) -> list[str]:
    """The URLs that the server says it listens on, both waited for."""
    opened.complaint(lambda line: sum(b"http://" in raw for raw in opened.complaints) == 2 and "http://" in line)
    return re.findall(r"http://[\d.:]+", b"".join(opened.complaints).decode())


async def test_progress_counts_the_stores_of_the_scope(front_door: Served) -> None:
    told: list[tuple[float, float | None]] = []

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total))

    async with connected(http_target(front_door.url), "auto") as client:
        await client.call_tool("ask", {"query": QUESTION, "scope": ["memory", "loci"]}, progress_callback=tell)
    assert told == [(1, 2), (2, 2)]


def test_a_model_named_in_the_settings_writes_the_answer(tmp_path: Path) -> None:
    with model_server() as model:
        model.says = lambda prompt: "Hermes is active since 28 November [r1]. It pays 99 coins [r1]."
        backends = [{"type": "ollama", "url": model.url, "size": "any"}]
        with world_in(tmp_path, answer={"backends": backends}) as world:
            with served(world.application()) as running, running.client() as client:
                body = client.post("/ask", json={"query": QUESTION, "scope": ["loci"]}).json()
    assert body["answer"] == "Hermes is active since 28 November [r1]."
    assert (body["synthesis"]["backend"], body["synthesis"]["status"], body["dropped_claims"]) == ("ollama", "ok", 1)
    assert model.paths == ["/api/tags", "/api/chat"]
