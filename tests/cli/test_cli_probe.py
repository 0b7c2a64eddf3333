"""``callosum-mcp stores probe NAME``: what was called, the raw reply, the hits, and what could not be read."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.replay_engine import ReplayEngine, ReplayHttp, served, stdio_command, text_result

from callosum_mcp.cli import probing

from .shell import FakeMemory, Shell, store

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
PAGES = [
    {"key": "p1", "heading": "Hermes", "body": "Hermes is stopped.\nSince October.", "changed": "2026-10-20"},
    {"key": "p2", "heading": "", "body": "Atlas runs", "changed": "yesterday"},
]
FIELDS = {"id": "key", "title": "heading", "snippet": "body", "last_seen": "changed", "path": "place"}
OPTIONS: dict[str, Any] = {
    "tool": "find",
    "args": {"q": "{query}"},
    "extract": [{"items": "$.pages[*]", "fields": FIELDS}],
}


@pytest.fixture
def wiki() -> ReplayEngine:
    """A product that no preset knows."""
    return ReplayEngine(
        tools=[{"name": "find", "inputSchema": SCHEMA}], results={"find": text_result({"pages": PAGES, "count": 2})}
    )


@pytest.fixture
def url(wiki: ReplayEngine) -> Generator[str]:
    """Where it listens."""
    with served(wiki) as place:
        yield f"{place}/mcp"


def engine(url: str, **options: Any) -> dict[str, Any]:
    return {"name": "wiki", "type": "mcp", "url": url, "options": {**OPTIONS, **options}}


def on_the_line(options: dict[str, Any]) -> Sequence[str]:
    return [part for name, value in options.items() for part in ("--option", f"{name}={json.dumps(value)}")]


def test_a_store_is_shown_call_by_call_with_what_the_mapping_missed(shell: Shell, url: str) -> None:
    shell.config([engine(url)])
    seen = shell.run("stores", "probe", "wiki", "--query", "Hermes", "--json").json
    (call,) = seen["calls"]
    assert (call["purpose"], call["called"], call["arguments"]) == ("search", "find", {"q": "Hermes"})
    assert [json.loads(part["text"])["count"] for part in call["reply"]] == [2]
    assert [(hit["id"], hit.get("title"), hit.get("last_seen")) for hit in seen["hits"]] == [
        ("p1", "Hermes", "2026-10-20T00:00:00Z"),
        ("p2", None, None),
    ]
    assert seen["not_read"] == [
        "extract.fields.title: heading is empty in 1 of 2 items",
        "extract.fields.path: place is empty in all 2 items; there are key, heading, body, changed",
        "extract.fields.last_seen: changed holds 'yesterday', which is no time that is past",
    ]
    assert (seen["error"], seen["probe"]["status"], seen["store"]["place"]) == (None, "up", url)


def test_the_page_shows_reply_and_hits_one_above_the_other(shell: Shell, url: str) -> None:
    shell.config([engine(url)])
    ran = shell.run("stores", "probe", "wiki", "--query", "Hermes", "--chars", "20")
    lines = ran.out.splitlines()
    assert lines[0] == f"store   wiki: mcp {url}"
    assert lines[1].startswith("probe   up, ") and lines[2] == "query   Hermes"
    assert lines[4].startswith('call 1  find {"q": "Hermes"}  (search, ')
    assert lines[5:7] == ["        text:", '        | {"pages": [{"key": "']
    assert lines[7].startswith("        … cut: 20 of ")
    assert lines[9:14] == [
        "hits    2",
        "   1    id            p1",
        "        title         Hermes",
        "        text          Hermes is stopped.",
        "                      Since October.",
    ]
    assert "unread  extract.fields.title: " in ran.out


def test_a_mapping_that_finds_nothing_is_told_where_to_look(shell: Shell, url: str) -> None:
    shell.config([engine(url, extract=[{"items": "$.results[*]", "fields": FIELDS}])])
    ran = shell.run("stores", "probe", "wiki", "--query", "Hermes")
    assert (ran.code, "FAILED  bad_reply: " in ran.out) == (1, True)
    assert "unread  extract.items: there is nothing at $.results[*]; there are pages, count" in ran.out
    assert '| {"pages"' in ran.out


def test_each_kind_of_item_is_named_by_its_place(shell: Shell, url: str) -> None:
    second = {"items": "$.pages[*]", "fields": {"snippet": {"from": "body"}, "superseded_at": "changed"}}
    shell.config([engine(url, extract=[{"items": "$.none[*]", "optional": True, "fields": FIELDS}, second])])
    gaps = shell.run("stores", "probe", "wiki", "--json").json["not_read"]
    assert gaps == [
        "extract[0].items: there is nothing at $.none[*]; there are pages, count",
        "extract[1].fields.superseded_at: changed holds 'yesterday', which is no time that is past",
    ]


def test_no_settings_are_needed_for_a_look(shell: Shell, url: str, wiki: ReplayEngine, tmp_path: Path) -> None:
    ran = shell.run("stores", "probe", "--type", "mcp", "--url", url, *on_the_line(OPTIONS), "--json")
    assert [hit["id"] for hit in ran.json["hits"]] == ["p1", "p2"]
    import shlex

    program = shlex.join(stdio_command(wiki, tmp_path))
    ran = shell.run("stores", "probe", "x", "--type", "mcp", "--command", program, *on_the_line(OPTIONS), "--json")
    assert (ran.json["store"]["name"], len(ran.json["hits"])) == ("x", 2)


def test_secrets_are_masked_wherever_they_turn_up(
    shell: Shell, wiki: ReplayEngine, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIKI_TOKEN", "canary-7d1f")
    wiki.results["find"] = lambda arguments: text_result({"pages": [{"key": "canary-7d1f", "body": "canary-9e2a"}]})
    told = engine(f"{url}?key=canary-9e2a", args={"q": "{query}"})
    shell.config([{**told, "token_env": "WIKI_TOKEN", "headers": {"X-Key": "canary-4b3c"}}])
    for more in ((), ("--json",)):
        ran = shell.run("stores", "probe", "wiki", "--query", "canary-4b3c?", *more)
        assert "***" in ran.out
        assert "canary-7d1f" not in ran.out and "canary-9e2a" not in ran.out


def test_an_engine_that_calls_its_answer_an_error_is_shown_with_it(shell: Shell, wiki: ReplayEngine, url: str) -> None:
    wiki.results["find"] = text_result("database is locked", is_error=True)
    shell.config([engine(url)])
    ran = shell.run("stores", "probe", "wiki")
    assert ran.code == 1
    assert "        the engine marks it as an error" in ran.out and "| database is locked" in ran.out
    assert "FAILED  error: " in ran.out


def test_an_engine_that_does_not_answer_says_why(shell: Shell, nobody: str) -> None:
    shell.config([engine(f"{nobody}/mcp")])
    ran = shell.run("stores", "probe", "wiki")
    assert ran.code == 1
    assert "probe   down, " in ran.out and "refused: no connection" in ran.out
    assert "FAILED  refused: " in ran.out


def test_an_engine_behind_http_is_shown_with_its_request(shell: Shell) -> None:
    extract = [{"items": "$.pages[*]", "fields": FIELDS}]
    http = {"method": "POST", "path": "/find", "json": {"q": "{query}"}}
    with served(ReplayHttp(body={"pages": PAGES})) as place:
        shell.config([{"name": "w", "type": "http", "url": place, "options": {"http": http, "extract": extract}}])
        seen = shell.run("stores", "probe", "w", "--query", "x", "--json").json
    assert [(call["called"], call["arguments"]) for call in seen["calls"]] == [("POST /find", {"json": {"q": "x"}})]
    assert (seen["calls"][0]["reply"][0]["kind"], len(seen["hits"])) == ("structured", 2)


def test_a_request_without_an_answer_is_shown_with_the_reason(shell: Shell, nobody: str) -> None:
    extract = [{"items": "$.pages[*]", "fields": FIELDS}]
    http = {"path": "/find", "params": {"q": "{query}"}}
    shell.config([{"name": "w", "type": "http", "url": nobody, "options": {"http": http, "extract": extract}}])
    ran = shell.run("stores", "probe", "w", "--query", "x")
    assert 'call 1  GET /find {"params": {"q": "x"}}  (search, ' in ran.out
    assert "        no answer — refused: no connection" in ran.out


def test_a_store_of_another_kind_is_shown_without_calls(shell: Shell, memory: FakeMemory) -> None:
    shell.config([store("memory", memory.url)])
    seen = shell.run("stores", "probe", "memory", "--query", "hermes", "--json").json
    assert (seen["calls"], seen["not_read"], [hit["id"] for hit in seen["hits"]]) == ([], [], ["m1", "m2"])
    assert seen["probe"]["detail"].startswith("SerenMemory")


def test_a_store_that_hangs_is_given_up(shell: Shell, memory: FakeMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    monkeypatch.setattr(probing, "WAIT_S", 0.2)
    memory.gate = threading.Event()
    shell.config([store("memory", memory.url)])
    ran = shell.run("stores", "probe", "memory")
    assert (ran.code, "FAILED  timeout: no answer within 0.2 s" in ran.out) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["wikki"], "no store named 'wikki'; did you mean 'wiki'?"),
        (["--type", "mpc", "--url", "http://127.0.0.1:9"], "type 'mpc' is unknown"),
        (["--type", "mcp", "--url", "http://127.0.0.1:9", "--option", "tool"], "--option tool: must be KEY=VALUE"),
        (["--type", "mcp", "--url", "http://127.0.0.1:9", "--option", "tool={"], "--option tool, line"),
        (["--type", "mcp", "--url", "http://127.0.0.1:9", "--token-env", "NO_SUCH"], "names the environment variable"),
    ],
)
def test_a_wrong_order_is_exit_2_with_its_reason(shell: Shell, url: str, arguments: list[str], said: str) -> None:
    shell.config([engine(url)])
    ran = shell.run("stores", "probe", *arguments)
    assert (ran.code, ran.out, ran.err[: len(said) + 14]) == (2, "", f"callosum-mcp: {said}")
