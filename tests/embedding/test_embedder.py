"""The embedder: what is known is not embedded again, and a call gets what its time allows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import anyio
import anyio.to_thread
import pytest

from callosum_mcp.embedding.cache import VectorCache
from callosum_mcp.embedding.embedder import BATCH, CachingEmbedder
from callosum_mcp.embedding.model import ModelError
from callosum_mcp.federation.embedding import Similar

from .fake import FakeModel, embedder

QUERY = "hermes port"
TEXTS = ["messenger socket", "the tide", "a rack", "hermes", "sea and shelf"]


def told(similar: Similar) -> dict[str, object]:
    """What is told, without the time."""
    assert isinstance(similar.told["ms"], float)
    return {name: value for name, value in similar.told.items() if name != "ms"}


def counts(embedded: int, cached: int, without: int, status: str = "ok") -> Mapping[str, object]:
    return {"status": status, "embedded": embedded, "cached": cached, "without": without}


async def test_each_text_gets_its_cosine_with_the_question() -> None:
    similar = await embedder(FakeModel()).similar(QUERY, TEXTS, math.inf)
    assert [round(similar.cosines[text], 2) for text in TEXTS] == [1.0, 0.0, 0.0, 0.71, 0.0]
    assert told(similar) == counts(5, 0, 0)


async def test_a_text_is_embedded_once() -> None:
    model = FakeModel()
    asked = embedder(model)
    first = await asked.similar(QUERY, TEXTS, math.inf)
    again = await asked.similar(QUERY, [*TEXTS, "new"], math.inf)
    assert model.asked == [QUERY, *TEXTS, "new"]
    assert again.cosines == {**first.cosines, "new": 0.0}
    assert told(again) == counts(1, 5, 0)


async def test_when_its_time_is_up_a_call_gets_what_is_known_and_the_batch_under_way_is_kept() -> None:
    model = FakeModel()
    asked = embedder(model)
    await asked.similar(QUERY, TEXTS[:2], math.inf)
    model.gate.clear()
    late = await asked.similar(QUERY, [*TEXTS, *(f"more {n}" for n in range(2 * BATCH))], anyio.current_time() + 0.02)
    assert set(late.cosines) == set(TEXTS[:2])
    assert told(late) == counts(0, 2, 3 + 2 * BATCH, "out of time")
    model.gate.set()
    await asked.similar(QUERY, ["last"], math.inf)
    assert model.asked == [QUERY, *TEXTS[: 2 + BATCH], "last"]  # one batch of the late call, and not what was behind it


async def test_no_time_at_all_is_no_fault() -> None:
    model = FakeModel()
    late = await embedder(model).similar(QUERY, TEXTS, anyio.current_time() - 1)
    assert told(late) == {**counts(0, 0, 5, "out of time"), "reason": "the model is still being loaded"}
    assert late.cosines == {}


async def test_a_call_that_is_cancelled_stops_its_thread_after_the_batch() -> None:
    model = FakeModel()
    model.gate.clear()
    asked = embedder(model)
    async with anyio.create_task_group() as calls:
        calls.start_soon(asked.similar, QUERY, [f"text {n}" for n in range(5 * BATCH)], math.inf)
        await anyio.to_thread.run_sync(model.waits.wait, 10)
        calls.cancel_scope.cancel()
    model.gate.set()
    await asked.similar(QUERY, ["last"], math.inf)
    assert len(model.asked) == BATCH + 1


async def test_calls_use_the_model_one_after_the_other() -> None:
    at_work: list[int] = []
    most: list[int] = []

    class Counting(FakeModel):
        def vectors(self, texts: Sequence[str]) -> list[bytes]:
            at_work.append(1)
            most.append(len(at_work))
            found = super().vectors(texts)
            at_work.pop()
            return found

    asked = embedder(Counting())
    async with anyio.create_task_group() as calls:
        for n in range(8):
            calls.start_soon(asked.similar, f"question {n}", [f"{n} {text}" for text in TEXTS], math.inf)
    assert set(most) == {1}


async def test_a_model_that_fails_gives_nothing_and_is_tried_again() -> None:
    model = FakeModel()
    asked = embedder(model)
    model.fault = ModelError("out of memory")
    failed = await asked.similar(QUERY, TEXTS, math.inf)
    model.fault = None
    assert failed.cosines == {}
    assert told(failed) == {**counts(0, 0, 5, "failed"), "reason": "out of memory"}
    assert told(await asked.similar(QUERY, TEXTS, math.inf)) == counts(5, 0, 0)


async def test_a_model_that_cannot_be_loaded_is_not_tried_again() -> None:
    tried: list[int] = []

    def load() -> FakeModel:
        tried.append(1)
        raise ModelError("no such file")

    asked = CachingEmbedder(load=load)
    for _ in range(2):
        failed = await asked.similar(QUERY, TEXTS, math.inf)
        assert told(failed) == {**counts(0, 0, 5, "failed"), "reason": "no such file"}
    assert tried == [1]


async def test_the_question_is_embedded_ahead_once() -> None:
    model = FakeModel()
    model.gate.clear()
    asked = embedder(model)
    asked.prepare(QUERY)
    await anyio.to_thread.run_sync(model.waits.wait, 10)
    asked.prepare("another")  # a thread is at work
    model.gate.set()
    await asked.similar(QUERY, TEXTS, math.inf)
    asked.prepare(QUERY)  # known
    assert model.asked == [QUERY, *TEXTS]


async def test_a_model_that_fails_ahead_of_the_call_fails_the_call_alone() -> None:
    model = FakeModel()
    model.fault = ModelError("no memory")
    asked = embedder(model)
    asked.prepare(QUERY)
    assert told(await asked.similar(QUERY, TEXTS, math.inf))["reason"] == "no memory"


@pytest.mark.parametrize(("bounds", "kept"), [({"max_entries": 2}, 2), ({"max_bytes": 25}, 2), ({"max_bytes": 5}, 0)])
def test_the_cache_is_bounded_and_forgets_what_was_not_used_for_longest(bounds: dict[str, int], kept: int) -> None:
    cache = VectorCache(**bounds)
    cache.put([("a", b"a" * 10), ("b", b"b" * 10)])
    cache.known(["a"])
    cache.put([("c", b"c" * 10)])
    assert cache.known(["a", "b", "c"]) == ({"a": b"a" * 10, "c": b"c" * 10} if kept else {})
    assert len(cache) == kept


def test_a_vector_that_is_put_again_takes_its_place_once() -> None:
    cache = VectorCache(max_bytes=20)
    for _ in range(5):
        cache.put([("a", b"a" * 10)])
    cache.put([("b", b"b" * 10)])
    assert len(cache) == 2


def test_the_cache_takes_what_is_no_valid_unicode() -> None:
    cache = VectorCache()
    cache.put([("\ud800", b"x")])
    assert cache.known(["\ud800", "\ud801"]) == {"\ud800": b"x"}
