"""The same memory stands once; what differs in a number, version, path, name or negation stays two."""

from __future__ import annotations

import unicodedata
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callosum_mcp.fusion.identity import Sketch, groups, signs, similar
from callosum_mcp.models.values import Hit

SENTENCE = "Die Hermes-Brücke lauscht auf Port 8443"
VALUE = "the old rack stays in the cellar until spring"


def memory(text: str, uri: str | None = None, **metadata: object) -> Hit:
    return Hit(store="s", id=text[:20], text=text, uri=uri, metadata=metadata)


def fact(key: str, value: str) -> Hit:
    return Hit(store="l", id=key, text=f"{key} = {value}", type="fact", metadata={"value": value})


def one(*hits: Hit) -> bool:
    return len(set(groups(hits))) == 1


@pytest.mark.promise("P19")
@pytest.mark.parametrize(
    "other",
    [
        unicodedata.normalize("NFD", SENTENCE),
        SENTENCE.upper(),
        f"  {SENTENCE.replace(' ', chr(160) + chr(10))} ",
        f"{SENTENCE}.",
        " " * 200 + SENTENCE,
    ],
)
def test_the_same_text_is_one_memory(other: str) -> None:
    assert one(memory(SENTENCE), memory(other))
    assert one(memory(f"{SENTENCE} {'und so weiter ' * 30}"), memory(f"{other.rstrip(' .')} {'und so weiter ' * 30}"))


@pytest.mark.promise("P16")
@given(st.text("aäéñǚ한글ドABC 12.-", min_size=1, max_size=150).filter(str.strip))
def test_normal_form_white_space_and_case_never_matter(text: str) -> None:
    other = "  ".join(unicodedata.normalize("NFD", text).upper().split(" "))
    assert one(memory(text), memory(other))


DIFFERENT = [
    ("Hermes answers on port 22", "Hermes answers on port 49222"),
    ("Hermes answers on port 22", "Hermes answers on port 222"),
    ("the edge runs Hermes v1.2.3", "the edge runs Hermes v1.2.4"),
    ("backups go to /srv/a of the box", "backups go to /srv/b of the box"),
    ("Alice owns the deploy of the edge", "Bob owns the deploy of the edge"),
    ("the bridge is active", "the bridge is not active"),
    ("the bridge is active", "the bridge isn't active"),
    ("die Brücke ist an", "die Brücke ist nicht an"),
    ("服务在运行", "服务不在运行"),
    ("the bridge is active", "it was wrong that the bridge is active, it never was"),
]


@pytest.mark.parametrize(("first", "second"), DIFFERENT)
def test_texts_that_contradict_each_other_stay_two_even_under_one_address(first: str, second: str) -> None:
    assert not one(memory(first), memory(second))
    assert not one(memory(first, "doc://1"), memory(second, "doc://1"))
    assert not one(memory(first, canonical_id="1"), memory(second, canonical_id="1"))
    assert not similar(Sketch.of(memory(first)), Sketch.of(memory(second))) or "Alice" in first


@pytest.mark.promise("P19")
def test_one_address_is_one_memory_where_the_texts_agree() -> None:
    first, second = "Hermes answers on port 22", "Port 22 is where Hermes answers."
    assert one(memory(first, "doc://1"), memory(second, "doc://1"))
    assert one(memory(first, canonical_id="m1"), memory(second, canonical_id="m1"))
    assert not one(memory(first, "doc://1"), memory(second, "doc://2"))
    assert not one(memory(first), memory(second))


def test_a_text_that_was_cut_is_the_memory_it_was_cut_from_but_joins_no_two_others() -> None:
    cut, whole, other = "Hermes answers on …", "Hermes answers on port 22", "Hermes answers on port 49222"
    assert one(memory(cut, "doc://1"), memory(whole, "doc://1"))
    assert groups([memory(text, "doc://1") for text in (cut, whole, other)]) == [0, 0, 2]
    assert not one(memory("Hermes answers on", "doc://1"), memory(whole, "doc://1"))


def test_a_fact_whose_value_is_a_sentence_is_the_memory_that_says_it() -> None:
    assert one(memory(VALUE), fact("rack", VALUE))
    assert one(fact("rack", VALUE), memory(f"{VALUE.upper()}."))
    assert not one(memory("in the cellar"), fact("rack", "in the cellar"))


def test_two_keys_with_one_value_are_two_memories() -> None:
    assert not one(fact("hermes rack", VALUE), fact("apollo rack", VALUE))
    assert len(set(groups([memory(VALUE), fact("hermes rack", VALUE), fact("apollo rack", VALUE)]))) == 3
    assert one(fact("hermes rack", VALUE), fact("hermes rack", VALUE), memory(VALUE))


def test_nearly_the_same_is_similar_and_not_one() -> None:
    first, second = memory("the edge host was moved to the new rack"), memory("The edge host was moved to a new rack")
    assert similar(Sketch.of(first), Sketch.of(second)) and not one(first, second)
    assert not similar(Sketch.of(first), Sketch.of(memory("something else")))
    assert not similar(Sketch.of(memory("…")), Sketch.of(memory("…")))


def test_signs_are_numbers_versions_paths_and_negations() -> None:
    assert signs("Not at /srv/a, v1.2. Port 22; it isn’t 10.0.0.5:80") == frozenset(
        {"not", "srv/a", "v1.2", "22", "n't", "10.0.0.5:80"}
    )


@pytest.mark.parametrize("text", ["x" * 100_000, "1/" * 50_000, "-." * 50_000, "a'" * 50_000, "é" * 50_000])
def test_no_text_takes_long(text: str) -> None:
    began = perf_counter()
    Sketch.of(memory(text))
    assert groups([memory(text, "u"), memory(f"{text} y", "u")]) in ([0, 0], [0, 1])
    assert perf_counter() - began < 2
