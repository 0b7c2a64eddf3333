"""The steps of one recall, from the choice of stores to the edges: everything before the answer is cut to its budget.

Above: the federation. Below: fan-out, selection, merging, conflicts, edges. Each step keeps to the clock of the call,
and a store that failed in one step is not asked again in a later one.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import anyio

from callosum_mcp.adapters.base import Adapter
from callosum_mcp.federation.conflicts import Reconciled, preload, settle
from callosum_mcp.federation.edges import Edge, satellites, topic_edges
from callosum_mcp.federation.embedding import Embedder
from callosum_mcp.federation.fanout import Clock, OnStatus, Outcome, fan_out
from callosum_mcp.federation.kind import kind_of
from callosum_mcp.federation.merging import Merged, in_use, merged
from callosum_mcp.federation.order import retimed
from callosum_mcp.federation.reranking import Reordered, Reranker
from callosum_mcp.federation.sane import sane_hits
from callosum_mcp.federation.select import Selection, choose, select, store_query
from callosum_mcp.federation.shape import Gathered
from callosum_mcp.federation.stores import Store, StoreSet
from callosum_mcp.fusion import RankedList
from callosum_mcp.fusion.packing import seated
from callosum_mcp.fusion.temporal import has_cue
from callosum_mcp.models.knobs import Knobs
from callosum_mcp.models.requests import RecallRequest
from callosum_mcp.models.results import AnswerKind
from callosum_mcp.models.values import LEFT_ALONE, FusedHit, Hit, StoreQuery, StoreReply, StoreStatus, Tier
from callosum_mcp.reconcile.tiers import tier_of

_AFTER_TIMEOUT_S = 0.03
"""Seconds for dates and edges after a store timed out: an answer is promised within its timeout and 0.1 s."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class State:
    """What is in force: the stores and the knobs. Two are the same only if they are one."""

    stores: StoreSet
    knobs: Knobs


@dataclass(frozen=True, kw_only=True, slots=True)
class Helpers:
    """What may look at the hits besides the fusion.

    Attributes:
        reranker: Reorders the fused hits by reading them; None leaves their order.
        embedder: Tells how near texts are in meaning, where the knobs ask for it.
    """

    reranker: Reranker | None = None
    embedder: Embedder | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """What a recall found, and what was taken of each store's answer."""

    gathered: Gathered
    chosen: Mapping[str, Selection]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Ranked:
    """The merged list, how it came about, and the stores that may still be asked."""

    hits: list[FusedHit]
    merging: Merged
    reordered: Reordered | None
    answering: list[Store]


async def gather(
    state: State, request: RecallRequest, helpers: Helpers, on_status: OnStatus | None = None, depth: int | None = None
) -> Found:
    """Everything a recall finds, in order.

    Args:
        state: The stores and knobs of this call.
        request: What is asked.
        helpers: Who else looks at the hits.
        on_status: Told of each store's status as it comes.
        depth: Candidates each store is asked for; None leaves it to `fetch_multiplier`.

    Raises:
        CallerError: If the request cannot be carried out as asked.
    """
    clock, knobs = clock_of(state.knobs, request.timeout_ms), state.knobs
    started, n_results = anyio.current_time(), request.n_results or knobs.n_results
    query = store_query(request, depth or n_results * knobs.fetch_multiplier)
    _prepared(request, helpers, knobs)
    asked, skipped = choose(state.stores, request.stores)
    outcomes = await fan_out(asked, lambda adapter: _search(adapter, query), clock, on_status)
    clock = _afterwards(clock, outcomes)
    chosen = {o.store.spec.name: select(o.value, query, o.store) for o in outcomes if o.value is not None}
    answered = [o.store for o in outcomes if o.value is not None]
    ranked = await _ranked(_lists(answered, chosen), query, n_results, helpers, answered, clock, knobs)
    complete, answering = await _completed(seated(ranked.hits, n_results, knobs.min_per_store), ranked.answering, clock)

    async def dated(items: Sequence[FusedHit]) -> list[FusedHit]:
        return _tiered((await _completed(items, answering, clock))[0], answered)

    settled = await settle(_tiered(complete, answered), ranked.hits, dated, request.query, n_results, knobs)
    superseded = _superseded(chosen, answered) if request.include_superseded else ()
    gathered = Gathered(
        query=request.query,
        hits=settled.hits,
        fused=tuple(ranked.hits),
        conflicts=settled.conflicts,
        parties=settled.parties,
        now=settled.now,
        embedded=ranked.merging.told,
        reranked=ranked.reordered.told if ranked.reordered else None,
        superseded=superseded,
        kind=_kind(settled, outcomes, request.query, knobs),
        edges=tuple(await _edges(settled.hits, superseded, answering, clock, knobs)),
        statuses=_in_order(state.stores, [_recorded(o, chosen) for o in outcomes], skipped),
        took_s=anyio.current_time() - started,
    )
    return Found(gathered=gathered, chosen=chosen)


def _kind(settled: Reconciled, outcomes: Sequence[Outcome[StoreReply]], query: str, knobs: Knobs) -> AnswerKind | None:
    """How many answers there are, where hits are compared at all."""
    if not knobs.conflicts_enabled:
        return None
    verdicts = {o.store.spec.name: o.value.verdict for o in outcomes if o.value is not None and o.value.verdict}
    return kind_of(settled.hits, settled.conflicts, verdicts, query)


def clock_of(knobs: Knobs, timeout_ms: int | None) -> Clock:
    """The time of a call that begins now."""
    allowed_s = knobs.deadline_s if timeout_ms is None else min(knobs.deadline_s, timeout_ms / 1_000)
    now = anyio.current_time()
    return Clock(
        deadline=now + allowed_s,
        store_timeout_s=knobs.per_store_timeout_s,
        soft_deadline=now + knobs.soft_deadline_s if knobs.soft_deadline_s else None,
    )


def _prepared(request: RecallRequest, helpers: Helpers, knobs: Knobs) -> None:
    """Load what takes long to load while the stores are waited for."""
    if knobs.conflicts_enabled:
        preload()
    embedder = in_use(helpers.embedder, knobs)
    if embedder is not None:
        embedder.prepare(request.query)


async def _ranked(
    lists: list[RankedList],
    query: StoreQuery,
    n_results: int,
    helpers: Helpers,
    answered: list[Store],
    clock: Clock,
    knobs: Knobs,
) -> _Ranked:
    """Steps 5 to 8, and the reranker."""
    merging = await merged(lists, query.text, knobs, in_use(helpers.embedder, knobs), clock.deadline)
    fused, answering = merging.hits, answered
    if knobs.temporal_weight > 0 and (query.timed or has_cue(query.text)):
        fused, answering = await _retimed(fused, 2 * n_results, answered, clock, knobs)
    reranker = helpers.reranker
    reordered = await reranker.rerank(query.text, fused, clock.deadline) if reranker else None
    hits = list(reordered.hits) if reordered else fused
    return _Ranked(hits=hits, merging=merging, reordered=reordered, answering=answering)


async def _search(adapter: Adapter, query: StoreQuery) -> StoreReply:
    """One store's part: its hits, dated too where a time filter needs the dates."""
    reply = await adapter.search(replace(query, limit=min(query.limit, adapter.max_results)))
    if not adapter.clean:
        reply = replace(reply, hits=sane_hits(reply.hits, adapter.spec.name))
    return replace(reply, hits=tuple(await _complete(adapter, reply.hits))) if query.timed else reply


async def _complete(adapter: Adapter, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    complete = await adapter.complete(hits)
    return tuple(complete) if adapter.clean else sane_hits(complete, adapter.spec.name)


def _lists(answered: Sequence[Store], chosen: Mapping[str, Selection]) -> list[RankedList]:
    return [
        RankedList(store=store.spec.name, hits=chosen[store.spec.name].ranked, weight=store.spec.weight)
        for store in answered
    ]


async def _retimed(
    fused: list[FusedHit], depth: int, answered: Sequence[Store], clock: Clock, knobs: Knobs
) -> tuple[list[FusedHit], list[Store]]:
    """Step 8, for which the first hits need their dates before they are chosen; and the stores that still answer."""
    head, answering = await _completed(fused[:depth], answered, clock)
    return retimed([*head, *fused[depth:]], knobs, time.time()), answering


def _afterwards(clock: Clock, outcomes: Sequence[Outcome[StoreReply]]) -> Clock:
    """The time that dates and edges may take: next to none where a store was waited for until its time was up."""
    ends = [clock.deadline] if clock.soft_deadline is None else [clock.deadline, clock.soft_deadline]
    if any(outcome.status.reason == "timeout" for outcome in outcomes):
        ends.append(0.0)
    at_least = anyio.current_time() + _AFTER_TIMEOUT_S
    return replace(clock, deadline=min(clock.deadline, max(min(ends), at_least)))


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
    if outcome.status.reason not in LEFT_ALONE or outcome.status.status == "down":
        outcome.store.connection.record(outcome.status)
    selection = chosen.get(outcome.store.spec.name)
    if selection is None:
        return outcome.status
    return replace(outcome.status, hits=len(selection.ranked), detail=selection.remark)


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
