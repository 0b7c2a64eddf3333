"""Which size of model a question is given to, and which backends may take it.

Above: ask. Below: evidence. Pure. The contract's rule: cheap and factual to the small model, hard or several sources to
the large one. A backend that may cost money is tried only where it is allowed, and never in place of a small one.
"""

from __future__ import annotations

import re
from typing import Literal

from callosum_mcp.answer.evidence import Evidence
from callosum_mcp.models.asking import AnswerPolicy, BackendSpec
from callosum_mcp.text import content_words, words

Size = Literal["small", "large"]

FACTUAL_WORDS = 8
"""A question of at most so many words that carry meaning is asked for one fact."""

FEW_SOURCES = 2
"""Evidence from more stores than this has to be weighed."""

_HARD = frozenset(
    "why how compare comparison explain summarise summarize summary difference differences versus vs "
    "tradeoff tradeoffs plan analyse analyze reasons history evolve evolved relate relation warum wieso "
    "weshalb vergleiche vergleich erkläre unterschied unterschiede pourquoi comment compare explique "
    "différence porqué explica diferencia perché spiega differenza dlaczego wyjaśnij różnica diferença なぜ "
    "理由 比較 説明 为什么 比较 解释".split()
)
_COUNTED = re.compile(r"\bhow (?:many|much|old|long|often|far)\b", re.IGNORECASE)


def size_of(evidence: Evidence) -> Size:
    """Which size of model the question needs."""
    query = _COUNTED.sub("", evidence.query)
    hard = not _HARD.isdisjoint(words(query)) or query.count("?") > 1 or len(content_words(query)) > FACTUAL_WORDS
    sources = {piece.hit.store for piece in evidence.pieces if piece.id not in evidence.lost}
    return "large" if hard or len(sources) > FEW_SOURCES else "small"


def candidates(policy: AnswerPolicy, size: Size) -> list[BackendSpec]:
    """The backends to try for a size, in order: those made for it, then free ones of the other size."""
    allowed = [spec for spec in policy.backends if policy.allow_paid or not spec.paid]
    fitting = [spec for spec in allowed if spec.size in (size, "any")]
    return fitting + [spec for spec in allowed if spec not in fitting and not spec.paid]
