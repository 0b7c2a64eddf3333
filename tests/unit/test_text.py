"""Words, times and safe strings."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callosum_mcp.text import (
    cjk_runs,
    clean,
    clean_json,
    clip,
    compact_json,
    content_words,
    control_character,
    epoch_seconds,
    finite,
    iso_utc,
    normalised,
    one_line,
    words,
)

any_text = st.text(st.characters(exclude_categories=()), max_size=200)  # lone surrogates and controls too
any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(any_text, inner, max_size=4),
    max_leaves=12,
)


def test_words_are_lower_case_without_punctuation() -> None:
    assert words("Don't stop Hermes-2, it's 8443/tcp_x!") == [
        "don't",
        "stop",
        "hermes",
        "2",
        "it's",
        "8443",
        "tcp",
        "x",
    ]


def test_content_words_leave_function_words_out_unless_there_are_no_others() -> None:
    assert content_words("Is the Hermes queue the queue?") == ["hermes", "queue"]
    assert content_words("to be or not to be") == ["to", "be", "or", "not"]
    assert content_words("?!") == []


def test_scripts_without_spaces_are_found_as_runs() -> None:
    assert cjk_runs("说 Hermes は 止损 abc 𠀋") == ["说", "は", "止损", "𠀋"]


@pytest.mark.parametrize(("text", "found"), [("a\tb\n", None), ("a\x00", (1, "U+0000")), ("\x85", (0, "U+0085"))])
def test_the_first_control_character_is_named(text: str, found: tuple[int, str] | None) -> None:
    assert control_character(text) == found


@given(any_text)
def test_a_clean_text_can_be_written_anywhere(text: str) -> None:
    cleaned = clean(text)
    assert cleaned.encode("utf-8").decode("utf-8") == cleaned
    assert control_character(cleaned) is None
    assert clean(cleaned) == cleaned


@given(any_json)
def test_clean_json_can_be_written_by_every_encoder(value: Any) -> None:
    cleaned = clean_json(value)
    assert json.loads(compact_json(cleaned).encode("utf-8")) == cleaned


def test_clean_json_ends_where_nesting_does_not() -> None:
    nested: object = "bottom"
    for _ in range(5_000):
        nested = [nested]
    assert compact_json(clean_json(nested)) == "[" * 64 + "null" + "]" * 64
    assert clean_json({"a": [{"b": (1, float("nan"))}]}) == {"a": [{"b": [1, None]}]}


def test_clean_json_writes_out_what_json_has_no_word_for() -> None:
    assert clean_json({1: datetime(2026, 11, 29, tzinfo=UTC)}) == {"1": "2026-11-29 00:00:00+00:00"}


@given(any_text, st.integers(-2, 220))
def test_a_clipped_text_is_never_longer_than_its_limit(text: str, limit: int) -> None:
    short = clip(text, limit)
    assert len(short) <= max(limit, 0)
    assert short == text or short == "" or short.endswith("…")


def test_a_text_is_cut_at_a_word_where_one_is_near() -> None:
    assert clip("one two three four", 16) == "one two three…"
    assert clip("onetwothreefour", 8) == "onetwot…"
    assert one_line(" a\n\tb\x07 c ", 4) == "a b…"


@pytest.mark.parametrize(("left", "right"), [("Cafe\u0301  X", "CAFÉ x"), ("straße", "STRASSE")])
def test_texts_that_read_the_same_are_normalised_to_the_same(left: str, right: str) -> None:
    assert normalised(left) == normalised(right)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (1, 1.0),
        ("2.5", 2.5),
        (True, None),
        ("x", None),
        (None, None),
        (float("nan"), None),
        ("inf", None),
        (10**400, None),
        ([1], None),
    ],
)
def test_only_finite_numbers_are_numbers(value: object, number: float | None) -> None:
    assert finite(value) == number


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (0, 0.0),
        (1_795_982_937.5, 1_795_982_937.5),
        ("1795982937", 1_795_982_937.0),
        (1_795_982_937_500, 1_795_982_937.5),
        (1_795_982_937_500_000_000, 1_795_982_937.5),
        ("2026-11-29", 1_795_910_400.0),
        ("2026-11-29T02:00:00+02:00", 1_795_910_400.0),
        (" 2026-11-29T00:00:00Z ", 1_795_910_400.0),
        ("1969-12-31T23:59:59Z", -1.0),
        (-5, None),
        (1e300, None),
        ("yesterday", None),
        (None, None),
        (True, None),
        ("0001-01-01T00:00:00+14:00", None),
        ("9999-12-31T23:59:59-14:00", None),
    ],
)
def test_a_moment_is_read_from_every_usual_form(value: object, seconds: float | None) -> None:
    assert epoch_seconds(value) == seconds


@given(st.none() | st.floats())
def test_every_number_is_a_moment_or_none(seconds: float | None) -> None:
    text = iso_utc(seconds)
    if text is not None:
        assert seconds is not None
        assert math.floor(seconds) == epoch_seconds(text)
        assert len(text) == 20


def test_a_moment_is_written_in_utc_to_the_second() -> None:
    assert (iso_utc(1_795_910_400.9), iso_utc(-1), iso_utc(None)) == (
        "2026-11-29T00:00:00Z",
        "1969-12-31T23:59:59Z",
        None,
    )
