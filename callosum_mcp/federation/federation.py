"""The federation: one question to every store, one answer.

Above: the surfaces. Below: fan-out, selection, fusion, shape. The state in force is one immutable value that
`Administration` swaps as a whole; a call works on the value it started with, so every surface sees a change at once
and no call sees half of one.
"""

from __future__ import annotations

import logging
from collections.abc import Hashable, Sequence
from dataclasses import replace

import anyio

from callosum_mcp.adapters.base import Adapter
from callosum_mcp.errors import AllStoresFailed, InvalidInput, StoreError, UnknownHit
from callosum_mcp.federation.admission import Admission
from callosum_mcp.federation.embedding import Embedder
from callosum_mcp.federation.fanout import OnStatus, ask
from callosum_mcp.federation.flights import Flights
from callosum_mcp.federation.gathering import Found, Helpers, State, clock_of, gather
from callosum_mcp.federation.reranking import Reranker
from callosum_mcp.federation.sane import sane
from callosum_mcp.federation.shape import Gathered, shape
from callosum_mcp.federation.shape_fetch import shape_fetch
from callosum_mcp.federation.stores import StoreSet
from callosum_mcp.federation.trace import traced
from callosum_mcp.models.requests import FetchRequest, RecallRequest
from callosum_mcp.models.results import FetchResult, RecallResult
from callosum_mcp.models.values import Hit, StoreStatus
from callosum_mcp.reconcile.tiers import tier_of

__all__ = ["Federation", "State", "refuse_if_failed"]

QUERIES = "callosum_mcp.queries"
"""Name of the logger that is told the questions themselves; silent unless somebody gives it a level."""

_queries = logging.getLogger(QUERIES)
_queries.setLevel(logging.CRITICAL)
_log = logging.getLogger(__name__)
_SHAPING = ("trace", "detail", "budget_tokens")
"""What a request says of its answer's shape alone, and not of what is asked."""


class Federation:
    """Answers questions over the stores in force.

    Args:
        state: The stores and knobs to start with.
        reranker: Reorders the fused hits by reading them; None leaves their order.
        embedder: Tells how near texts are in meaning, where the knobs ask for it.
    """

    def __init__(self, state: State, reranker: Reranker | None = None, embedder: Embedder | None = None) -> None:
        self.state = state
        self.embedder = embedder
        self.admission = Admission()
        self.flights = Flights[Found]()
        self._reranker = reranker

    async def recall(self, request: RecallRequest, on_status: OnStatus | None = None) -> RecallResult:
        """One ranked list out of every store, inside its budget.

        Raises:
            CallerError: If the request cannot be carried out as asked.
            Overloaded: If too many calls are in flight already.
            AllStoresFailed: If no store that was asked answered, or a required one did not.
        """
        state = self.state
        found = await self._found(state, request, on_status)
        budget_tokens = request.budget_tokens or state.knobs.budget_tokens
        result = shape(found.gathered, budget_tokens=budget_tokens, detail=request.detail)
        if request.trace:
            result = traced(result, found.gathered, found.chosen, _usage(state.stores), state.knobs)
        refuse_if_failed(state.stores, found.gathered, result)
        return result

    async def gather(
        self, request: RecallRequest, on_status: OnStatus | None = None, *, depth: int | None = None
    ) -> Gathered:
        """Everything a recall finds, in order, before it is cut to its budget.

        Args:
            request: What is asked.
            on_status: Told of each store's status as it comes.
            depth: Candidates each store is asked for; None leaves it to `fetch_multiplier`.

        Raises:
            CallerError: If the request cannot be carried out as asked.
            Overloaded: If too many calls are in flight already.
        """
        return (await self._found(self.state, request, on_status, depth)).gathered

    async def _found(
        self, state: State, request: RecallRequest, on_status: OnStatus | None, depth: int | None = None
    ) -> Found:
        """What a recall finds; identical ones at the same moment share it, and each keeps its own time."""
        started = anyio.current_time()
        _queries.info("asked: %s", request.query)
        helpers = Helpers(reranker=self._reranker, embedder=self.embedder)
        told: list[StoreStatus] = []

        async def tell(status: StoreStatus) -> None:
            told.append(status)
            if on_status is not None:
                await on_status(status)

        async def work() -> Found:
            async with self.admission.entered(state.knobs, clock_of(state.knobs, request.timeout_ms).deadline):
                return await gather(state, request, helpers, tell if on_status else None, depth)

        found = await self.flights.get(_key(state, request, depth), work, keep_s=state.knobs.cache_s, keeps=_is_whole)
        if on_status is not None and not told:
            for status in found.gathered.statuses:
                await on_status(status)
        gathered = replace(found.gathered, took_s=anyio.current_time() - started)
        _log_shape(request, gathered)
        return replace(found, gathered=gathered)

    def warm(self) -> None:
        """Let the stores that have anything to connect do so in the background; touches none by itself."""
        for store in self.state.stores.stores:
            if store.spec.enabled:
                store.connection.warm()

    async def fetch(self, request: FetchRequest) -> FetchResult:
        """One hit in full, with its surroundings.

        Raises:
            UnknownStore: If the id names no store.
            UnknownHit: If the store does not hold it.
            Overloaded: If too many calls are in flight already.
            StoreError: If the store did not answer.
        """
        state = self.state
        name, colon, native = request.id.partition(":")
        if not colon or not native:
            raise InvalidInput("id: must be store:native-id, as recall gave it", field="id")
        store = state.stores.get(name)
        if not store.spec.enabled:
            raise InvalidInput(f"id: store {name} is disabled; enable it with configure", field="id")
        clock = clock_of(state.knobs, request.timeout_ms)
        async with self.admission.entered(state.knobs, clock.deadline):
            outcome = await ask(store, lambda adapter: _fetch(adapter, native), clock)
        if outcome.status.status != "up":
            raise StoreError(f"store {name} is down ({outcome.status.reason}): {outcome.status.detail}")
        if outcome.value is None:
            raise UnknownHit(f"id: store {name} holds nothing under {native!r}; ids come from recall")
        return shape_fetch(replace(outcome.value, tier=tier_of(outcome.value, store.spec.tier)))


def _log_shape(request: RecallRequest, gathered: Gathered) -> None:
    """What is known of a call without a word of what was asked or found."""
    if _log.isEnabledFor(logging.INFO):
        _log.info(
            "asked with %d characters: %d hits in %.0f ms; %s",
            len(request.query),
            len(gathered.hits),
            gathered.took_s * 1_000,
            ", ".join(f"{s.engine} {s.status}{f' ({s.reason})' if s.reason else ''}" for s in gathered.statuses),
        )


def refuse_if_failed(stores: StoreSet, gathered: Gathered, result: object) -> None:
    """Nothing, if a store answered and every required one did.

    Raises:
        AllStoresFailed: Otherwise, with the result.
    """
    failed = [s for s in gathered.statuses if s.status != "up" and s.reason not in ("disabled", "out_of_scope")]
    if not any(status.status == "up" for status in gathered.statuses):
        raise AllStoresFailed(f"no store answered: {_said(failed)}", result)
    required = {store.spec.name for store in stores.stores if store.spec.required}
    missing = [status for status in failed if status.engine in required]
    if missing:
        raise AllStoresFailed(f"a required store did not answer: {_said(missing)}", result)


def _said(statuses: Sequence[StoreStatus]) -> str:
    return "; ".join(f"{s.engine}: {s.reason} ({s.detail})" for s in statuses)


async def _fetch(adapter: Adapter, native: str) -> Hit | None:
    hit = await adapter.fetch(native)
    return None if hit is None else sane(hit, adapter.spec.name)


def _usage(stores: StoreSet) -> dict[str, object]:
    return {store.spec.name: store.connection.usage() for store in stores.stores}


def _key(state: State, request: RecallRequest, depth: int | None) -> Hashable:
    """All that the hits of a call depend on: the very state in force, and everything that was asked but its shape."""
    return state, request.model_dump_json(exclude=set(_SHAPING)), depth


def _is_whole(found: Found) -> bool:
    """Whether every store that was asked answered; only then may an answer be given again."""
    return found.gathered.answered and not found.gathered.partial
