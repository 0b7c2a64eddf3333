"""Any MCP or HTTP memory as a store: the adapter that every preset shares.

Above: the registry, which takes one subclass per preset. Below: the engine, asked through `tools` or `rest`, and the
pure mapping: `asking` says what is sent, `reading` what an answer means. No caller can name a tool or an argument.
"""

from __future__ import annotations

import re
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import ClassVar

from callosum_mcp.adapters.base import Adapter
from callosum_mcp.adapters.engine import catalog
from callosum_mcp.adapters.engine.engine import Engine, Exchange, Params
from callosum_mcp.adapters.engine.explaining import Explained, gaps
from callosum_mcp.adapters.engine.files import with_file_times
from callosum_mcp.adapters.engine.plan import plan
from callosum_mcp.adapters.engine.preset import OVERRIDABLE, Preset
from callosum_mcp.adapters.engine.reading import is_made, merged, read
from callosum_mcp.adapters.engine.rest import RestEngine
from callosum_mcp.adapters.engine.seconds import completed
from callosum_mcp.adapters.engine.together import each
from callosum_mcp.adapters.engine.tools import ToolEngine
from callosum_mcp.errors import StoreError, StoreFailed
from callosum_mcp.models.values import Hit, ProbeReport, StoreQuery, StoreReply, StoreSpec

MAX_SHOWN = 500
"""Hits that are remembered for ``fetch``, the latest."""

_NOT_THERE = re.compile(r"not found|does not exist|no such|unknown (id|memory|record|entity)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Shown:
    """A hit this store has given, what it was asked with, and whether nothing more is to be had of it."""

    hit: Hit
    params: Params
    whole: bool = False


class EngineAdapter(Adapter):
    """One engine, as its preset and its store's options describe it."""

    preset: ClassVar[Preset]
    """What is known of the product."""

    clean: ClassVar[bool] = True
    transports: ClassVar[bool] = True

    def __init__(self, spec: StoreSpec) -> None:
        super().__init__(spec)
        self._preset, params = catalog.configured(self.preset, spec.options)
        try:
            plan(self._preset)
        except ValueError as fault:  # of what the options put in place of the preset's own
            raise ValueError(f"option {fault}") from None
        kind = RestEngine if self._preset.kind == "http" else ToolEngine
        self._engine: Engine = kind(spec, self._preset, params)
        self._shown: OrderedDict[str, _Shown] = OrderedDict()

    async def search(self, query: StoreQuery) -> StoreReply:
        """The engine's hits, in its order or, where it has none, in that of their texts."""
        now = time.time()
        answers = await self._engine.search(query, now)
        replies = [read(self._preset, answer.reply, self.spec.name, query, now=now) for answer in answers]
        reply = merged(replies, self._preset, query)
        params = {hit.id: answer.params for answer, one in zip(answers, replies, strict=True) for hit in one.hits}
        hits = await with_file_times(reply.hits, self._preset, now)
        self._remember(_Shown(hit=hit, params=params[hit.id]) for hit in hits)
        remarks = [reply.remark, self._engine.remark()]
        if self._preset.enrich is not None and "snippet" in self._preset.enrich.fields:
            hits, failed = await self._enriched(hits, now, query.text)
            remarks.append(failed)
        said = "; ".join(remark for remark in remarks if remark)
        return StoreReply(hits=hits, remark=said or None, verdict=reply.verdict)

    async def explain(self, query: StoreQuery) -> Explained:
        """A search and everything that came of it, an answer that was not understood included."""
        exchanges: list[Exchange] = []
        reply, fault = StoreReply(hits=()), None
        self._engine.heard = exchanges.append
        try:
            reply = await self.search(query)
            reply = replace(reply, hits=tuple(await self.complete(reply.hits)))
        except StoreError as error:
            fault = error
        finally:
            self._engine.heard = None
        return Explained(
            exchanges=tuple(exchanges),
            hits=reply.hits,
            remark=reply.remark,
            fault=fault,
            gaps=gaps(self._preset, exchanges, time.time()),
        )

    async def complete(self, hits: Sequence[Hit]) -> list[Hit]:
        """The hits with what a further call tells of each of the first few."""
        if self._preset.enrich is None or "snippet" in self._preset.enrich.fields:
            return list(hits)
        return list((await self._enriched(hits, time.time(), None))[0])

    async def fetch(self, hit_id: str) -> Hit | None:
        """One hit in full, if the engine can be asked for one; else as it was last shown."""
        shown = self._shown.get(hit_id)
        if self._preset.fetch is None or is_made(hit_id):
            return shown.hit if shown is not None else None
        known = shown or _Shown(hit=Hit(store=self.spec.name, id=hit_id, text=""), params={})
        now = time.time()
        try:
            reply = await self._engine.second("fetch", known.hit, shown.params if shown else None, now)
            found = completed(self._preset, "fetch", reply, known.hit, now=now)
        except StoreFailed as fault:
            if not _NOT_THERE.search(str(fault)):
                raise
            found = None
        if found is None or not found.text:
            return shown.hit if shown is not None else None
        return found

    async def probe(self) -> ProbeReport:
        """Who answers, and what it would be asked."""
        return ProbeReport(detail=await self._engine.describe(time.time()))

    def warm(self) -> None:
        """Start connecting."""
        self._engine.warm()

    def waiting(self) -> str | None:
        """Whether it is still being connected."""
        return self._engine.waiting()

    def usage(self) -> dict[str, int]:
        """Requests and connections."""
        return self._engine.usage()

    async def aclose(self) -> None:
        """End the connection."""
        await self._engine.aclose()

    async def _enriched(
        self, hits: Sequence[Hit], now: float, question: str | None
    ) -> tuple[tuple[Hit, ...], str | None]:
        """The hits, the first few with what a further call says of them; one that fails stays as it is."""
        assert self._preset.enrich is not None
        lacking = [hit for hit in hits if not self._is_whole(hit)][: self._preset.enrich.max]
        results = await each([partial(self._more, hit, now, question) for hit in lacking])
        fuller = {hit.id: result for hit, result in zip(lacking, results, strict=True) if isinstance(result, Hit)}
        faults = [result for result in results if isinstance(result, StoreError)]
        said = f"{len(faults)} of {len(lacking)} hits could not be completed: {faults[0]}" if faults else None
        return tuple(fuller.get(hit.id, hit) for hit in hits), said

    async def _more(self, hit: Hit, now: float, question: str | None) -> Hit:
        shown = self._shown.get(hit.id)
        params = shown.params if shown is not None else None
        reply = await self._engine.second("enrich", hit, params, now, question)
        fuller = completed(self._preset, "enrich", reply, hit, now=now) or hit
        self._remember([_Shown(hit=fuller, params=params or {}, whole=True)])
        return fuller

    def _is_whole(self, hit: Hit) -> bool:
        shown = self._shown.get(hit.id)
        return shown is not None and shown.whole

    def _remember(self, shown: Iterable[_Shown]) -> None:
        for one in shown:
            self._shown[one.hit.id] = one
            self._shown.move_to_end(one.hit.id)
        while len(self._shown) > MAX_SHOWN:
            self._shown.popitem(last=False)


@cache
def engine_class(name: str) -> type[EngineAdapter]:
    """The adapter class of a preset.

    Raises:
        ValueError: If there is no such preset, or its file is broken.
    """
    preset = catalog.load(name)
    values: Mapping[str, object] = {
        "__doc__": preset.about,
        "preset": preset,
        "options": frozenset({*preset.params, *OVERRIDABLE}),
        "replicas": preset.http is not None,
        "side_effects": preset.side_effects,
        "changes": "" if preset.changes == "nothing" else preset.changes,
    }
    return type(f"Engine[{name}]", (EngineAdapter,), dict(values))


__all__ = ["EngineAdapter", "engine_class"]
