"""Fields of a hit: paths, expressions, conversions, and what a hit makes of them."""

from __future__ import annotations

from typing import Any

import pytest

from callosum_mcp.adapters.engine.plan import plan
from callosum_mcp.adapters.engine.reading import is_made
from callosum_mcp.text import iso_utc

from .mapping import NOW, one_field, only_hit, preset, structured, understood

ROW: dict[str, Any] = {"id": "1", "text": "Hermes is stopped"}


@pytest.mark.parametrize(
    ("expression", "row", "title"),
    [
        ("name", {"name": "Hermes"}, "Hermes"),
        ("a.b.c", {"a": {"b": {"c": "deep"}}}, "deep"),
        ("a[1]", {"a": ["x", "y"]}, "y"),
        ("a[-1].b", {"a": [{"b": "x"}, {"b": "y"}]}, "y"),
        ("a[7]", {"a": ["x"]}, None),
        ("a[0]", {"a": "x"}, None),
        ("a.b", {"a": "x"}, None),
        ("['a.b']", {"a.b": "dotted"}, "dotted"),
        ('x["a b"].c', {"x": {"a b": {"c": "spaced"}}}, "spaced"),
        ("created at", {"created at": "now"}, "now"),
        ("_id.$oid", {"_id": {"$oid": "5f"}}, "5f"),
        ("$.name", {"name": "Hermes"}, "Hermes"),
        ("a[*].b", {"a": [{"b": "x"}, {"c": 1}, {"b": "y"}]}, "x, y"),
        ("a.*", {"a": {"k": "x", "l": "y"}}, "x, y"),
        ("name | other", {"name": " ", "other": "second"}, "second"),
        ("name|other", {"name": [], "other": {}}, None),
        ("n | other", {"n": 0, "other": "second"}, "0"),
        ("n | other", {"n": False, "other": "second"}, "false"),
        ("{kind} {name}", {"kind": "Method", "name": "f"}, "Method f"),
        ("{file}:{line+1}", {"file": "a.py", "line": 10}, "a.py:11"),
        ("{line - 2}", {"line": "10"}, "8"),
        ("{line+1} | name", {"line": "x", "name": "second"}, "second"),
        ("{file}:{line}", {"file": "a.py"}, None),
        ("{a | b}!", {"b": "x"}, "x!"),
        ("=fact", {}, "fact"),
        ("name | =none | x", {}, "none | x"),
        ("flag", {"flag": True}, "true"),
        ("x", {"x": 1.5}, "1.5"),
        ("x", {"x": float("nan")}, None),
        ("x", {"x": 10**60}, None),
        ("x", {"x": {"k": [1, None]}}, '{"k":[1,null]}'),
        ("x", {"x": ["a", ["b", ["c"]], None]}, "a, b, c"),
        ("_", {}, None),
        ("$1", {}, None),
        ({"from": "x", "join": "; "}, {"x": ["a", "b"]}, "a; b"),
        ({"from": "x", "join": "; "}, {"x": None}, None),
        ({"from": "x", "json": "k.l"}, {"x": '{"k": {"l": "inner"}}'}, "inner"),
        ({"from": "x", "json": "k"}, {"x": {"k": "object"}}, "object"),
        ({"from": "x", "json": "k"}, {"x": "{broken"}, None),
        ({"from": "x", "json": "k"}, {"x": "plain"}, None),
        ({"from": "x", "map": {"1": "one"}}, {"x": 1}, "one"),
        ({"from": "x", "map": {"1": "one"}}, {"x": 2}, "2"),
        ({"from": "x | y", "map": {"1": "one"}}, {}, None),
        ("x", {"x": "two\nlines \x00 \ud83d"}, "two lines ?"),
        ("x", {"x": "y" * 300}, "y" * 199 + "…"),
        ("text", {}, None),  # a title that says the text again
    ],
)
def test_a_field_is_what_its_expression_says(expression: Any, row: dict[str, Any], title: str | None) -> None:
    assert only_hit(one_field(expression), {**ROW, **row}).title == title


@pytest.mark.parametrize(
    ("expression", "where"),
    [
        ("a..b", r"path 'a\.\.b' cannot be read from '\.\.b' on; write it like \$\.results\[\*\]\.name"),
        ("a[x]", "path"),
        ("a[", "path"),
        ("$x", "path"),
        ("", "has an empty alternative"),
        ("a | ", "has an empty alternative"),
        ("$.", "path"),
        ("{a} {b", "has a brace without its other half"),
        ("a[0]b", "path"),
        ({"from": "a..b"}, "path"),
        ({"from": "a", "json": "a..b"}, "path"),
    ],
)
def test_a_wrong_expression_is_refused_when_the_preset_is_loaded(expression: Any, where: str) -> None:
    with pytest.raises(ValueError, match=rf"^extract\[0\]\.fields\.title: .*{where}"):
        plan(one_field(expression))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"extract": [{"items": "a..b", "fields": {"snippet": "x"}}]}, r"^extract\[0\]\.items: path"),
        ({"extract": [{"items": " ", "fields": {"snippet": "x"}}]}, r"^extract\[0\]\.items: a path is empty"),
        ({"extract": [{"where": {"a..b": ["x"]}, "fields": {"snippet": "x"}}]}, r"^extract\[0\]\.where\.a\.\.b: path"),
        ({"extract": [{"mode": "regex", "fields": {"snippet": "x"}}]}, r"^extract\[0\]\.pattern: mode regex needs"),
        ({"extract": [{"pattern": "(?P<a>.)", "fields": {"snippet": "x"}}]}, "the other modes need none"),
        ({"extract": [{"mode": "regex", "pattern": "(", "fields": {"snippet": "x"}}]}, r"\.pattern: not a regular"),
        ({"extract": [{"mode": "table", "fields": {"snippet": "x"}}]}, "mode table needs the path of the column names"),
        ({"extract": [{"mode": "columns", "columns": "$.x", "fields": {"snippet": "x"}}]}, "mode columns needs a path"),
        ({"extract": [{"columns": "$.x", "fields": {"snippet": "x"}}]}, "only modes table and columns have columns"),
        ({"errors": {"path": ["$.a", "a..b"]}}, r"^errors\.path\[1\]: path"),
        ({"errors": {"text": "("}}, r"^errors\.text: not a regular expression"),
        ({"errors": {"none": "("}}, r"^errors\.none: not a regular expression"),
        ({"verdict": {"from": "a..b"}}, r"^verdict\.from: path"),
        ({"enrich": {"fields": {"lastseen": "x"}}}, r"^enrich\.fields\.lastseen: is unknown; did you mean 'last_seen'"),
        ({"fetch": {"items": "..", "fields": {}}}, r"^fetch\.items: path"),
        ({"discover": {"param": "p", "tool": "t", "from": ".."}}, r"^discover\.from: path"),
        ({"params": {"query": {"description": "d"}}}, r"^params\.query: the name is taken"),
        ({"args": {"a|": "x"}}, r"^args\.a\|: an argument without a name"),
    ],
)
def test_a_preset_that_makes_no_sense_is_refused_with_the_field(more: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        plan(preset(**more))


def test_a_preset_is_compiled_once() -> None:
    made = preset()
    assert plan(made) is plan(made)
    assert plan(made) is not plan(preset())


@pytest.mark.parametrize(
    ("expression", "value", "seen"),
    [
        ("t", "2026-10-20", "2026-10-20T00:00:00Z"),
        ("t", "2026-10-20T01:00:00+02:00", "2026-10-19T23:00:00Z"),
        ("t", 1_760_000_000, "2025-10-09T08:53:20Z"),
        ("t", "1760000000000", "2025-10-09T08:53:20Z"),
        ("t", 1_760_000_000_000_000_000, "2025-10-09T08:53:20Z"),
        ({"from": "t", "time": "epoch_s"}, 1_760_000_000.5, "2025-10-09T08:53:20Z"),
        ({"from": "t", "time": "ms"}, 1_760_000_000_000, "2025-10-09T08:53:20Z"),
        ({"from": "t", "time": "ns"}, "1760000000000000000", "2025-10-09T08:53:20Z"),
        ({"from": "t", "time": "ns"}, "never", None),
        ({"from": "t", "time": "iso"}, "2026-10-20", "2026-10-20T00:00:00Z"),
        ({"from": "t", "time": "iso"}, 1_760_000_000, None),
        ({"from": "t", "time": "ms"}, 1_760_000_000, None),  # three weeks of 1970: another unit was meant
        ("t", 0, None),
        ("t", "0001-01-01T00:00:00Z", None),
        ("t", "2199-01-01", None),
        ("t", "2027-01-01", None),  # not yet
        ("t", True, None),
        ("t", float("inf"), None),
        ("t", "2026-11-30T12:00:00Z", "2026-11-30T12:00:00Z"),  # a clock that is ahead of ours
    ],
)
def test_a_time_is_read_in_its_unit_and_an_implausible_one_is_unknown(
    expression: Any, value: object, seen: str | None
) -> None:
    assert iso_utc(only_hit(one_field(expression, "last_seen"), {**ROW, "t": value}).last_seen) == seen


@pytest.mark.parametrize(
    ("row", "at", "by", "live"),
    [
        ({}, None, None, True),
        ({"at": "2026-10-20", "by": "m2"}, "2026-10-20T00:00:00Z", "m2", False),
        ({"at": "2027-10-20", "by": "m2"}, None, None, True),
        ({"at": "0001-01-01T00:00:00Z"}, None, None, True),
        ({"by": "m2"}, None, "m2", False),
    ],
)
def test_what_was_replaced_in_the_past_is_superseded(
    row: dict[str, Any], at: str | None, by: str | None, live: bool
) -> None:
    fields = {"snippet": "text", "superseded_at": "at", "superseded_by": "by"}
    hit = only_hit(preset(extract=[{"items": "$.results[*]", "fields": fields}]), {**ROW, **row})
    assert (iso_utc(hit.superseded_at), hit.superseded_by, hit.live, hit.superseded) == (at, by, live, not live)


@pytest.mark.parametrize(
    ("value", "topics"),
    [
        (["Infra", "#Hermes", " ", "infra", 7], ("infra", "hermes", "7")),
        ("Infra, hermes", ("infra", "hermes")),
        (None, ()),
        ({"a": 1}, ('{"a":1}',)),
        ([f"t{n}" for n in range(99)], tuple(f"t{n}" for n in range(32))),
    ],
)
def test_tags_are_lower_case_topics(value: object, topics: tuple[str, ...]) -> None:
    assert only_hit(one_field("tags", "tags"), {**ROW, "tags": value}).topics == topics


@pytest.mark.parametrize(
    ("value", "share"),
    [(0, 0.0), (1, 1.0), ("0.5", 0.5), (1.0000001, 1.0), (-0.0000001, 0.0), (1.2, None), (-1, None), ("high", None)],
)
def test_a_calibrated_score_is_the_relevance_and_confidence_is_a_share(value: object, share: float | None) -> None:
    scored = only_hit(one_field("x", "score", score={"meaning": "unit"}), {**ROW, "x": value})
    sure = only_hit(one_field("x", "confidence"), {**ROW, "x": value})
    assert (scored.relevance, sure.confidence) == (share, share)


def test_an_opaque_score_is_shown_and_never_compared() -> None:
    hit = only_hit(one_field("x", "score"), {**ROW, "x": -18.5})
    assert (hit.relevance, hit.metadata) == (None, {"store_score": -18.5})


def test_citations_are_counted_by_the_engine_alone() -> None:
    assert only_hit(one_field("n", "citations"), {**ROW, "n": "3"}).metadata == {"citations": 3}
    assert only_hit(one_field("n", "citations"), {**ROW, "n": -3}).metadata == {}


def test_a_text_without_an_id_gets_one_of_itself_and_its_place() -> None:
    made = preset(extract=[{"items": "$.results[*]", "fields": {"snippet": "text", "path": "path"}}])
    rows = [{"text": "a"}, {"text": "a"}, {"text": "a", "path": "x"}, {"text": "a", "path": "y"}, {"text": "b"}]

    ids = [hit.id for hit in understood(made, structured({"results": rows})).hits]

    assert len(set(ids)) == 4 and all(map(is_made, ids))
    assert ids == [hit.id for hit in understood(made, structured({"results": rows})).hits]


def test_an_id_too_long_for_an_address_is_replaced_and_others_stay() -> None:
    assert is_made(only_hit(preset(), {**ROW, "id": "x" * 1001}).id)
    assert only_hit(preset(), {**ROW, "id": 12}).id == "12"
    assert not is_made("text-12")


def test_a_hit_of_files_is_recent_or_a_note_by_its_age() -> None:
    made = one_field("t", "last_seen", tier_from_file=True, tier="agent-memory")
    tiers = [only_hit(made, {**ROW, "t": at}).tier for at in (NOW - 86_400, NOW - 31 * 86_400, None)]
    assert tiers == ["recent-file", "older-note", "older-note"]
    assert only_hit(preset(tier="live-infra"), ROW).tier == "live-infra"
