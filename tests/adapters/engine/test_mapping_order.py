"""The order of hits, and the further calls that complete them."""

from __future__ import annotations

from typing import Any

import pytest

from callosum_mcp.adapters.engine import catalog
from callosum_mcp.adapters.engine.places import dated, file_of, file_under
from callosum_mcp.adapters.engine.reading import EngineReply, ToolReply, merged
from callosum_mcp.adapters.engine.seconds import completed, discovered, second_call, second_request
from callosum_mcp.errors import StoreBadReply, StoreFailed
from callosum_mcp.models.values import Hit, StoreQuery
from callosum_mcp.text import iso_utc

from .mapping import NOW, preset, recorded, said, structured

QUERY = StoreQuery(text="hermes gateway", limit=3)


def hits(*ids: str, **more: Any) -> tuple[Hit, ...]:
    return tuple(Hit(store="s", id=one, text=f"text {one}", **more) for one in ids)


def scored(**scores: float | None) -> tuple[Hit, ...]:
    return tuple(
        Hit(store="s", id=one, text="t", last_seen=score, metadata={} if score is None else {"store_score": score})
        for one, score in scores.items()
    )


def order(reply: EngineReply) -> str:
    return "".join(hit.id for hit in reply.hits)


def test_the_answers_of_several_calls_take_turns_and_each_hit_counts_once() -> None:
    replies = [EngineReply(hits=hits("a", "b", "c")), EngineReply(hits=hits("x", "b")), EngineReply(hits=())]
    assert order(merged(replies, preset(), QUERY)) == "axb"


def test_the_engines_order_stays_unless_the_preset_says_otherwise() -> None:
    reply = EngineReply(hits=scored(a=2.0, b=None, c=-3.0, d=2.0))
    long = StoreQuery(text="x", limit=9)
    assert order(merged([reply], preset(), long)) == "abcd"
    assert order(merged([reply], preset(order="score_desc"), long)) == "adcb"
    assert order(merged([reply], preset(order="score_asc"), long)) == "cadb"
    assert order(merged([reply], preset(order="last_seen_desc"), long)) == "adcb"


def test_hits_of_an_unranked_engine_are_ranked_by_their_words_before_any_is_cut() -> None:
    texts = {
        "a": "the weather",
        "b": "hermes runs",
        "c": "more weather",
        "d": "the hermes gateway stopped",
        "e": "gateway",
    }
    found = tuple(Hit(store="s", id=one, text=text, title="t") for one, text in texts.items())
    made = preset(client_rerank="bm25")
    assert order(merged([EngineReply(hits=found)], made, QUERY)) == "deb"
    assert order(merged([EngineReply(hits=hits("x", "y", "z"))], made, QUERY)) == "xyz"
    assert order(merged([EngineReply(hits=())], made, QUERY)) == ""


def test_a_title_counts_for_the_rank() -> None:
    found = (Hit(store="s", id="a", text="x y"), Hit(store="s", id="b", text="x y", title="hermes"))
    assert order(merged([EngineReply(hits=found)], preset(client_rerank="bm25"), QUERY)) == "ba"


def test_a_verdict_stands_only_if_every_call_gave_the_same() -> None:
    one, two = EngineReply(hits=(), verdict="none", remark="r"), EngineReply(hits=(), verdict="many", remark="r")
    assert merged([one], preset(), QUERY).verdict == "none"
    assert merged([one, two], preset(), QUERY) == EngineReply(hits=(), remark="r")
    assert merged([], preset(), QUERY) == EngineReply(hits=())


def test_a_further_reply_completes_a_hit() -> None:
    made = catalog.load("brainrouter")
    hit = Hit(store="s", id="m1", text="old", type="task")
    assert second_call(made, "enrich", {}, hit, NOW, None) == {"recordId": "m1"}

    full = completed(made, "enrich", recorded("brainrouter/get"), hit, now=NOW)

    assert full is not None and (full.id, full.text, full.type) == ("m1", "old", "task")
    assert full.last_seen is not None and full.confidence is not None


def test_a_fetched_hit_keeps_its_id_and_takes_what_the_reply_says() -> None:
    fields = {
        "id": "id",
        "snippet": "body",
        "title": "name",
        "tags": "tags",
        "score": "s",
        "superseded_at": "gone",
        "last_seen": "at",
        "citations": "n",
        "uri": "uri",
        "type": "kind",
    }
    made = preset(fetch={"tool": "get", "items": "$", "fields": fields}, score={"meaning": "unit"}, tier_from_file=True)
    row = {
        "id": "other",
        "body": ["a", "b"],
        "name": "N",
        "tags": "X",
        "s": 0.5,
        "gone": "2026-01-01",
        "at": "2026-11-29",
        "n": 2,
        "uri": "mem://1",
    }
    hit = Hit(store="s", id="1", text="old", title="Old", type="fact", metadata={"kept": 1})

    full = completed(made, "fetch", structured(row), hit, now=NOW)

    assert full == Hit(
        store="s",
        id="1",
        text="a\nb",
        title="N",
        uri="mem://1",
        type="fact",
        topics=("x",),
        tier="recent-file",
        last_seen=1_795_910_400.0,
        relevance=0.5,
        live=False,
        superseded_at=1_767_225_600.0,
        metadata={"kept": 1, "store_score": 0.5, "citations": 2},
    )


def test_the_texts_of_several_items_are_joined() -> None:
    made = preset(
        enrich={"tool": "refs", "items": "$.*.*[*]", "fields": {"snippet": "{$1}: {name_path}", "type": "=ref"}}
    )
    row = {
        "a.py": {"Method": [{"name_path": "f"}, {"name_path": "g"}, {"x": 1}]},
        "b.py": {"Class": [{"name_path": "C"}]},
    }
    full = completed(made, "enrich", structured(row), Hit(store="s", id="1", text="old"))
    assert full is not None and (full.text, full.type) == ("a.py: f\n\na.py: g\n\nb.py: C", "ref")


@pytest.mark.parametrize("reply", [said(), structured({"other": 1}), structured({"memory": None})])
def test_a_further_reply_without_the_hit_is_no_hit(reply: ToolReply) -> None:
    made = preset(fetch={"tool": "get", "items": "$.memory", "fields": {"snippet": "text"}})
    assert completed(made, "fetch", reply, hits("1")[0]) is None


@pytest.mark.parametrize("reply", [said("gone", is_error=True), structured({"error": "gone"}), said("Error: gone")])
def test_a_further_reply_that_failed_is_a_failure(reply: ToolReply) -> None:
    made = preset(
        fetch={"tool": "get", "items": "$.memory", "fields": {"snippet": "text"}},
        discover={"param": "p", "tool": "list", "from": "$.memory"},
        errors={"path": ["$.error"]},
    )
    with pytest.raises(StoreFailed, match="gone"):
        completed(made, "fetch", reply, hits("1")[0])
    with pytest.raises(StoreFailed, match="gone"):
        discovered(made, reply)
    with pytest.raises(StoreFailed, match="gone"):
        completed(preset(fetch=made.fetch), "fetch", reply, hits("1")[0])


def test_a_call_that_a_preset_has_not_cannot_be_made() -> None:
    with pytest.raises(ValueError, match=r"^enrich: not in preset made$"):
        second_call(preset(), "enrich", {}, hits("1")[0], NOW, None)
    with pytest.raises(ValueError, match=r"^fetch: no http request in preset made$"):
        second_request(preset(fetch={"tool": "get", "fields": {}}), "fetch", {}, hits("1")[0], NOW)


def test_what_an_engine_said_of_a_hit_fills_in_the_further_call() -> None:
    args = {"id": "{id}", "native": "{native_id}", "f": "{file}", "p": "{path}", "t": "{title}", "u": "{uri}"}
    second = {"tool": "get", "args": {**args, "q": "{question}"}, "fields": {}}
    hit = Hit(store="s", id="1", text="t", native_id="n1", title="T", path="a.py:3-4")
    made = preset(enrich=second)
    assert second_call(made, "enrich", {}, hit, NOW, None, "why") == {
        "id": "1",
        "native": "n1",
        "f": "a.py",
        "p": "a.py:3-4",
        "t": "T",
        "q": "why",
    }
    assert "q" not in second_call(made, "enrich", {}, hit, NOW, None)


def test_an_id_in_a_url_stays_one_segment() -> None:
    made = preset(kind="http", fetch={"http": {"path": "/memories/{id}"}, "fields": {"snippet": "text"}})
    assert second_request(made, "fetch", {}, hits("a/../b?x")[0], NOW).path == "/memories/a%2F..%2Fb%3Fx"
    with pytest.raises(StoreBadReply, match="cannot be asked for this"):
        second_request(made, "fetch", {}, hits("..")[0], NOW)


def test_the_values_of_a_param_are_found_out() -> None:
    made = catalog.load("codebase-memory-mcp")
    assert discovered(made, recorded("codebase-memory-mcp/projects")) == ["proj"]
    assert discovered(made, structured({"projects": [{"name": "a"}, {"name": "a"}, {}, {"name": 7}]})) == ["a", "7"]
    assert discovered(made, said()) == []
    assert discovered(preset(), structured({"x": 1})) == []


@pytest.mark.parametrize(
    ("path", "file"),
    [
        ("a/b.py:12", "a/b.py"),
        ("a/b.py:12-20", "a/b.py"),
        ("a/b.py:12:5", "a/b.py"),
        ("notes/ops.md#L12", "notes/ops.md"),
        ("Hermes status.md", "Hermes status.md"),
        ("C:\\x\\y.md:3", "C:\\x\\y.md"),
        ("#top", None),
        ("", None),
        (None, None),
    ],
)
def test_a_path_tells_its_file(path: str | None, file: str | None) -> None:
    assert file_of(path) == file


@pytest.mark.parametrize(
    ("root", "path", "file"),
    [
        ("/srv/notes", "ops/a.md:3", "/srv/notes/ops/a.md"),
        ("/srv/notes/", "./ops/../a.md", "/srv/notes/a.md"),
        ("/srv/notes", "/srv/notes/a.md", "/srv/notes/a.md"),
        ("/", "etc/a.md", "/etc/a.md"),
        ("/srv/notes", "../a.md", None),
        ("/srv/notes", "/srv/notes2/a.md", None),
        ("/srv/notes", "..", None),
        ("/srv/notes", ".", None),
        ("/srv/notes", "https://x/a.md", None),
        ("/srv/notes", "a\x00b", None),
        ("/srv/notes", None, None),
        ("C:\\notes", "ops/a.md", "C:\\notes\\ops\\a.md"),
        ("C:\\notes", "D:\\a.md", None),
    ],
)
def test_a_hits_file_lies_below_its_root_or_is_none(root: str, path: str | None, file: str | None) -> None:
    assert file_under(root, Hit(store="s", id="1", text="t", path=path)) == file


def test_a_file_time_dates_a_hit_that_has_none() -> None:
    made = preset(tier_from_file=True)
    (hit,) = hits("1")
    fresh = dated(hit, NOW - 60, made, NOW)
    assert (fresh.last_seen, fresh.tier) == (NOW - 60, "recent-file")
    old = dated(hits("1", last_seen=NOW - 40 * 86_400)[0], NOW - 60, made, NOW)
    assert (iso_utc(old.last_seen), old.tier) == (iso_utc(NOW - 40 * 86_400), "older-note")
    assert dated(hit, 0.0, made, NOW).last_seen is None
