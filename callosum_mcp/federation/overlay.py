"""The overlay: stores added at run time, kept in one JSON file beside the config.

Above: the federation's administration. Below: the file. Every write replaces the file as a whole (temporary file,
fsync, rename, mode 0600) under a lock that other processes honour too; entries that this process does not understand
are kept as they are. A file that is corrupt is set aside, and one that cannot be read is left alone: neither is ever
overwritten.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, suppress
from glob import escape
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from callosum_mcp.errors import DuplicateStore, SettingsError
from callosum_mcp.models.hosts import HostRules
from callosum_mcp.models.requests import NAME_PATTERN, AddStoreRequest, reason
from callosum_mcp.models.values import StoreSpec, Tier

_LOCK_S = 5.0
_HALF = ".half"  # ends the name of a file that is being written

Entry = object
"""One element of the file's list: a mapping, if it is one of ours."""

TokenSource = Callable[[str, str], SecretStr | None]
"""Resolves (environment variable, keyring reference), either of them "", to a token."""


class OverlayEntry(BaseModel):
    """One managed store as the file holds it; the peer's files have the same shape."""

    model_config = ConfigDict(
        extra="ignore", frozen=True, allow_inf_nan=False, hide_input_in_errors=True, defer_build=True
    )

    name: Annotated[str, Field(pattern=NAME_PATTERN)]
    type: Annotated[str, Field(min_length=1)]
    url: Annotated[str, Field(min_length=1)]
    weight: Annotated[float, Field(ge=0, le=100)] = 1.0
    floor: Annotated[float, Field(ge=0, le=1)] = 0.0
    enabled: bool = True
    tier: Tier | None = None
    token: SecretStr | None = None
    token_env: str = ""
    token_keyring: str = ""
    agreed_hosts: list[str] = Field(default_factory=list[str])

    def spec(self, tokens: TokenSource) -> StoreSpec:
        """The store it declares, with its token resolved."""
        return StoreSpec(
            name=self.name,
            type=self.type,
            url=self.url.rstrip("/"),
            weight=self.weight,
            floor=self.floor,
            enabled=self.enabled,
            tier=self.tier,
            token=self.token
            if self.token and self.token.get_secret_value()
            else tokens(self.token_env, self.token_keyring),
            managed=True,
            hosts=HostRules(agreed=frozenset(self.agreed_hosts)),
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
        self._known: list[Entry] = []
        self._kept_aside: list[str] = []
        self._left_out: list[str] = []

    @property
    def notes(self) -> list[str]:
        """What was set aside since the start, and what the last reading left out."""
        return [*self._kept_aside, *self._left_out]

    def load(self) -> list[StoreSpec]:
        """The managed stores of the file; what cannot be used is left out and said in `notes`.

        If the file can no longer be used as a whole, the stores that were read from it before.
        """
        self._left_out = []
        specs: list[StoreSpec] = []
        for entry in self._usable():
            try:
                specs.append(_validated(entry).spec(self._tokens))
            except SettingsError as fault:
                self._left_out.append(f"overlay: store {_name(entry)!r} left out: {fault}")
        return specs

    def add(self, request: AddStoreRequest, agreed: Collection[str] = ()) -> None:
        """Append one store.

        Args:
            request: The store.
            agreed: Hosts that a person agreed to when it was added.

        Raises:
            DuplicateStore: If the name was taken by another process since the file was read.
            SettingsError: If the file cannot be written.
        """
        hosts = {"agreed_hosts": sorted(agreed)} if agreed else {}
        entry: Entry = {**request.model_dump(mode="json", exclude_none=True), **hosts}

        def added(entries: list[Entry]) -> list[Entry]:
            others = [e for e in entries if _name(e) != request.name]
            if len(others) < len(entries) and request.name not in map(_name, self._known):
                raise DuplicateStore(
                    f"name: another process added a store named {request.name!r} just now; choose another name"
                )
            return [*others, entry]

        self._update(added)

    def remove(self, name: str) -> None:
        """Take one store out.

        Raises:
            SettingsError: If the file cannot be written.
        """
        self._update(lambda entries: [e for e in entries if _name(e) != name])

    def _update(self, change: Callable[[list[Entry]], list[Entry]]) -> None:
        if self.path is None:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with _locked(self.path):
                entries = change(self._read_or_set_aside(self.path))
                _replace(self.path, entries)
                self._known = entries
        except OSError as fault:
            raise SettingsError(
                f"cannot be written ({fault.strerror or fault}); nothing was changed", source=str(self.path)
            ) from fault

    def _usable(self) -> list[Entry]:
        """The entries; those known before, and the reason in `notes`, if the file cannot be used."""
        if self.path is None:
            return []
        try:
            self._known = _read(self.path)
        except _CorruptError:
            self._repair(self.path)
        except OSError as fault:
            self._left_out.append(f"overlay {self.path} cannot be read ({fault.strerror}); it is left as it is")
        return self._known

    def _repair(self, path: Path) -> None:
        try:
            with _locked(path):
                self._known = self._read_or_set_aside(path)
        except OSError as fault:
            why = fault.strerror or fault
            self._left_out.append(f"overlay {path} is corrupt and cannot be set aside ({why}); it is left as it is")

    def _read_or_set_aside(self, path: Path) -> list[Entry]:
        """The entries, read under the lock: what another process wrote meanwhile is not corrupt.

        In the place of a corrupt file comes what was last known to stand in it.
        """
        try:
            return _read(path)
        except _CorruptError as fault:
            kept = path.with_name(f"{path.name}.corrupt-{time.time_ns()}")
            path.rename(kept)
            if self._known:
                _replace(path, self._known)
            now = "the stores known here took its place" if self._known else "managed stores start empty"
            self._kept_aside.append(f"overlay {path} {fault}; it was kept as {kept.name} and {now}")
            return self._known


class _CorruptError(Exception):
    """The file holds something else than a list of stores."""


def _locked(path: Path) -> AbstractContextManager[object]:
    from filelock import FileLock  # 15 ms that only a change need pay

    return FileLock(f"{path}.lock", timeout=_LOCK_S, mode=0o600)


def _read(path: Path) -> list[Entry]:
    try:
        value: object = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return []
    except (ValueError, RecursionError):
        raise _CorruptError("is not JSON") from None
    if not isinstance(value, list):
        raise _CorruptError("is not a list")
    return cast("list[Entry]", value)


def _name(entry: Entry) -> str:
    return str(cast("Mapping[str, object]", entry).get("name", "?")) if isinstance(entry, dict) else "?"


def _validated(entry: Entry) -> OverlayEntry:
    try:
        return OverlayEntry.model_validate(entry)
    except ValidationError as failure:
        error = failure.errors(include_url=False, include_input=False)[0]  # the input may be a token
        place = ".".join(str(part) for part in error["loc"])
        problem = reason(cast("Mapping[str, Any]", error), list(OverlayEntry.model_fields))
        raise SettingsError(f"{place}: {problem}" if place else "must be an object") from None


def _replace(path: Path, entries: list[Entry]) -> None:
    """Write the whole file anew: at any moment a reader sees the old one or the new one."""
    for left in path.parent.glob(f".{escape(path.name)}.*{_HALF}"):  # of a process that was killed
        left.unlink(missing_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=_HALF)  # mkstemp makes it 0600
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
