"""Engines through the administration: added by their URL and never by a command, listed with what reading changes."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from callosum_mcp.errors import InvalidInput
from callosum_mcp.federation.administration import Administration, AdminPolicy
from callosum_mcp.federation.federation import Federation, State
from callosum_mcp.federation.overlay import Overlay
from callosum_mcp.federation.stores import Store, StoreSet
from callosum_mcp.models.knobs import Knobs
from callosum_mcp.models.requests import AddStoreRequest, ListStoresRequest, RemoveStoreRequest
from callosum_mcp.models.values import StoreSpec

from .engines import Network
from .test_session import left_over


def no_token(variable: str, keyring: str) -> None:
    del variable, keyring


@pytest.fixture
async def admin() -> AsyncGenerator[Administration]:
    base = StoreSpec(name="brain", type="brain.http", url="http://127.0.0.1:9")
    federation = Federation(State(stores=StoreSet((Store.of(base),)), knobs=Knobs()))
    made = Administration(federation, Overlay(None, no_token), no_token, AdminPolicy())
    yield made
    await made.aclose()


async def test_an_engine_is_added_by_its_preset_and_url_and_the_answer_says_whether_it_is_the_right_one(
    admin: Administration, served: Network
) -> None:
    before = left_over()[1]
    added = await admin.add_store(AddStoreRequest(name="graph", type="server-memory", url=served.url + "/sse"))
    health = added.added.health
    assert health is not None and (health.status, health.reason) == ("down", "bad_reply")
    assert health.detail == (
        "its server has no tool search_nodes among its 1 tool; is type server-memory right? The log has their names"
    )
    await admin.remove_store(RemoveStoreRequest(name="graph"))
    assert left_over()[1] == before


@pytest.mark.parametrize(
    ("type_name", "url", "said"),
    [
        ("server-memory", "npx -y @modelcontextprotocol/server-memory", "url: must "),
        ("server-memory", "stdio:npx", "url: must start with http"),
        ("server-memori", "http://127.0.0.1:9/mcp", "type: 'server-memori' is unknown; did you mean 'server-memory'"),
        ("chroma", "http://127.0.0.1:9/mcp", "type: option collection: missing for type chroma"),
        ("mcp", "http://127.0.0.1:9/mcp", "type: option tool: missing; name the tool that searches"),
    ],
)
async def test_an_engine_that_cannot_be_added_is_refused_and_nothing_is_started(
    admin: Administration, type_name: str, url: str, said: str
) -> None:
    with pytest.raises(InvalidInput, match=f"^{said}"):
        await admin.add_store(AddStoreRequest(name="x", type=type_name, url=url))
    assert [store.name for store in (await admin.list_stores(ListStoresRequest())).stores] == ["brain"]


def test_no_field_of_a_request_can_hold_a_command() -> None:
    assert set(AddStoreRequest.model_fields) == {"name", "type", "url", "weight", "floor", "tier", "token_env"}


async def test_the_list_says_what_reading_changes_in_an_engine(admin: Administration) -> None:
    (brain,) = (await admin.list_stores(ListStoresRequest())).stores
    assert brain.side_effects == "access_stats"
    assert brain.changes == "Brain counts accesses and may weigh what is recalled often higher"
