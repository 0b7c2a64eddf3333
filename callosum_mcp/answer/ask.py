"""`ask`: one answer with receipts, out of the same hits that a recall finds.

Above: the surfaces. Below: the federation, which finds and reconciles; then evidence, writing, shape. `answer` stands
above `federation` and uses no more of it than `gather`, the settings in force and its rule for when a call has failed.
"""

from __future__ import annotations

from dataclasses import replace

import anyio

from callosum_mcp.answer.evidence import Evidence, evidence_of
from callosum_mcp.answer.merge import remarks
from callosum_mcp.answer.shape import Told, shaped
from callosum_mcp.answer.writing import Writer
from callosum_mcp.federation.fanout import OnStatus
from callosum_mcp.federation.federation import Federation, refuse_if_failed
from callosum_mcp.federation.shape import Gathered
from callosum_mcp.models.asking import AnswerPolicy, AskResult
from callosum_mcp.models.knobs import MAX_RESULTS
from callosum_mcp.models.requests import AskRequest, RecallRequest

_DEPTH = 50  # candidates a store is asked for at least, as a recall does
_WRITING_S = 120.0  # no model's own timeout is longer
_SHAPING_S = 0.05  # of the caller's time, kept for what comes after the model


class Answers:
    """Answers questions over a federation.

    Args:
        federation: Where the hits come from.
        writer: Who writes; the default is the merge alone.
    """

    def __init__(self, federation: Federation, writer: Writer | None = None) -> None:
        self._federation = federation
        self._writer = writer or Writer(AnswerPolicy())

    async def ask(self, request: AskRequest, on_status: OnStatus | None = None) -> AskResult:
        """One answer, inside the configured budget of answers.

        Raises:
            CallerError: If the request cannot be carried out as asked.
            AllStoresFailed: If no store that was asked answered, or a required one did not.
        """
        started = anyio.current_time()
        state = self._federation.state
        stores = _asked(state.stores.active(), request.scope)
        recall = RecallRequest(
            query=request.query,
            n_results=min(MAX_RESULTS, request.k * stores),
            stores=request.scope,
            timeout_ms=request.timeout_ms,
        )
        gathered = await self._federation.gather(recall, on_status, depth=max(_DEPTH, request.k))
        evidence = evidence_of(gathered)
        told = Told(sentences=None, hits=request.mode != "chat", k=request.k, kind=gathered.answer_kind)
        if request.mode != "search":
            told = await self._with_prose(told, evidence, gathered, request, started)
        result = shaped(gathered, evidence, told, state.knobs.budget_tokens)
        result = result.model_copy(update={"took_ms": round((anyio.current_time() - started) * 1_000, 1)})
        refuse_if_failed(state.stores, gathered, result)
        return result

    async def _with_prose(
        self, told: Told, evidence: Evidence, gathered: Gathered, request: AskRequest, started: float
    ) -> Told:
        seconds = _WRITING_S if request.timeout_ms is None else request.timeout_ms / 1_000 - _SHAPING_S
        written = await self._writer.write(evidence, synthesize=request.synthesize, deadline=started + seconds)
        sentences = (*written.sentences, *remarks(evidence, gathered.statuses))
        return replace(told, sentences=sentences, synthesis=written.synthesis, dropped=written.dropped)

    async def aclose(self) -> None:
        """Close the connections of every backend."""
        await self._writer.aclose()


def _asked(active: int, scope: list[str] | None) -> int:
    return max(1, active if scope is None else min(active, len(scope)))
