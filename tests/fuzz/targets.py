"""Where text of other people enters: each entry point as a function of bytes that does nothing or raises what is a bug.

Above: `test_targets`, by hypothesis in every run, and `run`, by atheris for as long as somebody likes. Below: the
parsers. A target lets the errors pass that its entry point promises; anything else that comes out of it is found.
"""

from __future__ import annotations

import json
import math
import tempfile
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.abc

from callosum_mcp.adapters import seren_loci, seren_memory
from callosum_mcp.adapters.engine import catalog, expressions, paths, templates
from callosum_mcp.adapters.engine.asking import calls, http_calls
from callosum_mcp.adapters.engine.escapes import Mender
from callosum_mcp.adapters.engine.frames import Inbound
from callosum_mcp.adapters.engine.plan import plan
from callosum_mcp.adapters.engine.preset import Preset
from callosum_mcp.adapters.engine.reading import ToolReply, read
from callosum_mcp.adapters.http import decode
from callosum_mcp.adapters.notes import chunk
from callosum_mcp.errors import InvalidInput, SettingsError, StoreBadReply, StoreError
from callosum_mcp.federation.overlay import Overlay
from callosum_mcp.federation.sane import sane
from callosum_mcp.models.requests import AddStoreRequest, AskRequest, FetchRequest, RecallRequest, parse
from callosum_mcp.models.values import Hit, StoreQuery
from callosum_mcp.settings import load
from callosum_mcp.settings.source import parse_json, parse_source
from callosum_mcp.surface.peer import SearchRequest
from callosum_mcp.text import clean, clean_compact_json

Target = Callable[[bytes], None]

LONGEST_S = 40.0
"""Seconds of processor time that no input of some kilobytes may take; only what goes wrong by orders is found."""

_NOW = 1_795_988_000.0
_QUESTION = StoreQuery(text="is hermes running", limit=7)
_REQUESTS = (RecallRequest, AskRequest, FetchRequest, AddStoreRequest, SearchRequest)


def seren_reply(data: bytes) -> None:
    """The body of a SerenMemory's or a SerenLoci's answer."""
    with suppress(StoreError):
        reply = decode(data)
        for parse_reply in (seren_memory.parse_search, seren_memory.parse_topics, seren_loci.parse_search):
            with suppress(StoreBadReply):
                _check(parse_reply(reply, "s").hits)
        with suppress(StoreBadReply):
            seren_memory.parse_counts(reply)


@cache
def _presets() -> tuple[Preset, ...]:
    return tuple(catalog.load(name) for name in catalog.names() if name not in ("mcp", "http"))


def engine_reply(data: bytes) -> None:
    """An answer of an engine: one preset by the first byte, a text or structured content by the second."""
    made = _presets()[(data[0] if data else 0) % len(_presets())]
    text = data[2:].decode("utf-8", "replace")
    reply = ToolReply(texts=(text,))
    if data[1:2] > b"\x7f":
        with suppress(ValueError, RecursionError):
            reply = ToolReply(structured=json.loads(text))
    try:
        _check(read(made, reply, "s", _QUESTION, now=_NOW).hits)
    except StoreError as fault:
        assert clean(str(fault)) == str(fault) and len(str(fault)) < 500


def mapping(data: bytes) -> None:
    """A path, an expression, a template or a pattern of a mapping that somebody writes, over an item."""
    text = data.decode("utf-8", "replace")
    item = {"a": [{"b": "x"}, 1, None], "id": 7, "c": {"d": math.nan}}
    with suppress(ValueError):
        paths.compiled(text).value(item, ("one",))
    with suppress(ValueError):
        expressions.compiled(text)(item, ("one",))
    with suppress(ValueError):
        templates.compiled(text, frozenset({"query", "limit"}), "args.x")


def preset(data: bytes) -> None:
    """A whole mapping, as the options of a store hold it."""
    with suppress(ValueError, SettingsError):
        given = parse_source(data.decode("utf-8", "replace"), "options").data
        base: dict[str, Any] = {"name": "made", "title": "t", "about": "a", "evidence": "documented", "example": "e"}
        made = Preset.model_validate({**base, "tool": ["find"], **given})
        plan(made)
        with suppress(StoreError):
            read(made, ToolReply(structured={"hits": [{"id": 1, "text": "a"}]}), "s", _QUESTION, now=_NOW)


def settings_text(data: bytes) -> None:
    """A settings file, YAML and JSON."""
    text = data.decode("utf-8", "replace")
    for parse_text in (parse_source, parse_json):
        with suppress(SettingsError):
            parse_text(text, "f")


def settings_file(data: bytes) -> None:
    """A settings file on disk, read to the end."""
    with _folder() as folder:
        file = folder / "callosum.yaml"
        file.write_bytes(data)
        with suppress(SettingsError):
            load(file, {"HOME": "h"}, folder)


def overlay_file(data: bytes) -> None:
    """The file of stores that were added: what cannot be used is said, and never lost."""
    with _folder() as folder:
        file = folder / "runtime-stores.json"
        file.write_bytes(data)
        overlay = Overlay(file, _no_token)
        overlay.load()
        kept = [one for one in folder.iterdir() if not one.name.endswith(".lock")]
        assert [one.read_bytes() for one in kept] == [data]


def _no_token(variable: str, entry: str) -> None:
    return


class _Chunks(anyio.abc.ByteReceiveStream):
    """Bytes in pieces of different sizes."""

    def __init__(self, data: bytes) -> None:
        size = 1 + (data[0] % 17 if data else 0)
        self._pieces = iter([data[at : at + size] for at in range(0, len(data), size)])

    async def receive(self, max_bytes: int = 65_536) -> bytes:
        piece = next(self._pieces, None)
        if piece is None:
            raise anyio.EndOfStream
        return piece

    async def aclose(self) -> None:
        return


def frames(data: bytes) -> None:
    """What an engine's process writes to its stdout."""

    async def heard() -> None:
        with suppress(anyio.EndOfStream):
            inbound = Inbound(_Chunks(data), lambda: None)
            while True:
                await inbound.receive()

    anyio.run(heard)


def escapes(data: bytes) -> None:
    """A stream of events in which half emojis are mended: nothing is lost, however it is cut."""
    mender, pieces = Mender(), [data[at : at + 7] for at in range(0, len(data), 7)]
    whole = Mender()
    assert b"".join([*(mender.fed(piece) for piece in pieces), mender.rest()]) == whole.fed(data) + whole.rest()


def request_body(data: bytes) -> None:
    """The body of a REST request, or the arguments of a tool."""
    try:
        value: object = json.loads(data)
    except (ValueError, RecursionError):
        return
    if not isinstance(value, dict):
        return
    for model in _REQUESTS:
        try:
            parse(model, cast("Mapping[str, Any]", value))
        except InvalidInput as fault:
            assert len(str(fault)) < 1_000
            clean_compact_json({"detail": str(fault), "loc": fault.field}).encode()


def note(data: bytes) -> None:
    """A file of a folder of notes."""
    text = chunk.decode(data)
    if text is not None:
        for suffix in (".md", ".rst", ".org", ".txt"):
            chunk.read_document(text, suffix)


def question(data: bytes) -> None:
    """What somebody asks, put into the words and the requests of every kind of store."""
    text = clean(data.decode("utf-8", "replace"))[:8_000].strip() or "?"
    seren_loci.wider(text)
    seren_loci.compounds(text)
    seren_loci.asked(text)
    query = StoreQuery(text=text, limit=7)
    for made in _presets():
        params = {name: "x" if param.default is None else param.default for name, param in made.params.items()}
        with suppress(StoreError):
            if made.http is None:
                calls(made, params, query, _NOW, None)
            else:
                http_calls(made, params, query, _NOW)


TARGETS: dict[str, Target] = {
    target.__name__: target
    for target in (
        seren_reply,
        engine_reply,
        mapping,
        preset,
        settings_text,
        settings_file,
        overlay_file,
        frames,
        escapes,
        request_body,
        note,
        question,
    )
}


def tried(target: Target, data: bytes) -> None:
    """Run a target, and take much too long for a bug as well."""
    began = time.process_time()
    target(data)
    took_s = time.process_time() - began
    assert took_s < LONGEST_S, f"{took_s:.1f} s for {len(data)} bytes"


def _check(hits: Sequence[Hit]) -> None:
    for hit in hits:
        assert sane(hit, "s") == hit


@contextmanager
def _folder() -> Generator[Path]:
    with tempfile.TemporaryDirectory(prefix="callosum-fuzz-") as name:
        yield Path(name)
