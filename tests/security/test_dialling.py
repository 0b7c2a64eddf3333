"""A connection goes to the address that was checked, and to no other: names that change, redirects, proxies."""

from __future__ import annotations

import socket
import ssl
import subprocess
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.streams.tls
import httpx2
import pytest
from support.data import running
from support.fake_seren import FakeSeren, serving
from surface.world import served, world_in

from callosum_mcp.adapters import dialling, transport
from callosum_mcp.adapters.dialling import Dialler, system_lookup
from callosum_mcp.adapters.http import HttpRequest, JsonHttp
from callosum_mcp.errors import AllStoresFailed, StoreError, StoreRefused
from callosum_mcp.federation.stores import Store
from callosum_mcp.models.hosts import HostRules, rules_of
from callosum_mcp.models.requests import RecallRequest
from callosum_mcp.models.results import RecallResult
from callosum_mcp.models.values import StoreSpec
from callosum_mcp.surface.guard import Policy

from .names import resolving

HERE, METADATA = ["127.0.0.1"], ["169.254.169.254"]
ROOT = HttpRequest(method="GET", path="/")
RULES = rules_of(["store.example"])


@pytest.fixture
async def fake() -> AsyncGenerator[FakeSeren]:
    async with serving("memory") as store:
        yield store


def port_of(url: str) -> str:
    return url.rpartition(":")[2]


def managed(url: str, kind: str = "seren_memory", rules: HostRules = RULES) -> StoreSpec:
    return StoreSpec(name="s", type=kind, url=url, managed=True, hosts=rules)


def carriers() -> list[str]:
    return ["httpx2", "aiohttp"]


def fast(url: str, rules: HostRules) -> httpx2.AsyncBaseTransport:
    return transport.fast_transport(rules)


@pytest.fixture(params=carriers())
def carrier(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to carry a request; the second takes over for stores that are asked often."""
    if request.param == "aiohttp":
        pytest.importorskip("aiohttp", "3.12", reason="aiohttp is not installed (extra `fast`)")
        monkeypatch.setattr(transport, "checked_transport", fast)
    return request.param


@pytest.mark.promise("6c")
async def test_the_checked_address_is_the_one_dialled_and_the_name_stays_in_the_request(
    fake: FakeSeren, carrier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = resolving(monkeypatch, HERE)
    http = JsonHttp(managed(f"http://store.example:{port_of(fake.url)}"))
    await http.ask(ROOT)
    await http.ask(ROOT)
    await http.aclose()
    assert names.asked == ["store.example"]  # once for the one connection; nothing else knows this name
    assert [asked.headers["host"] for asked in fake.requests] == [f"store.example:{port_of(fake.url)}"] * 2


@pytest.mark.promise("6c", "P47")
@pytest.mark.parametrize("later", [METADATA, ["0.0.0.0"], ["127.0.0.1", "fe80::1"], ["::ffff:169.254.169.254"]])
async def test_a_name_that_leads_elsewhere_later_is_not_followed(
    fake: FakeSeren, carrier: str, monkeypatch: pytest.MonkeyPatch, later: list[str]
) -> None:
    names = resolving(monkeypatch, HERE)
    http = JsonHttp(managed(f"http://store.example:{port_of(fake.url)}"))
    await http.ask(ROOT)
    await http.aclose()
    names.then(later)
    with pytest.raises(StoreRefused, match=r"^not connected: host 'store.example' leads to .* only if security"):
        await http.ask(ROOT)
    await http.aclose()
    assert len(fake.requests) == 1


async def test_a_name_of_this_machine_that_leads_elsewhere_is_not_followed(
    fake: FakeSeren, carrier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolving(monkeypatch, ["10.0.0.1"])
    http = JsonHttp(managed(f"http://localhost:{port_of(fake.url)}"))
    with pytest.raises(StoreRefused, match=r"^not connected: host 'localhost' leads to 10.0.0.1, which is not this"):
        await http.ask(ROOT)
    await http.aclose()


@pytest.mark.promise("6d")
@pytest.mark.parametrize("host", ["169.254.169.254", "2852039166", "other.example", "10.0.0.1", "evil.example%00"])
async def test_a_url_that_got_past_every_check_is_still_not_dialled(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    names = resolving(monkeypatch, HERE)
    http = JsonHttp(managed(f"http://{host}:9"))
    with pytest.raises(StoreError):
        await http.ask(ROOT)
    await http.aclose()
    assert names.asked == []


async def test_a_dead_address_gives_way_to_the_next(fake: FakeSeren, monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, ["127.0.0.2", "127.0.0.1"])
    async with serving("memory") as gone:
        dead = port_of(gone.url)
    http = JsonHttp(managed(f"http://store.example:{port_of(fake.url)}"))
    await http.ask(ROOT)
    await http.aclose()
    http = JsonHttp(managed(f"http://store.example:{dead}"))
    with pytest.raises(StoreRefused, match="nothing listens"):
        await http.ask(ROOT)
    await http.aclose()


async def test_a_name_that_nobody_knows_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, [])
    rules = rules_of(["nobody.invalid"])
    http = JsonHttp(managed("http://nobody.invalid:9", rules=rules))
    with pytest.raises(StoreRefused, match=r"^its host name is unknown$"):
        await http.ask(ROOT)
    await http.aclose()


async def test_a_look_up_that_finds_nothing_is_no_address() -> None:
    async def nothing(host: str) -> list[str]:
        return []

    with pytest.raises(OSError, match="has no address"):
        await Dialler(RULES, nothing).addresses("store.example")


async def test_the_system_is_asked_for_each_address_once() -> None:
    assert "127.0.0.1" in await system_lookup("localhost")
    assert await system_lookup("127.0.0.1") == ["127.0.0.1"]


@pytest.mark.promise("6e")
async def test_a_redirect_is_not_followed(fake: FakeSeren, carrier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, HERE)
    fake.mode = "redirect"
    http = JsonHttp(managed(f"http://store.example:{port_of(fake.url)}"))
    with pytest.raises(StoreError, match="redirects"):
        await http.ask(ROOT)
    await http.aclose()
    assert len(fake.requests) == 1


async def test_no_proxy_is_asked(fake: FakeSeren, monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, HERE)
    for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(variable, "http://127.0.0.1:1")
    http = JsonHttp(managed(f"http://store.example:{port_of(fake.url)}"))
    await http.ask(ROOT)
    await http.aclose()
    assert len(fake.requests) == 1


async def test_a_store_of_the_settings_file_is_not_restricted(fake: FakeSeren, monkeypatch: pytest.MonkeyPatch) -> None:
    names = resolving(monkeypatch, METADATA)
    http = JsonHttp(StoreSpec(name="s", type="seren_memory", url=fake.url))
    await http.ask(ROOT)
    await http.aclose()
    assert names.asked == []


def certificate(folder: Path) -> Path:
    pem = folder / "store.pem"
    subject = ["-subj", "/CN=store.example", "-addext", "subjectAltName=DNS:store.example"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject]
    subprocess.run([*command, "-keyout", str(pem), "-out", str(folder / "cert.pem")], check=True, capture_output=True)
    pem.write_bytes(pem.read_bytes() + (folder / "cert.pem").read_bytes())
    return pem


async def test_tls_is_spoken_with_the_name_and_not_with_the_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pem = certificate(tmp_path)
    named: list[str | None] = []
    there = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    there.load_cert_chain(pem)
    there.sni_callback = lambda connection, name, context: named.append(name)
    trusting = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
    monkeypatch.setattr(httpx2, "create_ssl_context", lambda: trusting)
    names = resolving(monkeypatch, HERE)
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(anyio.abc.SocketAttribute.local_port)

    async def answer(stream: anyio.abc.ByteStream) -> None:
        async with await anyio.streams.tls.TLSStream.wrap(
            stream, server_side=True, ssl_context=there, standard_compatible=False
        ) as secure:
            await secure.receive()
            await secure.send(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")

    async with listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, answer)
        http = JsonHttp(managed(f"https://store.example:{port}"))
        assert await http.ask(ROOT) == {}
        await http.aclose()
        group.cancel_scope.cancel()
    assert (named, names.asked) == (["store.example"], ["store.example"])


@pytest.mark.promise("6c")
@pytest.mark.parametrize("path", ["/mcp", "/sse"])
async def test_an_engine_behind_mcp_is_dialled_the_same_way(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = resolving(monkeypatch, HERE)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    with world_in(tmp_path) as world, served(world.application(), Policy(hosts=frozenset({"store.example"}))) as there:
        spec = managed(f"http://store.example:{port_of(there.url)}{path}", "server-memory")
        assert (await failing(spec)).startswith("its server has no tool search_nodes")
        assert set(names.asked) == {"store.example"}
        names.then(METADATA)
        said = await failing(spec)
    assert said.startswith("not connected: host 'store.example' leads to 169.254.169.254, the metadata service")


async def failing(spec: StoreSpec, seconds: float = 20) -> str:
    """What the status of a store says that cannot answer."""
    async with running(Store.of(spec), deadline_s=seconds, per_store_timeout_s=seconds) as asking:
        with pytest.raises(AllStoresFailed) as failed:
            await asking.recall(RecallRequest(query="Hermes"))
    assert isinstance(failed.value.answer, RecallResult)
    (engine,) = failed.value.answer.engines
    return engine.detail or ""


@pytest.mark.promise("6e")
async def test_an_sse_engine_that_names_another_place_for_messages_is_not_followed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as elsewhere:
        elsewhere.setblocking(False)
        target = f"http://127.0.0.1:{elsewhere.getsockname()[1]}/admin"
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
        port = listener.extra(anyio.abc.SocketAttribute.local_port)

        async def answer(stream: anyio.abc.ByteStream) -> None:
            async with stream:
                await stream.receive()
                head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
                await stream.send(head + f"event: endpoint\ndata: {target}\n\n".encode())

        async with listener, anyio.create_task_group() as group:
            group.start_soon(listener.serve, answer)
            spec = managed(f"http://127.0.0.1:{port}/sse", "server-memory")
            assert await failing(spec, seconds=0.5)
            group.cancel_scope.cancel()
        with pytest.raises(BlockingIOError):
            elsewhere.accept()


def test_the_seam_of_the_client_is_where_it_is_expected() -> None:
    """Were the pool kept elsewhere in a later httpx2, every connection would go unchecked: refuse to start instead."""
    made = dialling.CheckedTransport(Dialler(RULES), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), httpx2.Limits())
    backend = cast("Any", made)._pool._network_backend
    assert isinstance(backend, dialling.CheckedBackend)
