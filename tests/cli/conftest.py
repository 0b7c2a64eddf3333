"""Fixtures of the command line's tests."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path

import pytest

from .shell import FakeMemory, Shell, dead_url, hit, serving


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    """A shell in an empty folder, far from the settings and caches of whoever runs the tests."""
    for name in os.environ:
        if name.startswith(("CALLOSUM_", "SEREN_")):
            monkeypatch.delenv(name)
    for name, folder in (("HOME", "home"), ("XDG_CONFIG_HOME", "config"), ("XDG_CACHE_HOME", "cache")):
        monkeypatch.setenv(name, str(tmp_path / folder))
    cwd = tmp_path / "work"
    cwd.mkdir()
    monkeypatch.chdir(cwd)
    return Shell(cwd=cwd, capsys=capsys)


@pytest.fixture
def memory() -> Generator[FakeMemory]:
    """A SerenMemory that holds two memories."""
    held = FakeMemory(hits=[hit("m1", "Hermes is active", ts=1_700_000_000), hit("m2", "Atlas sleeps")])
    with serving(held):
        yield held


@pytest.fixture
def nobody() -> Generator[str]:
    """A URL that refuses connections."""
    with dead_url() as url:
        yield url
