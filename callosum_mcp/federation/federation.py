"""The federation: one question to every store, one answer.

Above: the surfaces. Below: fan-out, selection, fusion, shape. The state in force is one immutable value that
`Administration` swaps as a whole; a call works on the value it started with, so every surface sees a change at once
and no call sees half of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import anyio

from callosum_mcp.adapters.base import Adapter
from callosum_mcp.errors import AllStoresFailed, InvalidInput, StoreError, UnknownHit
from callosum_mcp.federation.fanout import OnStatus, Outcome, ask, fan_out
from callosum_mcp.federation.sane import sane, sane_hits
from callosum_mcp.federation.select import Selection, choose, select, store_query
from callosum_mcp.federation.shape import Gathered, shape
from callosum_mcp.federation.shape_fetch import shape_fetch
from callosum_mcp.federation.stores import Store, StoreSet
from callosum_mcp.fusion import RankedList, fuse
from callosum_mcp.fusion.packing import seated
from callosum_mcp.models.knobs import Knobs
from callosum_mcp.models.requests import FetchRequest, RecallRequest
from callosum_mcp.models.results import FetchResult, RecallResult
from callosum_mcp.models.values import FusedHit, Hit, StoreQuery, StoreReply, StoreStatus
from callosum_mcp.reconcile.tiers import tier_of


@dataclass(frozen=True, kw_only=True, slots=True)
class State:
    """What is in force: the stores and the knobs."""

    stores: StoreSet
    knobs: Knobs


class Federation:
    """Answers questions over the stores in force.

    Args:
        state: The stores and knobs to start with.
    """

    def __init__(self, state: State) -> None:
        self.state = state

    async def recall(self, request: RecallRequest, on_status: OnStatus | None = None) -> RecallResult:
        """One ranked list out of every store, inside its budget.

        Raises:
            CallerError: If the request cannot be carried out as asked.
            AllStoresFailed: If no store that was asked answered, or a required one did not.
        """
        state = self.state
        gathered = await self.gather(request, on_status)
        budget_tokens = request.budget_tokens or state.knobs.budget_tokens
        result = shape(gathered, budget_tokens=budget_tokens, detail=request.detail)
        _refuse_if_failed(state.stores, gathered, result)
        return result

    async def gather(self, request: RecallRequest, on_status: OnStatus | None = None) -> Gathered:
        """Everything a recall finds, in order, before it is cut to its budget; the steps of DESIGN in their order.

        Raises:
            CallerError: If the request cannot be carried out as asked.
        """
        started = anyio.current_time()
        state = self.state
        n_results = request.n_results or state.knobs.n_results
        query = store_query(request, n_results * state.knobs.fetch_multiplier)
        asked, skipped = choose(state.stores, request.stores)
        deadline = started + _allowed_s(state.knobs, request.timeout_ms)
        outcomes = await fan_out(
            asked,
            lambda adapter: _search(adapter, query),
            deadline=deadline,
            store_timeout_s=state.knobs.per_store_timeout_s,
            on_status=on_status,
        )
        for outcome in outcomes:
            outcome.store.connection.record(outcome.status)
        chosen = {o.store.spec.name: select(o.value, query, o.store) for o in outcomes if o.value is not None}
        fused = _fused(outcomes, chosen, state.knobs)
        shown = seated(fused, n_results, state.knobs.min_per_store)
        complete = await _completed(shown, asked, deadline, state.knobs.per_store_timeout_s)
        return Gathered(
            query=request.query,
            hits=tuple(complete),
            found=len(fused),
            superseded=_superseded(chosen) if request.include_superseded else (),
            statuses=_in_order(state.stores, [_counted(o, chosen) for o in outcomes], skipped),
            took_s=anyio.current_time() - started,
        )

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
        outcome = await ask(
            store,
            lambda adapter: _fetch(adapter, native),
            deadline=deadline,
            store_timeout_s=state.knobs.per_store_timeout_s,
        )
        if outcome.status.status != "up":
            raise StoreError(f"store {name} is down ({outcome.status.reason}): {outcome.status.detail}")
        if outcome.value is None:
            raise UnknownHit(f"id: store {name} holds nothing under {native!r}; ids come from recall")
        return shape_fetch(replace(outcome.value, tier=tier_of(outcome.value, store.spec.tier)))


def _refuse_if_failed(stores: StoreSet, gathered: Gathered, result: RecallResult) -> None:
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
    reply = StoreReply(hits=sane_hits(reply.hits, adapter.spec.name), remark=reply.remark)
    return replace(reply, hits=tuple(await _complete(adapter, reply.hits))) if query.timed else reply


async def _complete(adapter: Adapter, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    return sane_hits(await adapter.complete(hits), adapter.spec.name)


async def _fetch(adapter: Adapter, native: str) -> Hit | None:
    hit = await adapter.fetch(native)
    return None if hit is None else sane(hit, adapter.spec.name)


def _fused(outcomes: list[Outcome[StoreReply]], chosen: dict[str, Selection], knobs: Knobs) -> list[FusedHit]:
    lists = [
        RankedList(store=o.store.spec.name, hits=chosen[o.store.spec.name].ranked, weight=o.store.spec.weight)
        for o in outcomes
        if o.store.spec.name in chosen
    ]
    return fuse(knobs.fusion_mode, lists, knobs.k)


def _superseded(chosen: dict[str, Selection]) -> tuple[Hit, ...]:
    return tuple(hit for selection in chosen.values() for hit in selection.superseded)


def _counted(outcome: Outcome[StoreReply], chosen: dict[str, Selection]) -> StoreStatus:
    selection = chosen.get(outcome.store.spec.name)
    if selection is None:
        return outcome.status
    return replace(outcome.status, hits=len(selection.ranked), detail=selection.remark)


def _in_order(stores: StoreSet, *parts: list[StoreStatus]) -> tuple[StoreStatus, ...]:
    by_name = {status.engine: status for part in parts for status in part}
    return tuple(by_name[name] for name in stores.names() if name in by_name)


async def _completed(
    shown: Sequence[FusedHit], asked: Sequence[Store], deadline: float, timeout_s: float
) -> list[FusedHit]:
    """The shown hits with what their stores' searches leave out, as far as the deadline allows."""
    lacking: dict[str, list[Hit]] = {}
    for item in shown:
        if item.hit.last_seen is None:
            lacking.setdefault(item.hit.store, []).append(item.hit)
    outcomes = await fan_out(
        [store for store in asked if store.spec.name in lacking],
        lambda adapter: _complete(adapter, lacking[adapter.spec.name]),
        deadline=deadline,
        store_timeout_s=timeout_s,
    )
    done = {hit.address: hit for outcome in outcomes for hit in outcome.value or ()}
    return [replace(item, hit=done.get(item.hit.address, item.hit)) for item in shown]
