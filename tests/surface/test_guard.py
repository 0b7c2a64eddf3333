"""Who gets in over HTTP: the token, the Host and the Origin, on every route."""

from __future__ import annotations

import logging
from collections.abc import Generator
from typing import Any

import anyio
import httpx2
import pytest
from pydantic import SecretStr
from starlette.types import Message, Receive, Scope, Send

from callosum_mcp.surface import guard
from callosum_mcp.surface.guard import Guard, Policy, allowed, host_name
from callosum_mcp.surface.tools import TOOLS

from .world import Served, World, connected, eventually, http_target, served, sse_target

TOKEN = "correct horse"
BEARER = {"authorization": f"Bearer {TOKEN}"}
ROUTES = [
    ("GET", "/"),
    ("GET", "/health"),
    ("GET", "/ready"),
    ("GET", "/stores"),
    ("GET", "/metrics"),
    ("GET", "/sse"),
    ("GET", "/mcp"),
    ("POST", "/mcp"),
    ("POST", "/mcp/"),
    ("POST", "/messages/?session_id=00000000000000000000000000000000"),
    ("POST", "/search"),
    ("POST", "/recall"),
    ("POST", "/ask"),
    ("POST", "/fetch"),
    ("POST", "/stores"),
    ("POST", "/configure"),
    ("DELETE", "/stores/memory"),
    ("GET", "/no/such/route"),
    ("GET", "/health/"),
    ("GET", "/Health"),
    ("GET", "/health/../stores"),
]
OPEN = ("/", "/health", "/ready")


OTHER = "battery staple"


@pytest.fixture(scope="module")
def locked(world: World) -> Generator[Served]:
    policy = Policy(
        tokens=(SecretStr(TOKEN), SecretStr(OTHER)),
        hosts=allowed(["memories.test:*"]),
        origins=frozenset({"https://app.test"}),
    )
    with served(world.application(), policy) as running:
        yield running


@pytest.fixture(scope="module")
def http(locked: Served) -> Generator[httpx2.Client]:
    with locked.client() as client:
        yield client


CLOSED = [(method, path) for method, path in ROUTES if path not in OPEN]


@pytest.mark.promise("5b")
@pytest.mark.parametrize(("method", "path"), CLOSED)
@pytest.mark.parametrize(
    "given",
    [
        None,
        "Bearer wrong",
        f"Bearer {TOKEN} {OTHER}",
        f"Bearer {TOKEN},{OTHER}",
        "Basic Y29ycmVjdA==",
        TOKEN,
        f"Basic {TOKEN}",
        "Bearer",
        "Bearer é",
    ],
)
def test_without_the_token_a_route_is_closed(http: httpx2.Client, method: str, path: str, given: str | None) -> None:
    headers = {} if given is None else {b"authorization": given.encode("utf-8")}
    answer = http.request(method, path, headers=headers)
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert TOKEN not in answer.text and "memory" not in answer.text


@pytest.mark.promise("5b")
def test_the_open_routes_say_nothing_of_the_stores(http: httpx2.Client, world: World) -> None:
    before = [list(store.asked) for store in world.stores]
    assert http.get("/health").json() == {"ok": True}
    assert http.get("/ready").json() == {"ready": True}
    assert http.get("/").json() == {"service": "callosum-mcp"}
    assert "notes" not in http.get("/", headers={"accept": "text/html"}).text
    assert [list(store.asked) for store in world.stores] == before, "an open route must not make stores work"


def test_with_the_token_every_route_answers(http: httpx2.Client) -> None:
    assert http.post("/search", json={"query": "Hermes"}, headers=BEARER).json()["hits"]
    assert http.get("/stores", headers=BEARER).json()["active"] == 3
    assert http.get("/", headers=BEARER).json()["stores"] == ["notes", "memory", "loci"]
    assert len(http.get("/health", headers=BEARER).json()["engines"]) == 3
    assert http.get("/metrics", headers={"authorization": f"bearer {TOKEN}"}).status_code == 200
    assert http.get("/no/such/route", headers=BEARER).status_code == 404


@pytest.mark.promise("5c")
@pytest.mark.parametrize("token", [TOKEN, OTHER])
def test_each_of_several_tokens_lets_in(http: httpx2.Client, token: str) -> None:
    assert http.get("/stores", headers={"authorization": f"Bearer {token}"}).status_code == 200


def test_another_policy_is_followed_from_the_next_request_on(world: World) -> None:
    old, new = (Policy(tokens=(SecretStr(token),)) for token in (TOKEN, OTHER))
    with served(world.application(), old) as server, server.client() as http:

        def codes() -> list[int]:
            bearers = ({"authorization": f"Bearer {token}"} for token in (TOKEN, OTHER))
            return [http.get("/stores", headers=bearer).status_code for bearer in bearers]

        assert codes() == [200, 401]
        server.guard.follow(new)
        assert codes() == [401, 200]


@pytest.mark.promise("P37")
def test_a_client_that_sends_the_name_of_a_variable_is_told_so(http: httpx2.Client) -> None:
    answer = http.get("/stores", headers={"authorization": "Bearer ${CALLOSUM_TOKEN}"})
    assert answer.status_code == 401 and "${…}" in answer.json()["detail"]
    assert "CALLOSUM_TOKEN" not in answer.text


@pytest.mark.parametrize("name", ["authorization", "origin"])
def test_a_header_that_stands_twice_is_refused(http: httpx2.Client, name: str) -> None:
    values = {"authorization": [f"Bearer {TOKEN}", "Bearer x"], "origin": ["http://localhost", "https://evil.example"]}
    answer = http.get("/ready", headers=[(name, value) for value in values[name]])
    assert (answer.status_code, answer.json()["detail"]) == (400, f"the header {name} stands twice")


@pytest.mark.promise("5f")
@pytest.mark.parametrize(
    ("method", "path"), [*ROUTES, ("OPTIONS", "/search"), ("OPTIONS", "/mcp"), ("OPTIONS", "/sse")]
)
@pytest.mark.parametrize("headers", [{}, BEARER])
def test_no_route_lets_another_origin_read_its_answer(
    http: httpx2.Client, method: str, path: str, headers: dict[str, str]
) -> None:
    asking = {**headers, "origin": "http://localhost:3000", "access-control-request-method": "POST"}
    with http.stream(method, path, headers=asking) as answer:
        assert [name for name in answer.headers if name.startswith("access-control-")] == []
        if method == "OPTIONS":
            assert answer.status_code in (401, 405)


@pytest.mark.promise("5b")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("transport", [http_target, sse_target])
async def test_mcp_clients_get_in_with_the_token(locked: Served, transport: type[object], mode: str) -> None:
    target = http_target(locked.url, BEARER) if transport is http_target else sse_target(locked.url, BEARER)
    async with connected(target, mode) as client:
        assert len((await client.list_tools()).tools) == len(TOOLS)
        assert not (await client.call_tool("recall", {"query": "Hermes"})).is_error


@pytest.mark.promise("5e", "P48")
@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_a_wrong_host_is_421_on_every_route_and_names_the_setting(http: httpx2.Client, method: str, path: str) -> None:
    answer = http.request(method, path, headers={**BEARER, "host": "evil.example"})
    assert answer.status_code == 421
    assert "server.allowed_hosts" in answer.json()["detail"] and "evil.example" in answer.json()["detail"]


@pytest.mark.promise("5e")
@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_a_wrong_origin_is_403_on_every_route_and_names_the_setting(
    http: httpx2.Client, method: str, path: str
) -> None:
    answer = http.request(method, path, headers={**BEARER, "origin": "https://evil.example"})
    assert answer.status_code == 403
    assert "server.allowed_origins" in answer.json()["detail"]


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "LOCALHOST:99", "[::1]:7423", "[::1]", "memories.test", "memories.test:1"]
)
def test_loopback_and_configured_hosts_are_welcome(http: httpx2.Client, host: str) -> None:
    assert http.get("/ready", headers={"host": host}).status_code == 200


@pytest.mark.promise("5e")
@pytest.mark.parametrize(
    "host", ["", "localhost.evil.example", "127.0.0.1.evil.example", "xlocalhost", "memories.test.evil", "0"]
)
def test_hosts_that_only_look_alike_are_not(http: httpx2.Client, host: str) -> None:
    assert http.get("/ready", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("origin", ["http://localhost:3000", "http://127.0.0.1", "https://[::1]:1", "https://app.test"])
def test_loopback_and_configured_origins_are_welcome(http: httpx2.Client, origin: str) -> None:
    assert http.get("/ready", headers={"origin": origin}).status_code == 200


@pytest.mark.parametrize(
    "origin", ["null", "", "https://app.test.evil", "file://localhost", "http://localhost.evil", "http://[", "x"]
)
def test_other_origins_are_not(http: httpx2.Client, origin: str) -> None:
    assert http.get("/ready", headers={"origin": origin}).status_code == 403


def test_a_page_served_from_here_may_call_here(http: httpx2.Client) -> None:
    own = {"host": "memories.test:7423", "origin": "http://memories.test:7423"}
    assert http.get("/ready", headers=own).status_code == 200


def test_any_host_is_welcome_where_the_policy_says_so(world: World) -> None:
    policy = Policy(tokens=(SecretStr(TOKEN),), any_host=True)
    with served(world.application(), policy) as server, server.client() as http:
        assert http.get("/ready", headers={"host": "box.lan"}).status_code == 200
        assert http.get("/stores", headers={"host": "box.lan"}).status_code == 401


def test_sse_with_a_bad_host_leaves_no_trace_in_the_log(http: httpx2.Client, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        for _ in range(3):
            assert http.get("/sse", headers={**BEARER, "host": "evil.example"}).status_code == 421
            assert http.get("/sse").status_code == 401
    assert [record for record in caplog.records if record.exc_info or record.levelno >= logging.ERROR] == []


async def test_stores_open_once_for_the_process_whatever_connects(world: World) -> None:
    with served(world.application()) as server:
        for number in range(4):
            target = sse_target(server.url) if number % 2 else http_target(server.url)
            async with connected(target, "auto") as client:
                assert not (await client.call_tool("recall", {"query": "Hermes"})).is_error
        async with connected(sse_target(server.url), "legacy") as one, connected(sse_target(server.url), "auto") as two:
            await one.call_tool("list_stores", {})
            await two.call_tool("list_stores", {})
        assert server.entered == ["entered"]
        record = server.application.federation.state.stores.get("memory").connection
        assert record.calls == 4, "all connections share one record, and so one pool"


async def test_a_client_that_leaves_during_a_call_leaves_nothing_behind(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    with served(world.application()) as server:
        for target in (sse_target(server.url), http_target(server.url)):
            world.memory.gate.clear()
            world.memory.entered.clear()
            try:
                async with connected(target, "auto") as client:
                    with anyio.move_on_after(5) as scope:
                        async with anyio.create_task_group() as group:
                            group.start_soon(client.call_tool, "recall", {"query": "x", "stores": ["memory"]})
                            await anyio.to_thread.run_sync(world.memory.entered.wait, 10)
                            group.cancel_scope.cancel()
                    assert not scope.cancelled_caught
            finally:
                world.memory.gate.set()
        async with connected(http_target(server.url), "auto") as client:
            assert not (await client.call_tool("recall", {"query": "Hermes"})).is_error
        eventually(lambda: server.application.federation.state.stores.get("memory").connection.calls >= 1, "a call")
    assert [record for record in caplog.records if record.exc_info] == []


@pytest.mark.parametrize(
    ("header", "name"),
    [("Host:80", "host"), ("[::1]:80", "::1"), ("[::1]", "::1"), (" a.b ", "a.b"), ("", ""), ("::1", "")],
)
def test_the_name_in_a_host_header(header: str, name: str) -> None:
    assert host_name(header) == name


async def test_white_space_around_a_header_is_no_part_of_its_value() -> None:
    seen: list[list[tuple[bytes, bytes]]] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(list(scope["headers"]))

    async def nothing(*_: object) -> Any:
        raise AssertionError("neither read nor written")

    headers = [(b"host", b" 127.0.0.1:80\t"), (b"mcp-name", b"  recall  ")]
    scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": headers}
    await Guard(app, Policy())(scope, nothing, nothing)
    assert seen == [[(b"host", b"127.0.0.1:80"), (b"mcp-name", b"recall")]]


@pytest.mark.promise("5j")
@pytest.mark.parametrize("given", ["correct horse", "battery staple", "wrong", "", "correct hors", "x" * 10_000])
async def test_each_token_is_compared_whole_and_in_constant_time_whatever_is_sent(
    given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[tuple[int, int]] = []
    real = guard.hmac.compare_digest

    def counted(ours: bytes, theirs: bytes) -> bool:
        compared.append((len(ours), len(theirs)))
        return real(ours, theirs)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        del scope, receive, send

    monkeypatch.setattr(guard.hmac, "compare_digest", counted)
    headers = [(b"host", b"localhost"), (b"authorization", f"Bearer {given}".encode())]
    scope: Scope = {"type": "http", "method": "POST", "path": "/ask", "headers": headers}
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    await Guard(app, Policy(tokens=(SecretStr(TOKEN), SecretStr(OTHER))))(scope, receive, send)
    assert compared == [(32, 32), (32, 32)], "digests of one length, each of them, whichever is the right one"
    assert [message["status"] for message in sent if "status" in message] == ([] if given in (TOKEN, OTHER) else [401])
