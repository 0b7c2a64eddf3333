"""The presets that come with the package: each complete, usable as its example says, and able to read only."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError
from support.replay_engine import DATA

from callosum_mcp.adapters.engine import catalog
from callosum_mcp.adapters.engine.preset import HttpCall, Preset
from callosum_mcp.settings.model import StoreSection

FOLDER = Path(catalog.__file__).with_name("presets")
GENERIC = {"mcp", "http"}
"""Presets whose mapping stands in the store's options."""

WRITES = re.compile(
    r"add|create|delete|update|write|store|insert|remove|replace|rename|edit|mark|import|capture|ingest|cite|resolve|"
    r"index|upsert|put|patch|clear|reset|save|execute|shell"
)
POSTED = {
    "/v1/recall",
    "/api/v4/graphs/{graph}/search/edges",
    "/{index}/_search",
    "/collections/{collection}/points/scroll",
    "/indexes/{index}/search",
    "/search/",
}
"""Paths that take a search as a POST, looked at one by one."""

RECORDED = {
    "serena.find_symbol": "serena",
    "serena.references": "serena",
    "serena.pattern": "serena-sse",
    "graphiti.facts": "graphiti",
    "graphiti.nodes": "graphiti",
}
"""Folders of recorded replies that are not named like their preset."""

PRESETS = [catalog.load(name) for name in catalog.names()]


def _ids(preset: object) -> str:
    return preset.name if isinstance(preset, Preset) else ""


each = pytest.mark.parametrize("preset", PRESETS, ids=_ids)


def example_of(preset: Preset) -> StoreSection:
    (store,) = yaml.safe_load(preset.example)
    return StoreSection.model_validate(store)


def _calls(preset: Preset) -> Iterator[tuple[list[str], Mapping[str, Any], HttpCall | None]]:
    yield preset.tool, preset.args, preset.http
    for second in (preset.enrich, preset.fetch):
        if second is not None:
            yield [] if second.tool is None else [second.tool], second.args, second.http
    if preset.discover is not None:
        yield [preset.discover.tool], preset.discover.args, None


def test_the_names_are_those_of_the_files_in_order() -> None:
    assert catalog.names() == sorted(file.stem for file in FOLDER.glob("*.yaml"))
    assert [preset.name for preset in PRESETS] == catalog.names()


@each
def test_a_preset_says_everything_that_the_docs_show(preset: Preset) -> None:
    assert preset.title and preset.about.endswith((".", ")")) and preset.example.startswith("- name: ")
    assert preset.side_effects == "none" or preset.changes != "nothing"
    assert not (preset.evidence == "template") or preset.changes.startswith("unknown")
    assert all(param.description.endswith((".", "…")) for param in preset.params.values())


@each
def test_the_example_of_a_preset_is_a_store_that_is_taken(preset: Preset) -> None:
    store = example_of(preset)
    transport: Mapping[str, Any] = yaml.safe_load(preset.example)[0].get("transport", {})

    changed, values = catalog.configured(preset, store.options)

    assert store.type == preset.name
    assert store.url or transport.get("command")
    assert {name for name, param in preset.params.items() if param.required} <= {*values}
    assert changed.extract and (changed.tool if changed.kind == "mcp" else changed.http)


@each
def test_a_preset_calls_nothing_that_writes(preset: Preset) -> None:
    for tools, _, http in _calls(preset):
        assert not [tool for tool in tools if WRITES.search(tool)]
        assert http is None or http.method == "GET" or http.path in POSTED


@each
def test_every_param_of_a_preset_is_used(preset: Preset) -> None:
    text = repr([preset.args, preset.http, preset.extract, preset.enrich, preset.fetch])

    assert [name for name in preset.params if f"{{{name}" not in text and f"<{name}>" not in text] == []


@pytest.mark.parametrize("preset", [p for p in PRESETS if p.evidence != "template"], ids=_ids)
def test_a_preset_rests_on_replies_that_are_in_the_repository(preset: Preset) -> None:
    folder = DATA / RECORDED.get(preset.name, preset.name.partition(".")[0])
    kinds = {file.name.startswith("documented_") for file in folder.glob("*.json")}

    assert (preset.evidence == "recorded") <= (False in kinds)
    assert kinds


@each
def test_a_preset_names_no_machine_of_ours(preset: Preset) -> None:
    text = (FOLDER / f"{preset.name}.yaml").read_text(encoding="utf-8")

    assert not re.search(r"/tmp|/work|/root|/home|~/", text)
    assert "password" not in text.lower()


def test_one_preset_is_read_in_a_fraction_of_what_a_start_may_take() -> None:
    text = max((file.read_text(encoding="utf-8") for file in FOLDER.glob("*.yaml")), key=len)

    def seconds() -> float:
        start = time.process_time()
        catalog.parse("longest", text)
        return time.process_time() - start

    assert min(seconds() for _ in range(5)) < 0.05


def test_only_the_preset_that_is_asked_for_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def parsed(name: str, text: str) -> Preset:
        read.append(name)
        return catalog_parse(name, text)

    catalog_parse = catalog.parse
    monkeypatch.setattr(catalog, "parse", parsed)
    catalog._read.cache_clear()  # pyright: ignore[reportPrivateUsage]

    first, second = catalog.load("zep"), catalog.load("zep")

    assert first is second and read == ["zep"]


def test_an_unknown_preset_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(ValueError, match=r"^preset 'qdrnt' is unknown; did you mean 'qdrant'\?$"):
        catalog.load("qdrnt")


GOOD: dict[str, Any] = {
    "title": "A product",
    "about": "What it is.",
    "evidence": "documented",
    "example": "- name: x",
    "tool": ["find"],
    "extract": [{"fields": {"snippet": "text"}}],
}


BROKEN: list[tuple[str | dict[str, Any], str]] = [
    ("a: [", r"preset file made\.yaml, line 2: not YAML \(did not find expected node content\)"),
    ("- a", r"preset file made\.yaml: must be a mapping with a title, a tool or http, and extract"),
    ("", r"preset file made\.yaml: must be a mapping"),
    ({"title": None}, r"preset file made\.yaml: title: must be a valid string"),
    ({"tol": "x"}, r"preset file made\.yaml: tol: is unknown; did you mean 'tool'\?"),
    ({"qqqqqqqq": "x"}, r"preset file made\.yaml: qqqqqqqq: is unknown$"),
    ({"tier": "gossip"}, r"preset file made\.yaml: tier: must be 'live-infra', 'recent-file', .* \(got 'gossip'\)"),
    (
        {"extract": [{"fields": {"text": "x"}}]},
        r"extract\.0\.fields\.snippet: is required; extract\.0\.fields\.text",
    ),
    ({"http": {"method": "DELETE", "path": "/x"}}, r"http\.method: must be 'GET' or 'POST' \(got 'DELETE'\)"),
    ({"query": {"max_calls": 99}}, r"query\.max_calls: must be less than or equal to 8 \(got 99\)"),
    ({"extract": [{}] * 6}, r"extract\.4\.fields: is required; and 1 more$"),
    ({"extract": [{"fields": {"snippet": {"frm": "x"}}}]}, r"extract\.0\.fields\.snippet.* did you mean 'from'\?"),
]


@pytest.mark.parametrize(("text", "said"), BROKEN)
def test_a_broken_preset_is_refused_with_its_file_and_field(text: str | dict[str, Any], said: str) -> None:
    content = text if isinstance(text, str) else yaml.safe_dump({**GOOD, **text})

    with pytest.raises(ValueError, match=said) as raised:
        catalog.parse("made", content)

    assert not isinstance(raised.value, ValidationError) and "\n" not in str(raised.value)
