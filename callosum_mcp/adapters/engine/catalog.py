"""The presets by name.

Above: the registry, the docs. Below: `preset`, `configuring` and the files of ``presets/``. A file is read when its
preset is first asked for and not before; names are the files' names, so that a preset is added by adding a file.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, cast

import yaml
from pydantic import ValidationError

from callosum_mcp.adapters.engine.configuring import configured, faults
from callosum_mcp.adapters.engine.preset import Preset
from callosum_mcp.models.requests import nearest

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

__all__ = ["configured", "load", "names"]

_SUFFIX = ".yaml"
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast, where libyaml is there


def names() -> list[str]:
    """The name of every preset, sorted; no file is read."""
    return list(_files())


def load(name: str) -> Preset:
    """One preset, read at its first use.

    Raises:
        ValueError: If there is none of that name (with the nearest), or its file is broken (with file and field).
    """
    file = _files().get(name)
    if file is None:
        raise ValueError(f"preset {name!r} is unknown; {nearest(name, names())}")
    return _read(name, file)


@cache
def _files() -> dict[str, Traversable]:
    found = files("callosum_mcp.adapters.engine").joinpath("presets").iterdir()
    named = {file.name.removesuffix(_SUFFIX): file for file in found if file.name.endswith(_SUFFIX)}
    return {name: named[name] for name in sorted(named)}


@cache
def _read(name: str, file: Traversable) -> Preset:
    return parse(name, file.read_text(encoding="utf-8"))


def parse(name: str, text: str) -> Preset:
    """The preset that a file's text describes; its name is not in the text.

    Raises:
        ValueError: If it is not YAML, no mapping, or not a preset; with the file, and the line or every field.
    """
    file = f"preset file {name}{_SUFFIX}"
    try:
        content: object = yaml.load(text, _LOADER)
    except yaml.YAMLError as fault:
        raise ValueError(f"{file}{_line(fault)}: not YAML ({getattr(fault, 'problem', None) or fault})") from None
    if not isinstance(content, dict):
        raise ValueError(f"{file}: must be a mapping with a title, a tool or http, and extract")
    try:
        return Preset.model_validate({**cast("dict[str, object]", content), "name": name})
    except ValidationError as fault:
        raise ValueError(f"{file}: {faults(fault)}") from None


def _line(fault: yaml.YAMLError) -> str:
    mark = getattr(fault, "problem_mark", None)
    return "" if mark is None else f", line {mark.line + 1}"
