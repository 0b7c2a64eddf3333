"""Authority and time: an exact key leads unless a heavier store answers; youth decides between near equals alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callosum_mcp.federation.order import ordered, retimed
from callosum_mcp.fusion import RankedList
from callosum_mcp.fusion.authority import leader_by_margin
from callosum_mcp.fusion.temporal import bonus, has_cue
from callosum_mcp.models.knobs import FusionMode, Knobs
from callosum_mcp.models.values import FusedHit, Hit
from fusion.worlds import MODES, QUERY, fused, ids, lists, modes, ranked

DAY = 86_400.0
NOW = 1_000 * DAY


def with_first(one: RankedList, **changes: object) -> RankedList:
    """The list with its last hit changed."""
    last = replace(one.hits[-1], **changes)  # pyright: ignore[reportArgumentType]
    return replace(one, hits=(*one.hits[:-1], last))


def memories() -> RankedList:
    return ranked("memory", "hermes uses port 8443", "the port of hermes was 22 once")


def facts(weight: float = 1.0, **changes: object) -> RankedList:
    asked = {"exact": True, "relevance": 1.0, **changes}
    return with_first(ranked("loci", "apollo status = up", "tide = low", weight=weight), **asked)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("fact_weight", "memory_weight", "leads"), [(1, 1, True), (2, 1, True), (1, 2, False)])
def test_an_exact_key_leads_unless_a_heavier_store_answers(
    mode: FusionMode, fact_weight: float, memory_weight: float, leads: bool
) -> None:
    given_lists = [replace(memories(), weight=memory_weight), facts(fact_weight)]
    items = ordered(given_lists, QUERY, Knobs(fusion_mode=mode))
    assert (items[0].hit.address == "loci:2", items[0].lead) == (leads, "exact" if leads else None)
    heavier_but_silent = [*given_lists, ranked("silent", weight=100)]
    assert ids(ordered(heavier_but_silent, QUERY, Knobs(fusion_mode=mode))) == ids(items)


def test_a_hit_without_a_known_relevance_never_leads() -> None:
    items = ordered([memories(), facts(relevance=None)], QUERY, Knobs(authority_margin=0.1))
    assert [item.lead for item in items] == [None] * 4


def test_an_exact_fact_leads_also_where_a_memory_says_the_same() -> None:
    said = "the tide is low until noon"
    fact = with_first(ranked("loci", said), exact=True, relevance=1.0, type="fact")
    items = ordered([ranked("memory", "hermes port 8443", said), fact], QUERY, Knobs())
    assert (items[0].hit.address, items[0].lead, len(items[0].sources)) == ("loci:1", "exact", 2)


def test_a_margin_leads_only_where_it_is_set_and_reached() -> None:
    far = ranked("far", "tide = low", "wind = none")
    far = replace(far, hits=(replace(far.hits[0], relevance=0.9), replace(far.hits[1], relevance=0.5)))
    given_lists = [memories(), far]
    assert ordered(given_lists, QUERY, Knobs())[0].hit.store == "memory"
    assert ordered(given_lists, QUERY, Knobs(authority_margin=0.5))[0].hit.store == "memory"
    first = ordered(given_lists, QUERY, Knobs(authority_margin=0.3))[0]
    assert (first.hit.address, first.lead) == ("far:1", "margin")
    heavier = [replace(memories(), weight=2), far]
    assert ordered(heavier, QUERY, Knobs(authority_margin=0.3))[0].hit.store == "memory"


def test_exact_goes_before_margin_before_and_after_the_tie_break() -> None:
    far = ranked("far", "moon = full", "wind = none")
    far = replace(far, hits=(replace(far.hits[0], relevance=0.9, last_seen=NOW), replace(far.hits[1], relevance=0.1)))
    items = ordered([far, facts()], QUERY, Knobs(authority_margin=0.3))
    assert [item.lead for item in items] == ["exact", "margin", None, None]
    assert [item.lead for item in retimed(items, Knobs(), NOW)] == ["exact", "margin", None, None]


@pytest.mark.parametrize(
    ("gaps", "margin", "store"),
    [
        ({"a": [0.9, 0.8], "b": [0.5, 0.1]}, 0.3, "b"),
        ({"a": [0.9, None], "b": [0.5]}, 0.1, None),
        ({"a": [0.9, 0.8]}, 0.0, None),
        ({}, 0.1, None),
    ],
)
def test_the_store_whose_best_stands_out_leads(
    gaps: dict[str, list[float | None]], margin: float, store: str | None
) -> None:
    assert leader_by_margin(gaps, margin) == store


@pytest.mark.parametrize(
    "query",
    ["what is the latest port", "current status", "what did we do last week", "three days ago",
     "state on 2026-11-02", "was ist jetzt aktuell",
     "letzte Woche", "que se passe-t-il aujourd'hui", "el estado actual",
     "现在的状态", "最新の状態", "현재 상태", "obecnie", "l'état maintenant"],
)  # fmt: skip
def test_a_question_for_a_time_is_known_in_many_languages(query: str) -> None:
    assert has_cue(query)


@pytest.mark.parametrize("query", [QUERY, "New York office", "this service", "the last mile router", "猫", "port 2026"])
def test_other_questions_ask_for_no_time(query: str) -> None:
    assert not has_cue(query)


@given(st.floats(-1e4, 1e6), st.floats(0, 100), st.floats(0, 1))
def test_youth_never_adds_more_than_its_part_of_a_unit(age_days: float, unit: float, weight: float) -> None:
    gain = bonus(NOW - age_days * DAY, NOW, unit, weight)
    assert 0 <= gain <= weight * unit
    assert bonus(None, NOW, unit, weight) == 0


def test_youth_is_halved_every_ninety_days() -> None:
    assert [bonus(NOW - days * DAY, NOW, 1.0, 0.5) for days in (0, 90, 180)] == [0.5, 0.25, 0.125]


@given(lists(), modes, st.floats(0, 1), st.data())
def test_the_tie_break_stays_below_half_a_first_rank(
    given_lists: list[RankedList], mode: FusionMode, weight: float, data: st.DataObject
) -> None:
    knobs = Knobs(fusion_mode=mode, temporal_weight=min(weight, 0.5))
    ages = st.none() | st.floats(0, 1_000)
    dated = [
        replace(item, hit=replace(item.hit, last_seen=None if (age := data.draw(ages)) is None else NOW - age * DAY))
        for item in fused(mode, given_lists)
    ]
    unit = 1 / 61 if mode in ("rrf", "rrf_pct") else max((item.score for item in dated), default=0.0) / 10
    for item in retimed(dated, knobs, NOW):
        assert item.temporal <= unit / 2 + 1e-12
        assert item.hit.last_seen is not None or item.temporal == 0


def section(name: str, score: float, last_seen: float | None = None) -> FusedHit:
    hit = Hit(store="notes", id=name, text=name, uri=f"file:///ops.md#{name}", last_seen=last_seen)
    return FusedHit(hit=hit, score=score, store_rank=1)


def test_a_younger_hit_passes_its_near_equal_and_no_more() -> None:
    items = [
        FusedHit(hit=replace(hit, last_seen=seen), score=score, store_rank=1)
        for hit, seen, score in [
            (Hit(store="a", id="best", text="x"), None, 1.0),
            (Hit(store="a", id="old", text="y"), NOW - 400 * DAY, 0.5),
            (Hit(store="a", id="young", text="z"), NOW, 0.49),
        ]
    ]
    assert [item.hit.id for item in retimed(items, Knobs(), NOW)] == ["best", "young", "old"]


def test_sections_of_one_document_do_not_fill_the_list_before_or_after_the_tie_break() -> None:
    notes = ranked("notes", *(f"hermes port part {n}" for n in range(5)))
    notes = replace(notes, hits=tuple(replace(hit, uri=f"file:///ops.md#{hit.id}") for hit in notes.hits))
    other = ranked("other", "the tide", "the wind")
    items = ordered([notes, other], "hermes port", Knobs())
    assert [item.hit.store for item in items] == ["notes", "notes", "other", "other", "notes", "notes", "notes"]
    sections = [
        *(section(str(n), 1 - n / 100, NOW) for n in range(4)),
        FusedHit(hit=Hit(store="a", id="1", text="x"), score=0.1, store_rank=1),
    ]
    assert [item.hit.store for item in retimed(sections, Knobs(), NOW)] == ["notes", "notes", "a", "notes", "notes"]
