"""The seam of what tells how near the meanings of texts are to the question's, for `pooled`.

Above: `merging`, administration. Below: models. Implementations: `callosum_mcp.embedding.embedder`, wired by the
application. An embedder never fails and never takes longer than it is given: what it could not do is left to the words,
and it says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from callosum_mcp.errors import InvalidInput
from callosum_mcp.models.knobs import Knobs


@dataclass(frozen=True, kw_only=True, slots=True)
class Similar:
    """Cosines of as many texts as there was time for, by text, and what happened, for the trace."""

    cosines: Mapping[str, float]
    told: Mapping[str, object]


class Embedder(Protocol):
    """Puts texts where their meaning is."""

    def lacking(self) -> str | None:
        """What must be installed before it can be used; None if nothing is lacking."""
        ...

    def prepare(self, query: str) -> None:
        """Begin with the question in a thread, while the stores are waited for."""
        ...

    async def similar(self, query: str, texts: Sequence[str], until: float) -> Similar:
        """The cosine of question and text for each text that is known or can be embedded in time.

        Args:
            query: The question.
            texts: All texts, those first that should be embedded first.
            until: Moment on anyio's clock by which to be done.
        """
        ...


def refuse_what_lacks(embedder: Embedder | None, knobs: Knobs) -> None:
    """Nothing, unless the knobs ask for an embedder that is not installed.

    Raises:
        InvalidInput: Then, with what to install.
    """
    lacking = embedder.lacking() if embedder is not None and knobs.embed_enabled else None
    if lacking:
        raise InvalidInput(f"embed_enabled: {lacking}", field="embed_enabled")
