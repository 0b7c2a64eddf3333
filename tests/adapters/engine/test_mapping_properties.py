"""Whatever is asked and whatever an engine answers: no crash, no endless list, nothing unclean, no injection."""

from __future__ import annotations

import json
import math
import re
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callosum_mcp.adapters.engine import catalog
from callosum_mcp.adapters.engine.asking import calls, http_calls
from callosum_mcp.adapters.engine.preset import Preset, Query
from callosum_mcp.adapters.engine.quoting import as_cypher, as_json, as_pattern, as_url_part
from callosum_mcp.adapters.engine.reading import ToolReply, merged, read
from callosum_mcp.adapters.engine.seconds import completed, discovered
from callosum_mcp.adapters.engine.terms import terms
from callosum_mcp.errors import StoreError
from callosum_mcp.federation.sane import sane
from callosum_mcp.models.values import Hit, StoreQuery
from callosum_mcp.text import clean

from .mapping import NOW, preset

NAMES = st.sampled_from(
    (
        "id text content title score at results result entities rows cols error tags memories facts ids documents name "
        "observations status answer_kind invalid_at $1"
    ).split()
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=10**400, max_value=10**401)
    | st.floats()
    | st.text()
    | st.text(st.characters(categories=["Cs", "Cc", "Zl", "Lo"]), max_size=20)
    | st.sampled_from(
        ["2026-10-20", "0001-01-01T00:00:00Z", "Error: x", '{"results": [{"text": "a"}]}', "[[[", "1e999"]
    )
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(NAMES | st.text(max_size=5), inner, max_size=5),
    max_leaves=40,
)
LIKELY = st.fixed_dictionaries({"results": st.lists(st.dictionaries(NAMES, VALUES, max_size=6) | VALUES, max_size=8)})
FIELDS: dict[str, Any] = {
    "id": "id | name",
    "title": "{title} {score+1}",
    "path": "results[*].text | $1",
    "snippet": "text | content | observations | _",
    "score": "score",
    "last_seen": "at",
    "confidence": "score",
    "type": {"from": "status", "map": {"1": "one"}},
    "tags": "tags",
    "superseded_at": {"from": "invalid_at", "time": "ms"},
    "superseded_by": {"from": "error", "json": "id"},
    "uri": "name",
    "citations": "score",
}
MADE = [
    preset(extract=[{"items": "$.results[*]", "fields": FIELDS}], score={"meaning": "unit"}, order="score_desc"),
    preset(extract=[{"items": "$.*[*]", "fields": FIELDS}, {"items": "$", "fields": FIELDS}], client_rerank="bm25"),
    preset(extract=[{"items": "$.*.*", "where": {"status": [True, 1, "ok"]}, "fields": FIELDS, "optional": True}]),
    preset(extract=[{"mode": "table", "columns": "$.cols", "items": "$.rows[*]", "fields": FIELDS}]),
    preset(extract=[{"mode": "columns", "columns": {"id": "$.ids", "text": "$.documents[0]"}, "fields": FIELDS}]),
    preset(extract=[{"mode": "regex", "pattern": r"(?P<id>\w)(?P<text>.*)", "fields": FIELDS}], source="blocks"),
]
PRESETS = [*MADE, *(catalog.load(name) for name in catalog.names() if name not in ("mcp", "http"))]
REPLIES = st.builds(
    ToolReply,
    texts=st.lists(st.text(max_size=50) | VALUES.map(lambda value: json.dumps(value)), max_size=3).map(tuple),
    structured=st.none() | LIKELY | VALUES,
    is_error=st.sampled_from([False, False, False, True]),
)
QUESTION = StoreQuery(text="is hermes running", limit=7)


@pytest.mark.promise("9a")
@given(st.sampled_from(PRESETS), REPLIES)
def test_no_reply_does_more_than_fail_and_every_hit_is_clean(made: Preset, reply: ToolReply) -> None:
    try:
        understood = read(made, reply, "s", QUESTION, now=NOW)
    except StoreError as fault:
        assert clean(str(fault)) == str(fault) and len(str(fault)) < 500
        return
    for hit in understood.hits:
        assert sane(hit, "s") == hit
        assert all(math.isfinite(value) for value in hit.metadata.values() if isinstance(value, float))
        assert hit.superseded_at is None or hit.superseded_at <= NOW
    best = merged([understood, understood], made, QUESTION)
    assert len(best.hits) <= QUESTION.limit
    assert {hit.id for hit in best.hits} <= {hit.id for hit in understood.hits}


@given(st.sampled_from([made for made in PRESETS if made.fetch or made.enrich or made.discover]), REPLIES)
def test_no_further_reply_does_more_than_fail(made: Preset, reply: ToolReply) -> None:
    hit = Hit(store="s", id="1", text="t")
    try:
        for which in ("fetch", "enrich"):
            if getattr(made, which) is not None:
                full = completed(made, which, reply, hit, now=NOW)
                assert full is None or (full.id == "1" and sane(full, "s") == full)
        if made.discover is not None:
            assert all(value == clean(value).strip() for value in discovered(made, reply))
    except StoreError:
        return


def test_a_reply_as_deep_as_json_can_be_is_read() -> None:
    depth = 900
    deep: Any = "end"
    for _ in range(depth):
        deep = [deep]
    wide = {"results": [{"id": 1, "text": deep}, {"id": 2, "text": {"deep": deep}}, {"id": 3, "text": "a"}]}
    assert [hit.id for hit in read(preset(), ToolReply(structured=wide), "s", QUESTION).hits] == ["2", "3"]
    text = "[" * 100_000
    try:
        read(preset(), ToolReply(texts=(text,)), "s", QUESTION)
    except StoreError:
        return
    raise AssertionError("a text of brackets is no reply")


def test_what_looks_like_the_start_of_much_costs_no_time() -> None:
    for text in ("_" * 8_000, "a" + "_" * 8_000, "." * 8_000, "a." * 4_000, "的" * 8_000):
        for mode in ("terms", "identifiers", "longest_term"):
            assert terms(text, Query(mode=mode))
    for text in ("." * 1_000_000, "Error" * 200_000, "no " * 300_000):
        try:
            read(preset(), ToolReply(texts=(text,)), "s", QUESTION)
        except StoreError as fault:
            assert len(str(fault)) < 500


def test_a_reply_of_any_size_gives_a_bounded_list() -> None:
    rows = [{"a": [{"text": str(n)} for n in range(200)]} for _ in range(200)]
    made = preset(extract=[{"items": "$[*].a[*]", "fields": {"snippet": "text"}}], client_rerank="bm25")
    assert len(read(made, ToolReply(structured=rows), "s", QUESTION).hits) == 200


TEXTS = st.text(max_size=60) | st.text(alphabet="\\'\"`{}()$uU0027\n\r\t /*-+;|&\u2028", max_size=30)


def _cypher_text(literal: str) -> str:
    """What a Cypher parser makes of a literal, or of a sum of literals in parentheses; nothing else is taken."""
    one = re.compile(r"'((?:[^'\\]|\\[\\'nrt])*)'", re.DOTALL)
    inner = literal[1:-1] if literal.startswith("(") else literal
    pieces: list[str] = []
    at = 0
    while at < len(inner):
        match = one.match(inner, at)
        assert match is not None, literal
        pieces.append(re.sub(r"\\(.)", lambda sign: {"n": "\n", "r": "\r", "t": "\t"}.get(sign[1], sign[1]), match[1]))
        at = match.end()
        if at < len(inner):
            assert inner.startswith(" + ", at) and literal.startswith("("), literal
            at += 3
    return "".join(pieces)


@pytest.mark.promise("9a")
@given(TEXTS)
def test_any_question_stays_inside_its_literal(question: str) -> None:
    asked = clean(question)
    assert json.loads(as_json(question)) == asked
    cypher = as_cypher(question)
    assert _cypher_text(cypher) == asked
    assert "\\u" not in cypher.lower()
    assert re.fullmatch(as_pattern(question), asked) is not None
    assert re.fullmatch(r"[A-Za-z0-9_.~%-]*", as_url_part(question)) and unquote(as_url_part(question)) == asked


CYPHER = preset(
    args={"query": "MATCH (n) WHERE n.x CONTAINS {query|cypher} AND n.y =~ {query|regex_escape|cypher} RETURN n"}
)
HEAD, MIDDLE, TAIL = "MATCH (n) WHERE n.x CONTAINS ", " AND n.y =~ ", " RETURN n"


@given(TEXTS.filter(lambda text: bool(clean(text))))
def test_any_question_in_a_pinned_query_leaves_the_query_as_it_is(question: str) -> None:
    ((_, filled),) = calls(CYPHER, {}, StoreQuery(text=question), NOW, None)[0].items()
    asked = clean(question)
    assert filled == f"{HEAD}{as_cypher(asked)}{MIDDLE}{as_cypher(as_pattern(asked))}{TAIL}"


@given(st.text(max_size=200), st.sampled_from(["verbatim", "terms", "identifiers", "longest_term"]))
def test_any_question_has_terms_and_few_of_them(question: str, mode: Any) -> None:
    found = terms(question, Query(mode=mode, max_terms=3))
    assert 1 <= len(found) <= 3
    assert mode == "verbatim" or all(term in question for term in found)


@pytest.mark.promise("9a")
@given(st.sampled_from([made for made in PRESETS if not made.params]), st.text(min_size=1, max_size=100))
def test_any_question_can_be_put_to_any_engine(made: Preset, question: str) -> None:
    query = StoreQuery(text=question, limit=7)
    sent = http_calls(made, {}, query, NOW) if made.kind == "http" else calls(made, {}, query, NOW, None)
    assert 1 <= len(sent) <= made.query.max_calls
