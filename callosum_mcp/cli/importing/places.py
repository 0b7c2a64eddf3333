"""Where clients keep the servers they are set up with.

Above: the command. Below: nothing. Pure: paths are named, not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A file that a client may have.

    Attributes:
        path: The file.
        client: Whose it is.
        project: The folder whose file it is; None for a file of the user's own.
        named: Somebody named it on the command line.
    """

    path: Path
    client: str
    project: Path | None = None
    named: bool = False

    @property
    def trusted(self) -> bool:
        """Whether a program in it may be started unasked: whoever wrote a project's file may be a stranger."""
        return self.named or self.project is None

    @property
    def folder(self) -> Path:
        """What relative paths and ``${workspaceFolder}`` in it mean."""
        return self.project or self.path.parent


_IN_PROJECT = ((".mcp.json", "Claude Code"), (".vscode/mcp.json", "VS Code"), (".vs/mcp.json", "Visual Studio"))


def places(cwd: Path, home: Path, platform: str, environ: Mapping[str, str]) -> list[Place]:
    """Every place looked at when no file is named: those of the current folder, then the user's own."""
    here = [Place(path=cwd / name, client=client, project=cwd) for name, client in _IN_PROJECT]
    return [*here, *(Place(path=path, client=client) for path, client in _own(home, platform, environ))]


def named(path: Path) -> Place:
    """The place of a file named on the command line."""
    folder = path.parent
    if folder.name in (".vscode", ".vs"):
        return Place(path=path, client=path.name, project=folder.parent, named=True)
    return Place(path=path, client=path.name, project=folder if path.name == ".mcp.json" else None, named=True)


def _own(home: Path, platform: str, environ: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    programs = _programs(home, platform, environ)
    yield home / ".claude.json", "Claude Code"
    yield programs / "Claude" / "claude_desktop_config.json", "Claude Desktop"
    yield Path(environ.get("COPILOT_HOME") or home / ".copilot") / "mcp-config.json", "Copilot CLI"
    yield programs / "Code" / "User" / "mcp.json", "VS Code"
    yield _jetbrains(home, platform, environ) / "github-copilot" / "intellij" / "mcp.json", "Copilot for JetBrains"
    yield home / ".mcp.json", "Visual Studio"


def _programs(home: Path, platform: str, environ: Mapping[str, str]) -> Path:
    """Where programs with a window keep their settings."""
    if platform == "win32":
        return Path(environ.get("APPDATA") or home / "AppData" / "Roaming")
    if platform == "darwin":
        return home / "Library" / "Application Support"
    return Path(environ.get("XDG_CONFIG_HOME") or home / ".config")


def _jetbrains(home: Path, platform: str, environ: Mapping[str, str]) -> Path:
    if platform == "win32":
        return Path(environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    return Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
