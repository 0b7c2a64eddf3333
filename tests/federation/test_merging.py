"""A recall over stores that hold the same things: each memory once, no byte changed by speed or scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.data import federation, scripted

from callosum_mcp.federation.order import ordered
from callosum_mcp.federation.stores import Store
from callosum_mcp.fusion import RankedList
from callosum_mcp.models.knobs import FusionMode, Knobs
from callosum_mcp.models.requests import RecallRequest
from callosum_mcp.models.results import RecallResult
from callosum_mcp.models.values import Hit, StoreSpec, StoreStatus
from callosum_mcp.testing import ScriptedStore, hit

ASK = RecallRequest(query="which port does Hermes use")
TEXTS = ["Hermes uses port 8443", "the tide is low", "ports of the edge", "Hermes, again", "a long tape " * 9]
modes = st.sampled_from(["pooled", "rrf", "rrf_pct", "percentile"])


def ids(answer: RecallResult) -> list[str]:
    return [shown.id for shown in answer.hits]


async def recalled(order: Sequence[int], factor: float, mode: FusionMode, *more: Store) -> dict[str, Any]:
    """The answer of four stores that answer in this order, without what counts the stores and their time."""
    gates = [anyio.Event() for _ in order]
    stores = [
        scripted(
            f"s{n}",
            *(
                hit(f"s{n}", str(i), TEXTS[(n + i) % 5], relevance=0.009 * factor / (i + 1), topics=("t",))
                for i in range(3)
            ),
            gate=gate,
        )
        for n, gate in enumerate(gates)
    ]
    waiting = iter(order[1:])

    async def next_one(status: StoreStatus) -> None:
        following = next(waiting, None) if status.engine.startswith("s") else None
        if following is not None:
            gates[following].set()

    gates[order[0]].set()
    asking = federation(*more, *stores, fusion_mode=mode)
    wire = (await asking.recall(ASK.model_copy(update={"budget_tokens": 9_000}), on_status=next_one)).wire()
    return {key: value for key, value in wire.items() if key not in ("took_ms", "tokens", "engines")}


@pytest.mark.promise("P23")
@settings(max_examples=40, deadline=None)
@given(st.permutations(range(4)), st.floats(0.01, 100), modes, st.booleans())
async def test_neither_speed_nor_scores_nor_an_empty_store_change_a_byte(
    order: list[int], factor: float, mode: FusionMode, empty: bool
) -> None:
    more = [scripted("empty")] if empty else []
    assert await recalled(order, factor, mode, *more) == await recalled(range(4), 1.0, mode)


@pytest.mark.parametrize("mode", ["pooled", "rrf", "rrf_pct", "percentile"])
async def test_a_memory_of_two_stores_stands_once_with_both_sources(mode: FusionMode) -> None:
    value = "Hermes has listened on port 8443 since the move"
    fact = hit("loci", "hermes/port", f"hermes port = {value}", type="fact", metadata={"value": value})
    asking = federation(scripted("memory", hit("memory", "7", f"{value}.")), scripted("loci", fact), fusion_mode=mode)
    (shown,) = (await asking.recall(ASK)).hits
    assert shown.sources is not None
    assert {(source.store, source.id) for source in shown.sources} == {("memory", "7"), ("loci", "hermes/port")}
    assert f"{shown.sources[0].store}:{shown.sources[0].id}" == shown.id


@pytest.mark.promise("P17")
async def test_near_duplicates_are_marked_and_not_dropped() -> None:
    texts = ["the edge host was moved to the new rack", "the edge host was moved to a new rack", "the tide is low"]
    answer = await federation(scripted("a", *(hit("a", str(n), text) for n, text in enumerate(texts)))).recall(ASK)
    assert [(shown.id, shown.similar_to) for shown in answer.hits] == [("a:0", None), ("a:1", "a:0"), ("a:2", None)]


@pytest.mark.promise("P17")
async def test_texts_that_differ_in_a_number_are_neither_merged_nor_similar() -> None:
    texts = [f"Hermes listens on port {port} of the edge host" for port in (22, 49222)]
    answer = await federation(scripted("a", hit("a", "1", texts[0])), scripted("b", hit("b", "1", texts[1]))).recall(
        ASK
    )
    assert [(shown.text, shown.similar_to, shown.sources) for shown in answer.hits] == [
        (texts[0], None, None),
        (texts[1], None, None),
    ]


async def test_a_document_does_not_fill_the_list() -> None:
    notes = [hit("notes", f"ops#{n}", f"hermes port, part {n}", uri=f"file:///ops.md#{n}") for n in range(5)]
    answer = await federation(scripted("notes", *notes), scripted("m", hit("m", "1", "the tide"))).recall(ASK)
    assert [shown.store for shown in answer.hits] == ["notes", "notes", "m", "notes", "notes", "notes"]


async def test_a_weight_of_0_removes_a_store() -> None:
    silent = scripted("a", hit("a", "1", "Hermes uses port 8443"), more={"weight": 0})
    assert ids(await federation(silent, scripted("b", hit("b", "1", "the tide"))).recall(ASK)) == ["b:1"]


class Dating(ScriptedStore):
    """A store whose searches leave out dates, which it gives when asked."""

    def __init__(self, spec: StoreSpec, hits: Sequence[Hit], dates: dict[str, float]) -> None:
        super().__init__(spec, hits)
        self.dates = dates

    async def complete(self, hits: Sequence[Hit]) -> list[Hit]:
        return [replace(one, last_seen=self.dates.get(one.id, one.last_seen)) for one in hits]


def near_equals() -> list[Store]:
    spec = StoreSpec(name="facts", type="scripted")
    young = Dating(spec, [hit("facts", "young", "tide = low")], {"young": 4e9})
    old = scripted("memory", hit("memory", "old", "wind = none", last_seen=1.0))
    return [old, Store.of(spec, young)]


@pytest.mark.parametrize("mode", ["pooled", "rrf"])
@pytest.mark.parametrize(
    ("asked", "knobs", "first"),
    [
        ({"query": "what is it"}, {}, "memory:old"),
        ({"query": "what is it now"}, {}, "facts:young"),
        ({"query": "what is it", "since": 0}, {}, "facts:young"),
        ({"query": "what is it now"}, {"temporal_weight": 0}, "memory:old"),
    ],
)
async def test_a_question_for_a_time_prefers_the_younger_and_facts_get_their_dates_first(
    mode: FusionMode, asked: dict[str, Any], knobs: dict[str, Any], first: str
) -> None:
    answer = await federation(*near_equals(), fusion_mode=mode, **knobs).recall(RecallRequest(**asked))
    assert ids(answer)[0] == first
    assert {shown.id: shown.last_seen for shown in answer.hits}["facts:young"] is not None


async def test_a_large_answer_is_merged_beside_the_event_loop_with_the_same_result() -> None:
    large = [hit("a", str(n), f"{n} Hermes uses port {n} " + "tape " * 300) for n in range(200)]
    answer = await federation(scripted("a", *large)).recall(
        ASK.model_copy(update={"n_results": 40, "budget_tokens": 20_000})
    )
    here = ordered([RankedList(store="a", hits=tuple(large))], ASK.query, Knobs())
    assert sum(len(one.text) for one in large) > 250_000
    assert ids(answer) == [item.hit.address for item in here[:40]]
