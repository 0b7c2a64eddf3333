"""One process, one state: what one surface changes, every other sees at once."""

from __future__ import annotations

from typing import Any

import pytest

from callosum_mcp.models.knobs import Knobs

from .world import Served, World, connected, http_target, sse_target, structured

TARGETS = {"http": http_target, "sse": sse_target}


async def told(server: Served, transport: str, mode: str, tool: str, **arguments: Any) -> dict[str, Any]:
    async with connected(TARGETS[transport](server.url), mode) as client:
        result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return structured(result)


@pytest.mark.parametrize(
    ("transport", "mode"), [("http", "auto"), ("http", "legacy"), ("sse", "auto"), ("sse", "legacy")]
)
async def test_a_store_added_over_mcp_is_searched_over_rest_at_once(
    server: Served, world: World, transport: str, mode: str
) -> None:
    with server.client() as http:
        await told(server, transport, mode, "add_store", name="fresh", type="seren_memory", url=world.memory.url)
        found = http.post("/search", json={"query": "Hermes", "stores": ["fresh"]}).json()
        assert {hit["store"] for hit in found["hits"]} == {"fresh"}
        await told(server, transport, mode, "remove_store", name="fresh")
        assert http.post("/search", json={"query": "Hermes", "stores": ["fresh"]}).status_code == 404
        assert "fresh" not in http.post("/search", json={"query": "Hermes"}).json()["stores_searched"]


async def test_a_store_added_over_rest_is_searched_over_mcp_on_open_connections(server: Served, world: World) -> None:
    query = {"query": "Hermes", "stores": ["fresh"]}
    async with (
        connected(http_target(server.url), "auto") as one,
        connected(sse_target(server.url), "legacy") as two,
    ):
        with server.client() as http:
            new = {"name": "fresh", "type": "seren_loci", "url": world.loci.url}
            assert (await one.call_tool("recall", query)).is_error
            assert http.post("/stores", json=new).json()["active"] == 4
            for client in (one, two):
                result = await client.call_tool("recall", query)
                assert {hit["store"] for hit in structured(result)["hits"]} == {"fresh"}
            assert http.delete("/stores/fresh").json()["active"] == 3
            assert [(await client.call_tool("recall", query)).is_error for client in (one, two)] == [True, True]


async def test_a_setting_changed_over_rest_is_in_force_over_mcp(server: Served) -> None:
    with server.client() as http:
        assert http.post("/configure", json={"n_results": 1}).json()["changed"] == {"n_results": 1}
        try:
            for transport in TARGETS:
                found = await told(server, transport, "auto", "recall", query="Hermes")
                assert len(found["hits"]) == 1
                listed = await told(server, transport, "legacy", "list_stores")
                assert listed["settings"]["n_results"] == 1
            assert len(http.post("/search", json={"query": "Hermes"}).json()["hits"]) == 1
        finally:
            await told(server, "sse", "auto", "configure", n_results=Knobs().n_results)
        assert http.get("/stores").json()["n_results"] == Knobs().n_results


async def test_a_store_switched_off_over_mcp_is_off_everywhere(server: Served) -> None:
    with server.client() as http:
        await told(server, "http", "auto", "configure", stores=[{"name": "loci", "enabled": False}])
        try:
            body = http.post("/search", json={"query": "Hermes"}).json()
            assert body["skipped"] == [{"name": "loci", "reason": "disabled"}]
            assert [s["status"] for s in http.get("/stores").json()["stores"]] == ["active", "active", "disabled"]
            found = await told(server, "sse", "auto", "recall", query="Hermes")
            assert [e["reason"] for e in found["engines"] if e["status"] == "skipped"] == ["disabled"]
        finally:
            http.post("/configure", json={"stores": [{"name": "loci", "enabled": True}]})


async def test_a_hit_found_over_one_surface_is_fetched_over_another(server: Served) -> None:
    with server.client() as http:
        hits = http.post("/search", json={"query": "Hermes"}).json()["hits"]
    for hit in hits:
        full = await told(server, "sse", "auto", "fetch", id=hit["hit_id"])
        assert full["store"] == hit["store"]
