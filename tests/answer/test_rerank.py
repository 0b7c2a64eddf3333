"""Rerankers: off by default, named in the trace, and without effect when they fail."""

from __future__ import annotations

from typing import Any

import pytest
from support.data import scripted

from callosum_mcp.answer.ask import Answers
from callosum_mcp.answer.rerank import HitReranker
from callosum_mcp.answer.writing import Writer
from callosum_mcp.federation.federation import Federation, State
from callosum_mcp.federation.stores import Store, StoreSet
from callosum_mcp.models.asking import AnswerPolicy, RerankSpec
from callosum_mcp.models.knobs import Knobs
from callosum_mcp.models.requests import AskRequest, RecallRequest
from callosum_mcp.testing import hit

from .model_server import ModelServer
from .world import infra, memory, ollama

TEXTS = ["alpha is first", "beta is second", "gamma is third"]


def three() -> Store:
    hits = [
        hit("a", str(number), text, title="t" if number == 1 else None) for number, text in enumerate(TEXTS, start=1)
    ]
    return scripted("a", *hits)


async def reranked(spec: RerankSpec, *stores: Store, model: ModelServer | None = None, query: str = "greek") -> Any:
    policy = AnswerPolicy(backends=(ollama(model.url),) if model else ())
    writer = Writer(policy)
    reranker = HitReranker(spec, writer)
    asked = Federation(State(stores=StoreSet(stores), knobs=Knobs()), reranker)
    try:
        return await asked.recall(RecallRequest(query=query, trace=True))
    finally:
        await reranker.aclose()
        await writer.aclose()


def ids(answer: Any) -> list[str]:
    return [found.id for found in answer.hits]


def told(answer: Any) -> dict[str, Any]:
    return answer.trace["rerank"]


@pytest.mark.parametrize("score", ["relevance_score", "score"])
async def test_a_cross_encoder_reorders_the_hits(model: ModelServer, score: str) -> None:
    model.ranks = {"results": [{"index": 2, score: 0.9}, {"index": 0, score: 0.5}, {"index": 1, score: -1.5}]}
    answer = await reranked(RerankSpec(type="endpoint", url=model.url, model="bge"), three())
    assert ids(answer) == ["a:3", "a:1", "a:2"]
    assert told(answer).items() >= {"type": "endpoint", "read": 3, "status": "ok", "moved": 3, "left_out": 0}.items()
    assert model.asked[0][1]["documents"] == ["t: alpha is first", *TEXTS[1:]]
    assert model.asked[0][1]["model"] == "bge"


async def test_teis_shape_is_tried_where_the_usual_path_is_not_there(model: ModelServer) -> None:
    model.script = [(404, {}), (200, [{"index": 1, "score": 0.7}, {"index": 0, "score": 0.2}, {"index": "x"}])]
    answer = await reranked(RerankSpec(type="endpoint", url=model.url), three())
    assert (ids(answer), model.paths) == (["a:2", "a:1", "a:3"], ["/v1/rerank", "/rerank"])
    assert model.asked[1][1]["texts"] == ["t: alpha is first", *TEXTS[1:]]


async def test_a_long_text_is_cut(model: ModelServer) -> None:
    model.ranks = {"results": [{"index": 1, "relevance_score": 1}]}
    long = scripted("a", hit("a", "1", "word " * 2_000), hit("a", "2", "short"))
    await reranked(RerankSpec(type="endpoint", url=f"{model.url}/v1"), long)
    assert max(len(text) for text in model.asked[0][1]["documents"]) <= 1_500


FAILURES: list[tuple[tuple[int, object], str]] = [
    ((500, {"error": "no model"}), "no model"),
    ((200, b"nope"), "not JSON"),
    ((200, {"results": list[object]()}), "no scores"),
    ((200, {"results": [{"index": 77, "score": 1}]}), "names none"),
]


@pytest.mark.parametrize(("reply", "said"), FAILURES)
async def test_a_failure_leaves_the_order_and_is_told(model: ModelServer, reply: tuple[int, object], said: str) -> None:
    model.script = [reply]
    answer = await reranked(RerankSpec(type="endpoint", url=model.url), three())
    assert ids(answer) == ["a:1", "a:2", "a:3"]
    assert told(answer)["status"] == "failed" and said in told(answer)["reason"]


async def test_a_reranker_that_hangs_is_left_in_time(model: ModelServer) -> None:
    model.gate.clear()
    answer = await reranked(RerankSpec(type="endpoint", url=model.url, timeout_s=0.1), three())
    assert ids(answer) == ["a:1", "a:2", "a:3"]
    assert told(answer)["reason"] == "did not answer in time"


async def test_a_judge_puts_first_what_helps(model: ModelServer) -> None:
    model.says = lambda prompt: "Sure: [3, 3, 9]"
    answer = await reranked(RerankSpec(type="judge"), three(), model=model)
    assert ids(answer) == ["a:3", "a:1", "a:2"]
    assert (told(answer)["type"], told(answer)["status"]) == ("judge", "ok")


@pytest.mark.parametrize(("said", "kept"), [("[2]", ["a:2"]), ("[]", ["a:1", "a:2", "a:3"])])
async def test_a_judge_that_filters_keeps_at_least_one(model: ModelServer, said: str, kept: list[str]) -> None:
    model.says = lambda prompt: said
    answer = await reranked(RerankSpec(type="judge", filter=True), three(), model=model)
    assert ids(answer) == kept


async def test_a_judge_without_a_list_or_a_backend_leaves_the_order(model: ModelServer) -> None:
    model.says = lambda prompt: "I like the third."
    assert told(await reranked(RerankSpec(type="judge"), three(), model=model))["status"] == "failed"
    assert told(await reranked(RerankSpec(type="judge"), three()))["status"] == "failed"


async def test_one_hit_is_not_judged_and_only_the_first_are(model: ModelServer) -> None:
    one = scripted("a", hit("a", "1", "alone"))
    assert told(await reranked(RerankSpec(type="judge"), one, model=model))["status"] == "skipped"
    model.says = lambda prompt: "[2]"
    assert ids(await reranked(RerankSpec(type="judge", top=2), three(), model=model)) == ["a:2", "a:1", "a:3"]


async def test_no_reranker_puts_a_stale_memory_before_what_it_lost_to(model: ModelServer) -> None:
    model.says = lambda prompt: "[2, 3, 1]"
    writer = Writer(AnswerPolicy(backends=(ollama(model.url),)))
    reranker = HitReranker(RerankSpec(type="judge"), writer)
    asked = Federation(State(stores=StoreSet((memory(), infra())), knobs=Knobs()), reranker)
    result = await Answers(asked, writer).ask(AskRequest(query="is Hermes running?", synthesize=False))
    await writer.aclose()
    order = [found.id for found in result.hits]
    assert order.index("infra:hermes/status") < order.index("memory:o01")
    assert result.trace is not None and result.trace["rerank"]["status"] == "ok"
