"""Fetch: one hit in full from the store its id names."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from support.data import federation, running, scripted
from support.fake_seren import Kind, serving

from callosum_mcp.errors import InvalidInput, StoreError, StoreRefused, UnknownHit, UnknownStore
from callosum_mcp.federation.stores import Store
from callosum_mcp.models.requests import FetchRequest
from callosum_mcp.models.results import FetchResult, ReceiptOut
from callosum_mcp.models.values import StoreSpec
from callosum_mcp.testing import hit


@pytest.mark.parametrize(
    ("kind", "native", "text"),
    [
        ("memory", "ed07245fa19f4254a1c22219a032449f", "Her favourite colour is yellow."),
        ("loci", "hermes/port", "hermes port = 8443"),
        ("loci", "seren/ブリッジ.note", "seren ブリッジ.note = the callosum is read only"),
    ],
)
async def test_an_id_leads_to_its_hit_in_every_kind_of_store(kind: Kind, native: str, text: str) -> None:
    async with (
        serving(kind) as fake,
        running(Store.of(StoreSpec(name="s", type=f"seren_{kind}", url=fake.url))) as asking,
    ):
        found = await asking.fetch(FetchRequest(id=f"s:{native}"))
        assert (found.id, found.tier) == (f"s:{native}", "agent-memory")
        assert found.text.startswith(text)
        with pytest.raises(UnknownHit, match="id: store s holds nothing under 'no/such'"):
            await asking.fetch(FetchRequest(id="s:no/such"))


async def test_a_hit_is_given_whole() -> None:
    one = hit("a", "x:1", "half \ud83d", title="T", topics=("ops",), last_seen=86_400.0, metadata={"n": float("nan")})
    assert await federation(scripted("a", one)).fetch(FetchRequest(id="a:x:1")) == FetchResult(
        id="a:x:1",
        store="a",
        text="half ?",
        title="T",
        tier="agent-memory",
        topics=["ops"],
        last_seen="1970-01-02T00:00:00Z",
        receipt=ReceiptOut(id="r1", source="a:x:1", last_seen="1970-01-02T00:00:00Z", snippet="half ?"),
        metadata={"n": None},
    )


@pytest.mark.parametrize(
    ("hit_id", "more", "script", "error", "said"),
    [
        ("nocolon", {}, {}, InvalidInput, "id: must be store:native-id, as recall gave it"),
        ("only:", {}, {}, InvalidInput, "id: must be store:native-id"),
        ("aa:1", {}, {}, UnknownStore, r"no store named 'aa'; did you mean 'a'\?|no store named 'aa'; known are a"),
        ("a:1", {}, {}, UnknownHit, "id: store a holds nothing under '1'; ids come from recall"),
        ("a:1", {"enabled": False}, {}, InvalidInput, "id: store a is disabled; enable it with configure"),
        ("a:1", {}, {"fault": StoreError("broken")}, StoreError, r"store a is down \(error\): broken"),
        ("a:1", {"optional": True}, {"fault": StoreRefused("x")}, StoreError, r"store a is down \(refused\)"),
        ("a:1", {"timeout_s": 0.02}, {"gate": anyio.Event()}, StoreError, r"store a is down \(timeout\)"),
    ],
)
async def test_what_cannot_be_fetched_says_why(
    hit_id: str, more: dict[str, Any], script: dict[str, Any], error: type[Exception], said: str
) -> None:
    with anyio.fail_after(5), pytest.raises(error, match=f"^({said})"):
        await federation(scripted("a", more=more, **script)).fetch(FetchRequest(id=hit_id))


async def test_a_callers_timeout_bounds_a_fetch() -> None:
    asking = federation(scripted("a", gate=anyio.Event()), deadline_s=600, per_store_timeout_s=300)
    with anyio.fail_after(5), pytest.raises(StoreError, match="timeout"):
        await asking.fetch(FetchRequest(id="a:1", timeout_ms=20))
