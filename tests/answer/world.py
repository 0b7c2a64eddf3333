"""The world of the bug that started it: an agent's old memory says active, live infra says stopped."""

from __future__ import annotations

import re
import time
from typing import Any

from support.data import federation, scripted

from callosum_mcp.answer.ask import Answers
from callosum_mcp.answer.writing import Writer
from callosum_mcp.federation.federation import Federation
from callosum_mcp.federation.stores import Store
from callosum_mcp.models.asking import AnswerPolicy, AskResult, BackendSpec
from callosum_mcp.models.requests import AskRequest
from callosum_mcp.testing import hit

DAY_S = 86_400.0
QUESTION = "is Hermes running?"
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_RECEIPT = re.compile(r"\[(r\d+)\]")


def days_ago(days: float) -> float:
    return time.time() - days * DAY_S


def memory(*more: Any) -> Store:
    old = hit("memory", "o01", "Hermes is active and serving on port 8080.", last_seen=days_ago(40.2))
    other = hit("memory", "o02", "NATS holds the messages for Hermes.", last_seen=days_ago(3.5))
    return scripted("memory", old, other, *more)


def infra() -> Store:
    live = hit(
        "infra", "hermes/status", "Hermes is stopped, exit code 137.", title="hermes/status", last_seen=days_ago(0.05)
    )
    return scripted("infra", live, more={"tier": "live-infra"})


def hermes(*more: Store, **knobs: Any) -> Federation:
    return federation(memory(), infra(), *more, **knobs)


def ollama(url: str, **more: Any) -> BackendSpec:
    spec: dict[str, Any] = {"name": "local", "type": "ollama", "url": url, "model": "qwen3:8b", "timeout_s": 5.0}
    return BackendSpec(**{**spec, **more})


def answers(asked: Federation, *backends: BackendSpec, **policy: Any) -> Answers:
    return Answers(asked, Writer(AnswerPolicy(backends=backends, **policy)))


async def ask(asked: Federation, *backends: BackendSpec, **request: Any) -> AskResult:
    answering = answers(asked, *backends)
    wanted: dict[str, Any] = {"query": QUESTION, **request}
    try:
        return await answering.ask(AskRequest(**wanted))
    finally:
        await answering.aclose()


def check_cited(result: AskResult) -> None:
    """Assert that every sentence cites what this same answer holds, told apart by the simplest of splitters."""
    receipts = {receipt.id for receipt in result.receipts}
    for sentence in filter(None, _SENTENCE_END.split(result.answer or "")):
        cited = set(_RECEIPT.findall(sentence))
        assert cited or "[engines]" in sentence, f"uncited: {sentence!r} in {result.answer!r}"
        assert cited <= receipts, f"cites what is not there: {sentence!r}"
    for conflict in result.conflicts:
        assert {conflict.winner_receipt, *conflict.loser_receipts} <= receipts
