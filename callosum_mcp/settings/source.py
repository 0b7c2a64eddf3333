"""A settings file as data, with the line of every key, so that an error can say where it stands.

Above: the loader. Below: PyYAML. YAML and JSON; a key that stands twice is refused, since one of the two would be
silently lost.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from callosum_mcp.errors import SettingsError
from callosum_mcp.text import one_line

if TYPE_CHECKING:
    import yaml

KeyPath = tuple[str | int, ...]

_MAX_BYTES = 1_048_576
_MAX_DEPTH = 64
_MAX_KEYS = 100_000  # YAML's anchors let a short file stand for an endless one


@dataclass(frozen=True, slots=True)
class Source:
    """A file's data and where each part of it stands.

    Attributes:
        name: The file, for messages.
        data: Its top-level mapping.
        lines: 1-based line by path of keys and indexes.
    """

    name: str
    data: dict[str, Any] = field(default_factory=dict[str, Any], repr=False)  # may hold tokens
    lines: dict[KeyPath, int] = field(default_factory=dict[KeyPath, int], repr=False)

    def line(self, path: KeyPath) -> int | None:
        """The line of a path, or of the nearest part of it that stands in the file."""
        for end in range(len(path), 0, -1):
            found = self.lines.get(path[:end]) or self.lines.get((*path[: end - 1], str(path[end - 1])))
            if found is not None:
                return found
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
    return parse_json(text, str(path)) if path.suffix.lower() == ".json" else parse_source(text, str(path))


def parse_json(text: str, name: str) -> Source:
    """Parse a JSON document: YAML's reader gives the lines, JSON's the values (tabs, ``\\/``, surrogate pairs).

    Raises:
        SettingsError: With the line, if it is not JSON, or holds a key twice.
    """
    try:
        data: object = json.loads(text) if text.strip() else None
    except json.JSONDecodeError as fault:
        raise SettingsError(f"is not valid JSON: {fault.msg}", source=name, line=fault.lineno) from None
    except (ValueError, RecursionError) as fault:
        raise SettingsError(f"is not valid JSON: {fault}", source=name) from None
    source = parse_source(text.replace("\t", " ").replace("\\/", "/"), name)
    return Source(name, cast("dict[str, Any]", data), source.lines) if source.data else source


def parse_source(text: str, name: str) -> Source:
    """Parse a document.

    Raises:
        SettingsError: With the line, if it is not YAML or JSON, or holds a key twice.
    """
    import yaml  # 30 ms that a start without a settings file need not pay

    try:
        node = cast("yaml.Node | None", yaml.compose(text, Loader=yaml.SafeLoader))  # pyright: ignore[reportUnknownMemberType]
        data: object = yaml.safe_load(text)
    except yaml.MarkedYAMLError as fault:
        line = fault.problem_mark.line + 1 if fault.problem_mark else None
        raise SettingsError(f"is not valid YAML: {fault.problem or fault.context}", source=name, line=line) from None
    except (yaml.YAMLError, ValueError, RecursionError) as fault:
        raise SettingsError(f"is not valid YAML: {one_line(str(fault))}", source=name) from None
    if node is None or data is None:
        return Source(name)
    if not isinstance(data, dict):
        raise SettingsError("must be a mapping of sections (server, federation, stores …)", source=name, line=1)
    return Source(name, cast("dict[str, Any]", data), _lines(node, name))


def _lines(node: yaml.Node, name: str) -> dict[KeyPath, int]:
    lines: dict[KeyPath, int] = {}
    for path, line in _walk(node, (), name):
        lines[path] = line
        if len(path) > _MAX_DEPTH or len(lines) > _MAX_KEYS:
            problem = f"holds more than {_MAX_KEYS} keys or {_MAX_DEPTH} levels, its anchors followed"
            raise SettingsError(problem, source=name, line=line)
    return lines


def _walk(node: yaml.Node, path: KeyPath, name: str) -> Iterator[tuple[KeyPath, int]]:
    import yaml

    if isinstance(node, yaml.MappingNode):
        pairs = cast("list[tuple[yaml.Node, yaml.Node]]", node.value)
        seen: set[str] = set()
        for key, value in pairs:
            word, line = str(key.value), key.start_mark.line + 1  # as written: a number, too
            if word in seen:
                raise SettingsError(f"{'.'.join(map(str, (*path, word)))}: stands twice", source=name, line=line)
            seen.add(word)
            yield (*path, word), line
            yield from _walk(value, (*path, word), name)
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(cast("list[yaml.Node]", node.value)):
            yield (*path, index), item.start_mark.line + 1
            yield from _walk(item, (*path, index), name)
