"""Whether hits that answer a question all give one value.

Above: the federation's verdict on how many answers there are. Below: claims and their comparison. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from callosum_mcp.models.values import Hit
from callosum_mcp.reconcile.align import Answer, answers, compare
from callosum_mcp.reconcile.claims import read
from callosum_mcp.reconcile.question import Question, understand


def one_value(hits: Sequence[Hit], query: str) -> bool:
    """Whether the question asks for one value, and all hits that give one give the same."""
    question = understand(query)
    if not question.slots or question.many:
        return False
    slots: dict[str, list[Answer]] = {}
    for answer in answers([read(hit, question) for hit in hits], question):
        slots.setdefault(answer.slot, []).append(answer)
    return len(slots) == 1 and all(_agreed(found, question) for found in slots.values())


def _agreed(found: Sequence[Answer], question: Question) -> bool:
    return all(compare(found[0], other, question) == "agree" for other in found[1:])
