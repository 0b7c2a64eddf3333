"""Edges: memories associated with the ranked ones, after the list, marked, never re-ranking it.

Above: the federation. Below: fan-out and adapters. Two kinds: satellites, the episodes and the replaced core that a
store sent along with a hit, which cost no request; and topic edges, memories of any store that share a tag with the
ranked ones. A store that failed in this call is not asked again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

from callosum_mcp.federation.fanout import Clock, Outcome, fan_out
from callosum_mcp.federation.sane import sane_hits
from callosum_mcp.federation.stores import Store
from callosum_mcp.models.values import FusedHit, Hit, StoreReply
from callosum_mcp.reconcile.tiers import tier_of
from callosum_mcp.text import clean, epoch_seconds

EdgeKind = Literal["topic", "satellite", "supersedes"]

_TOPICS = 8  # the commonest topics of the list; more would associate anything with anything


@dataclass(frozen=True, kw_only=True, slots=True)
class Edge:
    """An associated memory, how it is associated, and with which ranked hit."""

    hit: Hit
    kind: EdgeKind
    of: str


def satellites(shown: Sequence[FusedHit], known: set[str], budget: int) -> list[Edge]:
    """What stores sent along with their hits, newest first, shared out over the hits in turn.

    Args:
        shown: The ranked hits.
        known: Addresses that are shown already.
        budget: How many at most.
    """
    edges: dict[str, Edge] = {}
    for edge in in_turn([_sent_along(item.hit) for item in shown]):
        if len(edges) >= budget:
            break
        if edge.hit.address not in known:
            edges.setdefault(edge.hit.address, edge)
    return list(edges.values())


def _sent_along(hit: Hit) -> Iterator[Edge]:
    around = hit.metadata.get("surroundings")
    if not isinstance(around, Mapping):
        return
    given = cast("Mapping[str, object]", around)
    recent = given.get("recent")
    rows = cast("list[object]", recent) if isinstance(recent, list) else []
    for row in sorted(rows, key=_newest_first) if len(rows) > 1 else rows:
        edge = _satellite(row, hit, "satellite")
        if edge is not None:
            yield edge
    replaced = _satellite(given.get("supersedes_entry"), hit, "supersedes")
    if replaced is not None:
        yield replaced


def _newest_first(row: object) -> float:
    if not isinstance(row, Mapping):
        return 0.0
    return -(epoch_seconds(cast("Mapping[str, object]", row).get("created_at")) or 0.0)


def _satellite(row: object, core: Hit, kind: EdgeKind) -> Edge | None:
    if not isinstance(row, Mapping):
        return None
    given = cast("Mapping[str, object]", row)
    identity, text = given.get("id"), given.get("content")
    if not isinstance(identity, str) or not isinstance(text, str) or not text.strip():
        return None
    hit = Hit(
        store=core.store,
        id=clean(identity),
        text=clean(text),
        type=core.type,
        topics=core.topics,
        tier=core.tier,
        last_seen=epoch_seconds(given.get("created_at")),
        live=kind != "supersedes",
        superseded_by=core.id if kind == "supersedes" else None,
    )
    return Edge(hit=hit, kind=kind, of=core.address)


async def topic_edges(
    shown: Sequence[FusedHit], answered: Sequence[Store], known: set[str], budget: int, clock: Clock
) -> list[Edge]:
    """Memories that share a topic with the ranked ones, shared out over the stores in turn.

    Args:
        shown: The ranked hits.
        answered: The stores that answered this call and can be asked by topic.
        known: Addresses that are shown already.
        budget: How many at most; also the most stores that are asked.
        clock: The time of the call.
    """
    topics = _common_topics(shown)
    asked = _nearest_stores(shown, answered)[:budget]
    if not topics or not asked:
        return []
    excluded = {s.spec.name: [a.partition(":")[2] for a in known if a.startswith(f"{s.spec.name}:")] for s in asked}
    outcomes = await fan_out(
        asked, lambda adapter: adapter.by_topic(topics, budget, excluded[adapter.spec.name]), clock
    )
    found = [list(_edges(outcome, shown, known)) for outcome in outcomes]
    return list(in_turn(found))[:budget]


def _common_topics(shown: Sequence[FusedHit]) -> list[str]:
    """The commonest topics of the list; equal ones in the order of the list."""
    counted = Counter(topic for item in shown for topic in item.hit.topics)
    return [topic for topic, _ in counted.most_common(_TOPICS)]


def _nearest_stores(shown: Sequence[FusedHit], answered: Sequence[Store]) -> list[Store]:
    """The stores in the order in which they first stand in the list; those without a hit last."""
    order = {name: place for place, name in enumerate(dict.fromkeys(item.hit.store for item in shown))}
    return sorted(answered, key=lambda store: order.get(store.spec.name, len(order)))


def _edges(outcome: Outcome[StoreReply], shown: Sequence[FusedHit], known: set[str]) -> Iterator[Edge]:
    spec = outcome.store.spec
    for hit in sane_hits(outcome.value.hits if outcome.value else (), spec.name):
        of = next((item.hit for item in shown if not set(item.hit.topics).isdisjoint(hit.topics)), None)
        if of is not None and hit.address not in known:
            yield Edge(hit=replace(hit, tier=tier_of(hit, spec.tier)), kind="topic", of=of.address)


def in_turn(queues: Sequence[Iterable[Edge]]) -> Iterator[Edge]:
    """The first of each queue, then the second of each, and so on; none is made before it is asked for."""
    waiting = [iter(queue) for queue in queues]
    while waiting:
        left: list[Iterator[Edge]] = []
        for queue in waiting:
            edge = next(queue, None)
            if edge is not None:
                left.append(queue)
                yield edge
        waiting = left
