"""The federation: one question to every store, one answer.

Above: the surfaces. Below: fan-out, selection, fusion, shape. The state in force is one immutable value that
`Administration` swaps as a whole; a call works on the value it started with, so every surface sees a change at once
and no call sees half of one.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import anyio
import anyio.to_thread

from callosum_mcp.adapters.base import Adapter
from callosum_mcp.errors import AllStoresFailed, InvalidInput, StoreError, UnknownHit
from callosum_mcp.federation.conflicts import preload, settle
from callosum_mcp.federation.edges import Edge, satellites, topic_edges
from callosum_mcp.federation.fanout import Clock, OnStatus, Outcome, ask, fan_out
from callosum_mcp.federation.order import ordered, retimed
from callosum_mcp.federation.reranking import Reranker
from callosum_mcp.federation.sane import sane, sane_hits
from callosum_mcp.federation.select import Selection, choose, select, store_query
from callosum_mcp.federation.shape import Gathered, shape
from callosum_mcp.federation.shape_fetch import shape_fetch
from callosum_mcp.federation.stores import Store, StoreSet
from callosum_mcp.federation.trace import traced
from callosum_mcp.fusion import RankedList
from callosum_mcp.fusion.lexical import MAX_CHARS
from callosum_mcp.fusion.packing import seated
from callosum_mcp.fusion.temporal import has_cue
from callosum_mcp.models.knobs import Knobs
from callosum_mcp.models.requests import FetchRequest, RecallRequest
from callosum_mcp.models.results import FetchResult, RecallResult
from callosum_mcp.models.values import FusedHit, Hit, StoreQuery, StoreReply, StoreStatus, Tier
from callosum_mcp.reconcile.tiers import tier_of

_AFTER_TIMEOUT_S = 0.03
"""Seconds for dates and edges after a store timed out: an answer is promised within its timeout and 0.1 s."""

_MERGED_HERE_CHARS = 250_000  # some 5 ms of merging


@dataclass(frozen=True, kw_only=True, slots=True)
class State:
    """What is in force: the stores and the knobs."""

    stores: StoreSet
    knobs: Knobs


class Federation:
    """Answers questions over the stores in force.

    Args:
        state: The stores and knobs to start with.
        reranker: Reorders the fused hits by reading them; None leaves their order.
    """

    def __init__(self, state: State, reranker: Reranker | None = None) -> None:
        self.state = state
        self._reranker = reranker

    async def recall(self, request: RecallRequest, on_status: OnStatus | None = None) -> RecallResult:
        """One ranked list out of every store, inside its budget.

        Raises:
            CallerError: If the request cannot be carried out as asked.
            AllStoresFailed: If no store that was asked answered, or a required one did not.
        """
        state = self.state
        gathered, chosen = await self._gathered(state, request, on_status)
        budget_tokens = request.budget_tokens or state.knobs.budget_tokens
        result = shape(gathered, budget_tokens=budget_tokens, detail=request.detail)
        if request.trace:
            result = traced(result, gathered, chosen, _usage(state.stores), state.knobs)
        refuse_if_failed(state.stores, gathered, result)
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
        """
        return (await self._gathered(self.state, request, on_status, depth))[0]

    async def _gathered(
        self, state: State, request: RecallRequest, on_status: OnStatus | None, depth: int | None = None
    ) -> tuple[Gathered, dict[str, Selection]]:
        """The steps of a recall up to the shaping, in the order the design gives them."""
        started = anyio.current_time()
        knobs, n_results = state.knobs, request.n_results or state.knobs.n_results
        query = store_query(request, depth or n_results * knobs.fetch_multiplier)
        if knobs.conflicts_enabled:
            preload()
        asked, skipped = choose(state.stores, request.stores)
        clock = Clock(
            deadline=started + _allowed_s(knobs, request.timeout_ms), store_timeout_s=knobs.per_store_timeout_s
        )
        outcomes = await fan_out(asked, lambda adapter: _search(adapter, query), clock, on_status)
        clock = _afterwards(clock, outcomes)
        chosen = {o.store.spec.name: select(o.value, query, o.store) for o in outcomes if o.value is not None}
        answered = [o.store for o in outcomes if o.value is not None]
        fused = await _ordered(_lists(answered, chosen), request.query, knobs)
        if knobs.temporal_weight > 0 and (query.timed or has_cue(request.query)):
            fused, answering = await _retimed(fused, 2 * n_results, answered, clock, knobs)
        else:
            answering = answered
        reordered = await self._reranker.rerank(request.query, fused, clock.deadline) if self._reranker else None
        fused = list(reordered.hits) if reordered else fused
        complete, answering = await _completed(seated(fused, n_results, knobs.min_per_store), answering, clock)

        async def dated(items: Sequence[FusedHit]) -> list[FusedHit]:
            return _tiered((await _completed(items, answering, clock))[0], answered)

        settled = await settle(_tiered(complete, answered), fused, dated, request.query, n_results, knobs)
        shown = settled.hits
        superseded = _superseded(chosen, answered) if request.include_superseded else ()
        gathered = Gathered(
            query=request.query,
            hits=shown,
            fused=tuple(fused),
            conflicts=settled.conflicts,
            parties=settled.parties,
            now=settled.now,
            reranked=reordered.told if reordered else None,
            superseded=superseded,
            edges=tuple(await _edges(shown, superseded, answering, clock, knobs)),
            statuses=_in_order(state.stores, [_recorded(o, chosen) for o in outcomes], skipped),
            took_s=anyio.current_time() - started,
        )
        return gathered, chosen

    async def fetch(self, request: FetchRequest) -> FetchResult:
        """One hit in full, with its surroundings.

        Raises:
            UnknownStore: If the id names no store.
            UnknownHit: If the store does not hold it.
            StoreError: If the store did not answer.
        """
        state = self.state
        name, colon, native = request.id.partition(":")
        if not colon or not native:
            raise InvalidInput("id: must be store:native-id, as recall gave it", field="id")
        store = state.stores.get(name)
        if not store.spec.enabled:
            raise InvalidInput(f"id: store {name} is disabled; enable it with configure", field="id")
        deadline = anyio.current_time() + _allowed_s(state.knobs, request.timeout_ms)
        clock = Clock(deadline=deadline, store_timeout_s=state.knobs.per_store_timeout_s)
        outcome = await ask(store, lambda adapter: _fetch(adapter, native), clock)
        if outcome.status.status != "up":
            raise StoreError(f"store {name} is down ({outcome.status.reason}): {outcome.status.detail}")
        if outcome.value is None:
            raise UnknownHit(f"id: store {name} holds nothing under {native!r}; ids come from recall")
        return shape_fetch(replace(outcome.value, tier=tier_of(outcome.value, store.spec.tier)))


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


def _allowed_s(knobs: Knobs, timeout_ms: int | None) -> float:
    return knobs.deadline_s if timeout_ms is None else min(knobs.deadline_s, timeout_ms / 1_000)


async def _search(adapter: Adapter, query: StoreQuery) -> StoreReply:
    """One store's part: its hits, dated too where a time filter needs the dates."""
    reply = await adapter.search(replace(query, limit=min(query.limit, adapter.max_results)))
    if not adapter.clean:
        reply = StoreReply(hits=sane_hits(reply.hits, adapter.spec.name), remark=reply.remark)
    return replace(reply, hits=tuple(await _complete(adapter, reply.hits))) if query.timed else reply


async def _complete(adapter: Adapter, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    complete = await adapter.complete(hits)
    return tuple(complete) if adapter.clean else sane_hits(complete, adapter.spec.name)


async def _fetch(adapter: Adapter, native: str) -> Hit | None:
    hit = await adapter.fetch(native)
    return None if hit is None else sane(hit, adapter.spec.name)


def _lists(answered: Sequence[Store], chosen: Mapping[str, Selection]) -> list[RankedList]:
    return [
        RankedList(store=store.spec.name, hits=chosen[store.spec.name].ranked, weight=store.spec.weight)
        for store in answered
    ]


async def _ordered(lists: list[RankedList], query: str, knobs: Knobs) -> list[FusedHit]:
    """Steps 5 to 7; so many long texts that it takes more than some milliseconds are merged beside the event loop."""
    size = sum(min(len(hit.text), MAX_CHARS) for one in lists for hit in one.hits)
    if size <= _MERGED_HERE_CHARS:
        return ordered(lists, query, knobs)
    return await anyio.to_thread.run_sync(ordered, lists, query, knobs, abandon_on_cancel=True)


async def _retimed(
    fused: list[FusedHit], depth: int, answered: Sequence[Store], clock: Clock, knobs: Knobs
) -> tuple[list[FusedHit], list[Store]]:
    """Step 8, for which the first hits need their dates before they are chosen; and the stores that still answer."""
    head, answering = await _completed(fused[:depth], answered, clock)
    return retimed([*head, *fused[depth:]], knobs, time.time()), answering


def _afterwards(clock: Clock, outcomes: Sequence[Outcome[StoreReply]]) -> Clock:
    """The time that dates and edges may take: next to none where a store was waited for until its time was up."""
    if all(outcome.status.reason != "timeout" for outcome in outcomes):
        return clock
    return replace(clock, deadline=min(clock.deadline, anyio.current_time() + _AFTER_TIMEOUT_S))


async def _edges(
    shown: Sequence[FusedHit], superseded: Sequence[Hit], answering: Sequence[Store], clock: Clock, knobs: Knobs
) -> list[Edge]:
    """Step 10: satellites, then topic associations; nothing of it is shown twice."""
    if not knobs.edges_enabled or not shown:
        return []
    known = {address for item in shown for address, _ in item.sources} | {hit.address for hit in superseded}
    sent_along = satellites(shown, known, knobs.satellite_budget)
    known |= {edge.hit.address for edge in sent_along}
    topical = [store for store in answering if store.connection.topical]
    return [*sent_along, *await topic_edges(shown, topical, known, knobs.edge_budget, clock)]


def _tiered(items: Sequence[FusedHit], stores: Sequence[Store]) -> list[FusedHit]:
    """The hits that are shown, each with the tier that its store or its kind gives it."""
    tiers: dict[str, Tier | None] = {store.spec.name: store.spec.tier for store in stores}
    return [replace(item, hit=replace(item.hit, tier=tier_of(item.hit, tiers[item.hit.store]))) for item in items]


def _superseded(chosen: dict[str, Selection], stores: Sequence[Store]) -> tuple[Hit, ...]:
    old = [FusedHit(hit=hit, score=0.0, store_rank=1) for one in chosen.values() for hit in one.superseded]
    return tuple(item.hit for item in _tiered(old, stores))


def _recorded(outcome: Outcome[StoreReply], chosen: dict[str, Selection]) -> StoreStatus:
    """A store's status with what was taken of its answer; it goes into the store's record too."""
    outcome.store.connection.record(outcome.status)
    selection = chosen.get(outcome.store.spec.name)
    if selection is None:
        return outcome.status
    return replace(outcome.status, hits=len(selection.ranked), detail=selection.remark)


def _usage(stores: StoreSet) -> dict[str, object]:
    return {store.spec.name: store.connection.usage() for store in stores.stores}


def _in_order(stores: StoreSet, *parts: list[StoreStatus]) -> tuple[StoreStatus, ...]:
    by_name = {status.engine: status for part in parts for status in part}
    return tuple(by_name[name] for name in stores.names() if name in by_name)


async def _completed(
    shown: Sequence[FusedHit], asked: Sequence[Store], clock: Clock
) -> tuple[list[FusedHit], list[Store]]:
    """The shown hits with what their stores' searches leave out, as far as the deadline allows.

    A store that fails now is not among those returned, and so not asked again in this call.
    """
    lacking: dict[str, list[Hit]] = {}
    for item in shown:
        if item.hit.last_seen is None:
            lacking.setdefault(item.hit.store, []).append(item.hit)
    stores = [store for store in asked if store.spec.name in lacking]
    outcomes = await fan_out(stores, lambda adapter: _complete(adapter, lacking[adapter.spec.name]), clock)
    done = {hit.address: hit for outcome in outcomes for hit in outcome.value or ()}
    failed = {outcome.store.spec.name for outcome in outcomes if outcome.value is None}
    answering = [store for store in asked if store.spec.name not in failed]
    return [replace(item, hit=done.get(item.hit.address, item.hit)) for item in shown], answering
