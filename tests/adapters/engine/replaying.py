"""Stores over engines that replay the cases, and what the tests of several files need of them.

Above: the tests here. Below: `cases`, the replaying engines.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from support.replay_engine import ReplayEngine, ReplayHttp, Result, Row, captured, result_of

from callosum_mcp.adapters.base import Adapter
from callosum_mcp.adapters.engine import catalog
from callosum_mcp.adapters.registry import create
from callosum_mcp.models.values import StoreSpec
from callosum_mcp.text import epoch_seconds

from .cases import NOW, Case, case, names

CASES = [case(name) for name in names()]
MCP = [one for one in CASES if catalog.load(one.preset).kind == "mcp"]
HTTP = [one for one in CASES if catalog.load(one.preset).kind == "http"]


def ids(one: object) -> str:
    return one.preset if isinstance(one, Case) else ""


def by_word(product: str, replies: Mapping[str, str]) -> Result:
    def answer(arguments: Row) -> Mapping[str, Any]:
        text = json.dumps(arguments)
        name = next((reply for word, reply in replies.items() if word in text), replies["other"])
        return result_of(f"{product}/{name}")

    return answer


def engine_of(one: Case) -> ReplayEngine:
    results = {
        tool: result_of(f"{one.product}/{reply}") if isinstance(reply, str) else by_word(one.product, reply)
        for tool, reply in one.results.items()
    }
    return ReplayEngine(tools=captured(f"{one.product}/{one.tools}"), results=results)


def http_of(reply: Mapping[str, Any]) -> ReplayHttp:
    return ReplayHttp(body=reply["body"], status=reply["status"])


@asynccontextmanager
async def store(preset: str, url: str, options: Mapping[str, object], **more: Any) -> AsyncGenerator[Adapter]:
    adapter = create(StoreSpec(name="engine", type=preset, url=url, options=options, **more))
    try:
        yield adapter
    finally:
        await adapter.aclose()


def without_the_time(calls: list[tuple[str, Row]]) -> list[list[Any]]:
    """Calls with the present time, if one of their arguments is it, replaced."""

    def plain(value: object) -> object:
        moment = epoch_seconds(value) if isinstance(value, str) and value.endswith("Z") else None
        return value if moment is None or abs(moment - time.time()) > 600 else NOW

    return [[tool, {name: plain(value) for name, value in arguments.items()}] for tool, arguments in calls]
