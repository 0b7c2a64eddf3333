"""A program over one settings file, as a server runs it, whose looks at its files are made by hand.

`look` is what a running server does every second. A change counts once two looks in a row have seen the same.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from callosum_mcp.app import Application, build
from callosum_mcp.errors import AllStoresFailed
from callosum_mcp.federation.stores import Connection
from callosum_mcp.models.requests import AddStoreRequest, ListStoresRequest, RecallRequest, parse
from callosum_mcp.models.results import EngineOut, RecallResult
from callosum_mcp.settings import load

QUERY = RecallRequest(query="Hermes")


@dataclass(kw_only=True)
class Running:
    """A program over one settings file, as a server runs it."""

    folder: Path
    application: Application
    environ: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def file(self) -> Path:
        return self.folder / "callosum.yaml"

    def write(self, *stores: Mapping[str, Any], **sections: Any) -> None:
        self.file.write_text(written(*stores, **sections), encoding="utf-8")

    async def settle(self, looks: int = 2) -> None:
        for _ in range(looks):
            await self.application.reloader.look()

    async def notes(self) -> list[str]:
        return (await self.application.administration.list_stores(ListStoresRequest())).notes or []

    async def recall(self) -> RecallResult:
        return await self.application.federation.recall(QUERY)

    async def engine(self, name: str) -> EngineOut:
        try:
            found = await self.recall()
        except AllStoresFailed as failed:
            assert isinstance(failed.answer, RecallResult)
            found = failed.answer
        return next(engine for engine in found.engines if engine.engine == name)

    def names(self) -> list[str]:
        return self.application.federation.state.stores.names()

    def connection(self, name: str) -> Connection:
        return self.application.federation.state.stores.get(name).connection


def written(*stores: Mapping[str, Any], **sections: Any) -> str:
    return json.dumps({"stores": list(stores), **sections}, indent=1)


def memory(name: str, url: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": "seren_memory", "url": url, **more}


@asynccontextmanager
async def running(folder: Path, text: str, environ: dict[str, str] | None = None) -> AsyncGenerator[Running]:
    (folder / "callosum.yaml").write_text(text, encoding="utf-8")
    known = environ or {}
    application = build(load(None, known, folder))
    async with application.running():
        yield Running(folder=folder, application=application, environ=known)


def added(name: str, url: str) -> AddStoreRequest:
    return parse(AddStoreRequest, {"name": name, "type": "seren_memory", "url": url})
