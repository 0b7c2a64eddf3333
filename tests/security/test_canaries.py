"""A secret in every place that can hold one, stores that say back all they are told, and a look at everything said."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client.client import Client
from surface.world import command, http_target

from callosum_mcp.app import build
from callosum_mcp.settings import load

from .parrot import HOSTILE, Parrot, parrot

HERE = Path(__file__).parent
PLACES = (
    "token token_env token_file header cookie userinfo query env argument option bearer backend backend_url rerank "
    "overlay overlay_env"
).split()
CANARIES = {place: f"canary-{place}-7f3a9c" for place in PLACES}
MARK = "7f3a9c"
QUESTIONS = ["status of Hermes", "please fail", "please die"]
MAPPING = {
    "tool": "find",
    "args": {"query": "{query}"},
    "extract": [{"items": "$.hits[*]", "fields": {"id": "id", "snippet": "text"}}],
}


def settings(there: Parrot, folder: Path) -> dict[str, Any]:
    at = f"http://{there.netloc}"
    (folder / "token").write_text(CANARIES["token_file"], encoding="utf-8")
    memory = {"type": "seren_memory", "url": at}
    child = [str(HERE / "parrot.py"), "--api-key", CANARIES["argument"]]
    return {
        "server": {"bearer_token": CANARIES["bearer"], "port": 0},
        "logging": {"level": "debug"},
        "answer": {
            "backends": [
                {"name": "one", "type": "ollama", "url": at, "model": "m", "token": CANARIES["backend"]},
                {
                    "name": "two",
                    "type": "openai",
                    "url": f"http://u:{CANARIES['backend_url']}@{there.netloc}",
                    "model": "m",
                },
            ],
            "rerank": "endpoint",
            "rerank_url": at,
            "rerank_token_env": "RERANK_T",
        },
        "stores": [
            {"name": "by-token", **memory, "token": CANARIES["token"]},
            {"name": "by-variable", **memory, "token_env": "MEMORY_T"},
            {"name": "by-file", **memory, "token_file": str(folder / "token")},
            {"name": "by-header", **memory, "headers": {"X-Api-Key": CANARIES["header"], "Cookie": CANARIES["cookie"]}},
            {"name": "by-user", "type": "seren_memory", "url": f"http://u:{CANARIES['userinfo']}@{there.netloc}"},
            {"name": "by-query", "type": "mcp", "url": f"{at}/mcp?api_key={CANARIES['query']}", "options": MAPPING},
            {"name": "by-sse", "type": "mcp", "url": f"{at}/sse?api_key={CANARIES['query']}", "options": MAPPING},
            {
                "name": "child",
                "type": "mcp",
                "options": MAPPING,
                "transport": {"command": sys.executable, "args": child, "env": {"MEMORY_TOKEN": CANARIES["env"]}},
            },
        ],
    }


def environment() -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("CALLOSUM_", "SEREN_", "COV_"))}
    tokens = {"MEMORY_T": CANARIES["token_env"], "RERANK_T": CANARIES["rerank"], "CALLOSUM_O": CANARIES["overlay_env"]}
    return {**kept, **tokens, "PYTHONUTF8": "1"}


@pytest.fixture
def there() -> Generator[Parrot]:
    with parrot() as running:
        yield running


@pytest.fixture
def config(there: Parrot, tmp_path: Path) -> Path:
    path = tmp_path / "callosum.json"
    path.write_text(json.dumps(settings(there, tmp_path)), encoding="utf-8")
    added = [
        {"name": "more", "type": "seren_memory", "url": f"http://{there.netloc}", "token": CANARIES["overlay"]},
        {"name": "most", "type": "seren_memory", "url": f"http://{there.netloc}", "token_env": "CALLOSUM_O"},
        {"name": "odd", "type": "seren_memory", "url": f"http://u:{CANARIES['userinfo']}@{there.netloc}"},
        {"name": "odder", "type": "seren_memory", "url": f"http://{there.netloc}", "token": [CANARIES["overlay"]]},
    ]
    (tmp_path / "runtime-stores.json").write_text(json.dumps(added), encoding="utf-8")
    return path


@contextmanager
def serving(config: Path, said: list[str]) -> Generator[str]:
    """The server as a process; everything it writes ends up in `said`."""
    line = [*command("serve", "--transport", "http", "--port", "0"), "--config", str(config)]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment(), text=True)
    ready = threading.Event()
    assert process.stdout is not None
    out = process.stdout

    def read() -> None:
        for row in out:
            said.append(row)
            if "http://" in row:
                ready.set()
        ready.set()

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        assert ready.wait(60)
        listening = [row for row in said if "http://" in row]
        assert listening, "".join(said)
        address = listening[0].partition("http://")[2].split(" ")[0]
        yield f"http://{address}"
    finally:
        process.terminate()
        process.wait(30)
        reader.join(30)
        out.close()


def clean_of_canaries(said: str, where: str) -> None:
    place = said.find(MARK)
    assert place < 0, f"{where}: …{said[max(0, place - 300) : place + 40]}…"


async def tools(url: str) -> list[str]:
    """What every tool, resource and prompt says."""
    said: list[str] = []
    headers = {"authorization": f"Bearer {CANARIES['bearer']}"}
    async with Client(http_target(url, headers), read_timeout_seconds=60) as client:
        calls: list[tuple[str, dict[str, Any]]] = [("list_stores", {"probe": True}), ("remove_store", {"name": "nope"})]
        for query in QUESTIONS:
            calls.append(("recall", {"query": query, "trace": True, "detail": "detailed", "budget_tokens": 20_000}))
            calls.append(("ask", {"query": query}))
        calls += [
            ("fetch", {"id": "child:a"}),
            ("fetch", {"id": "by-token:x"}),
            ("add_store", {"name": "by-token", "type": "seren_memory", "url": url}),
            ("add_store", {"name": "new", "type": "seren_memory", "url": f"{url}?token=x", "token_env": "CALLOSUM_O"}),
            ("configure", {"n_results": 5, "stores": [{"name": "child", "weight": 2}]}),
            ("remove_store", {"name": "new"}),
            ("list_stores", {}),
        ]
        for name, arguments in calls:
            said.append(f"{name}: {(await client.call_tool(name, arguments)).model_dump_json()}")
        said.append((await client.list_tools()).model_dump_json())
        said.append((await client.read_resource("callosum://stores")).model_dump_json())
        said.append((await client.read_resource("callosum://hit/child:a")).model_dump_json())
        said.append((await client.get_prompt("briefing", {"topic": "x"})).model_dump_json())
        said.append(str(client.instructions))
    return said


def routes(url: str) -> list[str]:
    """What every route says, with the token and without."""
    said: list[str] = []
    for headers in ({}, {"authorization": f"Bearer {CANARIES['bearer']}"}, {"authorization": "Bearer wrong"}):
        with httpx2.Client(base_url=url, headers=headers, timeout=60, trust_env=False) as client:
            answers = [client.get(path) for path in ("/", "/health", "/ready", "/stores?probe=1", "/metrics", "/nope")]
            answers.append(client.get("/", headers={"accept": "text/html"}))
            for query in QUESTIONS:
                answers += [client.post(path, json={"query": query}) for path in ("/search", "/recall", "/ask")]
            answers.append(client.post("/fetch", json={"id": "child:a"}))
            answers.append(client.post("/stores", json={"name": "child", "type": "x", "url": "http://127.0.0.1"}))
            answers.append(client.post("/configure", json={"n_results": 7}))
            answers.append(client.post("/recall", content=b"{"))
            answers.append(client.delete("/stores/by-token"))
            said += [f"{answer.request.url.path}: {answer.text} {dict(answer.headers)}" for answer in answers]
    return said


@pytest.mark.promise("7a", "P45")
@pytest.mark.parametrize("status", [200, 500, 401])
async def test_no_secret_leaves_the_server_by_any_tool_route_or_log(there: Parrot, config: Path, status: int) -> None:
    logged: list[str] = []
    with serving(config, logged) as url:
        there.status = status
        said = [*await tools(url), *routes(url)]
    for text in said:
        clean_of_canaries(text, "answer")
        assert HOSTILE not in text
    clean_of_canaries("".join(logged), "log")
    assert not any(question in "".join(logged) for question in QUESTIONS)
    told = "".join(there.asked)
    for place in ("token", "token_env", "token_file", "header", "cookie", "overlay", "overlay_env", "query"):
        assert CANARIES[place] in told, f"the canary in {place} was never sent, so nothing is proven"
    if status == 200:
        assert any("***" in text for text in said)
    assert CANARIES["bearer"] not in told


@pytest.mark.promise("7a")
@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize(
    "line",
    [
        ["doctor"],
        ["stores", "list"],
        ["stores", "list", "--json"],
        ["stores", "probe"],
        ["stores", "probe", "by-header"],
        ["stores", "probe", "child"],
        ["recall", "status of Hermes", "--json", "--trace", "--detail", "detailed"],
        ["recall", "please die"],
        ["ask", "please fail"],
        ["stores", "add", "new", "seren_memory", "http://u:canary-userinfo-7f3a9c@127.0.0.1"],
    ],
    ids=lambda line: "-".join(line[:3]),
)
def test_no_secret_leaves_the_command_line(there: Parrot, config: Path, line: list[str], status: int) -> None:
    there.status = status
    ran = subprocess.run(
        [*command(*line), "--config", str(config)], env=environment(), capture_output=True, timeout=120, check=False
    )
    said = (ran.stdout + ran.stderr).decode()
    assert said
    clean_of_canaries(said.replace("canary-userinfo-7f3a9c@127.0.0.1", "") if "add" in line else said, line[0])
    assert "Traceback" not in said


@pytest.mark.promise("7a")
def test_no_secret_stands_in_the_repr_of_anything(config: Path) -> None:
    loaded = load(config, environment(), config.parent)
    made = build(loaded)
    state = made.federation.state
    shown = [loaded, loaded.settings, loaded.stores, loaded.answering, loaded.source, made, state, state.stores]
    shown += [store.spec for store in state.stores.stores]
    shown += [store.connection.__dict__ for store in state.stores.stores]
    for value in shown:
        clean_of_canaries(f"{value!r} {value}", type(value).__name__)


@pytest.mark.parametrize(
    "broken",
    [
        {"stores": [{"name": "x", "type": "seren_memory", "token": ["canary-7f3a9c"]}]},
        {"stores": [{"name": "x", "type": "seren_memory", "url": ["http://canary-7f3a9c@h"]}]},
        {"stores": [{"name": "x", "type": "seren_memory", "headers": "canary-7f3a9c"}]},
        {"stores": [{"name": "x", "type": "mcp", "transport": {"env": "canary-7f3a9c", "args": "canary-7f3a9c"}}]},
        {"stores": [{"name": "x", "type": "mcp", "options": {"api_key": "canary-7f3a9c"}}]},
        {"server": {"bearer_token": ["canary-7f3a9c"]}},
        {"server": {"bearer_tokens": "canary-7f3a9c"}},
        {"answer": {"backends": [{"type": "openai", "token": ["canary-7f3a9c"]}]}},
        {"answer": {"backends": [{"type": "openai", "url": ["http://u:canary-7f3a9c@h"]}]}},
        {"answer": {"rerank": "endpoint", "rerank_url": ["http://u:canary-7f3a9c@h"]}},
    ],
    ids=lambda broken: json.dumps(broken)[:60],
)
def test_a_wrong_setting_is_told_without_the_secret_in_it(tmp_path: Path, broken: dict[str, Any]) -> None:
    config = tmp_path / "callosum.json"
    config.write_text(json.dumps(broken), encoding="utf-8")
    ran = subprocess.run(
        [*command("doctor"), "--config", str(config)], env=environment(), capture_output=True, timeout=60, check=False
    )
    assert ran.returncode == 12
    clean_of_canaries((ran.stdout + ran.stderr).decode(), "doctor")
