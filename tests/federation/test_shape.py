"""The answer stays inside its budget, whatever the stores say, and tells what was left out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callosum_mcp.federation.edges import Edge
from callosum_mcp.federation.sane import sane_hits
from callosum_mcp.federation.shape import Gathered, shape
from callosum_mcp.federation.shape_fetch import shape_fetch
from callosum_mcp.models.knobs import MAX_BUDGET_TOKENS
from callosum_mcp.models.requests import Detail
from callosum_mcp.models.values import FusedHit, Hit, StoreStatus
from callosum_mcp.reconcile.reconciliation import Conflict
from callosum_mcp.text import clean, compact_json

any_text = st.text(st.characters(exclude_categories=()), max_size=400) | st.sampled_from(
    ['"' * 3_000, "\\" * 3_000, "\n" * 3_000, "x" * 20_000, "适" * 3_000, "\ud83d" * 500, "🦊 " * 2_000, "\x00" * 900]
)
short_text = any_text.map(lambda text: text[:60])
details = st.sampled_from(["concise", "detailed"])
hits = st.builds(
    Hit,
    store=st.just("s"),
    id=short_text | any_text,
    text=any_text,
    title=st.none() | any_text,
    path=st.none() | short_text,
    type=st.none() | short_text,
    topics=st.lists(short_text, max_size=5).map(tuple),
    last_seen=st.none() | st.floats(),
    confidence=st.none() | st.floats(),
    superseded_by=st.none() | short_text,
    metadata=st.dictionaries(short_text, any_text | st.floats() | st.lists(any_text, max_size=3), max_size=4),
)
edges = st.builds(Edge, hit=hits, kind=st.sampled_from(["topic", "satellite", "supersedes"]), of=short_text.map(clean))
conflicts = st.builds(
    Conflict,
    claim=any_text.map(clean),
    winner=short_text.map(clean),
    losers=st.lists(short_text.map(clean), min_size=1, max_size=9).map(tuple),
    members=st.just(()),
    kind=st.sampled_from(["temporal_update", "genuine_conflict"]),
    reason=any_text.map(clean),
)
statuses = st.builds(
    StoreStatus,
    engine=st.text("abcdefgh", min_size=1, max_size=64),
    status=st.sampled_from(["up", "down", "skipped"]),
    reason=st.sampled_from([None, "timeout", "refused", "out_of_scope"]),
    detail=st.none() | any_text.map(lambda text: clean(text)[:240]),
    ms=st.none() | st.floats(0, 1e6),
    hits=st.none() | st.integers(0, 500),
)


def gathered(*found: Hit, old: tuple[Hit, ...] = (), **more: Any) -> Gathered:
    fused = tuple(FusedHit(hit=hit, score=1 / (60 + rank), store_rank=rank) for rank, hit in enumerate(found, start=1))
    base: dict[str, Any] = {"query": "q", "statuses": (), "took_s": 0.01}
    return Gathered(hits=fused, superseded=old, **{**base, **more})


def long_hit(name: str, text: str = "word " * 2_000, **more: Any) -> Hit:
    return Hit(store="s", id=name, text=text, **more)


@pytest.mark.promise("3d", "P32")
@settings(max_examples=150, deadline=None)
@given(
    st.lists(hits, max_size=12),
    st.lists(hits, max_size=4),
    st.lists(edges, max_size=6),
    st.lists(conflicts, max_size=3),
    st.lists(statuses, max_size=64),
    any_text.map(lambda text: clean(text)[:8_000]),
    st.integers(200, 4_000),
    details,
)
def test_an_answer_never_exceeds_its_budget(
    found: list[Hit],
    old: list[Hit],
    beside: list[Edge],
    disputed: list[Conflict],
    engines: list[StoreStatus],
    query: str,
    budget_tokens: int,
    detail: Detail,
) -> None:
    many = gathered(
        *sane_hits(found, "s"),
        old=sane_hits(old, "s"),
        edges=tuple(replace(edge, hit=hit) for edge in beside for hit in sane_hits([edge.hit], "s")),
        conflicts=tuple(disputed),
        statuses=tuple(engines),
        query=query,
    )
    answer = shape(many, budget_tokens=budget_tokens, detail=detail)
    size = len(compact_json(answer.wire()))
    assert size <= 4 * budget_tokens
    assert answer.tokens * 4 >= size
    shown = [*answer.hits, *answer.superseded, *answer.edges]
    assert [(receipt.id, receipt.source) for receipt in answer.receipts] == [(hit.receipt, hit.id) for hit in shown]
    assert answer.truncated is (answer.note is not None)
    if len(answer.hits) < len(many.hits):
        assert answer.note is not None and "more hits did not fit" in answer.note


def test_sixty_four_silent_stores_fit_the_smallest_budget() -> None:
    down = tuple(StoreStatus(engine=f"{n:064}", status="down", reason="timeout", detail="x" * 240) for n in range(64))
    answer = shape(gathered(statuses=down, query='"' * 8_000), budget_tokens=200, detail="concise")
    assert len(compact_json(answer.wire())) <= 800
    assert answer.engines and answer.note == f"{64 - len(answer.engines)} statuses left out"


def test_those_that_are_down_are_told_first_where_room_is_short() -> None:
    engines = [StoreStatus(engine=f"up{n}", status="up", detail="d" * 200, ms=1.0) for n in range(9)]
    bad = StoreStatus(engine="bad", status="down", reason="refused", detail="nothing listens")
    answer = shape(gathered(statuses=(*engines, bad)), budget_tokens=200, detail="concise")
    assert [(engine.engine, engine.reason) for engine in answer.engines] == [("bad", "refused")]
    assert answer.partial


@pytest.mark.promise("P32")
def test_what_was_left_out_is_said_with_the_way_to_get_it() -> None:
    found = [long_hit(str(n)) for n in range(10)]
    answer = shape(gathered(*found, old=(long_hit("old"),)), budget_tokens=600, detail="concise")
    shown = len(answer.hits)
    assert 0 < shown < 10
    assert answer.note == (
        f"{10 - shown} more hits did not fit: ask with a larger budget_tokens; "
        f"{shown} texts cut: fetch(id) gives all of one; 1 superseded did not fit"
    )
    assert all(hit.cut == 10_000 - len(hit.text) for hit in answer.hits)


def test_associated_memories_without_room_are_counted() -> None:
    edge = Edge(hit=long_hit("e"), kind="topic", of="s:1")
    found = gathered(*(long_hit(str(n)) for n in range(3)), edges=(edge, edge))
    answer = shape(found, budget_tokens=300, detail="concise")
    assert not answer.edges and "2 edges did not fit" in (answer.note or "")


def test_a_hit_with_an_endless_key_does_not_hide_the_others() -> None:
    found = [long_hit("k" * 50_000), long_hit("2", "short")]
    answer = shape(gathered(*found), budget_tokens=600, detail="concise")
    assert [hit.id for hit in answer.hits] == ["s:2"]
    assert answer.note == "1 more hits did not fit: ask with a larger budget_tokens"


def test_metadata_gives_way_to_texts() -> None:
    found = [long_hit("1", "one", metadata={"around": "x" * 9_000}), long_hit("2", "two", metadata={"a": 1})]
    answer = shape(gathered(*found), budget_tokens=1_000, detail="detailed")
    assert [(hit.id, hit.metadata) for hit in answer.hits] == [("s:1", None), ("s:2", {"a": 1})]
    assert answer.note == "metadata of 1 left out"


def test_concise_leaves_out_what_a_model_cannot_use() -> None:
    hit = Hit(
        store="s",
        id="hermes/port",
        text="hermes port = 8443",
        title="hermes port",
        path="hermes/port",
        type="fact",
        topics=("hermes",),
        last_seen=86_400.0,
        metadata={"recheck": ["hermes/slo superseded"], "why_changed": "moved", "source": "user"},
    )
    concise = shape(gathered(hit), budget_tokens=1_800, detail="concise").wire()["hits"]
    detailed = shape(gathered(hit), budget_tokens=1_800, detail="detailed").wire()["hits"]
    short = {
        "id": "s:hermes/port",
        "store": "s",
        "text": "hermes port = 8443",
        "score": 0.0163934,
        "store_rank": 1,
        "last_seen": "1970-01-02T00:00:00Z",
        "receipt": "r1",
        "recheck": ["hermes/slo superseded"],
        "why_changed": "moved",
    }
    assert concise == [short]
    assert detailed == [
        {
            **short,
            "title": "hermes port",
            "path": "hermes/port",
            "type": "fact",
            "topics": ["hermes"],
            "metadata": dict(hit.metadata),
        }
    ]


def test_a_memory_of_several_stores_names_them_all() -> None:
    item = FusedHit(hit=long_hit("1", "x"), score=1.0, store_rank=1, sources=(("s:1", 1), ("t:a:b", 4)))
    answer = shape(
        Gathered(query="q", hits=(item,)),
        budget_tokens=600,
        detail="concise",
    )
    assert answer.wire()["hits"][0]["sources"] == [
        {"store": "s", "id": "1", "store_rank": 1},
        {"store": "t", "id": "a:b", "store_rank": 4},
    ]


@settings(max_examples=100, deadline=None)
@given(st.lists(hits, min_size=1, max_size=1))
def test_a_fetched_hit_never_exceeds_the_largest_budget(found: list[Hit]) -> None:
    for hit in sane_hits(found, "s"):
        asked = replace(hit, id=hit.id[:4_096])  # the longest id fetch takes
        assert len(compact_json(shape_fetch(asked).wire())) <= 4 * MAX_BUDGET_TOKENS


@pytest.mark.parametrize("text", ['"' * 200_000, "x" * 200_000, "a\n" * 100_000])
def test_a_fetched_text_that_is_too_long_is_cut_and_says_so(text: str) -> None:
    answer = shape_fetch(long_hit("1", text, title="t" * 9_000, metadata={"a": "x" * 99_000}))
    left = len(text) - len(answer.text)
    assert 19_000 < len(compact_json(answer.text)) <= 32_002
    assert answer.note == f"{left} characters of the text left out; metadata left out: larger than 20000 tokens"
    assert answer.truncated and answer.metadata is None


def test_a_small_hit_is_fetched_whole() -> None:
    answer = shape_fetch(long_hit("1", "one", metadata={"a": 1}))
    assert (answer.text, answer.metadata, answer.truncated, answer.note) == ("one", {"a": 1}, False, None)
