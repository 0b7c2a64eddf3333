"""A folder of notes on disk and the store over it, for the tests of the `notes` adapter."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from callosum_mcp.adapters.notes import NotesAdapter
from callosum_mcp.models.values import StoreQuery, StoreSpec, Tier

DAY_S = 86_400.0


@dataclass(frozen=True, kw_only=True)
class Notes:
    """A folder of notes and a cache folder beside it."""

    folder: Path
    cache: Path
    ticks: count[int] = field(default_factory=lambda: count())

    def write(self, path: str, text: str | bytes = "", *, age_days: float = 0.0) -> Path:
        """Write a file whose time stamp differs from that of any earlier write."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        when = time.time() - age_days * DAY_S - 1000 + next(self.ticks)
        os.utime(file, (when, when))
        return file

    def spec(self, url: str | None = None, tier: Tier | None = None, **options: object) -> StoreSpec:
        """A store over the folder that looks for changes before every search and waits until it has them all."""
        patient: dict[str, object] = {"cache_dir": str(self.cache), "recheck_s": 0, "first_wait_s": 60}
        place = str(self.folder) if url is None else url
        return StoreSpec(name="notes", type="notes", url=place, tier=tier, options={**patient, **options})

    @asynccontextmanager
    async def store(
        self, url: str | None = None, tier: Tier | None = None, **options: object
    ) -> AsyncGenerator[NotesAdapter]:
        adapter = NotesAdapter(self.spec(url, tier, **options))
        try:
            yield adapter
        finally:
            await adapter.aclose()

    async def ids(self, text: str, url: str | None = None, tier: Tier | None = None, **options: object) -> list[str]:
        """The ids of the hits that a store opened for this one query gives."""
        async with self.store(url, tier, **options) as store:
            return await ids(store, text)

    def cache_file(self) -> Path:
        """The one cache file."""
        (file,) = self.cache.glob("*.sqlite3")
        return file


async def ids(store: NotesAdapter, text: str, *, limit: int = 50) -> list[str]:
    """The ids of a search's hits, in order."""
    return [hit.id for hit in (await store.search(StoreQuery(text=text, limit=limit))).hits]
