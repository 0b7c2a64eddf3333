"""The guard of the contract: an agent's 40-day-old memory "Hermes active" loses to live infra "Hermes stopped"."""

from __future__ import annotations

import math
import time

import pytest
from support.data import federation, scripted

from callosum_mcp.answer.ask import Answers
from callosum_mcp.models.asking import AskConflict, AskResult
from callosum_mcp.models.requests import AskRequest, RecallRequest
from callosum_mcp.models.results import ConflictOut
from callosum_mcp.models.values import Hit
from callosum_mcp.reconcile.authority import score

DAY_S = 86_400.0


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


def memory(age_days: float) -> Hit:
    seen = time.time() - age_days * DAY_S - 60
    return Hit(store="memory", id="o01", text="Hermes active", tier="agent-memory", last_seen=seen)


def live() -> Hit:
    return Hit(store="infra", id="hermes/status", text="Hermes stopped", tier="live-infra", last_seen=time.time())


async def asked(*, memory_first: bool) -> AskResult:
    stores = [scripted("memory", memory(40)), scripted("infra", live())]
    answers = Answers(federation(*(stores if memory_first else reversed(stores))))
    return await answers.ask(AskRequest(query="is Hermes running?"))


@pytest.mark.anyio
@pytest.mark.parametrize("memory_first", [True, False])
async def test_a_memory_of_40_days_that_hermes_is_active_loses_to_live_infra_that_says_stopped(
    memory_first: bool,
) -> None:
    result = await asked(memory_first=memory_first)
    assert result.answer is not None
    first = result.answer.partition(". ")[0]
    assert first.startswith("Hermes stopped (infra, live infra, today) [r1]")
    assert "an older agent memory of 40 days ago said: Hermes active [r2]" in first
    assert [(r.id, r.source, r.tier, r.age_days) for r in result.receipts] == [
        ("r1", "infra", "live-infra", 0),
        ("r2", "memory", "agent-memory", 40),
    ]
    assert [hit.id for hit in result.hits] == ["infra:hermes/status", "memory:o01"]
    [conflict] = result.conflicts
    assert conflict == AskConflict(
        claim="hermes status",
        winner="live-infra",
        losers=["agent-memory"],
        reason=conflict.reason,
        kind="temporal_update",
        winner_receipt="r1",
        loser_receipts=["r2"],
    )
    assert "stale 40 d" in conflict.reason
    assert result.answer_kind == "single"


@pytest.mark.anyio
async def test_a_recall_never_leads_with_the_stale_memory_and_names_it_as_loser() -> None:
    asking = federation(scripted("memory", memory(40)), scripted("infra", live()))
    found = await asking.recall(RecallRequest(query="is Hermes running?"))
    assert [(hit.id, hit.tier, hit.age_days) for hit in found.hits] == [
        ("infra:hermes/status", "live-infra", 0),
        ("memory:o01", "agent-memory", 40),
    ]
    [conflict] = found.conflicts
    assert conflict == ConflictOut(
        claim="hermes status",
        winner="infra:hermes/status",
        losers=["memory:o01"],
        kind="temporal_update",
        reason=conflict.reason,
    )


def test_the_scores_are_those_of_the_contract() -> None:
    now = time.time()
    old = Hit(store="m", id="1", text="x", tier="agent-memory", last_seen=now - 40 * DAY_S)
    fresh = Hit(store="i", id="1", text="x", tier="live-infra", last_seen=now)
    assert score(old, now=now) == pytest.approx(0.6 * math.exp(-40 / 30))
    assert score(fresh, now=now) == pytest.approx(1.0)
