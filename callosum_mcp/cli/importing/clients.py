"""The servers in one client's file, whichever client's it is.

Above: the command. Below: `jsonc`. Pure. Clients agree on little but ``command`` and ``url``: the root is
``mcpServers`` or ``servers``, a type is named or follows from what is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, cast

from callosum_mcp.cli.importing.jsonc import parse

Kind = Literal["stdio", "sse", "http"]

_KINDS: dict[str, Kind] = {
    "stdio": "stdio",
    "local": "stdio",
    "sse": "sse",
    "http": "http",
    "streamable-http": "http",
    "streamablehttp": "http",
    "streamable_http": "http",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Server:
    """One server as a client has it, its text unchanged.

    Attributes:
        name: Its name there.
        kind: How it is reached; None if its file does not tell SSE from Streamable HTTP.
        command: Program (``stdio``).
        args: Its arguments.
        env: Its variables; may hold secrets.
        cwd: Folder it is started in; "" where the file names none.
        url: Where it listens.
        headers: What every request carries; may hold secrets.
        remarks: What of it cannot be taken over.
    """

    name: str
    kind: Kind | None
    command: str = ""
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    cwd: str = ""
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Listed:
    """What a file holds.

    Attributes:
        servers: Those that can be asked.
        left_out: Name of each of the others, and why.
    """

    servers: tuple[Server, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()


class NoServersError(ValueError):
    """The file may be one of a client, but no place in it lists servers."""


def read(text: str, folder: Path) -> Listed:
    """The servers of a file.

    Args:
        text: The file.
        folder: The project, for files that hold a section for each.

    Raises:
        NoServersError: If nothing in it lists servers.
        ValueError: If it is not JSON.
    """
    root = parse(text)
    if not isinstance(root, dict):
        raise ValueError("is not an object")
    sections = list(_sections(cast("dict[str, object]", root), folder))
    if not sections:
        raise NoServersError("holds neither mcpServers nor servers")
    servers: dict[str, Server] = {}
    left_out: list[tuple[str, str]] = []
    for section in sections:
        for name, entry in section.items():
            try:
                servers.setdefault(name, server(name, entry))
            except ValueError as fault:
                left_out.append((name, str(fault)))
    return Listed(servers=tuple(servers.values()), left_out=tuple(left_out))


def _sections(root: Mapping[str, object], folder: Path) -> Iterator[Mapping[str, object]]:
    """The mappings of names to servers; a project's own before the ones for all."""
    for at, project in _mapping(root.get("projects")).items():
        if Path(at) == folder:
            yield from _sections(_mapping(project), folder)
    for holder in (root, _mapping(root.get("mcp"))):
        for key in ("mcpServers", "servers"):
            if isinstance(holder.get(key), dict):
                yield _mapping(holder[key])


def server(name: str, entry: object) -> Server:
    """One server out of its entry.

    Raises:
        ValueError: If it is switched off, or says no way to reach it.
    """
    if not isinstance(entry, dict):
        raise ValueError("is not an object")
    given = cast("dict[str, object]", entry)
    if given.get("disabled") is True or given.get("enabled") is False:
        raise ValueError("is switched off there")
    url = next((text for key in ("url", "serverUrl", "httpUrl") if (text := _text(given.get(key)))), "")
    command, *more = _words(given.get("command")) or [""]
    if not url and not command:
        raise ValueError("names neither a command nor a url")
    return Server(
        name=name,
        kind=_kind(given, url),
        command="" if url else command,
        args=(*more, *_words(given.get("args"))),
        env=_texts(given.get("env")),
        cwd=_text(given.get("cwd")),
        url=url,
        headers=_texts(given.get("headers")),
        remarks=("its envFile is not read",) if given.get("envFile") else (),
    )


def _kind(given: Mapping[str, object], url: str) -> Kind | None:
    named = _text(given.get("type") or given.get("transport")).lower()
    if not url:
        return "stdio"
    kind = _KINDS.get(named)
    return None if kind == "stdio" else kind


def _words(value: object) -> list[str]:
    """A list as its texts, a text as one word."""
    if isinstance(value, list):
        return [_text(item) for item in cast("list[object]", value)]
    word = _text(value)
    return [word] if word else []


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int | float) else ""


def _texts(value: object) -> dict[str, str]:
    return {key: _text(item) for key, item in _mapping(value).items()}


def _mapping(value: object) -> Mapping[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}
