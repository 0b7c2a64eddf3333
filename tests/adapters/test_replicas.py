"""A store with several `urls`: failover at once, a second request to what is slow, little load, the loser cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from support.fake_seren import serving

from callosum_mcp.adapters import registry
from callosum_mcp.adapters.http import HttpRequest, JsonHttp
from callosum_mcp.adapters.replicas import HEDGED_SHARE, LEAST_SAMPLES, MOST_SAVED, Pace
from callosum_mcp.app import build
from callosum_mcp.errors import SettingsError, StoreAuthFailed, StoreBadReply, StoreFailed, StoreRefused
from callosum_mcp.federation.fanout import Clock, ask
from callosum_mcp.federation.stores import Store
from callosum_mcp.models.requests import RecallRequest
from callosum_mcp.models.values import StoreQuery, StoreSpec
from callosum_mcp.settings import load

ROOT = HttpRequest(method="GET", path="/")
WAIT_S = 10.0
DEAD = "http://127.0.0.1:9"  # the port of a service that no machine runs any more


def spec(*urls: str, **more: Any) -> StoreSpec:
    return StoreSpec(name="memory", type="seren_memory", url=urls[0], urls=tuple(urls[1:]), **more)


@dataclass
class Replica:
    """A fake store whose answers may be held back.

    Attributes:
        held: Answers wait while this is set, until their client goes away or it is cleared.
        gone: How many clients went away before their answer.
    """

    url: str = ""
    status: int = 200
    asked: int = 0
    gone: int = 0
    held: bool = False
    news: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                self.asked += 1
                self.news.set()
                if self.held:
                    await reader.read()  # to the end of the connection
                    self.gone += 1
                    self.news.set()
                    return
                writer.write(b"HTTP/1.1 %d X\r\ncontent-length: 2\r\n\r\n{}" % self.status)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()

    async def until_gone(self, count: int) -> None:
        with anyio.fail_after(WAIT_S):
            while self.gone < count:
                self.news.clear()
                await self.news.wait()


@asynccontextmanager
async def replicas(count: int) -> AsyncGenerator[list[Replica]]:
    async with AsyncExitStack() as stack:
        made = [Replica() for _ in range(count)]
        for one in made:
            server = await stack.enter_async_context(await asyncio.start_server(one.serve, "127.0.0.1", 0))
            one.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield made
        for one in made:
            one.held = False


@asynccontextmanager
async def asking(*urls: str, **more: Any) -> AsyncGenerator[JsonHttp]:
    http = JsonHttp(spec(*urls, **more))
    try:
        with anyio.fail_after(WAIT_S):
            yield http
    finally:
        await http.aclose()


async def warmed(http: JsonHttp, times: int = LEAST_SAMPLES) -> None:
    """Ask until it is just known how long the store takes; two hedges are saved up by then, and none was sent."""
    for _ in range(times):
        await http.ask(ROOT)


async def test_a_place_that_refuses_is_passed_over_and_not_asked_first_again() -> None:
    async with replicas(1) as (there,), asking(DEAD, there.url) as http:
        assert await http.ask(ROOT) == {}
        assert http.usage() == {"requests": 1, "reused": 0, "hedged": 0, "failovers": 1}
        assert await http.ask(ROOT) == {}
        assert http.usage()["failovers"] == 1
    assert there.asked == 2


async def test_a_connection_that_breaks_leads_to_the_next_place() -> None:
    async with serving("memory") as broken, replicas(1) as (there,), asking(broken.url, there.url) as http:
        broken.mode = "close"
        assert await http.ask(ROOT) == {}
        assert http.usage()["failovers"] == 1


@pytest.mark.parametrize("status", [502, 503, 504])
async def test_a_proxy_without_a_server_behind_it_leads_to_the_next_place(status: int) -> None:
    async with replicas(2) as (proxy, there), asking(proxy.url, there.url) as http:
        proxy.status = status
        assert await http.ask(ROOT) == {}
        there.status = status
        with pytest.raises(StoreFailed, match=str(status)):
            await http.ask(ROOT)
        assert http.usage()["failovers"] == 2


@pytest.mark.parametrize(
    ("status", "kind"), [(401, StoreAuthFailed), (404, StoreBadReply), (302, StoreBadReply), (500, StoreFailed)]
)
async def test_what_a_place_says_itself_is_its_answer(status: int, kind: type[Exception]) -> None:
    """The others hold the same: they would say the same, and a question that breaks one must not break all."""
    async with replicas(2) as (first, second), asking(first.url, second.url) as http:
        first.status = status
        with pytest.raises(kind):
            await http.ask(ROOT)
        assert second.asked == 0


async def test_a_store_of_which_no_place_answers_is_refused() -> None:
    async with asking(DEAD, DEAD, DEAD) as http:
        with pytest.raises(StoreRefused):
            await http.ask(ROOT)
        assert http.usage() == {"requests": 0, "reused": 0, "hedged": 0, "failovers": 2}


@pytest.mark.promise("1h")
async def test_a_slow_request_is_sent_a_second_time_and_the_slow_one_is_cancelled() -> None:
    async with replicas(2) as (slow, quick), asking(slow.url, quick.url) as http:
        await warmed(http)
        assert (slow.asked, quick.asked) == (LEAST_SAMPLES, 0)
        slow.held = True
        assert await http.ask(ROOT) == {}
        await slow.until_gone(1)
        assert quick.asked == 1
        assert http.usage()["hedged"] == 1
        assert await http.ask(ROOT) == {}
        assert (slow.asked, quick.asked) == (LEAST_SAMPLES + 1, 2), "the quick one is asked first now"


@pytest.mark.promise("1h")
async def test_the_first_good_answer_wins_whoever_gives_it() -> None:
    async with replicas(2) as (first, second), asking(first.url, second.url) as http:
        await warmed(http)
        first.held, second.status = True, 503
        with anyio.move_on_after(0.3):
            await http.ask(ROOT)
        assert http.usage()["hedged"] == 1
        assert second.asked == 1
        await first.until_gone(1)


async def test_nothing_is_called_slow_before_it_is_known_how_long_the_store_takes() -> None:
    async with replicas(2) as (slow, other), asking(slow.url, other.url) as http:
        await warmed(http, LEAST_SAMPLES - 1)
        slow.held = True
        with anyio.move_on_after(0.3):
            await http.ask(ROOT)
        assert other.asked == 0
        assert await http.ask(ROOT) == {}
        assert (other.asked, http.usage()["hedged"]) == (1, 0), "after a time-out another place is asked first"


@pytest.mark.promise("1h")
async def test_at_most_a_tenth_of_the_requests_is_sent_twice() -> None:
    """Whatever the times: both places answer nothing, so that every request would be hedged."""
    async with replicas(2) as (one, two), asking(one.url, two.url) as http:
        await warmed(http)
        one.held = two.held = True
        for _ in range(40):
            with anyio.move_on_after(0.02):
                await http.ask(ROOT)
        calls = LEAST_SAMPLES + 40
        assert 0 < http.usage()["hedged"] <= HEDGED_SHARE * calls
        assert one.asked + two.asked <= (1 + HEDGED_SHARE) * calls


def test_a_quiet_time_saves_up_a_bounded_number_of_hedges() -> None:
    pace = Pace()
    for n in range(1_000):
        pace.began()
        pace.took(n % 100 / 100)
    assert pace.slow_after_s() == 0.94
    assert sum(pace.hedged() for _ in range(50)) == int(MOST_SAVED)
    assert pace.slow_after_s() is None, "nothing may be sent twice"


@pytest.mark.promise("1h")
async def test_a_cancelled_call_cancels_both_requests() -> None:
    async with replicas(2) as (one, two), asking(one.url, two.url) as http:
        await warmed(http)
        one.held = two.held = True
        with anyio.move_on_after(0.3):
            await http.ask(ROOT)
        await one.until_gone(1)
        await two.until_gone(1)


async def test_a_store_in_one_place_counts_nothing_of_the_kind() -> None:
    async with replicas(1) as (only,), asking(only.url) as http:
        await http.ask(ROOT)
        assert http.usage() == {"requests": 1, "reused": 0}


async def test_every_place_gets_the_token_of_the_store() -> None:
    async with serving("memory", token="s3cret") as one, serving("memory", token="s3cret") as two:
        config = spec(one.url, two.url)
        adapter = registry.create(replace(config, headers={"authorization": "Bearer s3cret"}))
        one.mode = "close"
        reply = await adapter.search(StoreQuery(text="hermes", limit=5))
        await adapter.aclose()
    assert reply.hits
    assert two.requests[-1].headers["authorization"] == "Bearer s3cret"


async def test_the_fan_out_gives_a_store_with_replicas_no_more_time() -> None:
    async with replicas(2) as (one, two):
        one.held = two.held = True
        store = Store.of(spec(one.url, two.url, timeout_s=0.3))
        clock = Clock(deadline=anyio.current_time() + WAIT_S, store_timeout_s=WAIT_S)
        outcome = await ask(store, lambda adapter: adapter.search(StoreQuery(text="x")), clock)
        await store.connection.retire()
    assert (outcome.status.status, outcome.status.reason) == ("down", "timeout")


def settings(folder: Path, **store: Any) -> Path:
    import json

    path = folder / "callosum.json"
    path.write_text(json.dumps({"stores": [{"name": "memory", "type": "seren_memory", **store}]}), encoding="utf-8")
    return path


async def test_a_recall_shows_its_failovers_in_the_trace(tmp_path: Path) -> None:
    async with serving("memory") as fake:
        file = settings(tmp_path, url=DEAD, urls=[f"{fake.url}/"])
        application = build(load(file, {}, tmp_path), keep_overlay=False)
        async with application.running():
            result = await application.federation.recall(RecallRequest(query="hermes", trace=True))
    assert result.trace is not None
    assert result.trace["stores"]["memory"]["connections"]["failovers"] == 1
    assert result.trace["stores"]["memory"]["connections"]["hedged"] == 0


@pytest.mark.parametrize(
    ("store", "problem"),
    [
        ({"type": "notes", "url": ".", "urls": ["http://127.0.0.1:1"]}, "means nothing for type notes"),
        ({"type": "mem0", "url": "http://127.0.0.1:1/mcp", "urls": ["http://127.0.0.1:2"]}, "means nothing for type"),
        ({"url": DEAD, "urls": ["ftp://127.0.0.1:1"]}, r"urls\[0\]: must start with http"),
        ({"url": DEAD, "urls": [DEAD] * 8}, "urls"),
    ],
)
def test_urls_that_cannot_be_used_are_refused_at_their_line(
    tmp_path: Path, store: dict[str, Any], problem: str
) -> None:
    with pytest.raises(SettingsError, match=problem) as refused:
        build(load(settings(tmp_path, **store), {}, tmp_path), keep_overlay=False)
    assert "urls" in str(refused.value)


def test_a_password_in_one_of_the_urls_is_a_secret_of_the_store() -> None:
    from callosum_mcp.models.secrets import secrets_of

    given = spec(DEAD, "http://user:p4ssword@127.0.0.1:9")
    assert "p4ssword" in set(secrets_of(given))
    assert "p4ssword" not in repr(given)


def test_presets_of_plain_http_take_replicas() -> None:
    assert registry.adapter_class("elasticsearch").replicas
    assert not registry.adapter_class("mem0").replicas
