"""Fixtures of the settings' tests."""

from __future__ import annotations

from pathlib import Path

import platformdirs
import pytest

from .desk import Desk


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """An empty desk, far from the settings of whoever runs the tests."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    cwd = tmp_path / "work"
    cwd.mkdir()
    return Desk(cwd=cwd, user=platformdirs.user_config_path("callosum-mcp", appauthor=False))
