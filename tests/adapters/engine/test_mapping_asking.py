"""A question as calls: placeholders, filters, terms, and what a tool's schema knows."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from callosum_mcp.adapters.engine.asking import HttpAsked, calls, discover_call, http_calls, left_out
from callosum_mcp.adapters.engine.plan import plan
from callosum_mcp.adapters.engine.preset import Query
from callosum_mcp.adapters.engine.terms import terms
from callosum_mcp.errors import StoreBadReply
from callosum_mcp.models.values import StoreQuery

from .mapping import NOW, preset

ASKED = StoreQuery(text="is hermes running", limit=7)


def sent(args: dict[str, Any], text: str = ASKED.text, params: dict[str, object] | None = None, **more: Any) -> Any:
    given = {name: {"description": "d"} for name in params or {}}
    query = StoreQuery(text=text, limit=7, since=NOW - 60, types=frozenset({"b", "a"}))
    return calls(preset(args=args, params=given, **more), params or {}, query, NOW, None)


def test_placeholders_alone_keep_their_kind_and_others_are_written_out() -> None:
    args = {
        "q": "{query}",
        "n": "{limit|int}",
        "text": "at most {limit}",
        "list": ["{query}", "x", {"deep": "{limit}"}],
        "at": "{now_iso}",
        "s": "{now_s}",
        "since": "{since_iso} {since_s}",
        "types": "{types}",
        "pin": True,
        "null": None,
        "of": "{collection}",
        "num": "{top|int}",
    }
    assert sent(args, params={"collection": "notes", "top": "3"}) == [
        {
            "q": "is hermes running",
            "n": 7,
            "text": "at most 7",
            "list": ["is hermes running", "x", {"deep": 7}],
            "at": "2026-11-29T21:33:20Z",
            "s": 1795988000,
            "since": "2026-11-29T21:32:20Z 1795987940",
            "types": ["a", "b"],
            "pin": True,
            "null": None,
            "of": "notes",
            "num": 3,
        }
    ]


def test_what_has_no_value_is_left_out_and_so_is_what_is_made_of_it_alone() -> None:
    args = {
        "a": "{project}",
        "b": ["{project}"],
        "c": {"x": "{project}"},
        "d": "in {project}",
        "e": {"x": "{until_iso}", "y": 1},
        "f": [],
        "g": {},
        "h": "{word|int}",
        "i": "{topics}",
    }
    assert sent(args, params={"project": "", "word": "many"}) == [{"e": {"y": 1}, "f": [], "g": {}}]


def test_an_engine_is_asked_for_no_more_than_it_gives_and_an_unranked_one_for_all() -> None:
    args = {"n": "{limit}"}
    assert sent(args, max_results=5) == [{"n": 5}]
    assert sent(args, max_results=80) == [{"n": 7}]
    assert sent(args, max_results=80, client_rerank="bm25") == [{"n": 80}]
    assert sent(args, max_results=80, order="score_desc") == [{"n": 80}]


QUOTED = 'o\'neil "x" \\u0027) \\ \n` end'


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("content.contains({query|json})", 'content.contains("o\'neil \\"x\\" \\\\u0027) \\\\ \\n` end")'),
        ("CONTAINS {query|cypher} RETURN n", "CONTAINS ('o\\'neil \"x\" \\\\' + 'u0027) \\\\ \\n` end') RETURN n"),
        ("(?i).*{query|regex_escape}", '(?i).*o\'neil "x" \\\\u0027\\) \\\\ \n` end'),
        ("/x/{query|url}", "/x/o%27neil%20%22x%22%20%5Cu0027%29%20%5C%20%0A%60%20end"),
        ("MATCH (n) WHERE n.name =~ {query|regex_escape|cypher}", None),
        ("{query|regex_escape|json}", None),
    ],
)
def test_a_filter_writes_a_question_as_a_literal(template: str, text: str | None) -> None:
    ((_, filled),) = sent({"q": template}, QUOTED)[0].items()
    assert filled.startswith(template.partition("{")[0])
    assert text is None or filled == text


@pytest.mark.parametrize(
    ("template", "literal"),
    [
        ("{types|cypher}", "['a', 'b']"),
        ("{types|json}", '["a", "b"]'),
        ("{limit|cypher}", "7"),
        ("x{limit|json}", "x7"),
        ("x {query|int}", None),
    ],
)
def test_filters_take_any_value(template: str, literal: str | None) -> None:
    assert sent({"q": template}, "seven") == [{} if literal is None else {"q": literal}]


@pytest.mark.promise("P29")
@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"q": "{qery}"}, r"^args\.q: placeholder \{qery\} is unknown; did you mean 'query'\?$"),
        ({"q": [{"x": "{query|jsn}"}]}, r"^args\.q\[0\]\.x: filter 'jsn' is unknown; did you mean 'json'\?$"),
        ({"q": "{filter}"}, r"placeholder \{filter\} is unknown"),
        ({"q": "say {query}"}, r"^args\.q: \{query\} stands between other text and needs a filter: cypher, int, json"),
        ({"q": "{query}{limit}"}, "needs a filter"),
        ({"q": "{limit}{term}"}, "needs a filter"),
        ({"q": "of types {types}"}, "needs a filter"),
        ({"q": "contains('{query|json}')"}, "stands in quotation marks; leave them out"),
        ({"q": 'name = "{query|regex_escape}"'}, "stands in quotation marks"),
        ({"q": "a = 'it\\'s {query|json}'"}, "stands in quotation marks"),
        ({"q": "MATCH (n:`{query|cypher}`) RETURN n"}, "stands in quotation marks"),
        ({"q": "MATCH (n) WHERE n.x = {query|json} RETURN n"}, r"stands in Cypher and must end in \|cypher"),
        ({"q": "MATCH (n) WHERE n.x =~ {query|regex_escape}"}, r"must end in \|cypher"),
        ({"q": "f('x', {query|regex_escape})"}, r"is no literal yet; write \|regex_escape\|json"),
    ],
)
def test_a_template_that_would_let_a_question_be_syntax_is_refused(args: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        plan(preset(args=args))


@pytest.mark.parametrize(
    "template",
    [
        "MATCH (n {name: {query|cypher}}) RETURN n {.id} LIMIT {limit|int}",
        "{query|int} of {limit}",
        "name == 'x' && text == {query|json}",
        "x{3}y{query|json}",
    ],
)
def test_other_braces_and_safe_places_are_taken(template: str) -> None:
    plan(preset(args={"q": template}))


def test_terms_joined_in_one_filter_are_one_call() -> None:
    more: dict[str, Any] = {
        "query": {"mode": "terms", "or": {"each": "content.contains({term|json})", "join": " || "}},
    }
    assert sent({"filter": "({filter}) && state"}, "is hermes or zion running", **more) == [
        {"filter": '(content.contains("running") || content.contains("hermes") || content.contains("zion")) && state'}
    ]
    assert sent({"q": "{query}", "t": "{term}"}, "is hermes running", **more) == [
        {"q": "is hermes running", "t": "running"}
    ]
    with pytest.raises(ValueError, match=r"^query\.or\.each: \{term\} is joined with others and needs a filter"):
        plan(preset(query={"or": {"each": "{term}"}}))
    with pytest.raises(ValueError, match=r"^query\.or\.each: placeholder \{query\} is unknown"):
        plan(preset(query={"or": {"each": "{query|json}"}}))


def test_each_term_is_a_call_and_no_call_is_sent_twice() -> None:
    more: dict[str, Any] = {"query": {"mode": "terms", "max_terms": 4, "max_calls": 2}}
    text = "which gateway replaced hermes"
    assert sent({"q": "{term}"}, text, **more) == [{"q": "replaced"}, {"q": "gateway"}]
    assert sent({"q": "{query}", "whole": "{question}"}, text, **more)[1] == {"q": "gateway", "whole": text}
    assert sent({"q": "{terms}"}, text, **more) == [{"q": ["replaced", "gateway", "hermes"]}]
    assert sent({}, text, **more) == [{}]


@pytest.mark.parametrize(
    ("mode", "text", "found"),
    [
        ("verbatim", " What is it? ", [" What is it? "]),
        ("terms", "is Hermes's status known on CT241", ["Hermes", "CT241", "status", "known"]),
        ("terms", "What is it?", ["What", "is", "it"]),
        ("terms", "???", ["???"]),
        ("terms", "hermes HERMES Hermes", ["hermes"]),
        ("terms", "rag-gateway at 10.0.0.5", ["10.0.0.5", "rag-gateway"]),
        ("terms", "服务器重启失败了吗", ["服务", "务器", "器重", "重启"]),
        ("terms", "网关的端口是什么", ["网关", "端口"]),
        ("terms", "サーバーの状態は", ["サーバー", "状態"]),
        ("terms", "서버가 멈췄나요", ["멈췄나요", "서버"]),
        ("terms", "hermes 服务器", ["hermes", "服务器"]),
        ("terms", "的吗", ["的吗"]),
        ("terms", "がんばれ", ["がんばれ"]),
        ("terms", "ระบบล่ม", ["ระบบล่ม"]),
        ("terms", "我", ["我"]),
        ("longest_term", "is hermes running", ["running"]),
        ("longest_term", "a b", ["a"]),
        ("identifiers", "where is validate_token used", ["validate_token"]),
        (
            "identifiers",
            "who calls TokenStore.validate_token() and `x`",
            ["TokenStore.validate_token", "validate_token"],
        ),
        ("identifiers", "HTTPServer or app/auth.py or a::b", ["HTTPServer", "app/auth.py", "py", "a::b"]),
        ("identifiers", "`--flag` of getHTTPName", ["--flag", "getHTTPName"]),
        ("identifiers", "is hermes running", ["running", "hermes"]),
        ("identifiers", "__init__ and _private", ["__init__", "_private"]),
    ],
)
def test_a_question_is_put_in_the_terms_of_its_mode(mode: Any, text: str, found: list[str]) -> None:
    assert terms(text, Query(mode=mode)) == found


def test_a_term_is_bounded() -> None:
    (call,) = sent({"q": "{term}"}, "x" * 5_000, query={"mode": "longest_term"})
    assert len(call["q"]) == 200


def test_names_are_those_that_the_tool_knows() -> None:
    made = preset(args={"q|query": "{query}", "limit|k": "{limit}", "format": "json", "asOf!": "{now_iso}"})
    (call,) = calls(made, {}, ASKED, NOW, frozenset({"query", "k", "asOf"}))
    assert call == {"query": "is hermes running", "k": 7, "asOf": "2026-11-29T21:33:20Z"}
    assert left_out(made, {"query", "k", "asOf"}) == ("format",)
    assert left_out(made, {"q"}) == ("limit", "format")
    (blind,) = calls(made, {}, ASKED, NOW, None)
    assert sorted(blind) == ["asOf", "format", "limit", "q"]


def test_a_call_without_the_question_or_a_pin_is_not_sent() -> None:
    made = preset(args={"q|query": "{query}", "asOf!": "{now_iso}"})
    with pytest.raises(StoreBadReply, match=r"^its tool takes no argument q or query \(it takes asOf, text\);"):
        calls(made, {}, ASKED, NOW, {"text", "asOf"})
    with pytest.raises(StoreBadReply, match=r"^its tool takes no argument asOf \(it takes q\);"):
        calls(made, {}, ASKED, NOW, {"q"})
    with pytest.raises(StoreBadReply, match=r"it takes none"):
        calls(made, {}, ASKED, NOW, set())


HTTP: dict[str, Any] = {
    "method": "POST",
    "path": "/v1/{agent}/{query|url}/find",
    "params": {"n": "{limit}", "flag": True, "types": "{types}", "until": "{until_iso}", "x": "a"},
    "json": {"q": "{query}"},
    "headers": {"X-Key": "Key {key}"},
}


def test_a_request_is_filled_in_and_its_path_encoded() -> None:
    made = preset(kind="http", http=HTTP, params={name: {"description": "d"} for name in ("agent", "key")})
    query = StoreQuery(text="a/b", limit=3, types=frozenset({"x", "y"}))
    assert http_calls(made, {"agent": "é/..", "key": "k"}, query, NOW) == [
        HttpAsked(
            method="POST",
            path="/v1/%C3%A9%2F../a%2Fb/find",
            params={"n": "3", "flag": "true", "types": "x,y", "x": "a"},
            body={"q": "a/b"},
            headers={"X-Key": "Key k"},
        )
    ]
    assert http_calls(preset(), {}, query, NOW) == []


@pytest.mark.parametrize("agent", [".", "..", "", None])
def test_a_value_that_would_change_the_path_is_refused(agent: object) -> None:
    made = preset(kind="http", http={"path": "/v1/{agent}/find"}, params={"agent": {"description": "d"}})
    with pytest.raises(StoreBadReply, match="cannot be asked for this"):
        http_calls(made, {"agent": agent}, ASKED, NOW)


def test_a_body_without_any_value_is_not_sent() -> None:
    http = {"path": "/find", "json": {"type": "{until_iso}"}}
    assert http_calls(preset(kind="http", http=http), {}, ASKED, NOW) == [HttpAsked(method="GET", path="/find")]


def test_a_question_never_stands_in_a_header() -> None:
    with pytest.raises(ValueError, match=r"^http\.headers\.X: placeholder \{query\} is unknown"):
        plan(preset(http={"path": "/x", "headers": {"X": "{query}"}}))


def test_what_lists_a_param_is_asked_with_params_alone() -> None:
    discover = {"param": "p", "tool": "list", "args": {"n": 9, "of": "{root}"}, "from": "$[*]"}
    made = preset(params={name: {"description": "d"} for name in ("p", "root")}, discover=discover)
    assert discover_call(made, {"root": "r", "p": None}, None) == {"n": 9, "of": "r"}
    assert discover_call(made, {"root": "r"}, {"n"}) == {"n": 9}
    assert discover_call(preset(), {}, None) == {}


def test_a_literal_reads_back_as_what_was_asked() -> None:
    (call,) = sent({"j": "x{query|json}", "r": "^{query|regex_escape}$"}, QUOTED)
    assert json.loads(call["j"][1:]) == QUOTED
    assert re.fullmatch(call["r"], QUOTED)
