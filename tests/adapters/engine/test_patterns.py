"""No text of an engine keeps a preset's pattern busy: there is an end to every use of one, and the status says so."""

from __future__ import annotations

import time
from typing import Any

import pytest
import regex

from callosum_mcp.adapters.engine import catalog
from callosum_mcp.adapters.engine.patterns import LONGEST_S
from callosum_mcp.adapters.engine.plan import plan
from callosum_mcp.adapters.engine.preset import Preset
from callosum_mcp.errors import StoreBadReply, StoreFailed

from .mapping import preset, said, structured, understood

EXPONENTIAL = r"(?P<text>(?:a+)+)c"
HOSTILE = "a" * 50_000
ENTRY = "1. Hermes is stopped\n   Hash: 0123456789abcdef\n   Created: 2026-11-29T20:13:53Z [infra, hermes]\n\n"
GUARD_S = 3.0  # of processor time; the bound is 0.1 s for each pattern, without it these take minutes


def reading(pattern: str, **more: Any) -> Preset:
    extract = {"mode": "regex", "items": "$", "pattern": pattern, "fields": {"id": "text", "snippet": "text"}}
    return preset(extract=[extract], **more)


def test_a_pattern_that_goes_back_and_forth_over_a_reply_makes_it_a_bad_one() -> None:
    began = time.process_time()
    with pytest.raises(
        StoreBadReply, match=r"extract\[0\]\.pattern of its preset takes more than 0\.1 s .* 50000 char"
    ):
        understood(reading(EXPONENTIAL), said(HOSTILE))
    assert time.process_time() - began < GUARD_S


def test_the_time_is_that_of_a_reply_and_not_of_each_of_its_texts() -> None:
    made = reading(r"(?P<text>a.*?b.*?c)")
    slow = {"results": ["a" * 400] * 2_000}  # each of them less than a millisecond
    began = time.process_time()
    with pytest.raises(StoreBadReply, match="takes more than"):
        understood(
            made.model_copy(update={"extract": [made.extract[0].model_copy(update={"items": "$.results[*]"})]}),
            structured(slow),
        )
    assert time.process_time() - began < GUARD_S


@pytest.mark.parametrize("field", ["text", "none"])
def test_a_pattern_that_marks_errors_or_nothing_has_an_end_too(field: str) -> None:
    made = preset(errors={field: r"(?:a+)+c"}, source="text", extract=reading(r"=(?P<text>\w)=").extract)
    with pytest.raises(StoreBadReply, match=rf"errors\.{field} of its preset takes more than"):
        understood(made, said(HOSTILE))


def test_a_pattern_with_repetitions_finds_what_it_should() -> None:
    made = reading(r"(?m)^- (?P<text>.+)$", errors={"text": r"^Sorry[,.]* it"})
    assert [hit.text for hit in understood(made, said("- one\n\n- two")).hits] == ["one", "two"]
    with pytest.raises(StoreFailed, match="Sorry, it"):
        understood(made, said("Sorry, it broke"))


@pytest.mark.parametrize("count", ["4000000000", ",100000", "1,100000"])
def test_a_pattern_that_would_take_all_memory_is_refused(count: str) -> None:
    with pytest.raises(ValueError, match=r"extract\[0\]\.pattern: repeats something more than 99,999 times"):
        plan(reading(f"(?P<text>a{{{count}}})"))


def test_a_match_in_which_no_group_took_part_is_no_item() -> None:
    made = reading(r"(?s)- (?:(?P<text>[^\n]+)\n|.*\Z)")
    reply = understood(made, said("- one\n- two, cut off"))
    assert [hit.text for hit in reply.hits] == ["one"]
    assert reply.remark is None


def test_a_pattern_that_only_one_of_the_two_readers_knows_is_an_error_that_names_it() -> None:
    with pytest.raises(StoreBadReply, match=r"extract\[0\]\.pattern of its preset cannot be used here"):
        understood(reading(r"(?P<text>a{e}{2})"), said("- one"))


@pytest.mark.parametrize("name", catalog.names())
def test_both_readers_know_every_pattern_of_the_presets(name: str) -> None:
    loaded = catalog.load(name)
    plan(loaded)
    for text in (loaded.errors.text, loaded.errors.none, *(extract.pattern for extract in loaded.extract)):
        regex.compile(text or "")


HOSTILE_REPLIES = {
    "numbers without an entry": "1. a\n" * 60_000,
    "entries cut off": "1. a\n   Hash: " * 20_000,
    "hashes that are none": "1. a\n   Hash: aaaaaaaaaaaaaaaaaaa\n" * 8_000,
    "tags without an end": "1. a\n   Hash: aaaaaaaaaaaaaaaaaaa\n   Created: x [" * 6_000,
    "contents without an end": "<entry><content>" + "</content><metadata>" * 15_000,
    "matches cut off": (" " * 300 + "> ") * 1_000,
    "digits": "1" * 300_000,
}


@pytest.mark.parametrize("text", HOSTILE_REPLIES.values(), ids=HOSTILE_REPLIES)
@pytest.mark.parametrize("name", [n for n in catalog.names() if plan(catalog.load(n)).only_patterns])
def test_no_pattern_of_a_preset_reads_a_text_twice(name: str, text: str) -> None:
    """None of them ever needs to be stopped: the time grows with the text and not with its square."""
    for extract in plan(catalog.load(name)).extracts:
        assert extract.pattern is not None
        plain: Any = vars(extract.pattern)["_plain"]
        began = time.process_time()
        for _ in plain.finditer(text):
            pass
        assert time.process_time() - began < GUARD_S, f"not in {LONGEST_S} s by far"


def test_entries_around_a_hostile_number_are_read() -> None:
    loaded = catalog.load("mcp-memory-service")
    reply = understood(loaded, said(f"Found 3\n\n{ENTRY}1. a\n{ENTRY.replace('0123', '4567')}" + "1. a\n" * 2_000))
    assert [hit.id for hit in reply.hits] == ["0123456789abcdef", "4567456789abcdef"]
    assert reply.hits[1].text == "a\n1. Hermes is stopped"
    assert reply.hits[0].topics == ("infra", "hermes")


def test_a_point_of_qdrant_that_holds_its_own_marks_is_read_whole() -> None:
    entry = '<entry><content>a</content><metadata>b</content><metadata>{"x": 1}</metadata></entry>'
    (hit,) = understood(catalog.load("qdrant"), said("Results for the query 'x'", entry)).hits
    assert hit.text == "a</content><metadata>b"
