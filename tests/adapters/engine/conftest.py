"""Engines to connect to: a small one on stdin and stdout, and a real one of the SDK behind HTTP and SSE."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from .engines import Network, network


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def served() -> Generator[Network]:
    """An engine of the SDK behind SSE and Streamable HTTP, in a process of its own."""
    with network() as running:
        yield running


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Where a small engine writes what it was asked."""
    return tmp_path / "log.jsonl"
