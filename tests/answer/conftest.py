"""Shared by the tests of answers: the Hermes world, and a model server."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from .model_server import ModelServer, model_server


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def model() -> Generator[ModelServer]:
    with model_server() as running:
        yield running
