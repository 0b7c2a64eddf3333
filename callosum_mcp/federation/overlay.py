"""The overlay: stores added at run time, kept in one JSON file beside the config.

Above: the federation's administration. Below: the file. Every write replaces the file as a whole (temporary file,
fsync, rename, mode 0600) under a lock that other processes honour too; entries that this process does not understand
are kept as they are. A file that cannot be read is set aside, never overwritten.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from filelock import FileLock
from pydantic import BaseModel, ConfigDict, SecretStr, ValidationError

from callosum_mcp.errors import InvalidInput, SettingsError
from callosum_mcp.models.requests import AddStoreRequest, explain
from callosum_mcp.models.values import StoreSpec, Tier

_LOCK_S = 5.0

Entry = dict[str, Any]
TokenSource = Callable[[str, str], SecretStr | None]
"""Resolves (environment variable, keyring reference), either of them "", to a token."""


class OverlayEntry(BaseModel):
    """One managed store as the file holds it; the peer's files have the same shape."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    name: str
    type: str
    url: str
    weight: float = 1.0
    floor: float = 0.0
    enabled: bool = True
    tier: Tier | None = None
    token: SecretStr | None = None
    token_env: str = ""
    token_keyring: str = ""

    def spec(self, tokens: TokenSource) -> StoreSpec:
        """The store it declares, with its token resolved."""
        return StoreSpec(
            name=self.name,
            type=self.type,
            url=self.url,
            weight=self.weight,
            floor=self.floor,
            enabled=self.enabled,
            tier=self.tier,
            token=self.token
            if self.token and self.token.get_secret_value()
            else tokens(self.token_env, self.token_keyring),
            managed=True,
        )


class Overlay:
    """The file of managed stores.

    Args:
        path: The file; None keeps managed stores in memory only (no config folder can be written).
        tokens: Where tokens named by entries come from.
    """

    def __init__(self, path: Path | None, tokens: TokenSource) -> None:
        self.path = path
        self._tokens = tokens
        self.notes: list[str] = []

    def load(self) -> list[StoreSpec]:
        """The managed stores of the file; what cannot be used is left out and said in `notes`."""
        specs: list[StoreSpec] = []
        for entry in self._read():
            try:
                specs.append(_validated(entry).spec(self._tokens))
            except (InvalidInput, SettingsError) as fault:
                self.notes.append(f"overlay: store {entry.get('name', '?')!r} left out: {fault}")
        return specs

    def add(self, request: AddStoreRequest) -> None:
        """Append one store.

        Raises:
            SettingsError: If the file cannot be written.
        """
        entry: Entry = request.model_dump(mode="json", exclude_none=True)
        self._update(lambda entries: [*(e for e in entries if e.get("name") != request.name), entry])

    def remove(self, name: str) -> None:
        """Take one store out.

        Raises:
            SettingsError: If the file cannot be written.
        """
        self._update(lambda entries: [e for e in entries if e.get("name") != name])

    def _update(self, change: Callable[[list[Entry]], list[Entry]]) -> None:
        if self.path is None:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{self.path}.lock", timeout=_LOCK_S, mode=0o600):
                _replace(self.path, change(self._read()))
        except OSError as fault:
            raise SettingsError(
                f"cannot be written ({fault.strerror or fault}); nothing was changed", source=str(self.path)
            ) from fault

    def _read(self) -> list[Entry]:
        if self.path is None:
            return []
        try:
            value: object = json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return []
        except OSError as fault:
            self.notes.append(f"overlay {self.path} cannot be read ({fault.strerror})")
            return []
        except ValueError:
            return self._set_aside("is not JSON")
        if not isinstance(value, list):
            return self._set_aside("is not a list")
        return [cast("Entry", e) for e in cast("list[object]", value) if isinstance(e, dict)]

    def _set_aside(self, fault: str) -> list[Entry]:
        assert self.path is not None
        kept = self.path.with_name(f"{self.path.name}.corrupt-{int(time.time())}")
        with suppress(OSError):
            self.path.replace(kept)
        self.notes.append(f"overlay {self.path} {fault}; it was kept as {kept.name} and managed stores start empty")
        return []


def _validated(entry: Mapping[str, Any]) -> OverlayEntry:
    try:
        return OverlayEntry.model_validate(dict(entry))
    except ValidationError as failure:
        raise explain(failure, OverlayEntry) from None


def _replace(path: Path, entries: list[Entry]) -> None:
    """Write the whole file anew: at any moment a reader sees the old one or the new one."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # mkstemp makes it 0600
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(entries, file, indent=2, ensure_ascii=False)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
