"""The values that cross the seams inside the package: frozen, keyword-only, plain.

Above: adapters, fusion, reconcile, federation. Below: nothing but text and errors.
What a caller sees is in `results`, what a caller may ask in `requests`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeVar, dataclass_transform

from pydantic import SecretStr

from callosum_mcp.errors import Reason
from callosum_mcp.models.hosts import LOOPBACK_ONLY, HostRules

_T = TypeVar("_T")


@dataclass_transform(kw_only_default=True, frozen_default=True)
def value(cls: type[_T]) -> type[_T]:
    """A frozen, keyword-only dataclass for what is made hundreds of times in a call.

    The type checker holds it frozen; a check at run time as well would take two thirds of the time to make one.
    """
    return dataclass(kw_only=True, slots=True, unsafe_hash=True)(cls)


Tier = Literal["live-infra", "recent-file", "agent-memory", "older-note"]
"""How far a source is trusted when facts collide, highest first."""

Status = Literal["up", "down", "skipped"]
"""What one store did in one call."""


LEFT_ALONE: frozenset[Reason] = frozenset(("circuit_open", "auth_failed", "rate_limited"))
"""Reasons for which a store that keeps failing is not asked."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TransportSpec:
    """How an engine behind MCP is reached, where its URL does not tell.

    Attributes:
        type: ``auto`` takes SSE for a URL that ends in ``/sse``, else Streamable HTTP; ``stdio`` starts `command`.
        command: Program to start; only a settings file may name one.
        args: Its arguments.
        env: Variables it gets besides the few every child gets.
        cwd: Folder it is started in; "" means the current one.
        protocol: ``legacy`` skips the probe of the 2026-07-28 revision; None leaves it to the preset.
        connect_timeout_s: Seconds for connecting, apart from a call's; None leaves it to the preset.
    """

    type: Literal["auto", "stdio", "sse", "http"] = "auto"
    command: str = ""
    args: tuple[str, ...] = field(default=(), repr=False)  # may hold a key
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    cwd: str = ""
    protocol: Literal["auto", "legacy"] | None = None
    connect_timeout_s: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class StoreSpec:
    """One configured store, as the settings or the overlay declare it.

    Attributes:
        name: Unique name, the first half of every hit id.
        type: Name of the adapter (``seren_memory``, ``seren_loci``, ``notes`` or a third party's).
        url: Base URL, or the folder of a ``notes`` store.
        urls: Further base URLs of the same store: replicas, which hold the same and want the same token.
        weight: Multiplies the store's vote, 0–100; 0 removes it from the list.
        floor: Hits of known relevance below this are dropped before ranks are given, 0–1.
        tier: Trust of its hits; None leaves it to the kind of hit.
        timeout_s: Seconds this store may take; None means the federation's ``per_store_timeout_s``.
        concurrency: Calls that it is sent at the same time; further ones wait, in their own time.
        required: A call without this store's answer is an error.
        options: Options of the adapter.
        headers: Extra HTTP headers.
        token: Bearer token for this store alone.
        transport: How an engine behind MCP is reached, where the URL alone does not tell.
        managed: Added at run time and kept in the overlay, rather than declared in the config file.
        hosts: Where one that is managed may be.
        optional: Nobody declared it: that it is not running is no fault (zero-config start).
    """

    name: str
    type: str
    url: str = field(default="", repr=False)  # may hold a password
    urls: tuple[str, ...] = field(default=(), repr=False)
    weight: float = 1.0
    floor: float = 0.0
    enabled: bool = True
    tier: Tier | None = None
    timeout_s: float | None = None
    concurrency: int = 32
    required: bool = False
    options: Mapping[str, object] = field(default_factory=dict[str, object], repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    token: SecretStr | None = None
    transport: TransportSpec | None = None
    managed: bool = False
    hosts: HostRules = LOOPBACK_ONLY
    optional: bool = False

    @property
    def rules(self) -> HostRules | None:
        """Where its connections may go; None: anywhere, since it stands in the settings file."""
        return self.hosts if self.managed else None


@dataclass(frozen=True, kw_only=True, slots=True)
class StoreQuery:
    """What one adapter is asked in one call.

    Attributes:
        text: The question, as the caller wrote it.
        limit: How many hits at most, from 1.
        since: Only hits last seen at or after this Unix second.
        until: Only hits last seen at or before this Unix second.
        types: Only hits of these types (``fact``, ``note``, ``short`` …); empty means all.
        topics: Only hits with one of these topics; empty means all.
        include_superseded: Also hits that a newer one replaced.
    """

    text: str
    limit: int = 50
    since: float | None = None
    until: float | None = None
    types: frozenset[str] = frozenset()
    topics: frozenset[str] = frozenset()
    include_superseded: bool = False

    @property
    def timed(self) -> bool:
        """Whether a time filter is set."""
        return self.since is not None or self.until is not None


@value
class Hit:
    """One answer of one store.

    Attributes:
        store: Name of the store.
        id: Stable address inside the store; what ``fetch`` takes after ``store:``.
        text: The memory itself.
        native_id: The store's own id where it differs from the address; "" means they are the same.
        title: A heading, a key, a name.
        path: Where a person finds it (``notes/ops.md#L12``, ``hermes/status``).
        uri: A globally unique address, equal in every store that holds the same thing.
        type: ``fact``, ``note``, ``short``, ``near``, ``long`` or an engine's own.
        topics: Lower-case tags.
        tier: Trust of this hit; None until the federation decides.
        last_seen: Unix seconds when it was last known to hold.
        confidence: The source's own, 0–1.
        relevance: 0–1, comparable only inside one store and only for the floor.
        exact: The query is this hit's key.
        live: False once something replaced it.
        superseded_at: Unix seconds when it was replaced.
        superseded_by: Native id of what replaced it.
        metadata: Whatever else the store said, for ``detail: detailed``.
    """

    store: str
    id: str
    text: str
    native_id: str = ""
    title: str | None = None
    path: str | None = None
    uri: str | None = None
    type: str | None = None
    topics: tuple[str, ...] = ()
    tier: Tier | None = None
    last_seen: float | None = None
    confidence: float | None = None
    relevance: float | None = None
    exact: bool = False
    live: bool = True
    superseded_at: float | None = None
    superseded_by: str | None = None
    metadata: Mapping[str, object] = field(default_factory=dict[str, object])

    @property
    def address(self) -> str:
        """The hit's id for callers: ``store:id``."""
        return f"{self.store}:{self.id}"

    @property
    def superseded(self) -> bool:
        """Whether something newer replaced this hit."""
        return not self.live or self.superseded_at is not None or self.superseded_by is not None


@value
class StoreReply:
    """What an adapter understood of one answer.

    Attributes:
        hits: Its hits in the store's own order.
        remark: What to say in its status.
        verdict: How many answers there are in the store's own view: ``none``, ``single`` or ``many``; None if it does
            not say.
    """

    hits: tuple[Hit, ...]
    remark: str | None = None
    verdict: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ProbeReport:
    """What a store says of itself: one line for a person, and counts where it knows them."""

    detail: str
    entries: int | None = None
    last_ingest: float | None = None


@value
class StoreStatus:
    """What one store did in one call (`engines[]`).

    Attributes:
        engine: Name of the store.
        status: ``up``, ``down`` or ``skipped``.
        reason: Why it is not up.
        detail: One line a person can act on.
        ms: Milliseconds from our request to its answer or its failure.
        hits: How many hits it gave after filters and floor.
        retry_after_s: Seconds after which asking again makes sense.
    """

    engine: str
    status: Status
    reason: Reason | None = None
    detail: str | None = None
    ms: float | None = None
    hits: int | None = None
    retry_after_s: float | None = None

    @property
    def missing(self) -> bool:
        """Whether it may hold something that this call does not know of: it failed, or is left alone since it fails."""
        return self.status == "down" or (self.status == "skipped" and self.reason in LEFT_ALONE)


@value
class Part:
    """What one copy of a memory brings to its score, for the trace.

    Attributes:
        address: The copy.
        rank: Its rank in its store.
        weight: Weight of its store.
        value: What its formula gives it.
        text: Text score (`pooled` only).
        fitted: Its store's line at this rank (`pooled` only).
    """

    address: str
    rank: int
    weight: float
    value: float
    text: float | None = None
    fitted: float | None = None


@value
class FusedHit:
    """One memory after merging.

    Attributes:
        hit: The copy that is shown.
        score: Orders the list; its size means nothing.
        store_rank: Rank of the shown copy in its store, from 1.
        sources: Every copy as (address, rank in its store); more than one where several stores had it.
        parts: What each copy brings to the score, in the same order.
        lead: Why it leads the list: ``exact`` or ``margin``.
        temporal: What its youth added to the score.
    """

    hit: Hit
    score: float
    store_rank: int
    sources: tuple[tuple[str, int], ...] = ()
    parts: tuple[Part, ...] = ()
    lead: str | None = None
    temporal: float = 0.0
