"""No loser of a conflict stands before its winner, and both are named with their ages, inside the budget."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.data import federation, scripted

from callosum_mcp.federation.conflicts import seated_by
from callosum_mcp.federation.shape import Gathered, shape
from callosum_mcp.models.requests import RecallRequest
from callosum_mcp.models.results import RecallResult
from callosum_mcp.models.values import FusedHit, Hit
from callosum_mcp.reconcile.reconciliation import Conflict
from callosum_mcp.testing import ScriptedStore, hit
from callosum_mcp.text import compact_json

DAY_S = 86_400.0
QUESTION = "is Hermes running?"


class LateDates(ScriptedStore):
    """A store that dates its hits only when asked, as SerenLoci does."""

    completed: Sequence[str] = ()

    async def complete(self, hits: Sequence[Hit]) -> list[Hit]:
        self.completed = (*self.completed, *(one.id for one in hits))
        return [Hit(store=one.store, id=one.id, text=one.text, last_seen=time.time()) for one in hits]


def old_memories(count: int = 1) -> list[Hit]:
    seen = time.time() - 40.1 * DAY_S
    said = [
        hit("memory", f"m{number}", f"Hermes is queue relay {number}", last_seen=seen) for number in range(2, count + 1)
    ]
    return [hit("memory", "m1", "Hermes is running", last_seen=seen), *said]


def ids(answer: RecallResult) -> list[str]:
    return [found.id for found in answer.hits]


@pytest.mark.promise("P27")
async def test_the_winner_moves_directly_before_the_first_of_its_losers() -> None:
    now = time.time()
    live = [
        hit("infra", "i1", "The weather is fine", last_seen=now),
        hit("infra", "i2", "Hermes is stopped", last_seen=now),
    ]
    infra = scripted("infra", *live, more={"tier": "live-infra"})
    asked = federation(scripted("memory", *old_memories(3)), infra, fusion_mode="rrf")
    answer = await asked.recall(RecallRequest(query=QUESTION))
    [conflict] = answer.conflicts
    assert (conflict.winner, conflict.losers, conflict.kind) == ("infra:i2", ["memory:m1"], "temporal_update")
    assert ids(answer) == ["infra:i2", "memory:m1", "infra:i1", "memory:m2", "memory:m3"]
    assert {found.id: found.age_days for found in answer.hits}["memory:m1"] == 40


async def test_with_conflicts_off_nothing_is_compared_or_moved() -> None:
    infra = scripted(
        "infra", hit("infra", "i1", "Hermes is stopped", last_seen=time.time()), more={"tier": "live-infra"}
    )
    asked = federation(scripted("memory", *old_memories()), infra, fusion_mode="rrf", conflicts_enabled=False)
    answer = await asked.recall(RecallRequest(query=QUESTION))
    assert (answer.conflicts, ids(answer)) == ([], ["memory:m1", "infra:i1"])


async def test_a_winner_without_a_seat_gets_one_and_its_date_is_asked_for() -> None:
    late = scripted("infra", hit("infra", "i1", "Hermes is stopped"), more={"tier": "live-infra", "weight": 0.1})
    adapter = LateDates(late.spec, [hit("infra", "i1", "Hermes is stopped")])
    late = type(late).of(late.spec, adapter)
    asked = federation(scripted("memory", *old_memories(4)), late, fusion_mode="rrf")
    answer = await asked.recall(RecallRequest(query=QUESTION, n_results=2))
    assert ids(answer) == ["infra:i1", "memory:m1"]
    assert answer.hits[0].age_days == 0
    assert adapter.completed == ("i1",)


async def test_a_loser_that_loses_its_seat_is_still_named() -> None:
    live = scripted(
        "infra", hit("infra", "i1", "Hermes is stopped", last_seen=time.time()), more={"tier": "live-infra"}
    )
    answer = await federation(scripted("memory", *old_memories()), live).recall(
        RecallRequest(query=QUESTION, n_results=1)
    )
    assert (ids(answer), answer.conflicts[0].losers) == (["infra:i1"], ["memory:m1"])


async def test_what_agrees_is_no_conflict() -> None:
    asked = federation(
        scripted("a", hit("a", "1", "Hermes is running")), scripted("b", hit("b", "1", "Hermes is active"))
    )
    assert (await asked.recall(RecallRequest(query=QUESTION))).conflicts == []


def fused(*names: str) -> list[FusedHit]:
    return [FusedHit(hit=Hit(store="s", id=name, text=name), score=1.0, store_rank=1) for name in names]


def conflict(winner: str, *losers: str) -> Conflict:
    sides = tuple(f"s:{loser}" for loser in losers)
    return Conflict(
        claim="c",
        winner=f"s:{winner}",
        losers=sides,
        members=(f"s:{winner}", *sides),
        kind="genuine_conflict",
        reason="r",
    )


def order(seats: str, beside: str, *conflicts: Conflict, n: int = 9) -> str:
    return "".join(item.hit.id for item in seated_by(conflicts, fused(*seats), fused(*beside), n).hits)


@pytest.mark.parametrize(
    ("seats", "beside", "conflicts", "expected"),
    [
        ("abc", "", [], "abc"),
        ("abc", "", [("c", "b")], "acb"),
        ("abc", "", [("c", "b"), ("b", "a")], "cba"),
        ("abc", "xy", [("x", "b")], "axbc"),
        ("abc", "xy", [("x", "y")], "abc"),
        ("abc", "", [("b", "a"), ("a", "b")], "bac"),
        ("abc", "x", [("x", "a"), ("x", "c")], "xabc"),
    ],
)
def test_winners_stand_before_losers(seats: str, beside: str, conflicts: list[tuple[str, str]], expected: str) -> None:
    assert order(seats, beside, *(conflict(*sides) for sides in conflicts)) == expected


names = st.sampled_from("abcdefgh")


@settings(max_examples=200, deadline=None)
@given(st.permutations("abcdefgh"), st.integers(1, 8), st.lists(st.tuples(names, names), max_size=4))
def test_nothing_is_invented_or_doubled_and_a_single_winner_leads_its_losers(
    mixed: list[str], seats: int, pairs: list[tuple[str, str]]
) -> None:
    conflicts = [conflict(winner, loser) for winner, loser in pairs if winner < loser]  # no circles
    found = seated_by(conflicts, fused(*mixed[:seats]), fused(*mixed[seats:]), seats)
    shown = [item.hit.id for item in found.hits]
    assert len(set(shown)) == len(shown) == seats
    for one in found.conflicts:
        winner, loser = one.winner[2:], one.losers[0][2:]
        assert loser not in shown or (winner in shown and shown.index(winner) < shown.index(loser))
    named = {side for one in found.conflicts for side in (one.winner, *one.losers)}
    assert named <= {item.hit.address for item in (*found.hits, *found.parties)}


@settings(max_examples=100, deadline=None)
@given(st.integers(200, 800), st.integers(0, 12), st.text("ab ", min_size=1, max_size=300), st.text("x/", max_size=300))
def test_conflicts_are_part_of_the_budget_and_come_before_hits(
    budget_tokens: int, count: int, text: str, path: str
) -> None:
    hits = tuple(fused(*(f"{path}{number}{text}" for number in range(12))))
    conflicts = tuple(
        Conflict(
            claim=text[:60],
            winner=hits[number % 12].hit.address,
            losers=(hits[(number + 1) % 12].hit.address,),
            members=(),
            kind="temporal_update",
            reason="memory stale 40 d",
        )
        for number in range(count)
    )
    answer = shape(
        Gathered(query="q", hits=hits, conflicts=conflicts, now=time.time()),
        budget_tokens=budget_tokens,
        detail="concise",
    )
    assert len(compact_json(answer.wire())) <= 4 * budget_tokens
    assert ("conflicts did not fit" in (answer.note or "")) is (len(answer.conflicts) < count)
