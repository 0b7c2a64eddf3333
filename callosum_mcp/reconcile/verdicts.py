"""What reconciliation takes and gives: ranked hits, conflicts, scores.

Above: the federation and the answers, which need no more than this to speak of a conflict. Below: models. Kept apart
from `reconciliation`, whose word lists take a tenth of a second to load.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from callosum_mcp.models.values import Hit

ConflictKind = Literal["temporal_update", "genuine_conflict"]


class RankedHit(Protocol):
    """What is reconciled: a hit and its rank in its store (a `FusedHit` is one)."""

    @property
    def hit(self) -> Hit:
        """What its store said."""
        ...

    @property
    def store_rank(self) -> int:
        """Its rank in its store, from 1."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Ranked:
    """The plainest `RankedHit`."""

    hit: Hit
    store_rank: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Conflict:
    """Hits that assert the same attribute of the same subject and cannot all be right.

    Attributes:
        claim: What it is about, in a few words.
        winner: Address of the hit with the highest authority.
        losers: Addresses of the hits that contradict it, strongest first.
        members: Winner, its supporters and losers, strongest first.
        kind: ``temporal_update`` if the newer replaces the older, ``genuine_conflict`` if both claim to hold now.
        reason: Why the winner won, for a person.
    """

    claim: str
    winner: str
    losers: tuple[str, ...]
    members: tuple[str, ...]
    kind: ConflictKind
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Reconciliation:
    """The conflicts among some hits, and the authority of each by address."""

    conflicts: tuple[Conflict, ...]
    scores: Mapping[str, float]
