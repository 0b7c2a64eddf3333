"""docs/stores.md says of every preset what the preset says; docs/presets.md says all that a preset can say."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from support.replay_engine import ReplayEngine, served, text_result

from callosum_mcp.adapters.base import Adapter
from callosum_mcp.adapters.engine import catalog
from callosum_mcp.adapters.engine.preset import OVERRIDABLE, Converted, Extract, Fields, Preset, Query
from callosum_mcp.adapters.engine.quoting import FILTERS
from callosum_mcp.adapters.engine.templates import OF_HIT, QUESTION, SAFE
from callosum_mcp.adapters.registry import create
from callosum_mcp.app import build
from callosum_mcp.errors import StoreBadReply
from callosum_mcp.models.values import StoreQuery, StoreSpec
from callosum_mcp.settings import load
from callosum_mcp.text import iso_utc

from . import presets
from .markdown import EXAMPLES, blocks, page, section, table_rows

GUIDE = "docs/presets.md"


def test_the_section_on_presets_is_up_to_date() -> None:
    assert page(presets.PAGE) == presets.written(), "run `python -m tests.docs.presets`"


def test_every_preset_has_a_part_of_its_own() -> None:
    for name in catalog.names():
        text = section(presets.PAGE, f"### {name}")
        assert all(f"**{said}**" in text for said in ("Calls", "Asks", "Reading changes", "Hits", "Tested on"))
        assert all(f"| `{param}` |" in text for param in catalog.load(name).params)


@pytest.mark.parametrize("settings", presets.examples(), ids=catalog.names())
def test_the_settings_of_a_preset_are_accepted_as_they_are_printed(settings: str, tmp_path: Path) -> None:
    file = tmp_path / "callosum.yaml"
    file.write_text(settings, encoding="utf-8")
    variables = {"TOKEN": "value"} | {
        name: "value"
        for store in yaml.safe_load(settings)["stores"]
        for name in [store.get("token_env", ""), *_named(str(store.get("headers", "")))]
    }

    assert build(load(file, variables, tmp_path), keep_overlay=False).federation.state.stores.active() == 1


def _named(text: str) -> list[str]:
    return [part.partition("}")[0] for part in text.split("${")[1:]]


def test_every_placeholder_and_filter_is_explained() -> None:
    text = section(GUIDE, "## What is sent")
    cells = [row[0] for row in table_rows(text)]
    places = {name for cell in cells for name in re.findall(r"`\{(\w+)\}`", cell)}

    assert places == {*QUESTION, *SAFE, "types", "topics", "name"}
    assert {cell.strip("`").removeprefix("\\|") for cell in cells if cell.startswith("`\\|")} == set(FILTERS)


def test_every_part_of_a_preset_is_explained() -> None:
    text = page(GUIDE)
    named = set(re.findall(r"`([a-z_]+)[`(:]", text))

    assert OVERRIDABLE <= named
    assert set(Preset.model_fields) - {"name", "kind", "connect_timeout_s", "concurrency"} <= named
    assert set(Fields.model_fields) | set(Extract.model_fields) - {"fields"} <= named
    assert {"or", *Query.model_fields} - {"one_filter"} <= named
    assert all(f"{{from: a, {name.rstrip('_')}: " in text for name in Converted.model_fields if name != "from_")
    assert OF_HIT <= set(re.findall(r"`\{(\w+)\}`", section(GUIDE, "## The rest")))


async def test_the_walk_leads_to_the_hit_that_it_promises() -> None:
    (reply,) = blocks(GUIDE, "json")
    properties = {"text": {"type": "string"}, "max": {"type": "integer"}, "space": {"type": "string"}}
    tool = {"name": "search_pages", "inputSchema": {"type": "object", "properties": properties}}
    engine = ReplayEngine(tools=[tool], results={"search_pages": text_result(json.loads(reply))})

    with served(engine) as url:
        first, last = (_store(name, f"{url}/mcp") for name in ("wiki-first.yaml", "wiki.yaml"))
        with pytest.raises(StoreBadReply, match=r"without \$\.results\[\*\]"):
            await first.search(StoreQuery(text="port of Hermes"))
        (hit,) = (await last.search(StoreQuery(text="port of Hermes", limit=5))).hits
        await first.aclose()
        await last.aclose()

    assert engine.calls == [
        ("search_pages", {"text": "port of Hermes", "max": limit, "space": "ops"}) for limit in (50, 5)
    ]
    assert (hit.id, hit.title, hit.path) == ("7", "Hermes", "https://wiki.example.org/ops/hermes")
    assert (hit.text, hit.topics) == ("Hermes listens on port 8443.", ("ops",))
    assert iso_utc(hit.last_seen) == "2026-11-26T21:06:40Z"


def _store(example: str, url: str) -> Adapter:
    (store,) = yaml.safe_load((EXAMPLES / example).read_text(encoding="utf-8"))["stores"]
    return create(StoreSpec(name=store["name"], type=store["type"], url=url, options=store["options"]))
