"""A settings file of seren-corpus-callosum 5.3 is accepted unchanged, every key of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from callosum_mcp.models.knobs import Knobs

from .desk import Desk

PEER_FILE = Path(__file__).with_name("seren-corpus-callosum.yaml")
TOKENS = {"SCC_TEST_SERVER_TOKEN": "server-token", "SCC_TEST_MEMORY_TOKEN": "memory-token"}


@pytest.mark.parametrize("way", ["named", "peer's variable", "found"])
def test_a_full_file_of_the_peer_means_the_same_here(desk: Desk, way: str) -> None:
    if way == "found":
        desk.write(PEER_FILE.read_text(encoding="utf-8"), "seren-corpus-callosum.yaml")
    environ = TOKENS | ({"SEREN_SCC_CONFIG": str(PEER_FILE)} if way == "peer's variable" else {})
    loaded = desk.load(PEER_FILE if way == "named" else None, environ)
    assert loaded.knobs == Knobs(
        k=60,
        n_results=12,
        fetch_multiplier=2,
        per_store_timeout_s=5.0,
        fusion_mode="rrf",
        authority_margin=0.035,
        min_per_store=1,
        edges_enabled=True,
        edge_budget=3,
        satellite_budget=0,
    )
    assert [token.get_secret_value() for token in loaded.bearers] == ["server-token"]
    assert [
        (
            store.name,
            store.type,
            store.url,
            store.weight,
            store.floor,
            store.enabled,
            store.managed,
            store.token.get_secret_value() if store.token else None,
        )
        for store in loaded.stores
    ] == [
        ("memory", "seren_memory", "http://127.0.0.1:7420", 1.25, 0.1, True, False, "memory-token"),
        ("loci", "seren_loci", "http://127.0.0.1:7422", 1.0, 0.0, True, False, "plain-loci-token"),
        ("archive", "seren_memory", "http://127.0.0.1:7430", 1.0, 0.0, False, False, "plain-archive-token"),
    ]


def test_the_peers_options_count_beside_options_as_well_as_in_them(desk: Desk) -> None:
    memory, loci, archive = desk.load(PEER_FILE, TOKENS).stores
    assert dict(memory.options) == {
        "search_path": "/search",
        "topic_search_path": "/by_topic",
        "include_short": True,
        "include_near": False,
        "include_long": True,
        "include_superseded": False,
        "with_surroundings": True,
    }
    assert loci.options["project"] == "atlas"
    assert archive.options["with_surroundings"] is False


def test_an_option_in_options_wins_over_the_one_beside(desk: Desk) -> None:
    desk.write(
        "stores:\n- {name: a, type: seren_loci, url: 'http://h', project: beside, search_path: /s, "
        "options: {project: inside}}\n"
    )
    assert dict(desk.load().stores[0].options) == {"project": "inside", "search_path": "/s"}


def test_every_store_of_the_peers_file_can_be_made(desk: Desk) -> None:
    desk.environ.update(TOKENS)
    desk.write(PEER_FILE.read_text(encoding="utf-8"))
    assert desk.build().federation.state.stores.names() == ["memory", "loci", "archive"]
