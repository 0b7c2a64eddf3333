"""The one place where everything is wired together.

Above: the command line and tests. Below: every part. An `Application` owns the process's stores; each surface gets the
same federation and the same administration, so a change through one is in force for all.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial

import anyio

from callosum_mcp.adapters import registry
from callosum_mcp.answer.ask import Answers
from callosum_mcp.answer.rerank import HitReranker
from callosum_mcp.answer.writing import Writer
from callosum_mcp.embedding.embedder import CachingEmbedder
from callosum_mcp.errors import SettingsError
from callosum_mcp.federation.administration import Administration
from callosum_mcp.federation.declared import managed_stores
from callosum_mcp.federation.federation import Federation, State
from callosum_mcp.federation.overlay import Overlay
from callosum_mcp.federation.reloading import Reloader, policy_by
from callosum_mcp.federation.stores import Store, StoreSet
from callosum_mcp.settings import Loaded, token_from
from callosum_mcp.settings.environment import overrides
from callosum_mcp.surface.tools import Services


@dataclass(frozen=True, kw_only=True, slots=True)
class Application:
    """The wired program."""

    federation: Federation
    administration: Administration
    reloader: Reloader
    answers: Answers
    loaded: Loaded
    reranker: HitReranker | None = None

    def services(self) -> Services:
        """What the surfaces work on."""
        return Services(
            federation=self.federation,
            administration=self.administration,
            answers=self.answers,
            aliases=frozenset(self.loaded.settings.surface.aliases),
        )

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """The process's lifespan: stores are closed at its end, whatever the surface."""
        try:
            yield
        finally:
            await self.answers.aclose()
            if self.reranker is not None:
                await self.reranker.aclose()
            await self.administration.aclose()

    @asynccontextmanager
    async def serving(self) -> AsyncGenerator[None]:
        """The lifespan of a process that stays: its settings are read again when they change."""
        async with self.running(), anyio.create_task_group() as group:
            group.start_soon(self.reloader.watch)
            yield
            group.cancel_scope.cancel()


def build(loaded: Loaded, *, keep_overlay: bool = True) -> Application:
    """Wire the program; nothing is connected, probed or indexed.

    Args:
        loaded: The settings.
        keep_overlay: False keeps managed stores in memory and reads none (``demo``).

    Raises:
        SettingsError: If a store's type or options are wrong, with file and line, or the embedder is not installed.
    """
    embedder = CachingEmbedder()
    check = partial(_check, embedder=embedder)
    check(loaded)
    tokens = partial(token_from, loaded.environ)
    overlay = Overlay(loaded.overlay if keep_overlay else None, tokens)
    policy = policy_by(loaded)
    managed, notes = managed_stores(overlay, loaded.stores, policy.hosts)
    stores = StoreSet(tuple(Store.of(spec) for spec in (*loaded.stores, *managed)))
    writer = Writer(loaded.answering)
    rerank = loaded.answering.rerank
    reranker = None if rerank is None else HitReranker(rerank, writer)
    federation = Federation(State(stores=stores, knobs=loaded.knobs), reranker, embedder)
    administration = Administration(federation, overlay, tokens, replace(policy, notes=notes))
    return Application(
        federation=federation,
        administration=administration,
        reloader=Reloader(administration, loaded, check),
        answers=Answers(federation, writer),
        reranker=reranker,
        loaded=loaded,
    )


def _check(loaded: Loaded, *, embedder: CachingEmbedder) -> None:
    """Refuse settings that the program could not go by.

    The embedder costs nothing until it is asked: `configure` may enable it in a running server.
    """
    _check_stores(loaded)
    lacking = embedder.lacking() if loaded.knobs.embed_enabled else None
    if lacking:
        path = ("federation", "embed_enabled")
        variable, _ = overrides(loaded.environ).get(path, ("", None))
        raise SettingsError(lacking, source=f"variable {variable}") if variable else loaded.source.error(path, lacking)


def _check_stores(loaded: Loaded) -> None:
    for spec, path in zip(loaded.stores, loaded.store_paths, strict=True):
        try:
            registry.create(spec)
        except ValueError as fault:
            key = next((name for name in ("transport", "urls", "url", "options") if str(fault).startswith(name)), None)
            raise loaded.source.error((*path, key) if key else path, f"store {spec.name!r}: {fault}") from None


__all__ = ["Application", "build"]
