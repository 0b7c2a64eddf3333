"""What a text's meaning adds to its score: the cosine of an embedder, put on the scale of the words' score.

Above: `pooled`. Below: `lexical`. Pure: the cosines are given, as many as there was time for. A cosine is no score of a
store; the texts alone decide it, so it is the same whatever a store thinks of its hits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from callosum_mcp.fusion.lexical import echoes

MEANING = 1.0
"""Weight of the cosines against the words, in standard deviations of each. Measured: .5 gains two thirds of what 1
gains; 2 gains more on scientific abstracts and less on conversations."""

DOUBT = 10
"""So many cosines are trusted half. The few of a call without time are those of the texts with the best words, a narrow
part of all, and a line through them says little of the others: with 6 of 100, full weight loses .01 on conversations
where this gains .003."""

FEWEST = 4
"""With fewer cosines there is no line, and they are left out."""


def worth_embedding(query: str, texts: Sequence[str]) -> list[str]:
    """The texts without those that only ask: a question is near another question in meaning, and answers nothing.

    Measured: leaving them out gains .005 on conversations and .05 beside a store that logs questions.
    """
    again = echoes(query, texts)
    return [
        text for text, echo in zip(texts, again, strict=True) if not echo and not text.rstrip().endswith(("?", "？"))
    ]


def with_meaning(local: Sequence[float], cosines: Sequence[float | None], echo: Sequence[bool]) -> list[float]:
    """Each text's score by its words and its meaning together: L + unit · (cosine - the least cosine).

    Args:
        local: The scores by words.
        cosines: Nearness of each text's meaning to the question's; None where there was no time for it, which then is
            what the line says of its words.
        echo: Which texts are the question again: nearest of all, and no answer. They score 0.
    """
    usable = [None if again else cosine for cosine, again in zip(cosines, echo, strict=True)]
    pairs = [(score, cosine) for score, cosine in zip(local, usable, strict=True) if cosine is not None]
    if len(pairs) < FEWEST:
        return list(local)
    line = Line.through(pairs)
    spread = line.spread(deviation(local))
    if not spread:
        return list(local)
    complete = [line.at(score) if cosine is None else cosine for score, cosine in zip(local, usable, strict=True)]
    unit = MEANING * len(pairs) / (len(pairs) + DOUBT) * (deviation(local) or 1.0) / spread
    least = min(complete)
    return [
        0.0 if again else score + unit * (cosine - least)
        for score, cosine, again in zip(local, complete, echo, strict=True)
    ]


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """The least-squares line of cosine on score, and how far the cosines stand from it.

    It never falls: a text is not taken to be nearer because it has fewer of the question's words.
    """

    score: float
    cosine: float
    slope: float
    rest: float

    @classmethod
    def through(cls, pairs: Sequence[tuple[float, float]]) -> Line:
        """The line of some pairs of score and cosine."""
        mean_x, mean_y = sum(x for x, _ in pairs) / len(pairs), sum(y for _, y in pairs) / len(pairs)
        width = sum((x - mean_x) ** 2 for x, _ in pairs)
        slope = max(0.0, sum((x - mean_x) * (y - mean_y) for x, y in pairs) / width) if width else 0.0
        rest = deviation([y - slope * x for x, y in pairs])
        return cls(score=mean_x, cosine=mean_y, slope=slope, rest=rest)

    def at(self, score: float) -> float:
        """The cosine to be expected at a score."""
        return self.cosine + self.slope * (score - self.score)

    def spread(self, of_scores: float) -> float:
        """The deviation the cosines of all texts would have, if their scores have this one."""
        return sqrt((self.slope * of_scores) ** 2 + self.rest**2)


def deviation(values: Sequence[float]) -> float:
    """The standard deviation; 0 of nothing."""
    if not values:
        return 0.0
    mean = sum(values) / len(values)
    return sqrt(sum((value - mean) ** 2 for value in values) / len(values))
