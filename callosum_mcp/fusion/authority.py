"""Authority: a hit whose key is the question itself leads the list.

Above: the federation. Below: models. Pure. A keyed fact that was asked for by its key is the answer, whatever the other
stores found; unless the user trusts another store more, which its higher weight says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from callosum_mcp.models.values import FusedHit

_PLACES = {"exact": 0, "margin": 1, None: 2}


def led(fused: Sequence[FusedHit], weights: Mapping[str, float], leads: frozenset[str]) -> list[FusedHit]:
    """The list with exact hits, and the hits named in `leads`, before all others; both keep their order.

    Args:
        fused: The fused list.
        weights: Weight of each store that gave a hit.
        leads: Addresses of hits that lead by their margin.
    """
    highest = max(weights.values(), default=0.0)

    def lead(item: FusedHit) -> str | None:
        if item.hit.exact and item.hit.relevance is not None and weights.get(item.hit.store, 0.0) >= highest:
            return "exact"
        return "margin" if any(part.address in leads and part.weight >= highest for part in item.parts) else None

    return leaders_first([replace(item, lead=reason) if (reason := lead(item)) else item for item in fused])


def leaders_first(fused: Sequence[FusedHit]) -> list[FusedHit]:
    """Exact hits, then those that lead by their margin, then the rest, each in the order they are in."""
    return sorted(fused, key=lambda item: _PLACES[item.lead])


def leader_by_margin(lists: Mapping[str, Sequence[float | None]], margin: float) -> str | None:
    """The store whose best hit stands furthest above its second, at least by `margin`; None if none does.

    A store without a known relevance, or with a single hit, has no margin. Within a store only: relevances of different
    stores are not compared, their distances are, which is why this is off by default.
    """
    if margin <= 0:
        return None
    gaps = {
        store: values[0] - values[1]
        for store, values in lists.items()
        if len(values) > 1 and values[0] is not None and values[1] is not None
    }
    best = max(gaps, key=lambda store: gaps[store], default=None)
    return best if best is not None and gaps[best] >= margin else None
