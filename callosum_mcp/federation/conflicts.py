"""Step 11 of a recall: which of the hits contradict each other, and no loser before the hit it lost to.

Above: the federation. Below: reconcile. It asks no store itself. A conflict counts if one of its sides has a seat; its
winner then gets a seat too, since a list that shows only the stale side is the lie this is here to prevent.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module

from callosum_mcp.federation.beside import computed
from callosum_mcp.models.knobs import Knobs
from callosum_mcp.models.results import ConflictOut
from callosum_mcp.models.values import FusedHit
from callosum_mcp.reconcile.verdicts import Conflict, Reconciliation

_RECONCILIATION = "callosum_mcp.reconcile.reconciliation"

Dated = Callable[[Sequence[FusedHit]], Awaitable[list[FusedHit]]]

BESIDE_SEATS = 20
"""So many of the best hits without a seat are compared too: the fresher fact may stand just outside the list."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reconciled:
    """The list after reconciliation.

    Attributes:
        hits: The seated hits, winners before their losers.
        conflicts: What the seated hits are party to.
        parties: The hits without a seat that a conflict names.
        now: When that was, in Unix seconds.
    """

    hits: tuple[FusedHit, ...]
    conflicts: tuple[Conflict, ...] = ()
    parties: tuple[FusedHit, ...] = ()
    now: float = 0.0


def preload() -> None:
    """Load the word lists of reconciliation in a thread, while the stores are waited for; once in a process."""
    if _RECONCILIATION not in sys.modules:
        threading.Thread(target=import_module, args=(_RECONCILIATION,), name="word lists", daemon=True).start()


async def settle(
    seats: Sequence[FusedHit], fused: Sequence[FusedHit], dated: Dated, query: str, n_results: int, knobs: Knobs
) -> Reconciled:
    """The seated hits with every winner before its losers, in at most `n_results` seats.

    Args:
        seats: The hits with a seat, complete.
        fused: All hits in their order.
        dated: Completes hits without a seat, which is done for those that a conflict names.
        query: The question.
        n_results: Seats.
        knobs: For the constants of authority.
    """
    if not knobs.conflicts_enabled:
        return Reconciled(hits=tuple(seats), now=time.time())
    taken = {item.hit.address for item in seats}
    beside = [item for item in fused if item.hit.address not in taken][:BESIDE_SEATS]
    now = time.time()
    verdict = await _verdict([*seats, *beside], now, query, knobs)
    named = _parties(verdict.conflicts)
    if any(item.hit.address in named for item in beside):
        complete = {item.hit.address: item for item in await dated([b for b in beside if b.hit.address in named])}
        beside = [complete.get(item.hit.address, item) for item in beside]
        verdict = await _verdict([*seats, *beside], now, query, knobs)
    return replace(seated_by(verdict.conflicts, seats, beside, n_results), now=now)


async def _verdict(items: Sequence[FusedHit], now: float, query: str, knobs: Knobs) -> Reconciliation:
    """What contradicts what. Reading texts never seen before takes tens of milliseconds, so it is done in a thread."""
    return await computed(_compared, items, now, query, knobs)


def _compared(items: Sequence[FusedHit], now: float, query: str, knobs: Knobs) -> Reconciliation:
    from callosum_mcp.reconcile.reconciliation import reconcile  # word lists that a start need not load

    return reconcile(items, now=now, query=query, half_life_days=knobs.half_life_days, k=knobs.k)


def seated_by(
    conflicts: Sequence[Conflict], seats: Sequence[FusedHit], beside: Sequence[FusedHit], n_results: int
) -> Reconciled:
    """The seats after the conflicts, and what is left of these."""
    compared = [*seats, *beside]
    by_address = {item.hit.address: item for item in compared}
    shown = {item.hit.address for item in seats}
    conflicts = [one for one in conflicts if not shown.isdisjoint(_sides(one))]
    order = _winners_first([item.hit.address for item in seats], conflicts)[:n_results]
    kept = set(order)
    conflicts = [one for one in conflicts if not kept.isdisjoint(_sides(one))]
    absent = sorted(_parties(conflicts) - kept)
    return Reconciled(
        hits=tuple(by_address[address] for address in order),
        conflicts=tuple(conflicts),
        parties=tuple(by_address[address] for address in absent),
    )


def conflict_out(conflict: Conflict) -> ConflictOut:
    """A conflict as a caller sees it: ids of hits."""
    return ConflictOut(
        claim=conflict.claim,
        winner=conflict.winner,
        losers=list(conflict.losers),
        kind=conflict.kind,
        reason=conflict.reason,
    )


def _parties(conflicts: Iterable[Conflict]) -> frozenset[str]:
    return frozenset(address for conflict in conflicts for address in _sides(conflict))


def _sides(conflict: Conflict) -> tuple[str, ...]:
    return (conflict.winner, *conflict.losers)


def _winners_first(addresses: Iterable[str], conflicts: Sequence[Conflict]) -> list[str]:
    """The addresses with each winner directly before the first of its losers, seated or not until then."""
    placed: dict[str, None] = {}

    def place(address: str, waiting: frozenset[str]) -> None:
        if address in placed or address in waiting:  # two that beat each other in different claims stay as they are
            return
        for conflict in conflicts:
            if address in conflict.losers:
                place(conflict.winner, waiting | {address})
        placed[address] = None

    for address in addresses:
        place(address, frozenset())
    return list(placed)
