"""What an embedder adds to the words: on their scale, with what is not known guessed, and no store's scores in it."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from callosum_mcp.fusion import RankedList, fuse
from callosum_mcp.fusion.lexical import echoes
from callosum_mcp.fusion.semantic import FEWEST, Line, deviation, with_meaning, worth_embedding
from fusion.worlds import QUERY, TEXTS, ids, lists, ranked

scores = st.integers(0, 200).map(lambda tenths: tenths / 10)
nearness = st.integers(-100, 100).map(lambda hundredths: hundredths / 100)
texts = st.lists(st.tuples(scores, st.none() | nearness, st.booleans()), min_size=1, max_size=30)
Texts = list[tuple[float, float | None, bool]]


def together(given_texts: Texts, factor: float = 1.0, shift: float = 0.0) -> list[float]:
    cosines = [None if cosine is None else factor * cosine + shift for _, cosine, _ in given_texts]
    return with_meaning([score for score, _, _ in given_texts], cosines, [echo for _, _, echo in given_texts])


@given(texts)
def test_no_score_is_below_that_of_the_words_and_an_echo_scores_nothing(given_texts: Texts) -> None:
    words = [score for score, _, _ in given_texts]
    found = together(given_texts)
    if found != words:
        for value, (score, _, echo) in zip(found, given_texts, strict=True):
            assert value == 0 if echo else value >= score


@given(texts, st.floats(0.1, 10), st.floats(-1, 1))
def test_the_scale_of_the_cosines_does_not_matter(given_texts: Texts, factor: float, shift: float) -> None:
    known = [cosine for _, cosine, echo in given_texts if cosine is not None and not echo]
    assume(len(set(known)) != 1)
    assert together(given_texts, factor, shift) == pytest.approx(together(given_texts), rel=1e-6, abs=1e-6)


def test_fewer_cosines_than_a_line_needs_change_nothing() -> None:
    few: list[float | None] = [0.9, 0.1, 0.5, *[None] * 5]
    assert len([one for one in few if one is not None]) < FEWEST
    assert with_meaning(range(8), few, [False] * 8) == list(range(8))


def test_cosines_that_are_all_the_same_change_nothing() -> None:
    assert with_meaning([1.0] * 6, [0.5] * 6, [False] * 6) == [1.0] * 6


def test_of_two_texts_with_the_same_words_the_nearer_one_scores_more() -> None:
    found = with_meaning([1.0] * 5, [0.1, 0.2, 0.3, 0.4, 0.5], [False] * 5)
    assert all(first < second for first, second in pairwise(found))


def test_a_text_without_a_cosine_gets_what_its_words_lead_to_expect() -> None:
    found = with_meaning([0, 1, 2, 3, 1.5], [0.0, 0.1, 0.2, 0.3, None], [False] * 5)
    assert found[1] < found[4] < found[2]


def test_a_text_is_not_taken_to_be_nearer_because_it_has_fewer_words() -> None:
    line = Line.through([(0, 0.9), (1, 0.6), (2, 0.3), (3, 0.0)])
    assert line.at(0) == line.at(3) == pytest.approx(0.45)


def test_where_no_word_matches_the_meaning_alone_decides() -> None:
    found = with_meaning([0.0] * 5, [0.1, 0.9, 0.2, 0.3, None], [False] * 5)
    assert max(range(5), key=found.__getitem__) == 1


def test_few_cosines_count_for_less_than_many() -> None:
    few, many = [0.1, 0.2, 0.3, 0.4], [0.1, 0.2, 0.3, 0.4] * 20
    assert max(with_meaning([0.0] * 4, few, [False] * 4)) < max(with_meaning([0.0] * 80, many, [False] * 80))


def test_what_only_asks_is_not_worth_embedding() -> None:
    asking = [QUERY, "Which port does Hermes use?", "what is the rack for? ", "香港在哪里？"]
    assert worth_embedding(QUERY, [*asking, "Hermes? It uses 8443"]) == ["Hermes? It uses 8443"]


@pytest.mark.parametrize("query", ["", "???", "hermes"])
def test_a_text_without_words_is_no_echo(query: str) -> None:
    assert echoes(query, ["", "…", "tape"]) == [False] * 3


def test_deviation_of_nothing_is_nothing() -> None:
    assert deviation([]) == 0


@given(lists(), st.lists(nearness, min_size=len(TEXTS), max_size=len(TEXTS)), st.floats(0.01, 1))
def test_no_rescaling_of_a_stores_scores_changes_the_order(
    given_lists: list[RankedList], near: list[float], factor: float
) -> None:
    cosines = dict(zip(TEXTS, near, strict=True))

    def order(given: list[RankedList]) -> list[tuple[str, float]]:
        found = fuse("pooled", given, query=QUERY, k=60, pool_weight=0.5, cosines=cosines)
        return [(item.hit.address, item.score) for item in found]

    changed = [
        replace(one, hits=tuple(replace(hit, relevance=factor * (hit.relevance or 1)) for hit in one.hits))
        for one in given_lists
    ]
    assert order(changed) == order(given_lists)


def test_the_nearer_text_of_a_store_rises() -> None:
    one = ranked("a", "port of wine", "the tide", "the rack", "where a messenger listens", "the sea")
    near = dict(zip((hit.text for hit in one.hits), (0.1, 0.0, 0.1, 0.9, 0.0), strict=True))
    plain = fuse("pooled", [one], query=QUERY, k=60, pool_weight=0.5)
    found = fuse("pooled", [one], query=QUERY, k=60, pool_weight=0.5, cosines=near)
    assert ids(found).index("a:4") < ids(plain).index("a:4")
