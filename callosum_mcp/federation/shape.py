"""Step 12 of a recall: the answer a caller sees, inside its budget, with what was cut said.

Above: the federation. Below: packer, view and models. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from callosum_mcp.federation.conflicts import conflict_out
from callosum_mcp.federation.edges import Edge
from callosum_mcp.federation.packer import MIN_TEXT, Packer
from callosum_mcp.federation.view import edge_out, hit_out, receipt_of, similar_to, whole_days
from callosum_mcp.fusion.packing import CHARS_PER_TOKEN
from callosum_mcp.models.requests import Detail
from callosum_mcp.models.results import AnswerKind, EngineOut, HitOut, RecallResult
from callosum_mcp.models.values import FusedHit, Hit, StoreStatus
from callosum_mcp.reconcile.verdicts import Conflict
from callosum_mcp.text import clip, compact_json

_TAIL = 280  # room for the note, tokens and took_ms, which are known last


@dataclass(frozen=True, kw_only=True, slots=True)
class Gathered:
    """Everything a recall found, before it is cut to its budget.

    Attributes:
        query: The question.
        hits: The seated hits in the order of the answer.
        fused: All of them, seated or not.
        superseded: Hits something newer replaced, in store order.
        edges: Associated memories.
        statuses: One status per configured store, in configured order.
        took_s: Seconds since the call began.
        conflicts: In what the seated hits contradict each other, or hits without a seat.
        parties: The hits without a seat that a conflict names.
        embedded: What an embedder did, if there is one.
        reranked: What a reranker did, if there is one.
        kind: How many answers the hits are, if anybody looked.
        now: When the ages were taken, in Unix seconds; 0 if nobody looked.
    """

    query: str
    hits: tuple[FusedHit, ...]
    fused: tuple[FusedHit, ...] = ()
    superseded: tuple[Hit, ...] = ()
    edges: tuple[Edge, ...] = ()
    statuses: tuple[StoreStatus, ...] = ()
    took_s: float = 0.0
    conflicts: tuple[Conflict, ...] = ()
    parties: tuple[FusedHit, ...] = ()
    kind: AnswerKind | None = None
    now: float = 0.0
    embedded: Mapping[str, object] | None = None
    reranked: Mapping[str, object] | None = None

    @property
    def partial(self) -> bool:
        """Whether a store that was asked did not answer."""
        return any(status.missing for status in self.statuses)

    @property
    def answered(self) -> bool:
        """Whether any store answered."""
        return any(status.status == "up" for status in self.statuses)

    @property
    def answer_kind(self) -> AnswerKind:
        """`none` only if every store answered; nothing found with a store missing is `unknown`."""
        if not self.hits:
            return "unknown" if self.partial or not self.answered else "none"
        return self.kind or ("single" if len(self.hits) == 1 else "many")


def shape(gathered: Gathered, *, budget_tokens: int, detail: Detail) -> RecallResult:
    """The answer, never longer than ``4 · budget_tokens`` characters of compact JSON."""
    limit = budget_tokens * CHARS_PER_TOKEN
    empty = _with_statuses(_empty(gathered, limit), gathered.statuses, limit - _TAIL)
    room = limit - _TAIL - len(compact_json(empty.wire()))
    packer = Packer(room=room, cap=max(room // 3, MIN_TEXT))
    conflicts = packer.within([conflict_out(one) for one in gathered.conflicts], room * 2 // 3)
    hits = _listed(packer, gathered, detail)
    old = [(hit, hit_out(FusedHit(hit=hit, score=0.0, store_rank=rank), detail)) for rank, hit in _numbered(gathered)]
    superseded = _added(packer, old, detail)
    ranked = enumerate(gathered.edges, start=1)
    edges = _added(packer, [(edge.hit, edge_out(edge, rank, detail)) for rank, edge in ranked], detail)
    note = _note(
        {
            "{} more hits did not fit: ask with a larger budget_tokens": len(gathered.hits) - len(hits),
            "{} texts cut: fetch(id) gives all of one": packer.cut,
            "metadata of {} left out": packer.lean,
            "{} conflicts did not fit": len(gathered.conflicts) - len(conflicts),
            "{} superseded did not fit": len(gathered.superseded) - len(superseded),
            "{} edges did not fit": len(gathered.edges) - len(edges),
            "{} statuses left out": len(gathered.statuses) - len(empty.engines),
        }
    )
    found = {
        "hits": hits,
        "conflicts": conflicts,
        "receipts": packer.receipts,
        "superseded": superseded,
        "edges": edges,
    }
    return _finished(empty.model_copy(update={**found, "note": note, "truncated": note is not None}))


def _numbered(gathered: Gathered) -> Iterable[tuple[int, Hit]]:
    return enumerate(gathered.superseded, start=1)


def _listed(packer: Packer, gathered: Gathered, detail: Detail) -> list[HitOut]:
    """The ranked hits that fit; one too large without its text is left out, and the next one is tried."""
    alike = similar_to(gathered.hits)
    taken: list[HitOut] = []
    for item in gathered.hits:
        more = {"similar_to": alike.get(item.hit.address), "age_days": whole_days(item.hit, gathered.now)}
        hit = hit_out(item, detail).model_copy(update=more)
        receipt = receipt_of(item.hit, detail)
        fitted = packer.take(hit, receipt)
        if fitted is not None:
            taken.append(fitted)
        elif not packer.hopeless(hit, receipt):
            break
    return taken


def _added(packer: Packer, pairs: Iterable[tuple[Hit, HitOut]], detail: Detail) -> list[HitOut]:
    """What stands beside the list, as far as there is room."""
    fitted = (packer.take(out, receipt_of(hit, detail)) for hit, out in pairs)
    return [hit for hit in fitted if hit is not None]


def _empty(gathered: Gathered, limit: int) -> RecallResult:
    return RecallResult(
        query=clip(gathered.query, min(200, limit // 8)),
        answer_kind=gathered.answer_kind,
        hits=[],
        engines=[],
        partial=gathered.partial,
        truncated=False,
        took_ms=round(gathered.took_s * 1_000, 1),
    )


def _with_statuses(empty: RecallResult, statuses: Sequence[StoreStatus], limit: int) -> RecallResult:
    """With every status; where they do not fit, with those that are down in their shortest form, while they fit."""
    whole = empty.model_copy(update={"engines": [EngineOut.of(status) for status in statuses]})
    if len(compact_json(whole.wire())) <= limit:
        return whole
    room = limit - len(compact_json(empty.wire()))
    kept: list[EngineOut] = []
    for status in statuses:
        short = EngineOut(engine=status.engine, status=status.status, reason=status.reason)
        size = len(compact_json(short.wire())) + 1
        if status.missing and size <= room:
            kept.append(short)
            room -= size
    return empty.model_copy(update={"engines": kept})


def _finished(result: RecallResult) -> RecallResult:
    size = len(compact_json(result.wire()))
    return result.model_copy(update={"tokens": -(-(size + 4) // CHARS_PER_TOKEN)})


def _note(left_out: Mapping[str, int]) -> str | None:
    """What was left out, in words; at most `_TAIL` characters with all of it."""
    return "; ".join(said.format(count) for said, count in left_out.items() if count) or None
