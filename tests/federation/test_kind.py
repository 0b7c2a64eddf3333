"""How many answers there are: values are compared, and an engine's own verdict counts for its hits."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.data import federation, scripted

from callosum_mcp.federation.stores import Store
from callosum_mcp.models.requests import RecallRequest
from callosum_mcp.models.values import Hit, StoreQuery, StoreReply, StoreSpec
from callosum_mcp.testing import ScriptedStore, hit

ASK = RecallRequest(query="which port does Hermes use?")


class Judging(ScriptedStore):
    """Says how many answers there are, as some engines do."""

    verdict: str | None = None

    async def search(self, query: StoreQuery) -> StoreReply:
        return replace(await super().search(query), verdict=self.verdict)


def judging(name: str, verdict: str | None, *texts: str) -> Store:
    spec = StoreSpec(name=name, type="scripted")
    hits: list[Hit] = [hit(name, str(number), text) for number, text in enumerate(texts)]
    adapter = Judging(spec, hits)
    adapter.verdict = verdict
    return Store.of(spec, adapter)


async def kind(*stores: Store, **knobs: object) -> str:
    return (await federation(*stores, **knobs).recall(ASK)).answer_kind


async def test_several_memories_of_one_value_are_one_answer() -> None:
    same = [
        scripted(n, hit(n, "1", text))
        for n, text in zip("ab", ["Hermes port is 8080.", "Hermes: port 8080"], strict=True)
    ]
    assert await kind(*same) == "single"
    assert await kind(*same, scripted("c", hit("c", "1", "Atlas uses port 9000."))) == "single"  # it answers nothing


async def test_a_loser_is_no_answer_of_its_own() -> None:
    stores = [
        scripted("a", hit("a", "1", "Hermes listens on port 8443.", tier="live-infra", last_seen=2e9)),
        scripted("b", hit("b", "1", "Hermes listens on port 8080.", last_seen=1.7e9)),
    ]
    answer = await federation(*stores).recall(ASK)
    assert (len(answer.conflicts), answer.answer_kind) == (1, "single")


@pytest.mark.parametrize(
    ("verdict", "expected"), [("single", "single"), ("many", "many"), (None, "many"), ("?", "many")]
)
async def test_an_engine_knows_how_many_answers_it_gave(verdict: str | None, expected: str) -> None:
    assert await kind(judging("brain", verdict, "the tide is high", "the moon is full")) == expected


async def test_hits_of_an_engine_that_says_none_are_no_answers() -> None:
    near_misses = judging("brain", "none", "the tide is high", "the moon is full")
    assert await kind(near_misses, scripted("a", hit("a", "1", "Hermes port is 8080."))) == "single"


async def test_one_engines_verdict_says_nothing_of_anothers_hits() -> None:
    brain = judging("brain", "single", "the tide is high")
    assert await kind(brain, scripted("a", hit("a", "1", "the moon is full"))) == "many"


async def test_without_comparing_hits_are_counted() -> None:
    same = [scripted(n, hit(n, "1", f"Hermes port is 8080 {n}")) for n in "ab"]
    assert await kind(*same, conflicts_enabled=False) == "many"
    assert await kind(same[0], conflicts_enabled=False) == "single"
