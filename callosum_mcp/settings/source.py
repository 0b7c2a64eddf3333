"""A settings file as data, with the line of every key, so that an error can say where it stands.

Above: the loader. Below: PyYAML. YAML and JSON; a key that stands twice is refused, since one of the two would be
silently lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import yaml

from callosum_mcp.errors import SettingsError

KeyPath = tuple[str | int, ...]

_MAX_BYTES = 1_048_576


@dataclass(frozen=True, slots=True)
class Source:
    """A file's data and where each part of it stands.

    Attributes:
        name: The file, for messages.
        data: Its top-level mapping.
        lines: 1-based line by path of keys and indexes.
    """

    name: str
    data: dict[str, Any] = field(default_factory=dict[str, Any])
    lines: dict[KeyPath, int] = field(default_factory=dict[KeyPath, int])

    def line(self, path: KeyPath) -> int | None:
        """The line of a path, or of the nearest part of it that stands in the file."""
        for end in range(len(path), 0, -1):
            if path[:end] in self.lines:
                return self.lines[path[:end]]
        return None

    def error(self, path: KeyPath, problem: str) -> SettingsError:
        """A settings error that names the file, the line and the key."""
        key = ".".join(str(part) for part in path)
        return SettingsError(f"{key}: {problem}" if key else problem, source=self.name, line=self.line(path))


def read_source(path: Path) -> Source:
    """Read and parse a file.

    Raises:
        SettingsError: If it cannot be read, is not YAML or JSON, or holds a key twice.
    """
    try:
        raw = path.read_bytes()
    except OSError as fault:
        raise SettingsError(f"cannot be read: {fault.strerror or fault}", source=str(path)) from fault
    if len(raw) > _MAX_BYTES:
        raise SettingsError(f"is larger than {_MAX_BYTES} bytes", source=str(path))
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise SettingsError(f"is not UTF-8 (byte {fault.start})", source=str(path)) from fault
    return parse_source(text.replace("\t", " ") if path.suffix == ".json" else text, str(path))


def parse_source(text: str, name: str) -> Source:
    """Parse a document.

    Raises:
        SettingsError: With the line, if it is not YAML or JSON, or holds a key twice.
    """
    try:
        node = cast("yaml.Node | None", yaml.compose(text, Loader=yaml.SafeLoader))  # pyright: ignore[reportUnknownMemberType]
        data: object = yaml.safe_load(text)
    except yaml.MarkedYAMLError as fault:
        line = fault.problem_mark.line + 1 if fault.problem_mark else None
        raise SettingsError(f"is not valid YAML: {fault.problem or fault.context}", source=name, line=line) from None
    except (yaml.YAMLError, ValueError, RecursionError) as fault:
        raise SettingsError(f"is not valid YAML: {fault}", source=name) from None
    if node is None or data is None:
        return Source(name)
    if not isinstance(data, dict):
        raise SettingsError("must be a mapping of sections (server, federation, stores …)", source=name, line=1)
    return Source(name, cast("dict[str, Any]", data), dict(_walk(node, (), name)))


def _walk(node: yaml.Node, path: KeyPath, name: str) -> Iterator[tuple[KeyPath, int]]:
    if isinstance(node, yaml.MappingNode):
        pairs = cast("list[tuple[yaml.Node, yaml.Node]]", node.value)
        seen: set[str] = set()
        for key, value in pairs:
            word, line = str(key.value), key.start_mark.line + 1
            if word in seen:
                raise SettingsError(f"{'.'.join(map(str, (*path, word)))}: stands twice", source=name, line=line)
            seen.add(word)
            yield (*path, word), line
            yield from _walk(value, (*path, word), name)
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(cast("list[yaml.Node]", node.value)):
            yield (*path, index), item.start_mark.line + 1
            yield from _walk(item, (*path, index), name)
