"""Loosely typed replies: what is not as promised is skipped and counted."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from callosum_mcp.adapters.parsing import MAX_ROWS, as_object, mapping_of, parsed, rows, strings_of, text_of
from callosum_mcp.errors import StoreBadReply
from callosum_mcp.models.values import Hit, StoreReply


def parse(row: Mapping[str, object]) -> Hit | None:
    text = text_of(row, "text")
    return None if text is None else Hit(store="s", id=text, text=text)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (None, "reply is null, not an object"),
        ([], "reply is a list, not an object"),
        ("x", "reply is a string, not an object"),
        (7, "reply is a number or a boolean, not an object"),
    ],
)
def test_a_reply_that_is_no_object_is_the_stores_fault(reply: object, said: str) -> None:
    with pytest.raises(StoreBadReply, match=f"^{said}$"):
        as_object(reply)


def test_a_missing_list_is_the_stores_fault() -> None:
    with pytest.raises(StoreBadReply, match=r"^reply has no list under 'hits'$"):
        rows({"hits": None}, "hits")


def test_no_more_rows_are_read_than_the_limit() -> None:
    assert rows({"hits": list(range(MAX_ROWS + 9))}, "hits") == list(range(MAX_ROWS))


def test_bad_rows_are_counted_and_the_good_ones_kept_once_each() -> None:
    reply = parsed([{"text": "a"}, None, {"text": " "}, {"text": "b"}, {"text": "a"}], parse)
    assert reply == StoreReply(
        hits=(Hit(store="s", id="a", text="a"), Hit(store="s", id="b", text="b")), remark="2 rows could not be read"
    )


def test_no_rows_are_no_fault_and_only_bad_rows_are_one() -> None:
    assert parsed([], parse) == StoreReply(hits=())
    with pytest.raises(StoreBadReply, match=r"^none of its 2 rows can be read$"):
        parsed([7, {"text": None}], parse)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a\x00b\ud83d ", "ab?"),
        (12, "12"),
        (0.5, "0.5"),
        (True, "True"),
        (float("nan"), None),
        (float("inf"), None),
        ("", None),
        (" \n", None),
        (None, None),
        (["a"], None),
    ],
)
def test_a_text_is_clean_or_missing(value: object, text: str | None) -> None:
    assert text_of({"key": value}, "key") == text


def test_nested_values_of_another_type_are_empty() -> None:
    row: dict[str, object] = {"map": {"a": 1}, "list": ["a", 1, "b\ud800"]}
    assert (mapping_of(row, "map"), mapping_of(row, "list")) == ({"a": 1}, {})
    assert (strings_of(row, "list"), strings_of(row, "map")) == (("a", "b?"), ())
