"""Steps 5 to 9 of a recall: one list out of many, in the order a caller sees.

Above: the federation. Below: fusion. Pure. Each step keeps the order of the one before it where it has nothing to say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from callosum_mcp.fusion import RankedList, fuse
from callosum_mcp.fusion.authority import leader_by_margin, leaders_first, led
from callosum_mcp.fusion.temporal import bonus
from callosum_mcp.models.knobs import Knobs
from callosum_mcp.models.values import FusedHit

PER_DOCUMENT = 2
"""Sections of one document that keep their place; further ones go to the end of the list."""

POOLED_UNIT = 0.1
"""What a first rank is worth in pooled values, as a part of the best: the temporal bonus is a part of that."""


def ordered(
    lists: Sequence[RankedList], query: str, knobs: Knobs, cosines: Mapping[str, float] | None = None
) -> list[FusedHit]:
    """Steps 5 to 7: each memory once, fused, exact hits first, no document more than `PER_DOCUMENT` times in front."""
    fused = fuse(knobs.fusion_mode, lists, query=query, k=knobs.k, pool_weight=knobs.pool_weight, cosines=cosines)
    weights = {one.store: one.weight for one in lists if one.hits}
    return led(spread(fused), weights, _leads(lists, knobs.authority_margin))


def _leads(lists: Sequence[RankedList], margin: float) -> frozenset[str]:
    store = leader_by_margin({one.store: [hit.relevance for hit in one.hits[:2]] for one in lists}, margin)
    return frozenset(one.hits[0].address for one in lists if one.store == store)


def spread(fused: Sequence[FusedHit]) -> list[FusedHit]:
    """The list with what goes beyond `PER_DOCUMENT` sections of one document at its end."""
    taken: Counter[str] = Counter()
    kept: list[FusedHit] = []
    more: list[FusedHit] = []
    for item in fused:
        document = _document(item)
        taken[document] += 1
        (kept if not document or taken[document] <= PER_DOCUMENT else more).append(item)
    return [*kept, *more]


def _document(item: FusedHit) -> str:
    """The document a section belongs to; "" for what is no section."""
    document, mark, _ = (item.hit.uri or "").partition("#")
    return document if mark else ""


def retimed(fused: Sequence[FusedHit], knobs: Knobs, now: float) -> list[FusedHit]:
    """Step 8: the list with younger hits before their near equals; what leads and what was put last stays there.

    Args:
        fused: The list.
        knobs: For the mode and k.
        now: Unix seconds.
    """
    unit = _unit(fused, knobs)
    younger = [_younger(item, bonus(item.hit.last_seen, now, unit, knobs.temporal_weight)) for item in fused]
    return leaders_first(spread(sorted(younger, key=lambda item: -item.score)))


def _younger(item: FusedHit, gain: float) -> FusedHit:
    return replace(item, score=item.score + gain, temporal=gain)


def _unit(fused: Sequence[FusedHit], knobs: Knobs) -> float:
    """What a first rank is worth on the scale of the mode's scores."""
    if knobs.fusion_mode in ("rrf", "rrf_pct"):
        return 1.0 / (knobs.k + 1)
    return POOLED_UNIT * max((item.score for item in fused), default=0.0)
