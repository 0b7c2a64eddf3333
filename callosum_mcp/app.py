"""The one place where everything is wired together.

Above: the command line and tests. Below: every part. An `Application` owns the process's stores; each surface gets the
same federation and the same administration, so a change through one is in force for all.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from callosum_mcp.adapters import registry
from callosum_mcp.answer.ask import Answers
from callosum_mcp.answer.rerank import HitReranker
from callosum_mcp.answer.writing import Writer
from callosum_mcp.embedding.embedder import CachingEmbedder
from callosum_mcp.errors import InvalidInput, SettingsError
from callosum_mcp.federation.administration import Administration, AdminPolicy
from callosum_mcp.federation.federation import Federation, State
from callosum_mcp.federation.overlay import Overlay
from callosum_mcp.federation.stores import Store, StoreSet
from callosum_mcp.federation.urls import restored
from callosum_mcp.models.hosts import HostRules, rules_of
from callosum_mcp.models.values import StoreSpec
from callosum_mcp.settings import Loaded, token_from
from callosum_mcp.settings.environment import overrides
from callosum_mcp.surface.tools import Services


@dataclass(frozen=True, kw_only=True, slots=True)
class Application:
    """The wired program."""

    federation: Federation
    administration: Administration
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


def build(loaded: Loaded, *, keep_overlay: bool = True) -> Application:
    """Wire the program; nothing is connected, probed or indexed.

    Args:
        loaded: The settings.
        keep_overlay: False keeps managed stores in memory and reads none (``demo``).

    Raises:
        SettingsError: If a store's type or options are wrong, with file and line, or the embedder is not installed.
    """
    _check_stores(loaded)
    tokens = partial(token_from, loaded.environ)
    overlay = Overlay(loaded.overlay if keep_overlay else None, tokens)
    managed, notes = _managed(loaded.stores, overlay.load(), rules_of(loaded.settings.security.allow_hosts))
    stores = StoreSet(tuple(Store.of(spec) for spec in (*loaded.stores, *managed)))
    writer = Writer(loaded.answering)
    rerank = loaded.answering.rerank
    reranker = None if rerank is None else HitReranker(rerank, writer)
    federation = Federation(State(stores=stores, knobs=loaded.knobs), reranker, _embedder(loaded))
    security = loaded.settings.security
    policy = AdminPolicy(
        config_file=loaded.file,
        allow_hosts=tuple(security.allow_hosts),
        allow_token_env=tuple(security.allow_token_env),
        notes=notes,
    )
    return Application(
        federation=federation,
        administration=Administration(federation, overlay, tokens, policy),
        answers=Answers(federation, writer),
        reranker=reranker,
        loaded=loaded,
    )


def _embedder(loaded: Loaded) -> CachingEmbedder:
    """The embedder, which costs nothing until it is asked: `configure` may enable it in a running server."""
    embedder = CachingEmbedder()
    lacking = embedder.lacking() if loaded.knobs.embed_enabled else None
    if lacking:
        path = ("federation", "embed_enabled")
        variable, _ = overrides(loaded.environ).get(path, ("", None))
        raise SettingsError(lacking, source=f"variable {variable}") if variable else loaded.source.error(path, lacking)
    return embedder


def _check_stores(loaded: Loaded) -> None:
    for spec, path in zip(loaded.stores, loaded.store_paths, strict=True):
        try:
            registry.create(spec)
        except ValueError as fault:
            key = next((name for name in ("transport", "url", "options") if str(fault).startswith(name)), None)
            raise loaded.source.error((*path, key) if key else path, f"store {spec.name!r}: {fault}") from None


def _managed(
    base: tuple[StoreSpec, ...], overlay: list[StoreSpec], rules: HostRules
) -> tuple[list[StoreSpec], tuple[str, ...]]:
    """The overlay's stores that may be used, where they may be; a base store wins its name."""
    names = {spec.name for spec in base}
    kept: list[StoreSpec] = []
    notes: list[str] = []
    for spec in overlay:
        if spec.name in names:
            notes.append(f"overlay: store {spec.name!r} is left out: the name is taken")
            continue
        try:
            usable = restored(spec, rules)
            registry.create(usable)
        except (ValueError, InvalidInput) as fault:
            notes.append(f"overlay: store {spec.name!r} left out: {fault}")
            continue
        names.add(spec.name)
        kept.append(usable)
    return kept, tuple(notes)


__all__ = ["Application", "build"]
