"""Two memories on real sockets, for the tests of settings that change."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from tests.cli.shell import FakeMemory, hit, serving


@pytest.fixture
def a() -> Generator[FakeMemory]:
    with serving(FakeMemory(hits=[hit("a1", "Hermes is the relay.")])) as found:
        yield found


@pytest.fixture
def b() -> Generator[FakeMemory]:
    with serving(FakeMemory(hits=[hit("b1", "Hermes listens on 8080.")])) as found:
        yield found
