"""What becomes of each server: a store to append, or the reason why not.

Above: the command. Below: `entries`, `recognising`. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path, PurePath
from typing import Any, Literal
from urllib.parse import urlsplit

from callosum_mcp.adapters.engine.advertised import Advertised
from callosum_mcp.adapters.engine.preset import Preset
from callosum_mcp.adapters.transport import is_loopback
from callosum_mcp.cli.importing.clients import Server
from callosum_mcp.cli.importing.entries import Entry
from callosum_mcp.cli.importing.looking import Look
from callosum_mcp.cli.importing.recognising import recognised
from callosum_mcp.models.values import StoreSpec
from callosum_mcp.settings.appending import NewStore

State = Literal["new", "fill in", "unknown", "failed", "left out"]

_OWN = "callosum"
_OWN_TOOLS = frozenset({"recall", "ask", "list_stores", "add_store", "configure"})
_NATIVE = {
    "seren_memory": frozenset({"preserve_memory_verbatim", "look_at_memory", "where_else"}),
    "seren_loci": frozenset({"search_loci", "fact_history", "still_holds"}),
}
"""Store types of our own, and tools that only such a server has."""

_ENDPOINT = re.compile(r"/(mcp|sse)/?$")
_TOOLS_SHOWN = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What becomes of one server.

    Attributes:
        name: What its client calls it.
        state: ``new`` is appended; ``fill in`` would be, with more options; the others are not.
        said: For a person, one line.
        type: Store type, where one was recognised.
        entry: The store's keys, but for its name.
    """

    name: str
    state: State
    said: str
    type: str = ""
    entry: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def store(self, name: str, file: Path) -> NewStore:
        """The store under a name of its own."""
        return NewStore(entry={"name": name, **self.entry}, comments=(f"from {file}: {self.said}",))


def place_of(spec: StoreSpec) -> tuple[object, ...]:
    """What makes two stores the same one: the URL without its endpoint, or the command with its variables."""
    how = spec.transport
    url = _ENDPOINT.sub("", spec.url).rstrip("/")
    return (url,) if url or how is None else (how.command, how.args, tuple(sorted(how.env.items())))


def is_this_program(server: Server, settings: Path | None) -> bool:
    """Whether a server is started as callosum-mcp with the settings that are written to."""
    words = [server.command, *server.args]
    if "connect" in server.args or not any(_program(word) for word in words):
        return False
    named = next((after for word, after in pairwise(words) if word in ("--config", "-c")), None)
    named = named or server.env.get("CALLOSUM_CONFIG")
    return not named or settings is None or Path(named).expanduser().resolve() == settings.resolve()


def _program(word: str) -> bool:
    return PurePath(word).name.removesuffix(".exe") in ("callosum-mcp", "callosum_mcp")


def decided(entry: Entry, look: Look, presets: Sequence[Preset], ports: Collection[int]) -> Verdict:
    """The verdict on a server that was asked.

    Args:
        entry: The server.
        look: What it said.
        presets: Every preset.
        ports: Where this program listens, when it does.
    """
    name = entry.server.name
    if look.advertised is None:
        reason = "" if look.fault is None else f"{look.fault.reason}: {look.fault}"
        return Verdict(name=name, state="failed", said=reason)
    keys = dict(entry.entry) | ({"transport": {"type": "sse"}} if look.sse else {})
    url = entry.spec.url if entry.spec is not None else ""
    if look.advertised.tools.keys() >= _OWN_TOOLS and _is_here(url, ports):
        return Verdict(name=name, state="left out", said="is callosum-mcp itself")
    for native, tools in _NATIVE.items():
        if look.advertised.tools.keys() >= tools:
            return _native(name, native, keys)
    return _of_preset(name, look.advertised, keys, presets)


def _is_here(url: str, ports: Collection[int]) -> bool:
    return bool(url) and is_loopback(url) and (urlsplit(url).port or 80) in ports


def _native(name: str, kind: str, keys: Mapping[str, Any]) -> Verdict:
    if "url" not in keys:
        said = f"is a {kind} server; name the URL of its HTTP side by hand"
        return Verdict(
            name=name, state="fill in", said=said, type=kind, entry={"type": kind, "url": "http://127.0.0.1:PORT"}
        )
    rest = {key: value for key, value in keys.items() if key not in ("url", "transport")}
    entry = {"type": kind, "url": _ENDPOINT.sub("", str(keys["url"])), **rest}
    return Verdict(name=name, state="new", said="recognised by its tools", type=kind, entry=entry)


def _of_preset(name: str, advertised: Advertised, keys: Mapping[str, Any], presets: Sequence[Preset]) -> Verdict:
    found = recognised(advertised, presets)
    if not found.type:
        return Verdict(name=name, state="unknown", said=_unknown(advertised))
    others = f"; also {', '.join(found.others)}" if found.others else ""
    entry: dict[str, Any] = {"type": found.type, **keys}
    if not found.missing:
        return Verdict(name=name, state="new", said=f"recognised by its tools{others}", type=found.type, entry=entry)
    entry["options"] = {option: f"<{option}>" for option in found.missing}
    said = f"recognised, but needs {', '.join(found.missing)} under options{others}"
    return Verdict(name=name, state="fill in", said=said, type=found.type, entry=entry)


def _unknown(advertised: Advertised) -> str:
    names = sorted(advertised.tools)
    if not names:
        return "offers no tools"
    more = f" and {len(names) - _TOOLS_SHOWN} more" if len(names) > _TOOLS_SHOWN else ""
    return f"no preset fits its tools ({', '.join(names[:_TOOLS_SHOWN])}{more}); type mcp asks any, see docs/presets.md"
