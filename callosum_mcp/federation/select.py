"""Steps 1, 3 and 4 of a recall: which stores, which of their hits, in which order.

Above: the federation. Below: store set, reconcile. Pure, but for the types it touches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from callosum_mcp.errors import InvalidInput
from callosum_mcp.federation.stores import Store, StoreSet
from callosum_mcp.models.requests import RecallRequest
from callosum_mcp.models.values import Hit, StoreQuery, StoreReply, StoreStatus

_UNDATED = "unknown age"


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """The hits of one store that take part, in rank order, those set aside, and why any were dropped.

    Attributes:
        ranked: The hits that take part.
        superseded: Those that something newer replaced.
        remark: For the store's status.
        raw: Ids of all hits in the store's own order.
        dropped: Addresses of hits that were taken out, with the reason.
    """

    ranked: tuple[Hit, ...]
    superseded: tuple[Hit, ...]
    remark: str | None = None
    raw: tuple[str, ...] = ()
    dropped: tuple[tuple[str, str], ...] = ()


def choose(stores: StoreSet, scope: Sequence[str] | None) -> tuple[list[Store], list[StoreStatus]]:
    """The stores to ask, and a status for each of the rest.

    Raises:
        UnknownStore: If the scope names a store that does not exist.
        InvalidInput: If nothing is left to ask.
    """
    wanted = {stores.get(name).spec.name for name in scope} if scope is not None else None
    asked: list[Store] = []
    skipped: list[StoreStatus] = []
    for store in stores.stores:
        spec = store.spec
        if wanted is not None and spec.name not in wanted:
            skipped.append(StoreStatus(engine=spec.name, status="skipped", reason="out_of_scope"))
        elif not spec.enabled:
            skipped.append(StoreStatus(engine=spec.name, status="skipped", reason="disabled"))
        else:
            asked.append(store)
    if not asked:
        raise InvalidInput(_nobody(stores, scope), field="stores")
    return asked, skipped


def _nobody(stores: StoreSet, scope: Sequence[str] | None) -> str:
    if not stores.stores:
        return "stores: none is configured; declare one in the config file or add one with add_store"
    if scope is not None:
        return f"stores: none of {', '.join(scope) or '[]'} is enabled; enable one with configure or leave stores out"
    return "stores: all are disabled; enable one with configure"


def store_query(request: RecallRequest, limit: int) -> StoreQuery:
    """What each store is asked for a request.

    Raises:
        InvalidInput: If the time filter is empty.
    """
    since, until = request.since, request.until
    if since is not None and until is not None and since > until:
        raise InvalidInput("since: must not be after until", field="since")
    return StoreQuery(
        text=request.query,
        limit=limit,
        since=since,
        until=until,
        types=frozenset(request.types or ()),
        topics=frozenset(topic.strip().lower() for topic in request.topics or ()),
        include_superseded=request.include_superseded,
    )


def select(reply: StoreReply, query: StoreQuery, store: Store) -> Selection:
    """The hits of a reply that pass the filters and the floor, ranked as the store ranked them.

    A hit of unknown age does not pass a time filter, and the remark says how many there were. A hit of unknown
    relevance passes the floor. Superseded hits are set aside before ranks are given.
    """
    reasons = [_why_not(hit, query, store.spec.floor) for hit in reply.hits]
    kept = [hit for hit, why in zip(reply.hits, reasons, strict=True) if why is None]
    undated = reasons.count(_UNDATED)
    remarks = [reply.remark, f"{undated} hits of unknown age left out" if undated else None]
    return Selection(
        ranked=tuple(hit for hit in kept if not hit.superseded),
        superseded=tuple(hit for hit in kept if hit.superseded),
        remark="; ".join(remark for remark in remarks if remark) or None,
        raw=tuple(hit.id for hit in reply.hits),
        dropped=tuple((hit.address, why) for hit, why in zip(reply.hits, reasons, strict=True) if why is not None),
    )


def _why_not(hit: Hit, query: StoreQuery, floor: float) -> str | None:
    """Why a hit takes no part; None if it does."""
    if query.types and hit.type not in query.types:
        return "types"
    if query.topics and query.topics.isdisjoint(hit.topics):
        return "topics"
    if floor > 0 and hit.relevance is not None and hit.relevance < floor:
        return "floor"
    if query.timed and hit.last_seen is None:
        return _UNDATED
    return None if _in_time(hit, query) else "since/until"


def _in_time(hit: Hit, query: StoreQuery) -> bool:
    if not query.timed or hit.last_seen is None:
        return not query.timed
    after = query.since is None or hit.last_seen >= query.since
    return after and (query.until is None or hit.last_seen <= query.until)
