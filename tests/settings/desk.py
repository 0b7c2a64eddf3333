"""A desk for settings: a folder that is the current one, a folder of the user's, and what loading gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from callosum_mcp.app import Application, build
from callosum_mcp.errors import SettingsError
from callosum_mcp.settings import Loaded, load


@dataclass(frozen=True, kw_only=True)
class Desk:
    """Where settings are looked for."""

    cwd: Path
    user: Path
    environ: dict[str, str] = field(default_factory=dict[str, str])

    def write(self, text: str, name: str = "callosum.yaml", *, user: bool = False) -> Path:
        folder = self.user if user else self.cwd
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def load(self, explicit: Path | None = None, environ: Mapping[str, str] | None = None) -> Loaded:
        return load(explicit, self.environ if environ is None else environ, self.cwd)

    def build(self) -> Application:
        return build(self.load())

    def error(self, explicit: Path | None = None, environ: Mapping[str, str] | None = None) -> SettingsError:
        """What is said about settings that cannot be used."""
        with pytest.raises(SettingsError) as caught:
            build(self.load(explicit, environ))
        return caught.value
