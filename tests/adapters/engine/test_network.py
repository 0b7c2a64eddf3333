"""An engine of the SDK behind SSE and Streamable HTTP, in both eras of the protocol."""

from __future__ import annotations

import logging
import os
import signal
import socket
from collections.abc import Generator

import anyio
import httpx2
import pytest

from callosum_mcp.adapters.engine.reach import Mode, Reach
from callosum_mcp.errors import StoreAuthFailed, StoreBadReply, StoreError, StoreFailed, StoreRefused, StoreTimeout

from .engines import Network, network
from .test_session import answer, left_over, opened, until

PATHS = ["/mcp", "/sse"]
ERAS: list[Mode] = ["auto", "legacy"]


@pytest.fixture
def own() -> Generator[Network]:
    """An engine that this test may end."""
    with network() as running:
        yield running


@pytest.mark.parametrize("protocol", ERAS)
@pytest.mark.parametrize("path", PATHS)
async def test_an_engine_answers_over_each_transport_in_each_era(served: Network, path: str, protocol: Mode) -> None:
    before = left_over()[1]
    async with opened(served.reach(path, protocol=protocol)) as made:
        assert "a says hermes" in await answer(made)
        assert (await made.advertised()).protocol == ("2026-07-28" if protocol == "auto" else "2025-11-25")
        assert len(await answer(made, "huge")) == 5_000_000
        with pytest.raises(StoreBadReply, match=r"^does not understand our call: limit: must be positive; "):
            await answer(made, "rpc error")
        assert made.noise() is None and made.connections == 1
    assert left_over()[1] == before


@pytest.mark.promise("1d")
@pytest.mark.parametrize("protocol", ERAS)
@pytest.mark.parametrize("path", PATHS)
async def test_cancelling_a_call_cancels_it_upstream(served: Network, path: str, protocol: Mode) -> None:
    def cancelled() -> int:
        return sum("cancelled" in entry for entry in served.logged())

    before = cancelled()
    async with opened(served.reach(path, protocol=protocol)) as made:
        await answer(made)
        with anyio.move_on_after(0.2):
            await answer(made, "hang")
        await until(lambda: cancelled() == before + 1)
        assert "a says hermes" in await answer(made)
        assert made.connections == 1


@pytest.mark.parametrize("protocol", ERAS)
@pytest.mark.parametrize("path", PATHS)
async def test_a_server_that_was_restarted_is_connected_to_again_without_a_failure(
    own: Network, path: str, protocol: Mode
) -> None:
    async with opened(own.reach(path, protocol=protocol)) as made:
        await answer(made)
        own.stop()
        own.start()
        assert "a says hermes" in await answer(made)
        own.stop()
        with pytest.raises(StoreRefused, match=r"^no connection: nothing listens at its address$"):
            await answer(made)
        own.start()
        assert "a says hermes" in await answer(made)


@pytest.mark.parametrize("path", PATHS)
async def test_a_server_killed_in_the_middle_of_a_call_is_down_at_once(own: Network, path: str) -> None:
    async with opened(own.reach(path)) as made:
        await answer(made)
        async with anyio.create_task_group() as group:

            async def killed() -> None:
                await until(lambda: {"query": "hang"} in own.logged())
                own.stop()

            group.start_soon(killed)
            with anyio.fail_after(10), pytest.raises(StoreError):
                await answer(made, "hang")
        own.start()
        assert "a says hermes" in await answer(made)


@pytest.mark.promise("P39")
async def test_a_server_that_forgot_our_session_is_given_a_new_one_and_asked_again(own: Network) -> None:
    async with opened(own.reach("/mcp", protocol="legacy")) as made:
        await answer(made)
        httpx2.post(own.url + "/forget")
        assert "a says hermes" in await answer(made)
        assert made.connections == 2


async def test_a_session_that_the_server_no_longer_knows_over_sse_is_replaced(own: Network) -> None:
    async with opened(own.reach("/sse", protocol="legacy")) as made:
        await answer(made)
        httpx2.post(own.url + "/forget")
        assert "a says hermes" in await answer(made)


@pytest.mark.parametrize("path", PATHS)
async def test_a_token_is_sent_and_a_wrong_one_is_said_to_be_wrong(path: str) -> None:
    with network("--token", "right-token") as guarded:
        async with opened(guarded.reach(path, headers={"authorization": "Bearer right-token"})) as made:
            assert "a says hermes" in await answer(made)
        async with opened(guarded.reach(path, headers={"authorization": "Bearer wrong-token"})) as made:
            with pytest.raises(StoreAuthFailed, match=r"^refused our token \(401\)"):
                await answer(made)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/nowhere", r"has no MCP server at its url \(404\)"),
        ("/nowhere/sse", r"has no MCP server at its url \(404\)"),
        ("/away", r"redirects \(307\) to another place; put the final URL in the config"),
        ("/away/sse", r"redirects \(307\) to another place; put the final URL in the config"),
        ("/page", "its reply cannot be read: Unexpected content type: text/html"),
        ("/large", "its reply cannot be read: .*it is larger than 16 MiB"),
        ("/page/sse", "its reply was not read: .*text/event-stream"),
    ],
)
async def test_what_is_no_mcp_server_is_told_apart(served: Network, path: str, said: str) -> None:
    async with opened(served.reach(path)) as made:
        with pytest.raises(StoreBadReply, match=f"^{said}"):
            await answer(made)


async def test_a_redirect_on_the_same_origin_is_followed(served: Network) -> None:
    async with opened(served.reach("/near")) as made:
        assert "a says hermes" in await answer(made)


async def test_half_an_emoji_over_http_is_replaced(served: Network) -> None:
    async with opened(served.reach("/half")) as made:
        with pytest.raises(StoreFailed, match=r"^says: cut \ufffd emoji"):
            await answer(made)


@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_nobody_at_the_address_is_refused_and_a_broken_url_too(kind: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/mcp"
        async with opened(Reach(type="http" if kind == "http" else "sse", url=url)) as made:
            with pytest.raises(StoreRefused, match=r"^no connection: nothing listens at its address$"):
                await answer(made)


@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_a_server_that_accepts_and_says_nothing_is_given_up_after_the_connect_timeout(kind: str) -> None:
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        url = f"http://127.0.0.1:{mute.getsockname()[1]}/mcp"
        reach = Reach(type="http" if kind == "http" else "sse", url=url, connect_timeout_s=0.3)
        async with opened(reach) as made:
            with pytest.raises(StoreTimeout, match=r"^was not connected within 0.3 s; see connect_timeout_s$"):
                await answer(made)


@pytest.mark.parametrize("protocol", ERAS)
@pytest.mark.parametrize("path", PATHS)
async def test_a_caller_of_a_server_that_froze_returns_at_once_and_the_connection_is_replaced(
    own: Network, path: str, protocol: Mode
) -> None:
    async with opened(own.reach(path, protocol=protocol, connect_timeout_s=0.5)) as made:
        await answer(made)
        os.kill(own.pid, signal.SIGSTOP)
        try:
            for _ in range(3):
                started = anyio.current_time()
                with anyio.move_on_after(0.1):
                    await answer(made)
                assert anyio.current_time() - started < 0.6
            await until(lambda: made.waiting() or made._line is None or not made._line.usable)  # pyright: ignore[reportPrivateUsage]
        finally:
            os.kill(own.pid, signal.SIGCONT)
        await until(lambda: made.waiting() is None)
        assert "a says hermes" in await answer(made)


async def test_headers_that_http_cannot_carry_are_said_to_be_wrong(served: Network) -> None:
    async with opened(served.reach("/mcp", headers={"x-key": "schlüssel\u2713"})) as made:
        with pytest.raises(StoreFailed, match="holds characters that HTTP cannot carry"):
            await answer(made)


async def test_no_proxy_is_asked_for_this_machine(served: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    for path in PATHS:
        async with opened(served.reach(path)) as made:
            assert "a says hermes" in await answer(made)


def test_the_sdk_logs_no_traces_of_what_is_a_status_here() -> None:
    assert logging.getLogger("mcp.client").getEffectiveLevel() == logging.CRITICAL
