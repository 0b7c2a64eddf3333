"""The options of a store over its preset: params, parts that are replaced, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from callosum_mcp.adapters.engine import catalog
from callosum_mcp.adapters.engine.preset import Preset

from .test_presets import GOOD


def _preset(**more: Any) -> Preset:
    return catalog.parse("made", yaml.safe_dump({**GOOD, **more}))


@pytest.mark.parametrize(
    ("type_name", "options", "said"),
    [
        ("opensearch", {"indx": "x"}, r"^option 'indx' is unknown for type opensearch; did you mean 'index'\?$"),
        ("letta", {"zzzzzzz": 1}, r"^option 'zzzzzzz' is unknown for type letta; known are agent$"),
        ("mcp", {"toool": "x"}, r"did you mean 'tool'\?"),
        ("openmemory", {"zzzzzzz": 1}, r"known are allow_unlisted, args, "),
        ("letta", {}, r"^option agent: missing for type letta; Id of the agent"),
        ("letta", {"agent": ""}, r"^option agent: missing"),
        ("letta", {"agent": ["a"]}, r"^option agent: must be text or a number \(got list\)$"),
        ("letta", {"agent": True}, r"^option agent: must be text or a number \(got 'True'\)$"),
        ("letta", {"agent": "x" * 2001}, r"^option agent: must have at most 2,000 characters \(got 2,001\)$"),
        (
            "opensearch",
            {"index": "x", "text_field": "a b"},
            r"^option text_field: must be the name of a field, as body",
        ),
        ("opensearch", {"index": "x", "text_field": ""}, r"^option extract\.0\.fields\.snippet: is required$"),
        ("letta", {"agent": "x", "max_results": 9000}, r"^option max_results: must be less than or equal to 500"),
        ("letta", {"agent": "x", "http": {"method": "PUT"}}, r"^option http\.method: must be 'GET' or 'POST'"),
        ("letta", {"agent": "x", "extract": []}, r"^option extract: missing; say where"),
        ("mcp", {}, r"^option tool: missing; name the tool that searches, and only one that reads$"),
        ("http", {}, r"^option http: missing; give the method and path"),
    ],
)
def test_wrong_options_are_refused_with_what_is_wrong(type_name: str, options: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        catalog.configured(catalog.load(type_name), options)


@pytest.mark.parametrize(
    ("default", "wrong", "said"),
    [
        (True, "yes", r"must be true or false \(got 'yes'\)"),
        (3, 2.5, r"must be a whole number \(got '2.5'\)"),
        (3, True, r"must be a whole number \(got 'True'\)"),
        (0.5, "x", r"must be a number \(got 'x'\)"),
    ],
)
def test_a_param_is_of_the_kind_of_its_default(default: object, wrong: object, said: str) -> None:
    preset = _preset(params={"p": {"description": "A param.", "default": default}})

    assert catalog.configured(preset, {})[1] == {"p": default}
    with pytest.raises(ValueError, match=f"^option p: {said}$"):
        catalog.configured(preset, {"p": wrong})


def test_a_secret_param_is_never_shown() -> None:
    preset = _preset(params={"key": {"description": "A key.", "default": 1, "secret": True}})

    with pytest.raises(ValueError, match=r"^option key: must be a whole number \(got str\)$"):
        catalog.configured(preset, {"key": "hunter2"})


def test_a_param_that_can_be_found_out_may_be_left_out() -> None:
    assert catalog.configured(catalog.load("codebase-memory-mcp"), {})[1] == {}
    assert catalog.configured(catalog.load("codebase-memory-mcp"), {"project": "p"})[1] == {"project": "p"}


def test_overrides_are_laid_over_the_preset_key_by_key() -> None:
    options: dict[str, object] = {
        "tool": "search",
        "args": {"mode": "fast", "n_results": None},
        "query": {"max_calls": 1, "or": {"each": "{term|json}", "join": " OR "}},
        "last_seen": {"stat_root": "/srv/files"},
        "collection": "docs",
        "source_field": "meta.file",
    }

    changed, values = catalog.configured(catalog.load("chroma"), options)

    assert changed.tool == ["search"]
    assert changed.args == {"collection_name": "{collection}", "query_texts": ["{query}"], "mode": "fast"}
    assert (changed.query.mode, changed.query.max_calls) == ("verbatim", 1)
    assert changed.query.one_filter is not None and changed.query.one_filter.join == " OR "
    assert changed.last_seen.stat_root == "/srv/files"
    assert changed.extract[0].fields.path == "meta.meta.file"
    assert changed.tier == "older-note" and changed.protocol == "legacy"
    assert values == {"collection": "docs", "source_field": "meta.file", "time_field": "updated"}


def test_a_part_of_a_preset_can_be_taken_out() -> None:
    changed, _ = catalog.configured(catalog.load("brainrouter"), {"enrich": None, "errors": None})

    assert changed.enrich is None and changed.errors.path == []


def test_fields_whose_param_is_empty_are_left_out() -> None:
    preset = catalog.load("opensearch")

    changed, _ = catalog.configured(
        preset, {"index": "notes", "title_field": "", "time_field": "", "text_field": "a.b"}
    )

    assert changed.http is not None and isinstance(changed.http.body, dict)
    assert changed.http.body["query"]["multi_match"]["fields"] == ["a.b"]
    assert changed.http.body["_source"] == ["a.b", "path"]
    assert (changed.extract[0].fields.title, changed.extract[0].fields.last_seen) == (None, None)
    assert (changed.extract[0].fields.snippet, changed.extract[0].fields.path) == ("_source.a.b", "_source.path")


def test_an_alternative_whose_param_is_empty_is_left_out_alone() -> None:
    preset = _preset(
        params={"f": {"description": "A field.", "default": ""}},
        extract=[{"fields": {"snippet": "a.<f> | text", "title": "<other> | <f>", "path": "a<f>b"}}],
    )

    empty, full = (catalog.configured(preset, given)[0].extract[0].fields for given in ({}, {"f": "x"}))

    assert (empty.snippet, empty.title, empty.path) == ("text", "<other>", None)
    assert (full.snippet, full.title, full.path) == ("a.x | text", "<other> | x", "axb")


def test_a_pattern_is_left_as_it_is() -> None:
    pattern = "(?P<content>.+)"
    preset = _preset(
        params={"content": {"description": "A field.", "default": "x"}},
        extract=[{"mode": "regex", "pattern": pattern, "fields": {"snippet": "content", "title": "<content>"}}],
    )

    (extract,) = catalog.configured(preset, {})[0].extract

    assert (extract.pattern, extract.fields.title) == (pattern, "x")
