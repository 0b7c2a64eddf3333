"""HTTP to one store: its own pool, its own token, no proxy for loopback, no redirect, every failure a `StoreError`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable

import anyio
import httpx2
import pytest
from pydantic import SecretStr
from support.fake_seren import FakeSeren, serving

from callosum_mcp.adapters import transport
from callosum_mcp.adapters.http import (
    HttpRequest,
    JsonHttp,
    decode,
)
from callosum_mcp.adapters.http_errors import failure, rate_limited, unreachable
from callosum_mcp.adapters.transport import is_loopback
from callosum_mcp.errors import (
    StoreAuthFailed,
    StoreBadReply,
    StoreError,
    StoreFailed,
    StoreRateLimited,
    StoreRefused,
    StoreTimeout,
)
from callosum_mcp.models.values import StoreSpec

ROOT = HttpRequest(method="GET", path="/")
SEARCH = HttpRequest(method="POST", path="/search", json={"query": "Hermes", "n_results": 1} | {"include_long": True})


def spec_of(url: str, token: str | None = None, **headers: str) -> StoreSpec:
    secret = None if token is None else SecretStr(token)
    return StoreSpec(name="s", type="seren_memory", url=url, token=secret, headers=headers)


def told(reply: Callable[[httpx2.Request], httpx2.Response], token: str | None = None) -> JsonHttp:
    """A store that answers in this process."""
    return JsonHttp(spec_of("http://127.0.0.1:9", token), transport=httpx2.MockTransport(reply))


@pytest.fixture
async def fake(carrier: str) -> AsyncGenerator[FakeSeren]:
    async with serving("memory") as store:
        yield store


async def test_a_token_and_headers_go_to_their_store_alone(fake: FakeSeren) -> None:
    async with serving("memory") as other:
        first = JsonHttp(spec_of(fake.url, "first-secret", **{"x-team": "blue"}))
        second = JsonHttp(spec_of(other.url, ""))
        await first.ask(ROOT)
        await second.ask(ROOT)
        await first.aclose()
        await second.aclose()
    seen, others = fake.requests[0].headers, other.requests[0].headers
    assert (seen["authorization"], seen["x-team"], seen["accept"]) == (
        "Bearer first-secret",
        "blue",
        "application/json",
    )
    assert "authorization" not in others and "x-team" not in others


async def test_a_proxy_is_never_asked_for_loopback(fake: FakeSeren, monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving("loci") as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        http = JsonHttp(spec_of(fake.url, "secret"))
        await http.ask(ROOT)
        await http.aclose()
    assert (len(fake.requests), proxy.requests) == (1, [])


async def test_another_host_is_asked_through_the_proxy(fake: FakeSeren, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", fake.url)
    http = JsonHttp(spec_of("http://store.example"))
    with pytest.raises(StoreBadReply):
        await http.ask(HttpRequest(method="GET", path="/counts"))
    await http.aclose()
    assert fake.requests[0].headers["host"] == "store.example"


@pytest.mark.promise("5i")
async def test_a_redirect_is_not_followed(fake: FakeSeren) -> None:
    asked: list[str] = []

    def reply(request: httpx2.Request) -> httpx2.Response:
        asked.append(str(request.url))
        return httpx2.Response(302, headers={"location": f"{fake.url}/"})

    with pytest.raises(StoreBadReply, match=r"redirects \(302\)"):
        await told(reply, "secret").ask(ROOT)
    assert (asked, fake.requests) == (["http://127.0.0.1:9/"], [])


async def test_connections_are_kept_for_the_next_request(fake: FakeSeren) -> None:
    http = JsonHttp(spec_of(fake.url))
    for _ in range(3):
        await http.ask(ROOT)
    await http.aclose()
    assert (len(fake.requests), fake.connections) == (3, 1)


async def test_requests_on_a_kept_connection_are_counted(fake: FakeSeren) -> None:
    http = JsonHttp(spec_of(fake.url))
    for _ in range(3):
        await http.ask(SEARCH)
    await http.aclose()
    assert http.usage() == {"requests": 3, "reused": 2}


async def test_a_cancelled_request_gives_its_connection_up_and_the_next_one_is_answered(fake: FakeSeren) -> None:
    http = JsonHttp(spec_of(fake.url))
    for mode in ("hang", "drip"):
        fake.mode = mode
        fake.asked.clear()
        fake.gone.clear()
        async with anyio.create_task_group() as group:
            group.start_soon(http.ask, SEARCH)
            await fake.asked.wait()
            group.cancel_scope.cancel()
        with anyio.fail_after(10):
            await fake.gone.wait()
        fake.mode = "ok"
        assert await http.ask(SEARCH)
    await http.aclose()


async def test_user_and_password_in_a_url_are_neither_sent_nor_in_the_way(fake: FakeSeren) -> None:
    http = JsonHttp(spec_of(fake.url.replace("//", "//user:word@"), "secret"))
    await http.ask(ROOT)
    await http.aclose()
    headers = fake.requests[0].headers
    assert (headers["authorization"], headers["host"]) == ("Bearer secret", fake.url.removeprefix("http://"))


async def test_each_store_has_a_pool_of_its_own(fake: FakeSeren) -> None:
    pair = [JsonHttp(spec_of(fake.url)) for _ in range(2)]
    for http in pair:
        await http.ask(ROOT)
        await http.aclose()
    assert fake.connections == 2


async def test_the_retry_does_not_fall_on_another_stale_connection(fake: FakeSeren) -> None:
    http = JsonHttp(spec_of(fake.url))
    fake.mode = "stale"
    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(http.ask, ROOT)
    assert fake.connections == 4
    assert await http.ask(ROOT) == await http.ask(ROOT)
    await http.aclose()


class Held(httpx2.AsyncBaseTransport):
    """Answers a request once the test lets it."""

    def __init__(self) -> None:
        self.asked, self.gate, self.closed = 0, anyio.Event(), anyio.Event()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.asked += 1
        await self.gate.wait()
        return httpx2.Response(200, json={"by": id(self)})

    async def aclose(self) -> None:
        self.closed.set()


async def test_a_faster_transport_takes_over_and_the_old_one_ends_with_its_last_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    old, new = Held(), Held()
    new.gate.set()
    monkeypatch.setattr(transport, "plain_transport", lambda: old)

    def loaded(rules: object) -> Held:
        return new

    monkeypatch.setattr(transport, "loaded_fast_transport", loaded)
    monkeypatch.setattr(transport, "ASKED_BEFORE_FAST", 0)
    http = JsonHttp(spec_of("http://127.0.0.1:9"))
    async with anyio.create_task_group() as group:
        group.start_soon(http.ask, ROOT)
        await anyio.wait_all_tasks_blocked()
        assert await http.ask(ROOT) == {"by": id(new)}
        assert (old.asked, new.asked, old.closed.is_set()) == (1, 1, False)
        old.gate.set()
    assert old.closed.is_set()
    await http.aclose()
    assert new.closed.is_set()


async def test_a_broken_connection_is_retried_once_only(fake: FakeSeren) -> None:
    http = JsonHttp(spec_of(fake.url))
    fake.mode = "close"
    with pytest.raises(StoreFailed, match="the connection broke"):
        await http.ask(ROOT)
    assert len(fake.requests) == 2
    fake.mode = "close_first"
    assert await http.ask(ROOT)
    await http.aclose()


async def test_a_store_that_vanished_between_the_tries_is_refused() -> None:
    tries = iter([httpx2.ReadError("gone"), httpx2.ConnectError("refused")])

    def reply(request: httpx2.Request) -> httpx2.Response:
        raise next(tries)

    with pytest.raises(StoreRefused):
        await told(reply).ask(ROOT)


async def test_a_404_is_nothing_only_where_that_is_an_answer() -> None:
    http = told(lambda request: httpx2.Response(404, json={"detail": "no memory"}))
    assert await http.ask_or_none(ROOT) is None
    with pytest.raises(StoreBadReply, match=r"does not understand our request \(404: no memory\)"):
        await http.ask(ROOT)


async def test_a_base_url_with_a_path_keeps_it() -> None:
    asked: list[str] = []

    def reply(request: httpx2.Request) -> httpx2.Response:
        asked.append(str(request.url))
        return httpx2.Response(200, json={})

    http = JsonHttp(spec_of("https://host.example/memory"), transport=httpx2.MockTransport(reply))
    await http.ask(HttpRequest(method="GET", path="/fact", params={"key": "a b&c"}))
    await http.aclose()
    assert asked == ["https://host.example/memory/fact?key=a+b%26c"]


@pytest.mark.promise("7a")
@pytest.mark.parametrize("status", [200, 500])
async def test_a_token_that_the_store_repeats_is_not_told(status: int) -> None:
    http = told(lambda request: httpx2.Response(status, json={"error": request.headers["authorization"]}), "hunter2")
    text = told(lambda request: httpx2.Response(status, text=f"who is {request.headers['authorization']}?"), "hunter2")
    for asked in (http, text):
        try:
            await asked.ask(ROOT)
        except StoreError as fault:
            assert "hunter2" not in str(fault)


@pytest.mark.usefixtures("carrier")
@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (spec_of("http://[::1"), "its url is not one a request can be sent to"),
        (spec_of("ftp://127.0.0.1"), "its url must start with http:// or https://"),
        (spec_of("http://127.0.0.1:9", "ключ"), "its token or one of its headers holds characters that HTTP cannot"),
    ],
)
async def test_settings_no_request_can_be_made_of_are_told(spec: StoreSpec, said: str) -> None:
    with pytest.raises(StoreFailed, match=f"^{said}"):
        await JsonHttp(spec).ask(ROOT)


@pytest.mark.usefixtures("carrier")
async def test_closing_twice_or_unused_is_harmless() -> None:
    http = JsonHttp(spec_of("http://127.0.0.1:9"))
    await http.aclose()
    await http.aclose()


@pytest.mark.parametrize(
    ("url", "loopback"),
    [
        ("http://127.0.0.1:7420", True),
        ("http://127.9.9.9", True),
        ("http://[::1]:80", True),
        ("http://localhost", True),
        ("http://LOCALHOST.:1", True),
        ("http://memory.localhost", True),
        ("http://127.0.0.1.example", False),
        ("http://0x7f.1", False),
        ("http://169.254.169.254", False),
        ("http://10.0.0.1", False),
        ("http://localhost.example", False),
        ("notes", False),
        ("http://[::1", False),
    ],
)
def test_loopback_is_this_machine_and_nothing_that_looks_like_it(url: str, loopback: bool) -> None:
    assert is_loopback(url) is loopback


@pytest.mark.parametrize(
    ("status", "body", "cls", "said"),
    [
        (204, b"", StoreBadReply, "answered 204 without a result"),
        (304, b"", StoreBadReply, "answered 304 without a result"),
        (403, b"", StoreAuthFailed, "refused our token (403)"),
        (422, b'{"detail": [{"msg": "x"}]}', StoreBadReply, "does not understand our request (422);"),
        (500, b"[1]", StoreFailed, "answered 500"),
        (502, b"<html>", StoreFailed, "answered 502"),
        (503, b'{"error": "safe_mode", "detail": "a\\nb"}', StoreFailed, "answered 503: safe_mode, a b"),
    ],
)
def test_a_status_becomes_the_error_of_its_kind(status: int, body: bytes, cls: type[StoreError], said: str) -> None:
    fault = failure(status, body)
    assert type(fault) is cls
    assert str(fault).startswith(said)


@pytest.mark.parametrize(
    ("after", "seconds"),
    [("7", 7.0), ("-3", 0.0), ("99999999", 3_600.0), ("Wed, 21 Oct 2026 07:28:00 GMT", None), (None, None)],
)
def test_retry_after_is_read_and_bounded(after: str | None, seconds: float | None) -> None:
    fault = rate_limited({} if after is None else {"retry-after": after})
    assert (type(fault), fault.retry_after_s) == (StoreRateLimited, seconds)


@pytest.mark.parametrize(
    ("fault", "cls", "said"),
    [
        (httpx2.ReadTimeout("x"), StoreTimeout, "the connection timed out"),
        (httpx2.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED]"), StoreRefused, "TLS failed"),
        (httpx2.ConnectError("[Errno -2] Name or service not known"), StoreRefused, "its host name is unknown"),
        (httpx2.ConnectError("All connection attempts failed"), StoreRefused, "no connection"),
        (httpx2.ProxyError("x"), StoreRefused, "the proxy did not connect"),
        (httpx2.LocalProtocolError("Illegal header value"), StoreFailed, "its token or one of its headers"),
        (httpx2.DecodingError("x"), StoreBadReply, "reply cannot be decompressed"),
        (httpx2.ReadError("x"), StoreFailed, "the connection broke"),
    ],
)
def test_a_failed_exchange_becomes_the_error_of_its_kind(
    fault: httpx2.HTTPError, cls: type[StoreError], said: str
) -> None:
    ours = unreachable(fault)
    assert type(ours) is cls
    assert str(ours).startswith(said)


def test_every_error_of_the_client_library_has_one_of_ours() -> None:
    def below(cls: type[Exception]) -> set[type[Exception]]:
        return {cls}.union(*(below(sub) for sub in cls.__subclasses__()))

    for cls in below(httpx2.TransportError):
        assert isinstance(unreachable(cls("x")), StoreError)  # pyright: ignore[reportArgumentType]


def test_numbers_that_json_has_no_word_for_are_read() -> None:
    assert str(decode(b'{"a": NaN, "b": Infinity}')) == "{'a': nan, 'b': inf}"


@pytest.mark.parametrize("body", [b"", b"\xff\xfe\x00", b"{", b"1" * 5_000])
def test_a_body_that_is_not_json_is_a_bad_reply(body: bytes) -> None:
    with pytest.raises(StoreBadReply, match=r"^reply is not JSON"):
        decode(body)
