"""An engine behind plain HTTP: one search proves that it answers, and what it is sent is the preset's."""

from __future__ import annotations

import pytest
from pydantic import SecretStr
from support.replay_engine import Asked, ReplayHttp, served

from callosum_mcp.adapters import registry
from callosum_mcp.errors import StoreBadReply
from callosum_mcp.models.values import StoreQuery, StoreSpec

ROWS = {"pages": [{"id": "1", "title": "Hermes", "body": "Hermes is the relay", "at": "2026-11-01"}]}


def spec(url: str, **options: object) -> StoreSpec:
    given: dict[str, object] = {
        "http": {
            "method": "POST",
            "path": "/api/search",
            "params": {"n": "{limit|int}"},
            "json": [{"q": "{query}"}],
            "headers": {"X-Scope": "read"},
        },
        "extract": [{"items": "$.pages[*]", "fields": {"id": "id", "title": "title", "snippet": "body"}}],
        **options,
    }
    return StoreSpec(name="wiki", type="http", url=url, options=given, token=SecretStr("t0ken!"))


async def test_a_search_sends_the_presets_request_with_the_stores_token() -> None:
    engine = ReplayHttp(body=ROWS)
    with served(engine) as url:
        adapter = registry.create(spec(url))
        reply = await adapter.search(StoreQuery(text="hermes", limit=3))
        report = await adapter.probe()
        adapter.warm()
        assert (adapter.waiting(), adapter.usage()) == (None, {"requests": 2, "reused": 1})
        await adapter.aclose()
    assert [(hit.id, hit.title, hit.text) for hit in reply.hits] == [("1", "Hermes", "Hermes is the relay")]
    (asked, probed) = engine.requests
    assert (asked.method, asked.path, dict(asked.params), asked.body) == (
        "POST",
        "/api/search",
        {"n": "3"},
        [{"q": "hermes"}],
    )
    assert (asked.headers["authorization"], asked.headers["x-scope"]) == ("Bearer t0ken!", "read")
    assert dict(probed.params) == {"n": "1"} and report.detail.endswith("answers, asked with POST /api/search")


async def test_a_probe_of_something_else_says_what_is_missing() -> None:
    with served(ReplayHttp(body={"articles": []})) as url:
        adapter = registry.create(spec(url))
        with pytest.raises(StoreBadReply, match="pages"):
            await adapter.probe()
        await adapter.aclose()


async def test_one_hit_in_full_is_a_request_of_its_own() -> None:
    def answer(asked: Asked) -> tuple[int, object]:
        return (200, {"body": "All of Hermes"}) if asked.path == "/api/pages/a%2Fb" else (200, ROWS)

    fetch = {"http": {"path": "/api/pages/{id}"}, "fields": {"snippet": "body"}}
    with served(ReplayHttp(answer=answer)) as url:
        adapter = registry.create(spec(url, fetch=fetch))
        found = await adapter.fetch("a/b")
        await adapter.aclose()
    assert found is not None and (found.id, found.text) == ("a/b", "All of Hermes")


async def test_a_hit_that_is_not_there_any_more_is_none_and_not_a_failure() -> None:
    def answer(asked: Asked) -> tuple[int, object]:
        return (404, {"error": "no page"}) if asked.path.startswith("/api/pages/") else (200, ROWS)

    fetch = {"http": {"path": "/api/pages/{id}"}, "fields": {"snippet": "body"}}
    with served(ReplayHttp(answer=answer)) as url:
        adapter = registry.create(spec(url, fetch=fetch))
        assert await adapter.fetch("gone") is None
        await adapter.search(StoreQuery(text="hermes", limit=3))
        shown = await adapter.fetch("1")
        await adapter.aclose()
    assert shown is not None and shown.text == "Hermes is the relay", "as it was last shown"
