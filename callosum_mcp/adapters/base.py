"""The seam between the federation and one kind of store.

Above: the fan-out, which owns the deadline, the status and the error mapping. Below: one module per store type.
An adapter builds requests and parses replies with pure functions, so that it can be tested on recorded payloads;
it raises `StoreError` subclasses and nothing else on purpose. Implementations: `seren_memory`, `seren_loci`,
`notes`, `engine` (one class per preset), and third parties through the entry-point group ``callosum_mcp.adapters``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar

from callosum_mcp.models.values import Hit, ProbeReport, StoreQuery, StoreReply, StoreSpec

ENTRY_POINT_GROUP = "callosum_mcp.adapters"
"""Entry-point group of third-party adapters: the name is the store type, the value an `Adapter` class."""


class Adapter(ABC):
    """One store, asked through its own protocol.

    Construction must be cheap and must not touch the store: the process answers ``initialize`` first.

    Args:
        spec: The store's configuration.

    Raises:
        ValueError: If an option is unknown or out of bounds; the text names the option and the bound.
    """

    options: ClassVar[frozenset[str]] = frozenset()
    """Names of the options this type understands; any other is refused with the nearest of these."""

    side_effects: ClassVar[str] = "none"
    """What reading changes in the store: ``none``, ``audit`` or ``access_stats``."""

    changes: ClassVar[str] = ""
    """The same in words, where one word does not tell."""

    transports: ClassVar[bool] = False
    """Whether ``transport`` of a store's configuration means anything for this type."""

    replicas: ClassVar[bool] = False
    """Whether ``urls`` of a store's configuration means anything for this type: it asks through `http.JsonHttp`."""

    clean: ClassVar[bool] = False
    """Its parse functions clean every text and number themselves (`parsing.text_of`, `text.finite`), each id once; the
    federation then need not look again."""

    max_results: ClassVar[int] = 500
    """The most hits one search may ask for."""

    def __init__(self, spec: StoreSpec) -> None:
        self.spec = spec

    @abstractmethod
    async def search(self, query: StoreQuery) -> StoreReply:
        """The hits for a query, in the store's own order, best first.

        Raises:
            StoreError: If the store did not give a usable answer. Never return nothing instead.
        """

    @abstractmethod
    async def fetch(self, hit_id: str) -> Hit | None:
        """One hit in full with its surroundings in ``metadata``; None if the store does not hold it.

        Raises:
            StoreError: If the store did not give a usable answer.
        """

    @abstractmethod
    async def probe(self) -> ProbeReport:
        """Whether the store answers, asked in the cheapest way that proves it.

        Raises:
            StoreError: If it does not.
        """

    topical: ClassVar[bool] = False
    """Whether `by_topic` can find anything."""

    async def by_topic(self, topics: Sequence[str], limit: int, exclude: Sequence[str]) -> StoreReply:
        """Hits that carry one of the topics as a tag, for associations after the ranked list.

        Args:
            topics: Lower-case topics, commonest first.
            limit: How many hits at most.
            exclude: Ids that are shown already.

        Raises:
            StoreError: If the store did not give a usable answer.
        """
        del topics, limit, exclude
        return StoreReply(hits=())

    async def complete(self, hits: Sequence[Hit]) -> list[Hit]:
        """The same hits with what a search leaves out (a fact's date); called for shown hits only.

        The default returns them as they are. A hit that cannot be completed is returned unchanged.
        """
        return list(hits)

    def warm(self) -> None:
        """Start connecting in the background and return at once; the default has nothing to connect.

        Called from the event loop, once our own client has been answered. A failure shows at the first question.
        """
        return

    def waiting(self) -> str | None:
        """What a call that just ran out of time was waiting for, if not for the store's answer; for its status."""
        return None

    def usage(self) -> dict[str, int] | None:
        """Requests sent and how many of them went out on a kept connection, for the trace; None if unknown."""
        return None

    async def aclose(self) -> None:
        """Release connections and files. The default has none."""
        return


AdapterFactory = Callable[[StoreSpec], Adapter]
"""What a store type is registered as: usually the `Adapter` subclass itself."""
