"""From a command's options to the wired program: settings read, logging set up, secrets known to the log.

Above: the commands. Below: app, settings, the log.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from callosum_mcp.app import Application, build
from callosum_mcp.cli.logs import known_secrets, set_up, watch
from callosum_mcp.federation.reloading import Prepared
from callosum_mcp.models.secrets import Mask
from callosum_mcp.settings import Loaded, load


def loaded(options: argparse.Namespace) -> Loaded:
    """The settings for a command, and logging set up by them.

    Raises:
        SettingsError: If they cannot be used.
    """
    settings = load(getattr(options, "config", None), os.environ, Path.cwd())
    set_up(settings)
    return settings


def wired(options: argparse.Namespace) -> Application:
    """The program, its stores' secrets known to the log.

    Raises:
        SettingsError: If the settings cannot be used.
    """
    application = build(loaded(options))
    later = _Later()
    application.reloader.parts.append(later.learn)
    watch(lambda: [later.mask, *(store.connection.told for store in application.federation.state.stores.stores)])
    return application


class _Later:
    """Secrets of settings that changed while the program runs. What was one stays one."""

    def __init__(self) -> None:
        self._secrets: set[str] = set()
        self.mask = Mask(())

    def learn(self, settings: Loaded) -> Prepared:
        """Part of a reload; also of one that another part refuses, which may say so in the log."""
        self._secrets.update(known_secrets(settings))
        self.mask = Mask(self._secrets)
        return Prepared(commit=lambda: None)
