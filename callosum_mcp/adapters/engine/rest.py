"""Engines behind plain HTTP and JSON: the requests of a preset, sent as every other store's are.

Above: the adapter. Below: `JsonHttp`, which owns connections, bounds and the errors of HTTP.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import anyio

from callosum_mcp.adapters.engine.asking import HttpAsked, http_calls
from callosum_mcp.adapters.engine.engine import Answered, Heard, Params, Purpose
from callosum_mcp.adapters.engine.overhearing import overheard
from callosum_mcp.adapters.engine.preset import Preset
from callosum_mcp.adapters.engine.reach import check_http
from callosum_mcp.adapters.engine.reading import read
from callosum_mcp.adapters.engine.replies import ToolReply
from callosum_mcp.adapters.engine.seconds import Which, second_request
from callosum_mcp.adapters.engine.together import together
from callosum_mcp.adapters.http import HttpRequest, JsonHttp
from callosum_mcp.errors import StoreFailed
from callosum_mcp.models.values import Hit, StoreQuery, StoreSpec

_PROBE = "callosum"


class RestEngine:
    """One engine behind HTTP.

    Args:
        spec: Its store.
        preset: How it is asked, the store's options in it.
        params: Values of the preset's params.

    Raises:
        ValueError: If the store has no URL, or a transport.
    """

    def __init__(self, spec: StoreSpec, preset: Preset, params: Params) -> None:
        check_http(spec)
        self._preset = preset
        self._params = params
        self._store = spec.name
        self._http = JsonHttp(spec)
        self._slots = anyio.Semaphore(preset.concurrency)
        self.heard: Heard | None = None

    async def search(self, query: StoreQuery, now: float) -> Sequence[Answered]:
        """The answers to all requests of one search."""
        asked = http_calls(self._preset, self._params, query, now)
        return await together([partial(self._answered, request) for request in asked])

    async def second(
        self, which: Which, hit: Hit, params: Params | None, now: float, question: str | None = None
    ) -> ToolReply:
        """The answer to the further request for one hit."""
        return await self._ask(which, second_request(self._preset, which, params or self._params, hit, now, question))

    async def describe(self, now: float) -> str:
        """One search, since nothing else proves that it answers as the preset says."""
        query = StoreQuery(text=_PROBE, limit=1)
        for answer in await self.search(query, now):
            read(self._preset, answer.reply, self._store, query, now=now)
        call = self._preset.http
        place = f" with {call.method} {call.path}" if call is not None else ""
        return f"{self._preset.title}: answers, asked{place}"

    def remark(self) -> str | None:
        """Nothing is noticed beside the answers of HTTP."""
        return None

    def warm(self) -> None:
        """Nothing: a connection takes no time to speak of."""

    def waiting(self) -> str | None:
        """Nothing but the answer."""
        return None

    def usage(self) -> dict[str, int]:
        """Requests and kept connections."""
        return self._http.usage()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _answered(self, asked: HttpAsked) -> Answered:
        return Answered(reply=await self._ask("search", asked), params=self._params)

    async def _ask(self, purpose: Purpose, asked: HttpAsked) -> ToolReply:
        request = HttpRequest(
            method=asked.method, path=asked.path, params=asked.params, json=asked.body, headers=asked.headers
        )

        async def ask() -> ToolReply:
            async with self._slots:
                if purpose != "fetch":
                    return ToolReply(structured=await self._http.ask(request))
                found = await self._http.ask_or_none(request)
            if found is None:
                raise StoreFailed("not found (404)")
            return ToolReply(structured=found)

        sent = {"params": dict(asked.params), "json": asked.body}
        arguments = {name: value for name, value in sent.items() if value}
        return await overheard(self.heard, purpose, f"{asked.method} {asked.path}", arguments, ask)
