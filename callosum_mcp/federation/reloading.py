"""Settings that changed while the program runs: checked as a whole, then in force as a whole, else not at all.

Above: the commands that serve. Below: the watch over the files, administration. What is refused is said once on stderr,
and to whoever asks how the stores are until it is mended; the last good settings stay in force.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

import anyio
import anyio.to_thread

from callosum_mcp.errors import SettingsError
from callosum_mcp.federation.administration import Administration, AdminPolicy
from callosum_mcp.federation.declared import Declared
from callosum_mcp.settings import Loaded, Watch

POLL_S = 1.0
"""Between two looks at the files; a change is in force after two."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """A part of the program that can go by new settings.

    Attributes:
        commit: Lets it go by them; cannot fail.
        restart: Settings that changed and that only a restart puts in force.
    """

    commit: Callable[[], None]
    restart: tuple[str, ...] = ()


Part = Callable[[Loaded], Prepared]
"""Checks settings for one part of the program; raises `SettingsError` if it cannot go by them."""


class Reloader:
    """Puts changed settings in force.

    Args:
        administration: Of the stores and knobs.
        loaded: The settings that the program started with.
        check: Raises `SettingsError` for settings that the program could not start with.
    """

    def __init__(self, administration: Administration, loaded: Loaded, check: Callable[[Loaded], None]) -> None:
        self._administration = administration
        self._started = loaded
        self._check = check
        self._watch = Watch(loaded)
        self._said = ""
        self.parts: list[Part] = []

    async def watch(self) -> None:
        """Look at the files until cancelled."""
        while True:
            await anyio.sleep(POLL_S)
            await self.look()

    async def look(self) -> None:
        """Look once; a change that has come to rest is put in force, or refused."""
        try:
            loaded = await anyio.to_thread.run_sync(self._looked, abandon_on_cancel=True)
            if loaded is None:
                return
            prepared = [part(loaded) for part in self.parts]
        except SettingsError as fault:
            self._refuse(fault)
            return
        await self._administration.adopt(declared_by(loaded), policy_by(loaded))
        for one in prepared:
            one.commit()
        self._watch.keep(loaded)
        self._accept([*_fixed(self._started, loaded), *(name for one in prepared for name in one.restart)])

    def _looked(self) -> Loaded | None:
        loaded = self._watch.look()
        if loaded is not None:
            self._check(loaded)
        return loaded

    def _refuse(self, fault: SettingsError) -> None:
        said = f"settings: not in force, the last good ones stay: {fault}"
        self._administration.notices = (said,)
        if said != self._said:
            self._said = said
            _log.error("%s", said)

    def _accept(self, restart: list[str]) -> None:
        self._administration.notices = tuple(f"settings: {name} changed, which takes a restart" for name in restart)
        if self._said:
            self._said = ""
            _log.warning("settings: mended, and in force")


def declared_by(loaded: Loaded) -> Declared:
    """What a file declares of the federation."""
    return Declared(stores=loaded.stores, knobs=loaded.knobs)


def policy_by(loaded: Loaded, notes: tuple[str, ...] = ()) -> AdminPolicy:
    """What a file says of changes at run time."""
    security = loaded.settings.security
    return AdminPolicy(
        config_file=loaded.file,
        allow_hosts=tuple(security.allow_hosts),
        allow_token_env=tuple(security.allow_token_env),
        notes=notes,
    )


def _fixed(started: Loaded, now: Loaded) -> list[str]:
    """The sections that differ from those the program started with and that are read at its start only."""
    pairs = {
        "answer": (started.answering, now.answering),
        "surface": (started.settings.surface, now.settings.surface),
        "logging": (started.settings.logging, now.settings.logging),
        "the place of the overlay": (started.overlay, now.overlay),
    }
    return [name for name, (one, other) in pairs.items() if one != other]
