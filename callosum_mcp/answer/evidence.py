"""Evidence: what an answer may rest on, each piece with a receipt.

Above: merge, prompt, grounding, ask. Below: reconcile, fusion, text. Pure. The snippet of a receipt is all that is
quoted, shown to a model and checked against, so that whoever reads the receipt can check the claim.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from callosum_mcp.answer.instructions import told_only
from callosum_mcp.answer.prose import split
from callosum_mcp.federation.shape import Gathered
from callosum_mcp.fusion.identity import Sketch, similar
from callosum_mcp.models.values import Hit
from callosum_mcp.reconcile.authority import age_days
from callosum_mcp.reconcile.tiers import DEFAULT_TIER
from callosum_mcp.reconcile.verdicts import Conflict
from callosum_mcp.text import clean, clip, content_words, words

MOST = 8
"""Hits that an answer may rest on, beside the parties of conflicts."""

SNIPPET = 320
"""Characters of a receipt's snippet: two or three sentences."""

_PARTIES = 8
_READ = 8_000  # characters of a hit in which its snippet is looked for
_NOUNS = {
    "live-infra": "reading of live infra",
    "recent-file": "file",
    "agent-memory": "agent memory",
    "older-note": "note",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """One memory that an answer may cite.

    Attributes:
        id: Its receipt: ``r1`` …
        hit: The memory.
        snippet: What it tells, cut to what bears on the question; never empty.
        age_days: Days since it was last known to hold; None if unknown.
    """

    id: str
    hit: Hit
    snippet: str
    age_days: float | None

    @property
    def noun(self) -> str:
        """What kind of memory it is, in words."""
        return _NOUNS[self.hit.tier or DEFAULT_TIER]

    @property
    def age(self) -> str:
        """How old it is, in words: ``today``, ``40 days ago``, ``of unknown age``."""
        if self.age_days is None:
            return "of unknown age"
        whole = int(self.age_days)
        return "today" if whole == 0 else "1 day ago" if whole == 1 else f"{whole} days ago"


@dataclass(frozen=True, kw_only=True, slots=True)
class Dispute:
    """A conflict whose sides can be cited."""

    conflict: Conflict
    winner: Piece
    losers: tuple[Piece, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """What an answer to one question may rest on.

    Attributes:
        query: The question.
        pieces: What can be cited, best first.
        disputes: Where pieces contradict each other.
        untold: Hits that hold nothing but orders to the reader, or no words at all.
    """

    query: str
    pieces: tuple[Piece, ...]
    disputes: tuple[Dispute, ...] = ()
    untold: int = 0

    @property
    def lost(self) -> frozenset[str]:
        """Receipts of what lost a dispute and won none."""
        losers = {piece.id for dispute in self.disputes for piece in dispute.losers}
        return frozenset(losers - {dispute.winner.id for dispute in self.disputes})


def evidence_of(gathered: Gathered) -> Evidence:
    """The parties of the conflicts and the best of the other hits, in the order of the list."""
    items = (*gathered.hits, *gathered.parties)
    wanted = list(dict.fromkeys(side for one in gathered.conflicts for side in (one.winner, *one.losers)))[:_PARTIES]
    wanted += [item.hit.address for item in gathered.hits if item.hit.address not in wanted][:MOST]
    pieces: list[Piece] = []
    untold = 0
    for hit in (item.hit for item in items if item.hit.address in set(wanted)):
        told = snippet(hit, gathered.query)
        if told:
            age = age_days(hit, gathered.now) if gathered.now else None
            pieces.append(Piece(id=f"r{len(pieces) + 1}", hit=hit, snippet=told, age_days=age))
        else:
            untold += 1
    return Evidence(
        query=gathered.query, pieces=tuple(pieces), disputes=tuple(_disputes(gathered.conflicts, pieces)), untold=untold
    )


def _disputes(conflicts: Sequence[Conflict], pieces: Sequence[Piece]) -> list[Dispute]:
    known = {piece.hit.address: piece for piece in pieces}
    found: list[Dispute] = []
    for conflict in conflicts:
        losers = tuple(known[loser] for loser in conflict.losers if loser in known)
        if conflict.winner in known and losers:
            found.append(Dispute(conflict=conflict, winner=known[conflict.winner], losers=losers))
    return found


def snippet(hit: Hit, query: str) -> str:
    """What a hit tells, from the sentence that has most of the question's words on; "" if it tells nothing."""
    told = " ".join(told_only(clean(hit.text[:_READ])).split())
    if not any(character.isalnum() for character in told):
        return ""
    if len(told) <= SNIPPET:
        return told
    pieces = split(told)
    best = most_telling(pieces, query)
    return clip(" ".join(pieces[pieces.index(best) :]), SNIPPET)


def most_telling(pieces: Sequence[str], query: str) -> str:
    """The piece with most of the question's words, the first of equals; the first of all where none has any."""
    wanted = set(content_words(query))
    return max(pieces, key=lambda piece: len(wanted & set(words(piece))))


def distinct(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces without those that say nearly what an earlier one says."""
    kept: list[tuple[Sketch, Piece]] = []
    for piece in pieces:
        sketch = Sketch.of(piece.hit)
        if not any(similar(other, sketch) for other, _ in kept):
            kept.append((sketch, piece))
    return [piece for _, piece in kept]
