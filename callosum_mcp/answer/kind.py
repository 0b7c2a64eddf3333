"""How many answers there are: none, one, many, or nobody can tell.

Above: ask. Below: federation, reconcile. Pure. Values are compared, not scores: no store here says that its scores are
calibrated, and fused scores never are. `none` is said only if every store in scope answered.
"""

from __future__ import annotations

from callosum_mcp.federation.shape import Gathered
from callosum_mcp.fusion.identity import Sketch, similar
from callosum_mcp.models.results import AnswerKind
from callosum_mcp.models.values import Hit
from callosum_mcp.reconcile.align import Answer, answers, compare
from callosum_mcp.reconcile.claims import read
from callosum_mcp.reconcile.question import Question, understand


def answer_kind(gathered: Gathered) -> AnswerKind:
    """The verdict: several memories that assert one value are one answer, and a loser of a conflict is none."""
    if not gathered.hits:
        return gathered.answer_kind
    losers = {loser for conflict in gathered.conflicts for loser in conflict.losers}
    losers -= {conflict.winner for conflict in gathered.conflicts}
    hits = [item.hit for item in gathered.hits if item.hit.address not in losers]
    return "single" if _one_wording(hits) or _one_value(hits, gathered.query) else "many"


def _one_wording(hits: list[Hit]) -> bool:
    first = Sketch.of(hits[0])
    return all(similar(first, Sketch.of(hit)) for hit in hits[1:])


def _one_value(hits: list[Hit], query: str) -> bool:
    """Whether the question asks for one value, and all that give one give the same."""
    question = understand(query)
    if not question.slots or question.many:
        return False
    slots: dict[str, list[Answer]] = {}
    for answer in answers([read(hit, question) for hit in hits], question):
        slots.setdefault(answer.slot, []).append(answer)
    return len(slots) == 1 and all(_agreed(found, question) for found in slots.values())


def _agreed(found: list[Answer], question: Question) -> bool:
    return all(compare(found[0], other, question) == "agree" for other in found[1:])
