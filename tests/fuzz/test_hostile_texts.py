"""A store cannot keep the process busy by what a memory says: every step of `recall` and `ask` over hostile texts.

The event loop stands still while texts are read, so the time of each step has to grow with a text and not with its
square. Python's ``re`` cannot be interrupted; patterns of presets, which others write, have an end of their own.
"""

from __future__ import annotations

import time

import pytest
from support.data import federation, scripted

from callosum_mcp.answer.ask import Answers
from callosum_mcp.answer.writing import Writer
from callosum_mcp.models.asking import AnswerPolicy
from callosum_mcp.models.requests import AskRequest, RecallRequest
from callosum_mcp.testing import hit

SIZE = 20_000
GUARD_S = 20.0  # of processor time; it is some hundredths, and minutes for a pattern that goes back and forth
QUERY = "is Hermes running, which port does it use, and why not a-b token= 2026-11-01?"
LETTERS = "a A 0 é 止 - . / _ , # ' ` * [ ( < { \" = | \\ @ $ % + !".split()
WORDS = (
    "a. a, a- a_ a/ a: a= Aa aA 1. 1, 1: 1-1 2026- \\u \\ud8 ${ :- :: ** http://a a@a. token= 1.1 v1. a.b: [r1]".split()
)
PIECES = (
    *(
        " ",
        "\n",
        "\t",
        "a ",
        "A ",
        "1 ",
        " \n",
        "a\n",
        "```\n",
        "---\n",
        "# a\n",
        "1. a\n",
        "> ",
        "- ",
        "| ",
        "|-",
        "a | ",
    ),
    *("no ", "not a ", "and ", "is ", "the a ", "a' ", "Bearer ", "port 1 ", "Hermes is ", "a: b\n", "system ", "! "),
    *LETTERS,
    *WORDS,
)


@pytest.mark.promise("9c")
@pytest.mark.parametrize("piece", PIECES, ids=repr)
async def test_no_memory_keeps_the_process_busy(piece: str) -> None:
    text = piece * (SIZE // len(piece))
    stores = [
        scripted("hostile", hit("hostile", "1", text + "\x00", title=text[:300], topics=("hermes",))),
        scripted("other", hit("other", "1", f"Hermes is running on port 8080. {text}")),
        scripted("calm", hit("calm", "1", "Hermes is stopped since 2026-10-20; its port was 8081.")),
    ]
    asked = federation(*stores)
    answers = Answers(asked, Writer(AnswerPolicy()))
    began = time.process_time()
    await asked.recall(RecallRequest(query=QUERY, detail="detailed", trace=True, budget_tokens=20_000))
    recalled = time.process_time()
    assert recalled - began < GUARD_S, f"recall: {recalled - began:.1f} s"
    await answers.ask(AskRequest(query=QUERY))
    assert time.process_time() - recalled < GUARD_S, f"ask: {time.process_time() - recalled:.1f} s"
    await answers.aclose()


@pytest.mark.promise("9c")
@pytest.mark.parametrize("piece", PIECES, ids=repr)
async def test_no_question_keeps_the_process_busy(piece: str) -> None:
    query = (piece * 8_000)[:8_000].strip() or "blank"
    asked = federation(scripted("calm", hit("calm", "1", "Hermes is stopped since 2026-10-20; its port was 8081.")))
    answers = Answers(asked, Writer(AnswerPolicy()))
    began = time.process_time()
    await asked.recall(RecallRequest(query=query.replace("\n", " ").replace("\t", " ")))
    await answers.ask(AskRequest(query=query.replace("\n", " ").replace("\t", " ")))
    assert time.process_time() - began < GUARD_S, f"{time.process_time() - began:.1f} s"
    await answers.aclose()
