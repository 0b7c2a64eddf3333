"""Helpers of the overlay's tests: an overlay at a path, requests for it, and its file's entries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from pydantic import SecretStr

from callosum_mcp.errors import SettingsError
from callosum_mcp.federation.overlay import Overlay
from callosum_mcp.models.requests import AddStoreRequest, parse

TOKENS = {"CALLOSUM_T": "token-of-t"}


def tokens(variable: str, keyring: str) -> SecretStr | None:
    """What a process knows whose environment holds `TOKENS`."""
    if keyring:
        raise SettingsError(f"the keyring holds nothing for {keyring}")
    if not variable:
        return None
    if variable not in TOKENS:
        raise SettingsError(f"names the environment variable {variable}, which is not set")
    return SecretStr(TOKENS[variable])


def overlay_at(path: Path) -> Overlay:
    return Overlay(path, tokens)


def request(name: str, **more: object) -> AddStoreRequest:
    return parse(AddStoreRequest, {"name": name, "type": "seren_memory", "url": "http://127.0.0.1:9", **more})


def entries(path: Path) -> list[Any]:
    return cast("list[Any]", json.loads(path.read_text(encoding="utf-8")))


def write_entries(path: Path, *values: object) -> None:
    path.write_text(json.dumps(list(values)), encoding="utf-8")
