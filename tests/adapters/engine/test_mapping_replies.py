"""Replies: where the result is, what its items are, and in which of five shapes an engine says that it failed."""

from __future__ import annotations

from typing import Any

import pytest

from callosum_mcp.adapters.engine import catalog, faults
from callosum_mcp.adapters.engine.reading import ToolReply
from callosum_mcp.errors import StoreAuthFailed, StoreBadReply, StoreError, StoreFailed, StoreRateLimited
from callosum_mcp.models.values import StoreQuery

from .mapping import ASKED, preset, recorded, said, structured, understood

ROWS = '{"results": [{"id": 1, "text": "a"}]}'
PROSE = [{"items": "$", "fields": {"snippet": "_"}}]
PATTERN = [{"mode": "regex", "pattern": r"(?m)^- (?P<text>.+)$", "fields": {"snippet": "text"}}]


def ids(made: Any, reply: ToolReply, query: StoreQuery = ASKED) -> list[str]:
    return [hit.id for hit in understood(made, reply, query).hits]


@pytest.mark.parametrize(
    "reply",
    [
        said(ROWS),
        said(" ", ROWS, ""),
        structured({"results": [{"id": 1, "text": "a"}]}),
        structured({"result": {"results": [{"id": 1, "text": "a"}]}}),
        structured({"result": ROWS}),
        ToolReply(structured={}, texts=(ROWS,)),
        ToolReply(structured={"result": ROWS}, texts=("Found one.",)),
    ],
)
def test_the_result_is_found_wherever_a_server_puts_it(reply: ToolReply) -> None:
    assert ids(preset(), reply) == ["1"]


def test_a_source_that_is_named_is_the_only_one() -> None:
    both = ToolReply(structured={"results": [{"id": 1, "text": "a"}]}, texts=(ROWS.replace("1", "2"),))
    assert ids(preset(source="structured"), both) == ["1"]
    assert ids(preset(source="text"), both) == ["2"]


def test_each_text_block_is_an_item() -> None:
    made = preset(source="blocks", extract=[{"fields": {"snippet": "text | _"}}])
    assert [hit.text for hit in understood(made, said('{"text": "a"}', "b", " ")).hits] == ["a", "b"]
    auto = preset(extract=[{"fields": {"snippet": "text | _"}}])
    assert [hit.text for hit in understood(auto, said('{"text": "a"}', "b", " ")).hits] == ["a", "b"]
    assert understood(made, said()).hits == ()


def test_an_http_body_is_taken_as_it_is() -> None:
    http = {"method": "GET", "path": "/x"}
    made = preset(kind="http", http=http, extract=[{"items": "$.result[*]", "fields": {"snippet": "text"}}])
    assert len(understood(made, structured({"result": [{"text": "a"}]})).hits) == 1


def test_several_kinds_of_items_are_read_one_after_the_other() -> None:
    reply = understood(catalog.load("server-memory"), recorded("server-memory/search"))
    assert [hit.id for hit in reply.hits] == ["Hermes", "Zion", "Zion retired Hermes", "rag-gateway replaced Hermes"]
    assert [hit.type for hit in reply.hits] == ["service", "person", "relation", "relation"]


def test_a_table_and_parallel_columns_are_items_too() -> None:
    code = understood(catalog.load("codebase-memory-mcp"), recorded("codebase-memory-mcp/search")).hits[0]
    assert (code.title, code.path) == ("Method proj.app.auth.TokenStore.validate_token", "app/auth.py:11-13")
    columns = {"id": "$.ids[0]", "text": "$.documents[0]", "x": "$.nulls"}
    made = preset(extract=[{"mode": "columns", "columns": columns, "fields": {"id": "id", "snippet": "text"}}])
    reply = structured({"ids": [["1", "2", "3"]], "documents": [["a", "b"]], "nulls": None})
    assert ids(made, reply) == ["1", "2"]
    assert understood(made, reply).remark == "1 items could not be read"


@pytest.mark.parametrize(
    ("table", "remark"),
    [
        ({"cols": ["id", "text", 7], "rows": [[1, "a", "x"], "no row", [2, "b"], {"id": 3, "text": "c"}]}, "1 items"),
        ({"cols": ["id", "text"], "rows": []}, None),
    ],
)
def test_rows_that_are_none_are_counted(table: Any, remark: str | None) -> None:
    made = preset(
        extract=[
            {"mode": "table", "columns": "$.cols", "items": "$.rows[*]", "fields": {"id": "id", "snippet": "text"}}
        ]
    )
    reply = understood(made, structured(table))
    assert [hit.text for hit in reply.hits] == (["a", "b", "c"] if remark else [])
    assert (reply.remark or "").startswith(remark or "")


@pytest.mark.parametrize("table", [{"rows": [[1, "a"]]}, {"cols": "x", "rows": [[1, "a"]]}, {"cols": ["id"]}])
def test_a_table_without_columns_or_rows_is_a_bad_reply(table: Any) -> None:
    extract = {"mode": "table", "columns": "$.cols", "items": "$.rows[*]", "fields": {"snippet": "text"}}
    with pytest.raises(StoreBadReply, match=r"without \$\.rows\[\*\]"):
        understood(preset(extract=[extract]), structured(table))


def test_keys_of_maps_are_captured() -> None:
    lines = preset(extract=[{"items": "$.*[*]", "fields": {"snippet": "_", "path": "$1"}}])
    hits = understood(lines, recorded("serena-sse/pattern")).hits
    assert [hit.path for hit in hits] == ["app/main.py"] * 2 + ["app/auth.py"] * 3
    places = {"items": "$.*.*[*]", "fields": {"snippet": "name_path", "path": "$1", "type": "$2", "title": "$3"}}
    (place,) = understood(preset(extract=[places]), recorded("serena/references")).hits
    assert (place.path, place.type, place.title) == ("app/auth.py", "Method", None)


def test_a_memory_is_told_from_the_line_before_it_by_the_pattern() -> None:
    hits = understood(catalog.load("mcp-memory-service"), recorded("mcp-memory-service/search")).hits
    assert [(hit.text, hit.topics) for hit in hits] == [
        ("Hermes is stopped since 2026-10-20", ("infra", "hermes")),
        ("rag gateway listens on port 9876 and replaced Hermes", ("infra",)),
    ]
    assert [hit.text for hit in understood(preset(extract=PATTERN), said("- a\nx\n- b")).hits] == ["a", "b"]


def test_items_are_taken_only_where_their_fields_have_the_wanted_values() -> None:
    where = {"kind": ["note", 7], "labels": ["live"]}
    rows: list[dict[str, Any]] = [
        {"id": 1, "text": "a", "kind": "note", "labels": ["live", "x"]},
        {"id": 2, "text": "b", "kind": 7, "labels": "live"},
        {"id": 3, "text": "c", "kind": "task", "labels": ["live"]},
        {"id": 4, "text": "d", "kind": "note", "labels": []},
        {"id": 5, "text": "e", "kind": {"x": 1}},
    ]
    extract = {"items": "$.results[*]", "where": where, "fields": {"id": "id", "snippet": "text"}}
    assert ids(preset(extract=[extract]), structured({"results": rows})) == ["1", "2"]
    assert ids(preset(extract=[extract]), structured({"results": rows[2:]})) == []
    lines = {**PATTERN[0], "where": {"text": ["b"]}}
    assert understood(preset(extract=[lines]), said("- a")).hits == ()


def test_an_id_that_stands_twice_counts_once_and_a_ranked_list_ends_at_the_limit() -> None:
    rows = [{"id": n // 2, "text": f"t{n}"} for n in range(40)]
    reply = understood(preset(), structured({"results": rows}))
    assert [hit.text for hit in reply.hits] == ["t0", "t2", "t4", "t6", "t8"]
    assert reply.remark is None


def test_all_hits_of_an_unranked_engine_are_read_up_to_a_bound() -> None:
    rows = [{"id": n, "text": "t"} for n in range(1_010)]
    reply = understood(preset(client_rerank="bm25"), structured({"results": rows}))
    assert len(reply.hits) == 1_000
    assert reply.remark == "10 further items were not read"
    same = understood(preset(client_rerank="bm25"), structured({"results": [{"id": 1, "text": "t"}] * 2_007}))
    assert (len(same.hits), same.remark) == (1, "7 further items were not read")


@pytest.mark.parametrize(
    ("more", "reply"),
    [
        ({}, structured({"results": []})),
        ({}, structured({"results": None})),
        ({}, said("No memories found for query: 'zzzz'")),
        ({}, said("No results.")),
        ({}, structured({"result": "Found 0 notes matching 'x'"})),
        ({"extract": PATTERN}, said("Nothing found")),
        ({"extract": PATTERN, "errors": {"none": "^Keine Treffer"}}, said("Keine Treffer für 'x'")),
        ({"extract": [{"items": "$.a.b[*]", "optional": True, "fields": {"snippet": "t"}}]}, structured({"c": 1})),
        ({"extract": [{"items": "$.*[*]", "fields": {"snippet": "_"}}]}, structured({"a": []})),
        ({"extract": [{"items": "$[0][*]", "fields": {"snippet": "_"}}]}, structured([])),
        ({"extract": [{"items": "$.*", "fields": {"snippet": "_"}}]}, ToolReply(structured={"result": {}})),
    ],
)
def test_nothing_found_is_an_empty_list(more: dict[str, Any], reply: ToolReply) -> None:
    assert understood(preset(**more), reply).hits == ()


def test_an_answer_without_content_is_remarked_or_a_failure_as_the_preset_says() -> None:
    for reply in (said(), said(" "), structured({}), structured(None)):
        assert understood(preset(), reply).remark == "its answer was empty"
        with pytest.raises(StoreFailed, match=r"^answered with nothing at all"):
            understood(preset(errors={"empty_is_error": True}), reply)


@pytest.mark.parametrize(
    ("name", "product", "kind", "words"),
    [
        ("codebase-memory-mcp", "codebase-memory-mcp/error_bad_args", StoreBadReply, "missing required argument"),
        ("codebase-memory-mcp", "codebase-memory-mcp/error_unknown_project", StoreFailed, "project not found"),
        ("chroma", "chroma/error_missing_collection", StoreFailed, "does not exist"),
        ("serena.find_symbol", "serena/error_bad_args", StoreBadReply, "Field required"),
        ("serena.pattern", "serena/error_no_tool", StoreBadReply, "Unknown tool: search_for_pattern"),
        ("mcp-memory-service", "mcp-memory-service/error_in_text", StoreFailed, "Failed to initialize SQLite-vec"),
        ("mcp-memory-service", "mcp-memory-service/error_is_error", StoreFailed, "Failed to initialize SQLite-vec"),
        ("graphiti.facts", "graphiti/error_in_result", StoreFailed, "graph down"),
        ("memgraph", "memgraph/error_row", StoreFailed, "Could not connect to Memgraph"),
        ("memgraph", "memgraph/error_write_refused", StoreFailed, "Write operations are not allowed"),
        ("qdrant", "qdrant/error_missing_collection", StoreFailed, "nothing at all"),
        ("mem0", "mem0/error_no_network", StoreFailed, "Name or service not known"),
    ],
)
def test_every_recorded_failure_is_a_failure(name: str, product: str, kind: type[StoreError], words: str) -> None:
    with pytest.raises(kind, match=words) as raised:
        understood(catalog.load(name), recorded(product))
    assert len(str(raised.value)) < 320 and "\n" not in str(raised.value)


BARE: dict[str, Any] = {"errors": {}}


@pytest.mark.parametrize(
    ("more", "reply"),
    [
        (BARE, said("Error searching memories: boom")),
        (BARE, structured({"error": "boom"})),
        (BARE, structured({"result": {"error": {"code": 7, "message": "boom"}}})),
        (BARE, structured({"error": {"error": {"message": "boom"}}})),
        (BARE, structured({"errors": ["boom", "more"]})),
        (BARE, structured({"success": False, "message": "boom"})),
        (BARE, structured({"ok": False, "description": "boom"})),
        (BARE, structured({"status": "error", "detail": "boom"})),
        (BARE, structured({"isError": True, "content": [{"type": "text", "text": "boom"}]})),
        (BARE, structured({"results": [{"error": "boom"}]})),
        (BARE, structured({"results": [], "error": "boom"})),
        (BARE, structured({"results": [], "status": "FAILED", "reason": "boom"})),
        ({"extract": [{"fields": {"snippet": "text"}}]}, structured([{"error": "boom"}])),
        ({"extract": PROSE}, said("Error: boom")),
        ({"extract": PROSE}, said("ValueError: boom")),
        ({"extract": PROSE}, said("Failed to search: boom")),
        ({"extract": PROSE}, said("Traceback (most recent call last): boom")),
        ({"extract": PROSE, "errors": {"text": "^Oh no"}}, said("Oh no, boom")),
        ({"source": "blocks", "extract": [{"fields": {"snippet": "_"}}]}, said("Error: boom")),
        ({"errors": {"path": ["$.info.fault"]}}, structured({"results": [{"text": "a"}], "info": {"fault": "boom"}})),
        ({"errors": {"path": ["$.results[*].oops"]}}, structured({"results": [{"text": "a"}, {"oops": "boom"}]})),
        (BARE, said("boom", is_error=True)),
        (BARE, said('{"error": "boom"}', is_error=True)),
        (BARE, ToolReply(structured={"message": "boom"}, is_error=True)),
    ],
)
def test_an_error_in_any_shape_is_neither_a_hit_nor_an_empty_list(more: dict[str, Any], reply: ToolReply) -> None:
    with pytest.raises(StoreFailed, match=r"^failed: .*boom"):
        understood(preset(**more), reply)


@pytest.mark.parametrize(
    "value", [{"error": True}, {"errors": {"x": None}}, {"success": False}, {"status": "error", "results": []}]
)
def test_a_failure_without_words_is_one(value: object) -> None:
    with pytest.raises(StoreFailed, match=r"^failed"):
        understood(preset(), structured(value))
    with pytest.raises(StoreFailed, match=r"^failed without saying why$"):
        understood(preset(), said(is_error=True))


@pytest.mark.parametrize("value", [None, "", False, 0, [], {}])
def test_an_error_field_that_is_empty_is_none(value: object) -> None:
    made = preset(errors={"path": ["$.error"]})
    assert ids(made, structured({"results": [{"id": 1, "text": "a"}], "error": value})) == ["1"]
    assert ids(made, structured({"results": [], "error": value, "errors": value})) == []


@pytest.mark.parametrize(
    ("more", "reply", "words"),
    [
        ({}, structured({"found": 3}), r"is an object without \$\.results\[\*\]"),
        ({}, structured([1]), r"is a list without \$\.results\[\*\]"),
        ({}, said("Here is what I know about Hermes."), r"is text without .*: 'Here is what I know"),
        ({}, structured({"results": [{"body": "a"}, 7, None]}), "none of its 3 items has the text"),
        ({"extract": PATTERN}, said("* a new format"), "its text holds no item that the preset knows"),
        ({"extract": PATTERN}, said("* a", "* b"), "its text holds no item that the preset knows"),
        ({"extract": PATTERN, "errors": {"none": "^Nix"}}, said("No results"), "holds no item"),
        ({"extract": PROSE}, structured({"results": "x"}), "none of its 1 items"),
    ],
)
def test_a_reply_that_is_not_what_the_preset_says_is_a_bad_reply(
    more: dict[str, Any], reply: ToolReply, words: str
) -> None:
    with pytest.raises(StoreBadReply, match=words):
        understood(preset(**more), reply)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("401 Unauthorized", StoreAuthFailed),
        ("Error executing tool search: Invalid API key", StoreAuthFailed),
        ("API key is missing", StoreAuthFailed),
        ("request failed with status code 403", StoreAuthFailed),
        ("authentication failed", StoreAuthFailed),
        ("You are not logged in", StoreAuthFailed),
        ("Rate limit exceeded, retry later", StoreRateLimited),
        ("429 Too Many Requests", StoreRateLimited),
        ("Unexpected keyword argument 'limit'", StoreBadReply),
        ("disk full at block 401", StoreFailed),
        ("the tokenizer is not loaded", StoreFailed),
    ],
)
def test_the_words_of_a_failure_say_what_to_do(words: str, kind: type[StoreError]) -> None:
    with pytest.raises(StoreError) as raised:
        understood(preset(), said(words, is_error=True))
    assert type(raised.value) is kind
    assert type(faults.protocol_error(-32000, words)) is kind


def test_an_error_of_the_protocol_about_arguments_is_a_bad_reply() -> None:
    assert type(faults.protocol_error(-32602, "Invalid arguments: Required")) is StoreBadReply
    assert type(faults.protocol_error(-32601, "Method not found")) is StoreBadReply


def test_no_password_of_an_engine_is_told() -> None:
    with pytest.raises(StoreFailed) as raised:
        understood(preset(), said("cannot reach bolt://neo4j:hunter2@db:7687\n\nTraceback …", is_error=True))
    assert str(raised.value) == "failed: cannot reach bolt://db:7687"


def test_an_engines_own_verdict_is_passed_on() -> None:
    made = catalog.load("brain.http")
    assert understood(made, recorded("brain/documented_recall")).verdict == "single"
    assert understood(made, recorded("brain/documented_recall_none")).verdict == "none"
    assert understood(made, structured({"answer_kind": "perhaps", "memories": []})).verdict is None
    assert understood(made, structured({"answer_kind": 1, "memories": []})).verdict is None


def test_broken_json_in_a_text_is_text() -> None:
    with pytest.raises(StoreBadReply, match="is text without"):
        understood(preset(), said('{"results": ['))
