"""How many answers there are: none, one, many, or nobody can tell.

Above: the federation's gathering. Below: reconcile, whose word lists are loaded by the first call alone. Pure. Values
are compared, and what an engine says of its own answer counts; scores are never read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from callosum_mcp.fusion.identity import Sketch, similar
from callosum_mcp.models.results import AnswerKind
from callosum_mcp.models.values import FusedHit, Hit
from callosum_mcp.reconcile.verdicts import Conflict


def kind_of(
    seats: Sequence[FusedHit], conflicts: Sequence[Conflict], verdicts: Mapping[str, str], query: str
) -> AnswerKind | None:
    """The verdict on an answer's hits; None if there are none.

    Several memories that assert one value are one answer, a loser of a conflict is none, and neither is a hit of an
    engine that says it found none.

    Args:
        seats: The hits of the answer.
        conflicts: In what they contradict each other.
        verdicts: What engines say of their own answers, by store: ``none``, ``single``, ``many``.
        query: The question.
    """
    if not seats:
        return None
    losers = {loser for conflict in conflicts for loser in conflict.losers}
    losers -= {conflict.winner for conflict in conflicts}
    told = [item for item in seats if item.hit.address not in losers]
    meant = [item.hit for item in told if verdicts.get(item.hit.store) != "none"] or [item.hit for item in told]
    stores = {hit.store for hit in meant}
    if len(stores) == 1 and (said := verdicts.get(*stores)) in ("single", "many"):
        return "single" if said == "single" else "many"
    return "single" if _one_wording(meant) or _one_value(meant, query) else "many"


def _one_wording(hits: Sequence[Hit]) -> bool:
    first = Sketch.of(hits[0])
    return all(similar(first, Sketch.of(hit)) for hit in hits[1:])


def _one_value(hits: Sequence[Hit], query: str) -> bool:
    from callosum_mcp.reconcile.agreement import one_value  # word lists that a start need not load

    return one_value(hits, query)
