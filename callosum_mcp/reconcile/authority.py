"""Authority: how much a hit weighs when facts collide (DESIGN §4).

Above: `reconciliation`. Below: models. Pure. score = w_authority(tier) · recency · confidence · relevance; each
factor lies in (0, 1], so a score is comparable across stores without looking at any store's own magnitudes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from callosum_mcp.models.values import Hit, Tier
from callosum_mcp.reconcile.tiers import DEFAULT_TIER

WEIGHTS: Mapping[Tier, float] = {"live-infra": 1.0, "recent-file": 0.8, "agent-memory": 0.6, "older-note": 0.4}
"""w_authority: a probe saw it, a file says it, an agent once wrote it down, somebody once noted it."""

HALF_LIFE_DAYS = 30.0
"""The time constant of recency; the contract calls it a half-life, which it is not."""

K = 60
"""The k of RRF, so that relevance falls as gently as a vote does."""

_DAY_S = 86_400.0


def age_days(hit: Hit, now: float) -> float | None:
    """Days since the hit was last known to hold, never negative; None if unknown."""
    return None if hit.last_seen is None else max(0.0, (now - hit.last_seen) / _DAY_S)


def recency(age: float | None, half_life_days: float = HALF_LIFE_DAYS) -> float:
    """exp(−age / time constant); an unknown age (days) counts as one time constant, never as fresh."""
    return math.exp(-1.0 if age is None else -max(0.0, age) / half_life_days)


def relevance(rank: int, k: int = K) -> float:
    """(k + 1) / (k + rank): 1 for the first of a store, and only ranks count."""
    return (k + 1) / (k + rank)


def score(
    hit: Hit,
    rank: int = 1,
    *,
    now: float,
    half_life_days: float = HALF_LIFE_DAYS,
    k: int = K,
    weights: Mapping[Tier, float] = WEIGHTS,
) -> float:
    """The authority of a hit at its rank in its store (from 1), at `now` in Unix seconds."""
    confidence = 1.0 if hit.confidence is None else hit.confidence
    weight = weights[hit.tier or DEFAULT_TIER]
    return weight * recency(age_days(hit, now), half_life_days) * confidence * relevance(rank, k)
