"""The answer of `ask` as a caller sees it, inside the budget of all answers.

Above: ask. Below: evidence, models. Pure. Sentences come first, each with its receipts or not at all; then conflicts
with theirs; then as many hits as fit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from callosum_mcp.answer.evidence import Dispute, Evidence, Piece
from callosum_mcp.answer.prose import Sentence, joined
from callosum_mcp.federation.shape import Gathered
from callosum_mcp.federation.view import whole_days
from callosum_mcp.fusion.packing import CHARS_PER_TOKEN
from callosum_mcp.models.asking import AskConflict, AskHit, AskReceipt, AskResult, Synthesis
from callosum_mcp.models.results import AnswerKind, EngineOut
from callosum_mcp.models.values import FusedHit
from callosum_mcp.reconcile.tiers import DEFAULT_TIER
from callosum_mcp.text import clip, compact_json, iso_utc

_TAIL = 260  # room for the note, took_ms and the keys that come with values
_SNIPPET = 200
_TITLE = 160
_PATH = 400


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """What is to be shown.

    Attributes:
        sentences: The prose; None where none was asked for.
        hits: Whether the ranked list is wanted.
        k: Most hits of one store.
        kind: How many answers there are.
        synthesis: Who wrote the prose.
        dropped: Sentences taken out.
    """

    sentences: Sequence[Sentence] | None
    hits: bool
    k: int
    kind: AnswerKind
    synthesis: Synthesis | None = None
    dropped: int = 0


class _Room:
    """What is left of the budget, and the receipts taken so far."""

    def __init__(self, left: int, evidence: Evidence) -> None:
        self._left = left
        self._known = {piece.id: piece for piece in evidence.pieces}
        self.receipts: dict[str, AskReceipt] = {}

    def take(self, value: object, marks: Iterable[str] = ()) -> bool:
        """Whether a value fits, with the receipts it needs; if so, both are taken."""
        new = {mark: receipt_out(self._known[mark]) for mark in marks if mark not in self.receipts}
        size = _size(value) + 1 + sum(_size(receipt.wire()) + 1 for receipt in new.values())
        if size > self._left:
            return False
        self._left -= size
        self.receipts.update(new)
        return True


def shaped(gathered: Gathered, evidence: Evidence, told: Told, budget_tokens: int) -> AskResult:
    """The answer, never longer than ``4 · budget_tokens`` characters of compact JSON."""
    limit = budget_tokens * CHARS_PER_TOKEN - _TAIL
    base = _fitting(gathered, told, limit)
    room = _Room(limit - _size(base.wire()), evidence)
    sentences = [one for one in told.sentences or () if room.take(one.text, one.marks)]
    conflicts = [
        conflict_out(one) for one in evidence.disputes if room.take(conflict_out(one).model_dump(), _sides(one))
    ]
    wanted = list(_capped(gathered.hits, told.k)) if told.hits else []
    rows = [hit_out(item, gathered.now) for item in wanted]
    hits = [row for row in rows if room.take(row.wire())]
    note = _note(
        {
            "{} sentences did not fit": len(told.sentences or ()) - len(sentences),
            "{} conflicts did not fit": len(evidence.disputes) - len(conflicts),
            "{} more hits did not fit: recall with a larger budget_tokens shows them": len(wanted) - len(hits),
            "{} statuses left out": len(gathered.statuses) - len(base.engines),
        }
    )
    found = {
        "answer": joined(sentences) or None if told.sentences is not None else None,
        "receipts": sorted(room.receipts.values(), key=lambda receipt: int(receipt.id[1:])),
        "conflicts": conflicts,
        "hits": hits,
        "note": note,
        "truncated": note is not None,
    }
    return base.model_copy(update=found)


def receipt_out(piece: Piece) -> AskReceipt:
    """A piece of evidence as its receipt."""
    hit = piece.hit
    return AskReceipt(
        id=piece.id,
        source=hit.store,
        path=clip(hit.path or hit.id, _PATH),
        last_seen=iso_utc(hit.last_seen),
        confidence=hit.confidence,
        snippet=piece.snippet,
        hit=hit.address,
        tier=hit.tier,
        age_days=None if piece.age_days is None else int(piece.age_days),
    )


def hit_out(item: FusedHit, now: float) -> AskHit:
    """A hit of the list."""
    hit = item.hit
    return AskHit(
        engine=hit.store,
        title=None if hit.title is None else clip(hit.title, _TITLE),
        path=clip(hit.path or hit.id, _PATH),
        snippet=clip(" ".join(hit.text.split()), _SNIPPET),
        score=float(f"{item.score:.6g}"),
        last_seen=iso_utc(hit.last_seen),
        confidence=hit.confidence,
        id=hit.address,
        tier=hit.tier,
        age_days=whole_days(hit, now),
    )


def conflict_out(dispute: Dispute) -> AskConflict:
    """A conflict in the contract's shape, which names tiers, with the receipts that say which memories they are."""
    return AskConflict(
        claim=clip(dispute.conflict.claim, _TITLE),
        winner=dispute.winner.hit.tier or DEFAULT_TIER,
        losers=[loser.hit.tier or DEFAULT_TIER for loser in dispute.losers],
        reason=dispute.conflict.reason,
        kind=dispute.conflict.kind,
        winner_receipt=dispute.winner.id,
        loser_receipts=[loser.id for loser in dispute.losers],
    )


def _sides(dispute: Dispute) -> list[str]:
    return [dispute.winner.id, *(loser.id for loser in dispute.losers)]


def _told(gathered: Gathered) -> dict[str, Any] | None:
    """What an embedder and a reranker did; None without them."""
    parts = {"embed": gathered.embedded, "rerank": gathered.reranked}
    return {name: dict(part) for name, part in parts.items() if part is not None} or None


def _fitting(gathered: Gathered, told: Told, limit: int) -> AskResult:
    """The answer without its contents; where the statuses do not fit, those down first and in their shortest form."""
    base = AskResult(
        answer_kind=told.kind,
        synthesis=_short(told.synthesis, limit),
        dropped_claims=told.dropped,
        partial=gathered.partial,
        trace=_told(gathered),
        engines=[EngineOut.of(status) for status in gathered.statuses],
    )
    if _size(base.wire()) <= limit // 2:
        return base
    kept: list[EngineOut] = []
    for status in sorted(gathered.statuses, key=lambda status: not status.missing):
        short = EngineOut(engine=status.engine, status=status.status, reason=status.reason)
        if _size(base.model_copy(update={"engines": [*kept, short]}).wire()) <= limit // 2:
            kept.append(short)
    return base.model_copy(update={"engines": kept})


def _short(synthesis: Synthesis | None, limit: int) -> Synthesis | None:
    if synthesis is None or synthesis.reason is None:
        return synthesis
    return synthesis.model_copy(update={"reason": clip(synthesis.reason, min(400, limit // 8))})


def _capped(items: Iterable[FusedHit], k: int) -> Iterable[FusedHit]:
    """The hits without what goes beyond k of one store."""
    taken: Counter[str] = Counter()
    for item in items:
        taken[item.hit.store] += 1
        if taken[item.hit.store] <= k:
            yield item


def _note(left_out: dict[str, int]) -> str | None:
    return "; ".join(said.format(count) for said, count in left_out.items() if count) or None


def _size(value: object) -> int:
    return len(compact_json(value))
