"""The merge with the local embedder of the extra `embed`, for `quality.py --embed`.

Three rows: with every text embedded, with the time a call gives it and no vector known (cold), and the same when all
questions of a pool were asked once before (warm). The model is loaded beforehand, with its two threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import anyio

from callosum_mcp.embedding.embedder import CachingEmbedder
from callosum_mcp.embedding.model import MiniLM, lacking
from callosum_mcp.federation.merging import merged
from callosum_mcp.fusion import RankedList
from callosum_mcp.fusion.pooled import said
from callosum_mcp.fusion.semantic import worth_embedding
from callosum_mcp.models.knobs import Knobs

Question = tuple[str, list[RankedList]]
Rows = dict[str, list[list[str]]]


@dataclass(kw_only=True)
class Told:
    """What the embedder said it did, summed over the questions."""

    embedded: int = 0
    cached: int = 0
    without: int = 0
    ms: float = 0.0
    questions: int = 0

    def add(self, told: Mapping[str, float]) -> None:
        """Count one question."""
        self.questions += 1
        self.embedded += int(told["embedded"])
        self.cached += int(told["cached"])
        self.without += int(told["without"])
        self.ms += told["ms"]

    def line(self, name: str) -> str:
        """The means, in words."""
        n = max(self.questions, 1)
        counts = f"{self.embedded / n:.0f} embedded, {self.cached / n:.0f} cached, {self.without / n:.0f} without"
        return f"{name}: {counts}, {self.ms / n:.0f} ms a question"


class Meaning:
    """Ranks the questions of a pool with an embedder.

    Args:
        knobs: The settings of the merge; the budget among them.

    Raises:
        SystemExit: If the extra is not installed.
    """

    def __init__(self, knobs: Knobs) -> None:
        if missing := lacking():
            raise SystemExit(f"--embed {missing}")
        self._knobs = knobs.model_copy(update={"embed_enabled": True})
        self._model = MiniLM()
        self.told: dict[str, Told] = {}

    def rows(self, questions: Sequence[Question]) -> Rows:
        """For each row's name, the documents of each question, best first."""
        return anyio.run(self._rows, questions)

    async def _rows(self, questions: Sequence[Question]) -> Rows:
        budget = f"{self._knobs.embed_budget_ms} ms"
        kept = self._embedder()
        cold = await self._ranked(f"yours + embed, {budget}, cold", questions, self._embedder)
        await self._ranked("yours + embed, first time", questions, lambda: kept)
        warm = await self._ranked(f"yours + embed, {budget}, warm", questions, lambda: kept)
        for query, lists in questions:
            texts = worth_embedding(query, [said(hit) for one in lists for hit in one.hits])
            await kept.similar(query, texts, math.inf)
        return {**cold, **warm, **await self._ranked("yours + embed", questions, lambda: kept)}

    def _embedder(self) -> CachingEmbedder:
        return CachingEmbedder(load=lambda: self._model)

    async def _ranked(self, name: str, questions: Sequence[Question], made: Callable[[], CachingEmbedder]) -> Rows:
        orders: list[list[str]] = []
        for query, lists in questions:
            embedder = made()
            await embedder.similar(query, (), math.inf)  # a recall does that while it waits for its stores
            found = await merged(lists, query, self._knobs, embedder, math.inf)
            if found.told:
                self.told.setdefault(name, Told()).add(cast("Mapping[str, float]", found.told))
            orders.append([item.hit.id for item in found.hits])
        return {name: orders}
