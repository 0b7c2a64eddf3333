"""How each hit got its place, for `trace: true`: votes, text scores, calibration, what was dropped and why.

Above: the federation. Below: shape and models. Pure. A trace is for people who tune: it stands outside the budget of
the answer and is bounded by the ceiling of all answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from callosum_mcp.federation.select import Selection
from callosum_mcp.federation.shape import Gathered
from callosum_mcp.fusion.packing import CHARS_PER_TOKEN
from callosum_mcp.models.knobs import MAX_BUDGET_TOKENS, Knobs
from callosum_mcp.models.results import RecallResult
from callosum_mcp.models.values import FusedHit, Part
from callosum_mcp.text import compact_json

_KNOBS = ("fusion_mode", "k", "pool_weight", "authority_margin", "min_per_store", "edges_enabled")
_RAW = 50  # of a store's raw list


def traced(
    result: RecallResult, gathered: Gathered, chosen: Mapping[str, Selection], usage: Mapping[str, object], knobs: Knobs
) -> RecallResult:
    """The answer with its trace; parts of the trace that do not fit below the ceiling are left out, largest last."""
    shown = {hit.id for hit in (*result.hits, *result.superseded)}
    seats = _special_seats(gathered)
    trace: dict[str, Any] = {
        "settings": {name: getattr(knobs, name) for name in _KNOBS},
        "hits": [_hit(place, item, seats) for place, item in enumerate(gathered.hits, start=1)],
        "stores": _stores(gathered, chosen, usage),
        "dropped": _dropped(gathered, chosen, shown),
    }
    if gathered.embedded is not None:
        trace["embed"] = dict(gathered.embedded)
    if gathered.reranked is not None:
        trace["rerank"] = dict(gathered.reranked)
    room = MAX_BUDGET_TOKENS * CHARS_PER_TOKEN - len(compact_json(result.wire()))
    for part in ("dropped", "stores", "hits"):
        if len(compact_json(trace)) <= room:
            break
        trace[part] = "left out: the trace is too large"
    return result.model_copy(update={"trace": trace})


def _special_seats(gathered: Gathered) -> dict[str, str]:
    """The hits that have a seat though others stand before them in the fused list, and why."""
    by_place = {item.hit.address for item in gathered.fused[: len(gathered.hits)]}
    winners = {conflict.winner for conflict in gathered.conflicts}
    beyond = [item.hit.address for item in gathered.hits if item.hit.address not in by_place]
    return {address: "wins a conflict" if address in winners else "reserved: min_per_store" for address in beyond}


def _hit(place: int, item: FusedHit, seats: Mapping[str, str]) -> dict[str, Any]:
    """Why one hit stands where it stands."""
    told: dict[str, Any] = {"id": item.hit.address, "place": place, "score": _short(item.score)}
    if item.hit.address in seats:
        told["seat"] = seats[item.hit.address]
    told["votes"] = [_vote(part) for part in item.parts]
    if item.lead:
        told["lead"] = item.lead
    if item.temporal:
        told["temporal"] = _short(item.temporal)
    return told


def _vote(part: Part) -> dict[str, Any]:
    """One copy's vote; `text` and `fitted` only where the mode has them."""
    told: dict[str, Any] = {"id": part.address, "rank": part.rank, "weight": part.weight, "value": _short(part.value)}
    if part.text is not None and part.fitted is not None:
        told |= {"text": _short(part.text), "fitted": _short(part.fitted)}
    return told


def _stores(
    gathered: Gathered, chosen: Mapping[str, Selection], usage: Mapping[str, object]
) -> dict[str, dict[str, Any]]:
    """Each store's own list, its time and its connections."""
    told: dict[str, dict[str, Any]] = {}
    for status in gathered.statuses:
        entry: dict[str, Any] = {"status": status.status}
        if status.ms is not None:
            entry["ms"] = round(status.ms, 1)
        if status.engine in chosen:
            entry["raw"] = list(chosen[status.engine].raw[:_RAW])
        if usage.get(status.engine):
            entry["connections"] = usage[status.engine]
        told[status.engine] = entry
    return told


def _dropped(gathered: Gathered, chosen: Mapping[str, Selection], shown: set[str]) -> list[dict[str, str]]:
    """Every hit that was found and is not shown."""
    told = [{"id": address, "why": why} for one in chosen.values() for address, why in one.dropped]
    told += _set_aside(gathered, chosen, shown)
    seated = {item.hit.address for item in gathered.hits}
    told += _reasons((item for item in gathered.hits if item.hit.address not in shown), "budget")
    told += _reasons((item for item in gathered.fused if item.hit.address not in seated), "no seat: beyond n_results")
    return told


def _set_aside(gathered: Gathered, chosen: Mapping[str, Selection], shown: set[str]) -> list[dict[str, str]]:
    """Hits that took no part in the list: replaced ones, and those of stores without a weight."""
    voted = {address for item in gathered.fused for address, _ in item.sources}
    wanted = {hit.address for hit in gathered.superseded}
    old = [hit.address for one in chosen.values() for hit in one.superseded if hit.address not in shown]
    silent = [hit.address for one in chosen.values() for hit in one.ranked if hit.address not in voted]
    told = [{"id": address, "why": "budget" if address in wanted else "superseded"} for address in old]
    return [*told, *({"id": address, "why": "weight 0"} for address in silent)]


def _reasons(items: Iterable[FusedHit], why: str) -> list[dict[str, str]]:
    return [{"id": item.hit.address, "why": why} for item in items]


def _short(value: float) -> float:
    return float(f"{value:.6g}")
