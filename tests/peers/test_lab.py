"""The lab keeps its promises: real servers, filled as labelled, that can be hung, stopped and revived."""

import os
import subprocess
import sys
import time
from pathlib import Path

import anyio
import httpx2
import pytest

from . import corpus, install
from .conftest import PeerFactory, SerenFactory
from .hashembed import embed
from .lab import Lab, Seren
from .seed import Seeded
from .server import LabError, Port, Server

TRAP = "Is Hermes active?"


def seeded(seren: Seren) -> Seeded:
    assert seren.seeded is not None
    return seren.seeded


def test_the_three_servers_are_the_pinned_releases(seren: Seren, peer: PeerFactory) -> None:
    versions = {
        "seren-memory": seren.memory.get("/")["version"],
        "seren-loci": seren.loci.get("/health")["version"],
        "seren-corpus-callosum": peer().get("/")["version"],
    }
    assert versions == install.PEER_PINS


def test_every_server_speaks_mcp(seren: Seren, peer: PeerFactory) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "lab", "version": "0"}}
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    accept = {"Accept": "application/json, text/event-stream"}
    for server in (seren.memory, seren.loci, peer()):
        with server.client() as client:
            assert '"serverInfo"' in client.post(server.mcp_url, json=request, headers=accept).text


def test_both_stores_hold_at_least_sixty_rows_in_every_tier(seren: Seren) -> None:
    landed = seeded(seren)
    assert landed.facts == seren.loci.get("/counts")["live"]
    assert landed.facts >= 60
    assert landed.memories >= 60
    assert [tier for tier in ("short", "near", "long", "drafts") if not landed.tiers[tier]] == []


def test_a_memory_is_as_old_as_the_corpus_says(seren: Seren) -> None:
    for short, days in (("s01", 0.2), ("o01", 40.0)):
        written = seren.memory.get(f"/memory/{short}")["metadata"]["ts"]
        assert written == pytest.approx(seeded(seren).at - days * 86_400, abs=1.0)
    assert seeded(seren).at == pytest.approx(time.time(), abs=3600)


def test_a_short_question_finds_nothing_in_loci_while_memory_answers(seren: Seren) -> None:
    """The trap that started it all: Loci wants every word of a short query, so the contradicting fact never arrives."""
    assert seren.loci.post("/search", {"query": TRAP})["hits"] == []
    assert seren.memory.post("/search", {"query": TRAP})["hits"][0]["id"] in {"s01", "o01"}


@pytest.mark.parametrize("label", [*corpus.load().conflicts, *corpus.load().agreements], ids=lambda label: label.topic)
def test_a_label_is_true_of_the_servers(seren: Seren, label: corpus.Label) -> None:
    fact = seren.loci.get("/fact", project=label.project, key=label.key)
    assert label.fact in f"{fact['value']} {fact['why']}"
    hits = seren.memory.post("/search", {"query": label.query, "n_results": 10})["hits"]
    said = [hit["content"] for hit in hits if hit["id"] == seeded(seren).memory_id(label.memory)]
    assert [text for text in said if label.said in text] == said != []


def test_the_peer_answers_from_both_stores(peer: PeerFactory) -> None:
    answer = peer().post("/search", {"query": "Hermes status"})
    assert {hit["store"] for hit in answer["hits"]} == {"memory", "loci"}
    assert answer["failed"] == []


def test_the_options_of_a_peer_reach_it_and_name_it(peer: PeerFactory) -> None:
    tuned = peer(federation={"k": 7}, memory={"weight": 2.0})
    assert tuned is peer(federation={"k": 7}, memory={"weight": 2.0})
    assert tuned is not peer()
    settings = tuned.get("/stores")
    assert settings["k"] == 7
    assert [store["weight"] for store in settings["stores"]] == [2.0, 1.0]


def test_the_other_clients_are_the_pinned_releases(mcp1_python: Path, claude: Path, tmp_path: Path) -> None:
    ask_mcp = "from importlib.metadata import version; print(version('mcp'))"
    said = subprocess.check_output([mcp1_python, "-c", ask_mcp], text=True)
    assert said.strip() == install.MCP1_PINS["mcp"]
    environ = {"HOME": str(tmp_path), "PATH": install.npm_path()}
    said = subprocess.check_output([claude, "--version"], env=environ, text=True)
    assert said.split()[0] == install.NPM_PINS["@anthropic-ai/claude-code"]


async def test_a_paused_server_hangs_and_a_resumed_one_answers_the_same_request(private_seren: Seren) -> None:
    server = private_seren.loci
    answered = anyio.Event()

    async def ask(client: httpx2.AsyncClient) -> None:
        response = await client.get("/counts")
        assert response.json()["live"] == seeded(private_seren).facts
        answered.set()

    async with (
        httpx2.AsyncClient(base_url=server.url, trust_env=False, timeout=30.0) as client,
        anyio.create_task_group() as tasks,
    ):
        with server.paused():
            tasks.start_soon(ask, client)
            with anyio.move_on_after(0.3) as patience:
                await answered.wait()
            assert patience.cancelled_caught
        with anyio.fail_after(10):
            await answered.wait()


def test_a_stopped_server_refuses_connections_and_comes_back_with_its_data(private_seren: Seren) -> None:
    for server, path in ((private_seren.memory, "/memory/s01"), (private_seren.loci, "/counts")):
        before, url = server.get(path), server.url
        server.stop()
        with pytest.raises(httpx2.ConnectError):
            server.get("/health")
        server.restart()
        assert (server.get(path), server.url) == (before, url)


def test_a_private_pair_is_a_copy_that_shares_nothing(seren: Seren, private_seren: Seren) -> None:
    private_seren.loci.post("/fact", {"project": "hermes", "key": "status", "value": "running", "why": "a test"})
    private_seren.memory.post("/short", {"id": "x01", "content": "only here"})
    assert seren.loci.get("/fact", project="hermes", key="status")["value"] == "stopped"
    with pytest.raises(LabError, match="404"):
        seren.memory.get("/memory/x01")


def test_a_server_with_a_token_turns_others_away(make_seren: SerenFactory) -> None:
    pair = make_seren(memory_token="for-memory", loci_token="for-loci", empty=True)
    for server in (pair.memory, pair.loci):
        assert server.post("/search", {"query": TRAP})["hits"] == []
        stranger = httpx2.post(f"{server.url}/search", json={"query": TRAP}, trust_env=False)
        assert stranger.status_code == 401


def test_a_closed_lab_leaves_no_process(peers: None, tmp_path: Path) -> None:
    with Lab(tmp_path / "lab") as lab:
        pair = lab.seren(empty=True)
        pids = [pair.memory.pid, pair.loci.pid]
        pair.memory.pause()
    for pid in pids:
        assert pid is not None
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@pytest.mark.skipif(sys.platform == "win32", reason="process groups and signals of POSIX")
def test_a_server_that_does_not_start_shows_its_last_words(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", "raise SystemExit('the disk is on fire')"]
    server = Server(name="unlucky", argv=argv, folder=tmp_path, home=tmp_path, port=Port())
    try:
        with pytest.raises(LabError, match=r"(?s)unlucky ended with exit code 1.*the disk is on fire"):
            server.start()
    finally:
        server.close()


def test_the_same_text_has_the_same_vector_of_length_one() -> None:
    assert embed("Hermes stopped") == embed("hermes stopped")
    assert embed("Hermes stopped") != embed("stopped Hermes")
    for text in ("Hermes stopped", "ブリッジ", "the of", ""):
        assert sum(x * x for x in embed(text)) == pytest.approx(1.0)


def test_a_missing_or_older_release_is_reported_missing(tmp_path: Path) -> None:
    pins = {"seren-loci": "5.5.0"}
    assert install.missing_dists(tmp_path, pins) == ["seren-loci==5.5.0"]
    python = install.python_of(tmp_path)
    python.parent.mkdir()
    python.touch()
    site = tmp_path / "lib" / "python3.11" / "site-packages"
    (site / "seren_loci-5.4.0.dist-info").mkdir(parents=True)
    assert install.missing_dists(tmp_path, pins) == ["seren-loci==5.5.0"]
    (site / "seren_loci-5.5.0.dist-info").mkdir()
    assert install.missing_dists(tmp_path, pins) == []
