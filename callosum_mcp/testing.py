"""What third parties test an adapter with, and what we test ours with.

Above: tests. Below: the adapter seam. `ScriptedStore` is a store without a network that does what it is told;
`check_adapter` is the contract that every adapter keeps.
"""

from __future__ import annotations

from collections.abc import Sequence

import anyio

from callosum_mcp.adapters.base import Adapter
from callosum_mcp.errors import StoreError
from callosum_mcp.models.values import Hit, ProbeReport, StoreQuery, StoreReply, StoreSpec

NASTY_QUERIES: tuple[str, ...] = (
    "don't",
    "a-b",
    "GB/s",
    '"',
    "*",
    "NEAR",
    "NEAR(a b)",
    "a OR",
    "AND",
    "col:val",
    "^x",
    "(((",
    "'; DROP TABLE notes; --",
    "%",
    "_",
    "\\",
    "{}",
    "$x",
    "${HOME}",
    "`ls`",
    "<script>",
    "适者生存",
    "止损",
    "猫",
    "テスト",
    "é́",
    "🦊",
    "a" * 3_000,
)
"""Questions that have broken a store's query language somewhere."""


class ScriptedStore(Adapter):
    """A store that answers what it was given, fails as told, or waits until released.

    Args:
        spec: The store's configuration.
        hits: What every search finds; the store's name is filled in.
        fault: What every call raises instead.
        gate: Waited for before every answer; a gate that is never set is a store that hangs.
    """

    def __init__(
        self,
        spec: StoreSpec,
        hits: Sequence[Hit] = (),
        *,
        fault: Exception | None = None,
        gate: anyio.Event | None = None,
    ) -> None:
        super().__init__(spec)
        self.hits = list(hits)
        self.fault = fault
        self.gate = gate
        self.queries: list[StoreQuery] = []
        self.cancelled = 0
        self.closed = False

    async def search(self, query: StoreQuery) -> StoreReply:
        """The scripted hits, at most as many as asked."""
        self.queries.append(query)
        await self._answer()
        return StoreReply(hits=tuple(self.hits[: query.limit]))

    async def fetch(self, hit_id: str) -> Hit | None:
        """The scripted hit of that id."""
        await self._answer()
        return next((hit for hit in self.hits if hit.id == hit_id), None)

    async def probe(self) -> ProbeReport:
        """How many hits it holds."""
        await self._answer()
        return ProbeReport(detail=f"scripted: {len(self.hits)} hits", entries=len(self.hits))

    async def aclose(self) -> None:
        """Remember that it was closed."""
        self.closed = True

    async def _answer(self) -> None:
        if self.gate is not None:
            try:
                await self.gate.wait()
            except anyio.get_cancelled_exc_class():
                self.cancelled += 1
                raise
        if self.fault is not None:
            raise self.fault


def hit(store: str, hit_id: str, text: str, **more: object) -> Hit:
    """A hit for a `ScriptedStore`."""
    return Hit(store=store, id=hit_id, text=text, **more)  # pyright: ignore[reportArgumentType]


async def check_adapter(adapter: Adapter, query: str) -> StoreReply:
    """Assert what every adapter promises, against a store that holds something for `query`.

    Returns:
        The reply to `query`, for assertions of the caller's own.

    Raises:
        AssertionError: With the promise that is broken.
    """
    reply = await adapter.search(StoreQuery(text=query, limit=20))
    assert reply.hits, f"nothing found for {query!r}"
    _check_hits(adapter, reply)
    one = await adapter.search(StoreQuery(text=query, limit=1))
    assert len(one.hits) <= 1, "limit 1 was not kept"
    await _check_completion(adapter, reply)
    await _check_fetch(adapter, reply.hits[0])
    await _check_nasty(adapter)
    assert (await adapter.probe()).detail, "a probe must say something"
    return reply


def _check_hits(adapter: Adapter, reply: StoreReply) -> None:
    ids = [found.id for found in reply.hits]
    assert len(set(ids)) == len(ids), "an id stands twice in one reply"
    for found in reply.hits:
        assert found.store == adapter.spec.name, f"hit {found.id!r} names another store"
        assert found.id and found.text.strip(), "a hit needs an id and a text"
        assert found.relevance is None or 0 <= found.relevance <= 1, "relevance is 0 to 1"


async def _check_completion(adapter: Adapter, reply: StoreReply) -> None:
    complete = await adapter.complete(reply.hits)
    assert [found.id for found in complete] == [found.id for found in reply.hits], "complete must keep hits and order"


async def _check_fetch(adapter: Adapter, found: Hit) -> None:
    again = await adapter.fetch(found.id)
    assert again is not None and again.id == found.id, f"fetch does not find {found.id!r}, which search gave"
    assert await adapter.fetch("no-such-id/at-all") is None, "fetch of an unknown id must be None"


async def _check_nasty(adapter: Adapter) -> None:
    for query in NASTY_QUERIES:
        try:
            await adapter.search(StoreQuery(text=query, limit=3))
        except StoreError as fault:
            raise AssertionError(f"query {query[:40]!r} broke the store: {fault}") from fault
