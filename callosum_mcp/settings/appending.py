"""Stores appended to the text of a settings file, everything else in it left as it is written.

Above: ``stores import``. Below: PyYAML and `source`. Pure. A file that stands as blocks gets blocks, one that stands in
brackets gets an item in its brackets, a ``.json`` file is written anew with its own indentation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from callosum_mcp.errors import SettingsError
from callosum_mcp.settings.source import parse_json, parse_source

if TYPE_CHECKING:
    import yaml

_STEP = 2
_WIDE = 1_000_000  # no line is folded
_NO_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


@dataclass(frozen=True, kw_only=True, slots=True)
class NewStore:
    """One store to append.

    Attributes:
        entry: Its keys and values, in order.
        comments: Lines to stand above it, where the file can hold comments.
    """

    entry: Mapping[str, Any]
    comments: tuple[str, ...] = field(default=())


def with_stores(text: str, name: str, stores: Sequence[NewStore]) -> str:
    """The text of a settings file with stores at the end of its ``stores``.

    Args:
        text: The file as it is.
        name: The file; its ending tells JSON from YAML.
        stores: What to append.

    Raises:
        SettingsError: If the file is no settings file, or its ``stores`` cannot be appended to where they stand.
    """
    entries = [dict(store.entry) for store in stores]
    if name.lower().endswith(".json"):
        return _json(text, name, entries)
    end = "\r\n" if "\r\n" in text else "\n"
    changed = _yaml(text.replace("\r\n", "\n"), name, stores)
    _check(text, changed, name, entries)
    return changed.replace("\n", end)


def blocks(stores: Sequence[NewStore], column: int) -> str:
    """Stores as items of a block sequence at a column, a line end after each line."""
    lines: list[str] = []
    for store in stores:
        lines += [f"# {comment}" for comment in store.comments]
        lines += _dumped(dict(store.entry)).splitlines()
    return "".join(f"{' ' * column}{line}\n" for line in lines)


def _json(text: str, name: str, entries: list[dict[str, Any]]) -> str:
    data = parse_json(text, name).data
    found = re.search(r"\n([ \t]+)\S", text)
    indent = found.group(1) if found else "  "
    return _json_text({**data, "stores": [*_listed(data, name), *entries]}, indent) + "\n"


def _yaml(text: str, name: str, stores: Sequence[NewStore]) -> str:
    import yaml

    _listed(parse_source(text, name).data, name)  # refuses what is no settings file, with the line
    root = cast("yaml.Node | None", yaml.compose(text, Loader=yaml.SafeLoader))  # pyright: ignore[reportUnknownMemberType]
    if not isinstance(root, yaml.MappingNode):
        return _ended(text) + "stores:\n" + blocks(stores, _STEP)
    pairs = cast("list[tuple[yaml.Node, yaml.Node]]", root.value)
    found = next(((key, value) for key, value in pairs if key.value == "stores"), None)
    if root.flow_style:
        return _in_brackets(text, root, found[1] if found else None, stores)
    if found is None:
        return _last_line(text, root, "stores:\n" + blocks(stores, _column(pairs) + _STEP), _column(pairs))
    key, value = found
    if value.start_mark.index < key.end_mark.index:
        raise SettingsError("stores: is an alias of another part; write the new ones by hand", source=name)
    if isinstance(value, yaml.SequenceNode) and not value.flow_style:
        column = _dash(text, value)
        return _after(text, value, column, blocks(stores, column))
    if isinstance(value, yaml.SequenceNode) and value.value:
        return _into(text, value, stores)
    return _instead(text, key, value, blocks(stores, key.start_mark.column + _STEP))


def _in_brackets(text: str, root: yaml.MappingNode, listed: yaml.Node | None, stores: Sequence[NewStore]) -> str:
    import yaml

    if isinstance(listed, yaml.SequenceNode):
        return _into(text, listed, stores)
    items = ", ".join(_inline(store) for store in stores)
    if listed is not None:
        return text[: listed.start_mark.index] + f"[{items}]" + text[listed.end_mark.index :]
    return _put(text, root, f'"stores": [{items}]')


def _into(text: str, listed: yaml.SequenceNode, stores: Sequence[NewStore]) -> str:
    return _put(text, listed, ", ".join(_inline(store) for store in stores))


def _put(text: str, node: yaml.SequenceNode | yaml.MappingNode, items: str) -> str:
    """Items after the last one between brackets; a comma that stands there already ends them."""
    if not node.value:
        at = node.start_mark.index + 1
        return text[:at] + items + text[at:]
    at = _end(node)
    return f"{text[:at]}, {items}{text[at:]}"


def _end(node: yaml.CollectionNode) -> int:
    last = node.value[-1]
    return cast("int", (last[1] if isinstance(last, tuple) else last).end_mark.index)  # pyright: ignore[reportUnknownMemberType]


def _dash(text: str, listed: yaml.SequenceNode) -> int:
    """The column of a block's dashes; where the block has an anchor, it begins before the first of them."""
    first = (
        re.compile(r"[^\n]*\n( *)-").match(text, listed.start_mark.index)
        if text[listed.start_mark.index] == "&"
        else None
    )
    return listed.start_mark.column if first is None else len(first.group(1))


def _after(text: str, node: yaml.Node, column: int, lines: str) -> str:
    """Lines after the last line of a block, and after the comments that are indented like a part of it."""
    import yaml

    last = node
    while isinstance(last, yaml.CollectionNode) and last.value and not last.flow_style:
        inner = last.value[-1]
        last = cast("yaml.Node", inner[1] if isinstance(inner, tuple) else inner)
    at = last.end_mark.index
    if at and text[at - 1 : at] != "\n":
        at = _line_end(text, at)
    while (comment := re.compile(r"( +)#[^\n]*(\n|$)").match(text, at)) and len(comment.group(1)) >= max(column, 1):
        at = comment.end()
    return _ended(text[:at]) + lines + text[at:]


def _last_line(text: str, root: yaml.MappingNode, lines: str, column: int) -> str:
    """A key after the last one of the document, at its column and before an end mark."""
    shifted = "".join(" " * column + line for line in lines.splitlines(keepends=True)[:1]) + "".join(
        lines.splitlines(keepends=True)[1:]
    )
    tail = re.search(r"^(\.\.\.|---)\s*(#.*)?$", text[_end(root) :], re.MULTILINE)
    at = len(text) if tail is None else _end(root) + tail.start()
    return _ended(text[:at]) + shifted + text[at:]


def _instead(text: str, key: yaml.Node, value: yaml.Node, lines: str) -> str:
    """Lines in place of an empty list or of nothing; a comment on that line stays."""
    start, stop = value.start_mark.index, value.end_mark.index
    if start == stop:
        start = stop = text.index(":", key.end_mark.index) + 1
    rest = _line_end(text, stop)
    return _ended(text[:start].rstrip(" ") + text[stop:rest]) + lines + text[rest:]


def _column(pairs: list[tuple[yaml.Node, yaml.Node]]) -> int:
    return cast("int", pairs[0][0].start_mark.column)


def _line_end(text: str, at: int) -> int:
    found = text.find("\n", at)
    return len(text) if found < 0 else found + 1


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"


def _inline(store: NewStore) -> str:
    return _json_text(dict(store.entry), None)


def _json_text(value: object, indent: str | None) -> str:
    """JSON that is YAML, too: it has escapes for what YAML takes for a line end or for no character at all."""
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    return _NO_YAML.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def _dumped(entry: dict[str, Any]) -> str:
    """One item of a block sequence; lists of plain values stand in brackets."""
    import yaml

    class Dumper(yaml.SafeDumper):
        def represent_list(self, data: Any) -> yaml.SequenceNode:
            plain = all(isinstance(item, str | int | float) for item in data)
            return self.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=plain)  # pyright: ignore[reportUnknownMemberType]

        def represent_str(self, data: str) -> yaml.ScalarNode:
            style = '"' if _NO_YAML.search(data) else None  # every other style takes U+0085 and the like for a line end
            return self.represent_scalar("tag:yaml.org,2002:str", data, style=style)  # pyright: ignore[reportUnknownMemberType]

    Dumper.add_representer(list, Dumper.represent_list)
    Dumper.add_representer(str, Dumper.represent_str)
    dumped: Any = yaml.dump([entry], Dumper=Dumper, sort_keys=False, allow_unicode=True, width=_WIDE)
    return str(dumped)


def _listed(data: Mapping[str, Any], name: str) -> list[Any]:
    listed: object = data.get("stores") or []
    if not isinstance(listed, list):
        raise SettingsError("stores: must be a list", source=name)
    return cast("list[Any]", listed)


def _check(old: str, new: str, name: str, entries: list[dict[str, Any]]) -> None:
    """Nothing but the new stores is different.

    Raises:
        SettingsError: If anything else is, which the shape of the file brought about.
    """
    before, after = parse_source(old, name).data, parse_source(new, name).data
    if after != {**before, "stores": [*_listed(before, name), *entries]}:
        raise SettingsError("stores cannot be appended to as it is written; write them by hand", source=name)
