"""Where one set of settings comes from: a file, the environment over it, the folder of the process.

Above: the loader and what it is made of. Below: source. Every error about a value names the variable that gave it, else
its place in the file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from callosum_mcp.errors import SettingsError
from callosum_mcp.settings.source import KeyPath, Source

Changes = Mapping[KeyPath, tuple[str, Any]]
"""Settings out of the environment: path → (variable, value)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """What a value of the settings can come from.

    Attributes:
        file: The settings file, if there is one.
        source: Its data and lines.
        environ: The environment.
        changes: What the environment sets over the file.
        cwd: The current folder.
    """

    file: Path | None
    source: Source
    environ: Mapping[str, str] = field(repr=False)
    changes: Changes = field(repr=False)
    cwd: Path

    def error(self, path: KeyPath, problem: str) -> SettingsError:
        """An error that names the variable the value came from, else its place in the file."""
        if path in self.changes:
            return SettingsError(problem, source=f"variable {self.changes[path][0]}")
        return self.source.error(path, problem)

    def place(self, path: KeyPath, name: str) -> Path:
        """A file that a setting names: beside the settings file, or in the current folder if a variable named it."""
        beside = self.cwd if self.file is None or path in self.changes else self.file.parent
        return Path(beside, os.path.expanduser(name))
