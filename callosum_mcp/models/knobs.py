"""The federation's knobs: one model with names, defaults and bounds for the file, `configure` and the docs.

Above: settings and federation. Below: nothing. A knob exists nowhere else; whoever shows one reads it from here.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

FusionMode = Literal["pooled", "rrf", "rrf_pct", "percentile"]
"""How the stores' lists become one; see `callosum_mcp.fusion`."""

MAX_RESULTS = 100
"""The most hits one answer may hold."""

MIN_BUDGET_TOKENS = 200
MAX_BUDGET_TOKENS = 20_000
"""Bounds of an answer's size; Claude Code cuts at 25,000 tokens."""


class Knobs(BaseModel):
    """Settings of the federation that a running server may change, with their defaults and bounds."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    fusion_mode: Annotated[FusionMode, Field(description="How the lists of the stores become one list.")] = "pooled"
    k: Annotated[int, Field(ge=1, le=10_000, description="RRF: a vote is weight / (k + rank); 60 is the paper's.")] = 60
    pool_weight: Annotated[
        float,
        Field(ge=0, le=1, description="pooled: how much a hit's text counts against its rank."),
    ] = 0.5
    embed_enabled: Annotated[
        bool,
        Field(description="pooled: meaning counts beside words (extra embed)."),
    ] = False
    embed_budget_ms: Annotated[int, Field(ge=10, le=5_000, description="Milliseconds embedding may take.")] = 150
    temporal_weight: Annotated[
        float,
        Field(ge=0, le=1, description="What youth adds where time is asked for, in first ranks."),
    ] = 0.5
    authority_margin: Annotated[
        float,
        Field(ge=0, le=1, description="How far a store's best hit must lead its second to lead all; 0: off."),
    ] = 0.0
    min_per_store: Annotated[int, Field(ge=0, le=MAX_RESULTS, description="Seats every store that answered keeps.")] = 0
    edges_enabled: Annotated[bool, Field(description="Add associated memories after the ranked list.")] = True
    edge_budget: Annotated[int, Field(ge=0, le=50, description="The most topic associations added.")] = 3
    satellite_budget: Annotated[int, Field(ge=0, le=50, description="The most episodes behind a core added.")] = 3
    conflicts_enabled: Annotated[bool, Field(description="Name conflicts; no loser before its winner.")] = True
    n_results: Annotated[int, Field(ge=1, le=MAX_RESULTS, description="Hits when the caller is silent.")] = 10
    budget_tokens: Annotated[
        int,
        Field(
            ge=MIN_BUDGET_TOKENS,
            le=MAX_BUDGET_TOKENS,
            description="Tokens (4 characters) of an answer when the caller is silent.",
        ),
    ] = 1_800
    fetch_multiplier: Annotated[int, Field(ge=1, le=50, description="A store is asked for n_results times this.")] = 5
    per_store_timeout_s: Annotated[
        float, Field(gt=0, le=300, description="Seconds a store may take without its own timeout_s.")
    ] = 4.0
    deadline_s: Annotated[float, Field(gt=0, le=600, description="Seconds a whole call may take.")] = 5.0
    soft_deadline_s: Annotated[
        float,
        Field(ge=0, le=600, description="Seconds until nobody is waited for any more; 0: off."),
    ] = 0.0
    max_in_flight: Annotated[int, Field(ge=1, le=1_000, description="Calls answered at once; others wait.")] = 24
    max_queued: Annotated[int, Field(ge=0, le=10_000, description="Calls that may wait.")] = 256
    cache_s: Annotated[
        float,
        Field(ge=0, le=60, description="Seconds a complete answer is reused."),
    ] = 0.0
    half_life_days: Annotated[
        float,
        Field(gt=0, le=36_500, description="Recency is exp(-age / this): no half-life."),
    ] = 30.0
