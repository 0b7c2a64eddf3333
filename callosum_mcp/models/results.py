"""What a caller gets: the answers of every tool, the same over MCP, HTTP and the command line.

Above: surfaces. Below: values. The models are the output schemas; `wire` drops what a model cannot use (nulls).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from callosum_mcp.errors import Reason
from callosum_mcp.models.knobs import Knobs
from callosum_mcp.models.values import Status, StoreStatus, Tier

AnswerKind = Literal["none", "single", "many", "unknown"]


class _Result(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)  # a start needs none of them

    def wire(self) -> dict[str, Any]:
        """The answer as a caller sees it: JSON values, nulls left out."""
        return self.model_dump(mode="json", exclude_none=True)


class EngineOut(_Result):
    """What one store did in this call."""

    engine: Annotated[str, Field(description="Name of the store.")]
    status: Status
    reason: Reason | None = None
    detail: Annotated[str | None, Field(description="One line a person can act on.")] = None
    ms: Annotated[float | None, Field(description="Milliseconds until it answered or failed.")] = None
    hits: Annotated[int | None, Field(description="Hits it gave, after filters and floor.")] = None
    retry_after_s: float | None = None

    @classmethod
    def of(cls, status: StoreStatus) -> EngineOut:
        """The caller's view of a status."""
        return cls(
            engine=status.engine,
            status=status.status,
            reason=status.reason,
            detail=status.detail,
            ms=None if status.ms is None else round(status.ms, 1),
            hits=status.hits,
            retry_after_s=status.retry_after_s,
        )


class SourceOut(_Result):
    """One copy of a memory that several stores hold."""

    store: str
    id: str
    store_rank: int


class ReceiptOut(_Result):
    """Where one thing shown comes from."""

    id: Annotated[str, Field(description="r1, r2 …: means nothing outside this answer.")]
    source: Annotated[str, Field(description="Store and native id, what fetch takes.")]
    path: str | None = None
    last_seen: str | None = None
    confidence: float | None = None
    snippet: str | None = None


class HitOut(_Result):
    """One memory in the ranked list."""

    id: Annotated[str, Field(description="store:native-id; fetch takes it.")]
    store: str
    text: str
    title: str | None = None
    path: str | None = None
    score: Annotated[float, Field(description="Orders the list; its size means nothing.")]
    store_rank: Annotated[int, Field(description="Rank in its own store, 1 is best.")]
    tier: Tier | None = None
    last_seen: Annotated[str | None, Field(description="ISO 8601 UTC.")] = None
    age_days: Annotated[int | None, Field(description="Whole days since last_seen.")] = None
    confidence: float | None = None
    receipt: Annotated[str, Field(description="Id of its receipt in receipts[].")]
    sources: Annotated[list[SourceOut] | None, Field(description="All copies, where several stores had it.")] = None
    type: str | None = None
    topics: list[str] | None = None
    recheck: Annotated[list[str] | None, Field(description="What this fact rests on has changed: check it.")] = None
    superseded_at: str | None = None
    superseded_by: str | None = None
    why_changed: str | None = None
    cut: Annotated[int | None, Field(description="Characters of text left out; fetch gives all.")] = None
    similar_to: Annotated[str | None, Field(description="Id of an earlier hit that says nearly the same.")] = None
    edge: Annotated[
        Literal["topic", "satellite", "supersedes"] | None, Field(description="In edges[]: how it is associated.")
    ] = None
    edge_of: Annotated[str | None, Field(description="In edges[]: id of the hit it is associated with.")] = None
    metadata: dict[str, Any] | None = None


class ConflictOut(_Result):
    """Memories that assert the same fact and disagree."""

    claim: Annotated[str, Field(description="What it is about.")]
    winner: Annotated[str, Field(description="Id of the hit with the higher authority.")]
    losers: Annotated[list[str], Field(description="Ids of the hits that contradict it.")]
    kind: Annotated[
        Literal["temporal_update", "genuine_conflict"],
        Field(description="The newer replaces the older, or both claim to hold now."),
    ]
    reason: Annotated[str, Field(description="Why the winner won.")]


class RecallResult(_Result):
    """One ranked list out of every store, with receipts, conflicts and the state of each store."""

    query: str
    answer_kind: Annotated[
        AnswerKind,
        Field(description="none only if every store answered; unknown: nothing found but stores are missing."),
    ]
    hits: list[HitOut]
    conflicts: list[ConflictOut] = Field(default_factory=list[ConflictOut])
    receipts: list[ReceiptOut] = Field(default_factory=list[ReceiptOut])
    engines: list[EngineOut]
    edges: list[HitOut] = Field(default_factory=list[HitOut])
    superseded: list[HitOut] = Field(default_factory=list[HitOut])
    partial: Annotated[bool, Field(description="A store that was asked did not answer.")]
    truncated: Annotated[bool, Field(description="Something found does not fit; see note.")]
    tokens: Annotated[int, Field(description="Size of this answer, 4 characters a token.")] = 0
    took_ms: float = 0.0
    note: Annotated[str | None, Field(description="What was left out and how to get it.")] = None
    trace: dict[str, Any] | None = None


class FetchResult(_Result):
    """One hit in full, with its surroundings in metadata."""

    id: str
    store: str
    text: str
    title: str | None = None
    path: str | None = None
    type: str | None = None
    tier: Tier | None = None
    topics: list[str] | None = None
    last_seen: str | None = None
    confidence: float | None = None
    superseded_at: str | None = None
    superseded_by: str | None = None
    receipt: ReceiptOut
    metadata: dict[str, Any] | None = None
    truncated: bool = False
    note: str | None = None


class StoreOut(_Result):
    """One configured store and how it fares."""

    name: str
    type: str
    url: str
    weight: float
    floor: float
    enabled: bool
    tier: Tier | None = None
    timeout_s: float | None = None
    required: bool = False
    managed: Annotated[bool, Field(description="Added at run time (managed) or declared in the config file (base).")]
    auth: Annotated[bool, Field(description="Whether a token is configured for it.")]
    side_effects: Annotated[str, Field(description="What reading changes in it: none, audit or access_stats.")] = "none"
    changes: Annotated[str | None, Field(description="The same in words, where reading changes anything.")] = None
    calls: int = 0
    failures: int = 0
    circuit: Annotated[
        Literal["open", "half_open"] | None,
        Field(description="It keeps failing: open while it is left alone, half_open when the next call tries it."),
    ] = None
    last: EngineOut | None = None
    health: EngineOut | None = None
    entries: int | None = None
    last_ingest: str | None = None


class StoresResult(_Result):
    """All stores and the settings in force."""

    stores: list[StoreOut]
    settings: Knobs
    types: list[str]
    config_file: str | None = None
    overlay_file: str | None = None
    notes: list[str] | None = None


class AddResult(_Result):
    """What was added, and whether it answers."""

    added: StoreOut
    active: Annotated[int, Field(description="How many stores are asked now.")]


class RemoveResult(_Result):
    """What was removed."""

    removed: str
    active: Annotated[int, Field(description="How many stores are asked now.")]


class Change(_Result):
    """One setting that changed."""

    setting: str
    old: str | int | float | bool | None
    new: str | int | float | bool | None


class ConfigureResult(_Result):
    """What changed; in force from the next call on, until the process ends."""

    changed: list[Change]
    active: Annotated[int, Field(description="How many stores are asked now.")]
