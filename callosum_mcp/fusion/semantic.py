"""What a text's meaning adds to its score: the cosine of an embedder, put on the scale of the words' score.

Above: `pooled`. Below: nothing. Pure: the cosines are given, as many as there was time for. A cosine is no score of a
store; the texts alone decide it, so it is the same whatever a store thinks of its hits.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

MEANING = 1.0
"""Weight of the cosines against the words, in standard deviations of each. Measured: .5 gains two thirds of what 1
gains, and beyond it the gain is level."""

FEWEST = 4
"""With fewer cosines no line can be drawn through them, and they are left out."""


def with_meaning(local: Sequence[float], cosines: Sequence[float | None], echo: Sequence[bool]) -> list[float]:
    """Each text's score by its words and its meaning together.

    Args:
        local: The scores by words.
        cosines: Nearness of each text's meaning to the question's; None where there was no time for it.
        echo: Which texts are the question again: nearest of all, and no answer. They score 0.
    """
    known = [cosine for cosine, again in zip(cosines, echo, strict=True) if cosine is not None and not again]
    if len(known) < FEWEST:
        return list(local)
    complete = filled(local, [None if again else cosine for cosine, again in zip(cosines, echo, strict=True)])
    spread = deviation(complete)
    if not spread:
        return list(local)
    unit, least = MEANING * (deviation(local) or 1.0) / spread, min(complete)
    return [
        0.0 if again else score + unit * (cosine - least)
        for score, cosine, again in zip(local, complete, echo, strict=True)
    ]


def filled(local: Sequence[float], cosines: Sequence[float | None]) -> list[float]:
    """The cosines with what the least-squares line of cosine on score says where there is none.

    The line never falls: a text is not taken to be nearer because it has fewer of the question's words.
    """
    pairs = [(score, cosine) for score, cosine in zip(local, cosines, strict=True) if cosine is not None]
    mean_x, mean_y = sum(x for x, _ in pairs) / len(pairs), sum(y for _, y in pairs) / len(pairs)
    spread = sum((x - mean_x) ** 2 for x, _ in pairs)
    slope = max(0.0, sum((x - mean_x) * (y - mean_y) for x, y in pairs) / spread) if spread else 0.0
    return [
        mean_y + slope * (score - mean_x) if cosine is None else cosine
        for score, cosine in zip(local, cosines, strict=True)
    ]


def deviation(values: Sequence[float]) -> float:
    """The standard deviation; 0 of nothing."""
    if not values:
        return 0.0
    mean = sum(values) / len(values)
    return sqrt(sum((value - mean) ** 2 for value in values) / len(values))
