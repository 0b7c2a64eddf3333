"""A model of a dozen words, which does as it is told, and what a test looks at."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Sequence
from math import sqrt

from callosum_mcp.embedding.embedder import CachingEmbedder
from callosum_mcp.embedding.model import ModelError

MEANINGS = {
    "hermes": 0, "messenger": 0, "port": 1, "socket": 1, "listens": 1, "tide": 2, "sea": 2, "rack": 3, "shelf": 3,
}  # fmt: skip
"""Words and what they mean; all others mean the same nothing."""


class FakeModel:
    """Vectors that count meanings.

    Attributes:
        asked: Every text it was given, in order.
        gate: Where it waits before each batch.
        fault: Raised instead of vectors.
    """

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.gate = threading.Event()
        self.gate.set()
        self.waits = threading.Event()
        self.fault: ModelError | None = None

    def vectors(self, texts: Sequence[str]) -> list[bytes]:
        self.waits.set()
        assert self.gate.wait(10)
        if self.fault:
            raise self.fault
        self.asked += texts
        return [_vector(text) for text in texts]

    def cosines(self, query: bytes, texts: Sequence[bytes]) -> list[float]:
        one = array("d", query)
        return [sum(a * b for a, b in zip(one, array("d", text), strict=True)) for text in texts]


def embedder(model: FakeModel) -> CachingEmbedder:
    """An embedder that has the model, and lacks nothing."""
    return CachingEmbedder(load=lambda: model, lacking=lambda: None)


def _vector(text: str) -> bytes:
    counts = [0.0] * 5
    for word in text.lower().split():
        counts[MEANINGS.get(word, 4)] += 1
    norm = sqrt(sum(count * count for count in counts)) or 1.0
    return array("d", [count / norm for count in counts]).tobytes()
