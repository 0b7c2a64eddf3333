"""Shared by the tests of the surfaces: one world and one HTTP server per module."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator

import pytest
from mcp.client.client import Client

from .world import Served, World, connected, http_target, served, sse_target, stdio_target, world_in

WAYS = [(transport, mode) for transport in ("stdio", "http", "sse") for mode in ("auto", "legacy")]


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Generator[World]:
    with world_in(tmp_path_factory.mktemp("world")) as found:
        yield found


@pytest.fixture(scope="module")
def server(world: World) -> Generator[Served]:
    with served(world.application()) as running:
        yield running


@pytest.fixture(scope="module", params=WAYS, ids=[f"{transport}-{mode}" for transport, mode in WAYS])
async def client(request: pytest.FixtureRequest, world: World, server: Served) -> AsyncGenerator[Client]:
    """A client over each transport, of each protocol era."""
    transport, mode = request.param
    targets = {
        "stdio": lambda: stdio_target(["serve", "--config", str(world.config)]),
        "http": lambda: http_target(server.url),
        "sse": lambda: sse_target(server.url),
    }
    async with connected(targets[transport](), mode) as opened:
        yield opened
