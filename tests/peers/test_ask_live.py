"""The bug that started it, end to end: a real SerenMemory says active, a real SerenLoci of live state says stopped."""

import json
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from anyio import to_thread
from mcp.client import Client

from .conftest import CallosumFactory, SerenFactory
from .lab import Seren
from .ours import Callosum, Transport

QUESTION = "is Hermes running?"
DAY_S = 86_400.0
LIVE = {"tier": "live-infra"}
ALIAS = {"CALLOSUM_ALIASES": "darwin_ask"}


@pytest.fixture
def hermes(make_seren: SerenFactory) -> Seren:
    """The old memory on one side, the live state on the other, and nothing else."""
    pair = make_seren(empty=True)
    old = {"id": "o01", "topic": "hermes,status", "content": "Hermes active", "ts": time.time() - 40.02 * DAY_S}
    state = {"project": "hermes", "key": "status", "value": "stopped", "why": "the probe saw it exit"}
    with pair.memory.client() as client:
        pair.memory.checked(client.post("/short", json=old))
    with pair.loci.client() as client:
        pair.loci.checked(client.post("/fact", json=state))
    return pair


@asynccontextmanager
async def connected(callosum: Callosum, transport: Transport) -> AsyncGenerator[Client]:
    if transport != "stdio":
        await to_thread.run_sync(callosum.http.start)
    async with callosum.client(transport) as client:
        yield client


async def called(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    [block] = result.content
    assert block.type == "text" and not result.is_error, block
    assert json.loads(block.text) == result.structured_content
    return dict(result.structured_content or {})


def check_truth(answer: Mapping[str, Any]) -> None:
    """It is stopped, live state says so, and the memory that said otherwise is named with its age."""
    first = str(answer["answer"]).partition(". ")[0]
    assert "stopped" in first.partition("[r1]")[0] and "active" not in first.partition("[r1]")[0]
    assert "an older agent memory of 40 days ago said: Hermes active [r2]" in first
    receipts = {receipt["id"]: receipt for receipt in answer["receipts"]}
    assert (receipts["r1"]["source"], receipts["r1"]["tier"]) == ("loci", "live-infra")
    assert (receipts["r2"]["source"], receipts["r2"]["age_days"]) == ("memory", 40)
    [conflict] = answer["conflicts"]
    assert (conflict["winner"], conflict["losers"]) == ("live-infra", ["agent-memory"])
    assert "40 d" in conflict["reason"]
    assert [hit["engine"] for hit in answer["hits"]] == ["loci", "memory"]


@pytest.mark.parametrize("transport", ["stdio", "sse", "http"])
async def test_the_live_state_answers_and_the_old_memory_is_the_loser(
    hermes: Seren, make_callosum: CallosumFactory, transport: Transport
) -> None:
    callosum = make_callosum(hermes, loci=LIVE, notes=False, environ=ALIAS)
    async with connected(callosum, transport) as client:
        check_truth(await called(client, "ask", query=QUESTION))
        check_truth(await called(client, "darwin_ask", query=QUESTION, mode="both"))
        recalled = await called(client, "recall", query=QUESTION)
    assert [hit["store"] for hit in recalled["hits"]] == ["loci", "memory"]
    assert recalled["hits"][1]["age_days"] == 40
    [conflict] = recalled["conflicts"]
    assert (conflict["winner"], conflict["losers"]) == ("loci:hermes/status", ["memory:o01"])


async def test_post_ask_and_the_command_line_say_the_same(hermes: Seren, make_callosum: CallosumFactory) -> None:
    callosum = make_callosum(hermes, loci=LIVE, notes=False)
    await to_thread.run_sync(callosum.http.start)
    async with httpx2.AsyncClient(base_url=callosum.http.url, trust_env=False, timeout=20) as client:
        check_truth((await client.post("/ask", json={"query": QUESTION})).json())
        health = (await client.get("/health")).json()
    assert [(engine["engine"], engine["status"]) for engine in health["engines"]] == [("memory", "up"), ("loci", "up")]
    done = await to_thread.run_sync(lambda: callosum.run("ask", QUESTION, "--json"))
    assert done.returncode == 0, done.stderr
    check_truth(json.loads(done.stdout))


async def test_in_the_whole_corpus_a_memory_never_leads_over_the_live_fact_it_contradicts(
    seren: Seren, make_callosum: CallosumFactory
) -> None:
    callosum = make_callosum(seren, loci=LIVE)
    async with callosum.client("stdio") as client:
        answer = await called(client, "ask", query="Is Hermes active?")
    assert "stopped" in str(answer["answer"]).partition("[r1]")[0]
    winners = {conflict["winner"] for conflict in answer["conflicts"]}
    assert winners == {"live-infra"}
    order = [hit["id"] for hit in answer["hits"]]
    assert order.index("loci:hermes/status") < order.index("memory:s01")


async def test_a_dead_store_is_said_in_the_answer(make_callosum: CallosumFactory, hermes: Seren) -> None:
    callosum = make_callosum(hermes, loci=LIVE, notes=False)
    hermes.memory.stop()
    async with callosum.client("stdio") as client:
        answer = await called(client, "ask", query=QUESTION)
    assert "memory did not answer (refused), so something may be missing [engines]." in answer["answer"]
    assert answer["partial"] and answer["conflicts"] == []
