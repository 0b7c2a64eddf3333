"""aiohttp behind httpx2's seam: every error is one of httpx2's, and it is loaded only for who asks often.

What it has in common with httpx2's transport is in `test_http` and `test_faults`, which run over both.
"""

from __future__ import annotations

import subprocess
import sys

import anyio
import httpx2
import pytest
from support.fake_seren import FakeSeren, serving

from callosum_mcp.adapters import transport
from callosum_mcp.adapters.http import HttpRequest, JsonHttp
from callosum_mcp.adapters.http_errors import unreachable
from callosum_mcp.errors import StoreError
from callosum_mcp.models.values import StoreSpec

aiohttp = pytest.importorskip("aiohttp", "3.12", reason="aiohttp is not installed (extra `fast`)")

ROOT = HttpRequest(method="GET", path="/")


def errors_below(cls: type[Exception]) -> set[type[Exception]]:
    return {cls}.union(*(errors_below(sub) for sub in cls.__subclasses__()))


def test_every_error_of_aiohttp_has_one_of_httpx2() -> None:
    from callosum_mcp.adapters.aio import kind_of

    for cls in errors_below(aiohttp.ClientError) | {TimeoutError, ConnectionResetError, ValueError}:
        kind = kind_of(cls)
        assert issubclass(kind, httpx2.TransportError)
        assert isinstance(unreachable(kind("x")), StoreError)


async def test_a_full_pool_makes_requests_wait() -> None:
    from callosum_mcp.adapters.aio import AiohttpTransport

    async with serving("memory") as fake:
        http = JsonHttp(_spec(fake), transport=AiohttpTransport(max_connections=1, keepalive_s=4))
        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(http.ask, ROOT)
        await http.aclose()
    assert (len(fake.requests), fake.connections) == (5, 1)


async def test_a_store_that_is_asked_often_changes_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "ASKED_BEFORE_FAST", 2)
    async with serving("memory") as fake:
        http = JsonHttp(_spec(fake))
        with anyio.fail_after(60):
            while fake.connections < 2:  # the second is aiohttp's, once it is loaded
                await http.ask(ROOT)
        await http.aclose()
    assert http.usage()["requests"] == len(fake.requests) > 2


def test_one_question_does_not_load_it() -> None:
    code = "import callosum_mcp.adapters.http, callosum_mcp.cli.commands, sys; sys.exit('aiohttp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def _spec(fake: FakeSeren) -> StoreSpec:
    return StoreSpec(name="s", type="seren_memory", url=fake.url)
