"""Whether the files of the settings have changed, and what they hold then.

Above: whoever puts settings in force while the program runs. Below: the loader. It looks when it is asked to, which
works on every platform and file system, and finds a file that took another's place by its name. A change counts once
two looks in a row see the same: a file that is being written is left alone.
"""

from __future__ import annotations

from pathlib import Path

from callosum_mcp.errors import SettingsError
from callosum_mcp.settings.load import Loaded
from callosum_mcp.settings.stamps import Stamp, stamps

RETRY = 5
"""While the settings cannot be used, so many looks pass until they are read again though no file changed: what they
name (a variable's file, an entry of the keyring) may be there by now."""


class Watch:
    """The files that some settings were read from.

    Args:
        loaded: The settings in force.
    """

    def __init__(self, loaded: Loaded) -> None:
        self.keep(loaded)

    def keep(self, loaded: Loaded) -> None:
        """Take these as the settings in force; until then those that `look` gave count as refused."""
        self._good = loaded
        self._acted = self._seen = dict(loaded.read)
        self._refused = False
        self._waited = 0

    def look(self) -> Loaded | None:
        """The settings as the files have them, if they have changed and come to rest; None if there is nothing new.

        Raises:
            SettingsError: If they cannot be used.
        """
        now = self._now()
        rests, self._seen = now == self._seen, now
        if not rests or (now == self._acted and not self._is_due()):
            return None
        self._acted, self._refused, self._waited = now, True, 0
        return self._read()

    def _now(self) -> dict[Path, Stamp]:
        try:
            found = self._good.find()
        except SettingsError:
            found = None
        return stamps([*self._good.read, *([found] if found else [])])

    def _is_due(self) -> bool:
        self._waited += 1
        return self._refused and self._waited >= RETRY

    def _read(self) -> Loaded:
        loaded, before = self._good.again(), self._good
        if before.file is not None and loaded.file is None:
            raise SettingsError("is gone", source=str(before.file))
        if before.source.data and not loaded.source.data:
            raise SettingsError("is empty; a file without settings holds {}", source=str(loaded.file))
        return loaded
