"""What `ask` answers, in the shapes of the Darwin contract, and what it may write an answer with.

Above: surfaces, settings and answer. Below: results and values. Fields of the contract are always there, null where
nothing is known; the fields that are ours are left out where they say nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, WithJsonSchema

from callosum_mcp.models.results import AnswerKind, EngineOut
from callosum_mcp.models.values import Tier

BackendType = Literal["ollama", "openai", "anthropic"]
"""How a model is spoken to: Ollama's own protocol, the one of OpenAI that many servers speak, Anthropic's."""

BackendSize = Literal["small", "large", "any"]
"""Which questions a backend answers: factual ones, hard ones, or both."""

SynthesisStatus = Literal["ok", "off", "unavailable", "failed", "ungrounded"]
"""How the prose came to be; anything but ``ok`` means that it was put together from the hits."""

RerankType = Literal["endpoint", "judge"]

_Text = Annotated[str | None, WithJsonSchema({"type": ["string", "null"]})]
_Number = Annotated[float | None, WithJsonSchema({"type": ["number", "null"]})]
_Seen = Annotated[str | None, WithJsonSchema({"type": ["string", "null"], "description": "ISO 8601 UTC."})]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)  # a start needs none of them


def _dumped(part: BaseModel) -> dict[str, Any]:
    return part.model_dump(mode="json", exclude_none=True)


class AskReceipt(_Part):
    """Where a claim of the answer comes from."""

    id: Annotated[str, Field(description="r1, r2 …: what [r1] in the answer means.")]
    source: Annotated[str, Field(description="Name of the store.")]
    path: _Text = None
    last_seen: _Seen = None
    confidence: _Number = None
    snippet: Annotated[str, Field(description="What it says, as far as the answer rests on it.")]
    hit: Annotated[str, Field(description="Id of the hit; fetch takes it.")]
    tier: Tier | None = None
    age_days: Annotated[int | None, Field(description="Whole days since last_seen.")] = None

    def wire(self) -> dict[str, Any]:
        """The receipt as a caller sees it, the contract's fields always there."""
        return {"path": None, "last_seen": None, "confidence": None, **_dumped(self)}


class AskHit(_Part):
    """One memory in the ranked list."""

    engine: Annotated[str, Field(description="Name of the store.")]
    title: _Text = None
    path: _Text = None
    snippet: str
    score: Annotated[float, Field(description="Orders the list; its size means nothing.")]
    last_seen: _Seen = None
    confidence: _Number = None
    id: Annotated[str, Field(description="Id of the hit; fetch takes it.")]
    tier: Tier | None = None
    age_days: Annotated[int | None, Field(description="Whole days since last_seen.")] = None

    def wire(self) -> dict[str, Any]:
        """The hit as a caller sees it, the contract's fields always there."""
        return {"title": None, "path": None, "last_seen": None, "confidence": None, **_dumped(self)}


class AskConflict(_Part):
    """Where memories disagree, who won and why."""

    claim: str
    winner: Annotated[str, Field(description="Tier of the memory that won.")]
    losers: Annotated[list[str], Field(description="Tiers of those that lost, strongest first.")]
    reason: str
    kind: Literal["temporal_update", "genuine_conflict"]
    winner_receipt: Annotated[str, Field(description="Id of its receipt.")]
    loser_receipts: Annotated[list[str], Field(description="Ids of their receipts, in the order of losers.")]


class Synthesis(_Part):
    """Who wrote the answer, and why not a model if none did."""

    backend: Annotated[str, Field(description="Name of the backend, or merge.")]
    status: SynthesisStatus
    reason: Annotated[str | None, Field(description="Why it is not ok.")] = None
    model: str | None = None
    route: Annotated[Literal["small", "large"] | None, Field(description="Which size the question was given to.")] = (
        None
    )


class AskResult(_Part):
    """One answer with receipts, the hits behind it, and where they disagree."""

    answer: Annotated[str | None, WithJsonSchema({"type": ["string", "null"]})] = None
    receipts: list[AskReceipt] = Field(default_factory=list[AskReceipt])
    hits: list[AskHit] = Field(default_factory=list[AskHit])
    conflicts: list[AskConflict] = Field(default_factory=list[AskConflict])
    engines: list[EngineOut] = Field(default_factory=list[EngineOut])
    took_ms: float = 0.0
    answer_kind: Annotated[
        AnswerKind,
        Field(description="single: one value; many; none only if every store answered; unknown: stores are missing."),
    ]
    synthesis: Synthesis | None = None
    dropped_claims: Annotated[int, Field(description="Sentences of the model that no receipt bears out.")] = 0
    partial: Annotated[bool, Field(description="A store that was asked did not answer.")] = False
    truncated: Annotated[bool, Field(description="Something found does not fit; see note.")] = False
    note: Annotated[str | None, Field(description="What was left out and how to get it.")] = None
    trace: Annotated[dict[str, Any] | None, Field(description="What reordered the hits, if anything.")] = None

    def wire(self) -> dict[str, Any]:
        """The answer as a caller sees it: JSON values, nulls only in the contract's own fields."""
        told: dict[str, Any] = {"answer": None, **self.model_dump(mode="json", exclude_none=True)}
        told["receipts"] = [receipt.wire() for receipt in self.receipts]
        told["hits"] = [hit.wire() for hit in self.hits]
        return told


@dataclass(frozen=True, kw_only=True, slots=True)
class BackendSpec:
    """One model that may write an answer.

    Attributes:
        name: What `synthesis.backend` calls it.
        type: How it is spoken to.
        url: Base URL.
        model: Name of the model there.
        size: Which questions it is given.
        timeout_s: Seconds one answer may take.
        token: Bearer token or key for this backend alone.
        paid: Whether a call may cost money; such a backend is never called without `AnswerPolicy.allow_paid`.
    """

    name: str
    type: BackendType
    url: str = field(default="", repr=False)
    model: str
    size: BackendSize = "any"
    timeout_s: float = 20.0
    token: SecretStr | None = None
    paid: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class RerankSpec:
    """What reorders the fused hits, if anything does.

    Attributes:
        type: ``endpoint`` for a cross-encoder behind ``/v1/rerank``, ``judge`` for the first free backend.
        url: Base URL of the endpoint.
        model: Name of the model there.
        token: Bearer token of the endpoint.
        top: So many of the first hits are reordered.
        filter: A judge leaves out what it does not approve, but never fewer than one.
        timeout_s: Seconds it may take.
    """

    type: RerankType
    url: str = field(default="", repr=False)
    model: str = ""
    token: SecretStr | None = None
    top: int = 20
    filter: bool = False
    timeout_s: float = 3.0


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerPolicy:
    """How answers are written.

    Attributes:
        backends: Models, in the order they are tried.
        allow_paid: Whether a call may cost money.
        available_s: Seconds a backend may take to say that it is there.
        rerank: What reorders the hits.
    """

    backends: tuple[BackendSpec, ...] = ()
    allow_paid: bool = False
    available_s: float = 1.0
    rerank: RerankSpec | None = None
