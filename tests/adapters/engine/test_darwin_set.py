"""The five engines of the Darwin Cortex behind one `ask`: all up, and with three of them failing in three ways."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.replay_engine import ReplayEngine, ReplayHttp, Result, captured, served, text_result
from surface.world import connected, http_target, sse_target
from surface.world import served as serving

from callosum_mcp.app import build
from callosum_mcp.settings import load

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "darwin.yaml"
QUESTION = "Is Hermes stopped, and who calls validate_token?"
TIMEOUT_S = 1.5

CHUNK = {
    "id": "ops/hermes.md#3",
    "title": "Hermes",
    "path": "ops/hermes.md",
    "content": "Hermes is stopped since 2026-10-20.",
    "score": 0.81,
    "mtime": "2026-11-20T08:00:00Z",
}
ENTITY = {
    "name": "Hermes",
    "type": "service",
    "description": "Hermes was retired by Zion.",
    "updated_at": "2026-10-21T08:00:00Z",
}


def _tool(name: str, *arguments: str) -> dict[str, Any]:
    properties: dict[str, Any] = {argument: {} for argument in arguments}
    return {"name": name, "inputSchema": {"type": "object", "properties": properties, "required": [arguments[0]]}}


def _recorded(product: str, **results: Result | str) -> ReplayEngine:
    return ReplayEngine.recorded(product, results)


@dataclass(frozen=True)
class Darwin:
    """The engines by name, and where each listens."""

    engines: Mapping[str, ReplayEngine | ReplayHttp]
    urls: Mapping[str, str]


def _engines() -> dict[str, ReplayEngine | ReplayHttp]:
    return {
        "rag": ReplayEngine(
            tools=[_tool("homelab_search", "query", "limit"), _tool("homelab_ingest", "text")],
            results={"homelab_search": text_result({"results": [CHUNK]})},
        ),
        "cbm": _recorded("codebase-memory-mcp", search_graph="search", list_projects="projects"),
        "serena": _recorded("serena-sse", find_symbol="find_symbol"),
        "memgraph": ReplayEngine(
            tools=[_tool("query_entities", "name", "limit"), _tool("query_relations", "name")],
            results={"query_entities": text_result({"entities": [ENTITY]})},
        ),
        "inbox": ReplayHttp(body=captured("memos/documented_list")["body"]),
    }


@pytest.fixture
def darwin() -> Generator[Darwin]:
    engines = _engines()
    with ExitStack() as stack:
        bases = {name: stack.enter_context(served(engine)) for name, engine in engines.items()}
        yield Darwin(engines, {name: base if name == "inbox" else f"{base}/sse" for name, base in bases.items()})


@contextmanager
def callosum(darwin: Darwin, folder: Path, **instead: str) -> Generator[str]:
    """Our server over the example's stores, at the places where the fakes listen."""
    settings = yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))
    assert [store["name"] for store in settings["stores"]] == list(darwin.urls)
    for store in settings["stores"]:
        store["url"] = instead.get(store["name"], darwin.urls[store["name"]])
    settings["federation"] = {"per_store_timeout_s": TIMEOUT_S, "deadline_s": 10}
    file = folder / "callosum.yaml"
    file.write_text(yaml.safe_dump(settings), encoding="utf-8")
    loaded = load(file, {"MEMOS_TOKEN": "memos_pat_for_tests"}, folder)
    with serving(build(loaded, keep_overlay=False)) as running:
        yield running.url


async def _asked(url: str, way: str, tool: str, **arguments: Any) -> dict[str, Any]:
    target = sse_target(url) if way == "sse" else http_target(url)
    async with connected(target, "auto") as client:
        result = await client.call_tool(tool, {"query": QUESTION, **arguments})
    assert not result.is_error and result.structured_content is not None
    assert json.loads(getattr(result.content[0], "text", "")) == result.structured_content
    return dict(result.structured_content)


def _statuses(answer: Mapping[str, Any]) -> dict[str, tuple[str, str | None]]:
    return {engine["engine"]: (engine["status"], engine.get("reason")) for engine in answer["engines"]}


def _check_receipts(answer: Mapping[str, Any]) -> None:
    """Every claim of the answer names receipts that are there."""
    cited = re.findall(r"\[(r\d+)\]", answer["answer"])
    assert cited and set(cited) <= {receipt["id"] for receipt in answer["receipts"]}
    for receipt in answer["receipts"]:
        assert receipt["source"] and receipt["snippet"]


@pytest.mark.parametrize("way", ["sse", "http"])
async def test_all_five_are_asked_and_answer(darwin: Darwin, tmp_path: Path, way: str) -> None:
    with callosum(darwin, tmp_path) as url:
        await _asked(url, way, "ask")  # connects; the first question may find an engine still connecting
        answer = await _asked(url, way, "darwin_ask", mode="both")

    assert _statuses(answer) == dict.fromkeys(["rag", "cbm", "serena", "memgraph", "inbox"], ("up", None))
    assert {hit["engine"] for hit in answer["hits"]} == {"rag", "cbm", "serena", "memgraph", "inbox"}
    _check_receipts(answer)
    chunk = next(hit for hit in answer["hits"] if hit["engine"] == "rag")
    assert (chunk["path"], chunk["last_seen"]) == ("ops/hermes.md", "2026-11-20T08:00:00Z")


async def test_each_is_asked_in_its_own_words_and_only_to_read(darwin: Darwin, tmp_path: Path) -> None:
    with callosum(darwin, tmp_path) as url:
        await _asked(url, "http", "ask", k=5)
        await _asked(url, "http", "ask", k=5)

    asked = {name: engine.calls for name, engine in darwin.engines.items() if isinstance(engine, ReplayEngine)}
    inbox = darwin.engines["inbox"]
    assert isinstance(inbox, ReplayHttp)
    assert {name: {tool for tool, _ in calls} for name, calls in asked.items()} == {
        "rag": {"homelab_search"},
        "cbm": {"list_projects", "search_graph"},
        "serena": {"find_symbol"},
        "memgraph": {"query_entities"},
    }
    assert asked["rag"][-1][1]["query"] == QUESTION
    assert asked["cbm"][-1][1]["project"] == "proj"
    assert asked["serena"][-1][1]["name_path_pattern"] == "validate_token"
    assert asked["memgraph"][-1][1]["name"] == QUESTION
    assert {(request.method, request.path) for request in inbox.requests} == {("GET", "/api/v1/memos")}
    assert 'content.contains("Hermes")' in inbox.requests[-1].params["filter"]
    assert inbox.requests[-1].headers["authorization"] == "Bearer memos_pat_for_tests"


FAULTS = [
    ("cbm", "serena", "memgraph"),
    ("rag", "inbox", "cbm"),
    ("inbox", "rag", "serena"),
    ("memgraph", "cbm", "rag"),
]


@pytest.mark.parametrize(("down", "hanging", "erring"), FAULTS)
async def test_one_down_one_hanging_and_one_failing_leave_an_answer_of_the_others(
    darwin: Darwin, tmp_path: Path, down: str, hanging: str, erring: str
) -> None:
    failing = darwin.engines[erring]
    assert isinstance(failing, ReplayEngine)
    failing.results = dict.fromkeys(failing.results, text_result({"error": "the index is being rebuilt"}))
    darwin.engines[hanging].gate.clear()
    with socket.create_server(("127.0.0.1", 0)) as closed:
        nobody = f"http://127.0.0.1:{closed.getsockname()[1]}/sse"

    with callosum(darwin, tmp_path, **{down: nobody}) as url:
        await _asked(url, "sse", "ask")
        answer = await _asked(url, "sse", "ask")

    others = {"rag", "cbm", "serena", "memgraph", "inbox"} - {down, hanging, erring}
    assert _statuses(answer) == {
        down: ("down", "refused"),
        hanging: ("down", "timeout"),
        erring: ("down", "error"),
        **dict.fromkeys(others, ("up", None)),
    }
    assert {hit["engine"] for hit in answer["hits"]} == others
    details = {engine["engine"]: engine.get("detail", "") for engine in answer["engines"]}
    assert "the index is being rebuilt" in details[erring]
    _check_receipts(answer)
    assert answer["took_ms"] < 5_000


async def test_an_engine_that_comes_back_is_up_again(darwin: Darwin, tmp_path: Path) -> None:
    rag = darwin.engines["rag"]
    with callosum(darwin, tmp_path) as url:
        await _asked(url, "http", "ask")
        rag.gate.clear()
        hung = await _asked(url, "http", "ask")
        rag.gate.set()
        back = await _asked(url, "http", "ask")

    assert _statuses(hung)["rag"] == ("down", "timeout")
    assert _statuses(back)["rag"] == ("up", None)
