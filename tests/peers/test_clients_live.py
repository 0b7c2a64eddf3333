"""Clients as they are installed: two generations of the SDK, Claude Code, the MCP Inspector, the conformance suite."""

import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from . import install
from .conftest import CallosumFactory
from .lab import Seren
from .ours import TRANSPORTS, Callosum, Transport, command

QUERY = "Hermes status"
STORES = {"memory", "loci", "notes"}
TOOLS = ["recall", "ask", "fetch", "list_stores", "add_store", "remove_store", "configure"]

GENERIC_CHECKS: Mapping[str, Mapping[str, tuple[int, int]]] = {
    "2025-11-25": {
        "server-initialize": (3, 0),
        "server-session-lifecycle": (3, 0),
        "ping": (2, 0),
        "tools-list": (3, 0),
        "resources-list": (2, 0),
        "prompts-list": (2, 0),
        "server-sse-multiple-streams": (2, 0),
        "dns-rebinding-protection": (2, 0),
    },
    "2026-07-28": {
        "server-stateless": (23, 2),  # the two call a tool of the suite's own example server
        "tools-list": (4, 0),
        "resources-list": (2, 0),
        "prompts-list": (2, 0),
        "server-sse-multiple-streams": (1, 0),
        "dns-rebinding-protection": (2, 0),
        "caching": (8, 0),
        "http-header-validation": (14, 0),
        "sep-2164-resource-not-found": (4, 0),
    },
}
"""Checks passed and failed in the scenarios that any server can serve; the others need the tools of that example."""


@pytest.fixture(params=TRANSPORTS)
def transport(request: pytest.FixtureRequest) -> Transport:
    chosen: Transport = request.param
    return chosen


def ran(argv: Sequence[str | Path], home: Path, *, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A finished command of a real client, under a private home."""
    environ = {"HOME": str(home), "PATH": install.npm_path(), "DISABLE_AUTOUPDATER": "1", "NO_COLOR": "1"}
    return subprocess.run(argv, env=environ, cwd=cwd or home, capture_output=True, text=True, timeout=120)


def target(callosum: Callosum, transport: Transport) -> list[str]:
    """Where a client finds the server: a command line, or a URL."""
    return callosum.argv if transport == "stdio" else [callosum.url(transport)]


def test_a_client_of_mcp_1_is_served(callosum: Callosum, mcp1_python: Path, transport: Transport) -> None:
    script = Path(__file__).with_name("mcp1_client.py")
    done = ran([mcp1_python, script, transport, QUERY, *target(callosum, transport)], callosum.home)
    assert done.returncode == 0, done.stderr
    got: dict[str, Any] = json.loads(done.stdout)
    assert (got["client"], got["protocol"]) == (install.MCP1_PINS["mcp"], "2025-11-25")
    assert (got["server"], got["tools"]) == ("callosum-mcp", TOOLS)
    assert (got["resources"], got["prompts"]) == (["callosum://stores"], ["briefing"])
    assert len(got["instructions"]) <= 500
    assert got["is_error"] is False
    assert [json.loads(text) for text in got["text"]] == [got["structured"]]
    assert {hit["store"] for hit in got["structured"]["hits"]} == STORES
    assert got["progress"] == [[1, 3], [2, 3], [3, 3]]
    assert got["refusal"][0] is True
    assert "n_results" in got["refusal"][1] and "100" in got["refusal"][1]


async def test_a_client_of_mcp_2_is_served(callosum: Callosum, transport: Transport) -> None:
    told: list[tuple[float, float | None]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total))

    async with callosum.client(transport) as client:
        assert client.protocol_version == "2026-07-28"
        assert client.server_info is not None
        assert client.server_info.name == "callosum-mcp"
        tools = (await client.list_tools()).tools
        resources = (await client.list_resources()).resources
        prompts = (await client.list_prompts()).prompts
        result = await client.call_tool("recall", {"query": QUERY}, progress_callback=on_progress)
        refused = await client.call_tool("recall", {"query": QUERY, "n_results": 101})
    assert [tool.name for tool in tools] == TOOLS
    assert [str(resource.uri) for resource in resources] == ["callosum://stores"]
    assert [prompt.name for prompt in prompts] == ["briefing"]
    assert not result.is_error
    answer: dict[str, Any] = dict(result.structured_content or {})
    assert {hit["store"] for hit in answer["hits"]} == STORES
    assert told == [(1.0, 3.0), (2.0, 3.0), (3.0, 3.0)]
    assert refused.is_error


def test_claude_code_shows_the_server_connected(callosum: Callosum, claude: Path, tmp_path: Path) -> None:
    """Added as the README says, with the settings file found through the current folder."""
    (tmp_path / "callosum.yaml").write_text(callosum.config.read_text(encoding="utf-8"), encoding="utf-8")
    added = ran([claude, "mcp", "add", "callosum", "--", command()], tmp_path)
    assert added.returncode == 0, added.stderr
    for transport in ("sse", "http"):
        url = callosum.url(transport)
        more = ran([claude, "mcp", "add", "--transport", transport, f"callosum-{transport}", url], tmp_path)
        assert more.returncode == 0, more.stderr
    listed = ran([claude, "mcp", "list"], tmp_path)
    lines = [line for line in listed.stdout.splitlines() if line.startswith("callosum")]
    assert len(lines) == 3, listed.stdout + listed.stderr
    assert [line for line in lines if not line.endswith("Connected")] == []


def inspected(inspector: Path, callosum: Callosum, transport: Transport, *arguments: str) -> Any:
    """What the Inspector's command line prints for one method."""
    place = [command()] if transport == "stdio" else [callosum.url(transport)]  # our --config it would take for its own
    environ = ["-e", f"CALLOSUM_CONFIG={callosum.config}"] if transport == "stdio" else []
    done = ran([inspector, "--cli", *place, *environ, *arguments], callosum.home)
    assert done.returncode == 0, f"{arguments}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return json.loads(done.stdout)


def test_the_inspector_lists_and_calls_every_tool(
    seren: Seren, make_callosum: CallosumFactory, inspector: Path, transport: Transport
) -> None:
    callosum = make_callosum(seren)
    if transport != "stdio":
        callosum.http.start()

    def call(tool: str, *pairs: str) -> Any:
        arguments = [part for pair in pairs for part in ("--tool-arg", pair)]
        method = ("--method", "tools/call", "--tool-name", tool)
        return inspected(inspector, callosum, transport, *method, *arguments)["structuredContent"]

    def listed() -> list[str]:
        tools = inspected(inspector, callosum, transport, "--method", "tools/list", "--strict")["tools"]
        return [tool["name"] for tool in tools]

    with ThreadPoolExecutor(3) as pool:  # each is a process of its own that mostly starts
        names, found, fact, knobs = (
            pool.submit(listed),
            pool.submit(call, "recall", f"query={QUERY}", "n_results=6"),
            pool.submit(call, "fetch", "id=loci:hermes/status"),
            pool.submit(call, "configure", "k=30"),
        )
    assert names.result() == TOOLS
    assert {hit["store"] for hit in found.result()["hits"]} == STORES
    assert fact.result()["title"] == "hermes status"
    assert knobs.result()["changed"] == [{"setting": "k", "old": 60, "new": 30}]
    added = call("add_store", "name=again", "type=seren_loci", f"url={seren.loci.url}")["added"]
    assert (added["managed"], added["health"]["status"]) == (True, "up")
    stores = call("list_stores", "probe=true")["stores"]
    assert {store["name"]: store["health"]["status"] for store in stores} == dict.fromkeys([*STORES, "again"], "up")
    assert call("remove_store", "name=again")["removed"] == "again"


@pytest.mark.parametrize("revision", GENERIC_CHECKS)
def test_the_generic_scenarios_of_the_conformance_suite_pass(
    callosum: Callosum, conformance: Path, tmp_path: Path, revision: str
) -> None:
    argv = [conformance, "server", "--url", callosum.url("http"), "--requirements", revision]
    done = ran(argv, tmp_path)  # its exit code counts the scenarios that are not for us, too
    summary = done.stdout.partition("=== SUMMARY ===")[2]
    lines: list[tuple[str, str, str]] = re.findall(
        r"^. ([a-z0-9-]+): (\d+) passed, (\d+) failed", summary, re.MULTILINE
    )
    checks = {scenario: (int(passed), int(failed)) for scenario, passed, failed in lines}
    generic = GENERIC_CHECKS[revision]
    assert {scenario: checks.get(scenario) for scenario in generic} == generic, done.stdout[-20_000:]
