"""Tokens by name: a variable, an entry of the keyring, a file. What is named and holds nothing is an error.

Above: the loader. Below: origin. A missing token must never silently turn authorisation off, so nothing here gives None
for a token that somebody meant to be there; and no text of an error holds any part of one.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import SecretStr

from callosum_mcp.errors import SettingsError
from callosum_mcp.settings.model import Server, StoreSection
from callosum_mcp.settings.origin import Origin
from callosum_mcp.settings.source import KeyPath
from callosum_mcp.text import one_line

T = TypeVar("T")

_MAX_FILE_BYTES = 65_536


def token_from(environ: Mapping[str, str], variable: str, keyring_entry: str) -> SecretStr | None:
    """The token named by a variable or a keyring entry; None if neither is named.

    Raises:
        SettingsError: If what is named holds nothing.
    """
    if keyring_entry:
        return SecretStr(_from_keyring(keyring_entry))
    if not variable:
        return None
    value = environ.get(variable, "").strip()
    if not value:
        raise SettingsError(f"names the environment variable {variable}, which is not set")
    return SecretStr(value)


def tokens_in(file: Path) -> list[SecretStr]:
    """The tokens of a file, one per line; blank lines and those that begin with # are none.

    Raises:
        SettingsError: If it cannot be read, or holds none.
    """
    try:
        with file.open("rb") as opened:
            raw = opened.read(_MAX_FILE_BYTES + 1)
        lines = [line.strip() for line in raw.decode("utf-8-sig").splitlines()]
    except OSError as fault:
        raise SettingsError(f"names the file {file}, which cannot be read: {fault.strerror or fault}") from None
    except UnicodeDecodeError:
        raise SettingsError(f"names the file {file}, which is not UTF-8") from None
    if len(raw) > _MAX_FILE_BYTES:
        raise SettingsError(f"names the file {file}, which is larger than {_MAX_FILE_BYTES} bytes")
    found = [SecretStr(line) for line in lines if line and not line.startswith("#")]
    if not found:
        raise SettingsError(f"names the file {file}, which holds no token")
    return found


def bearers(server: Server, origin: Origin) -> tuple[SecretStr, ...]:
    """The tokens that let callers in, each of them; none only where none is named.

    Raises:
        SettingsError: If anything that is named holds nothing, or what no header can carry.
    """
    found: dict[str, None] = {}
    for key, token in _named_bearers(server, origin):
        value = token.get_secret_value().strip()
        if not value or not value.isprintable():
            raise origin.error(("server", *key), "holds what cannot be a token: nothing, or a control character")
        found[value] = None
    return tuple(SecretStr(value) for value in found)


def _named_bearers(server: Server, origin: Origin) -> Iterator[tuple[KeyPath, SecretStr]]:
    if server.bearer_token is not None and server.bearer_token.get_secret_value():
        yield ("bearer_token",), server.bearer_token
    for at, token in enumerate(server.bearer_tokens):
        yield ("bearer_tokens", at), token
    for key, variable, entry in (
        ("bearer_token_env", server.bearer_token_env, ""),
        ("bearer_token_keyring", "", server.bearer_token_keyring),
    ):
        token = _blamed(origin, ("server", key), lambda v=variable, e=entry: token_from(origin.environ, v, e))
        if token is not None:
            yield (key,), token
    if server.bearer_token_file:
        path = ("server", "bearer_token_file")
        file = origin.place(path, server.bearer_token_file)
        for token in _blamed(origin, path, lambda: tokens_in(file)):
            yield ("bearer_token_file",), token


def store_token(section: StoreSection, path: KeyPath, origin: Origin) -> SecretStr | None:
    """The token of one store: the first of `token`, `token_file`, `token_keyring` and `token_env` that is given.

    Raises:
        SettingsError: If what is named holds nothing, or a file more than one.
    """
    if section.token and section.token.get_secret_value():
        return section.token
    if section.token_file:
        return _blamed(origin, (*path, "token_file"), lambda: _only_one(origin.place(path, section.token_file)))
    key = "token_keyring" if section.token_keyring else "token_env"
    named = section.token_env, section.token_keyring
    return _blamed(origin, (*path, key), lambda: token_from(origin.environ, *named))


def token_files(server: Server, stores: Mapping[KeyPath, StoreSection], origin: Origin) -> tuple[Path, ...]:
    """Every file that is read for a token."""
    named = [(("server", "bearer_token_file"), server.bearer_token_file)]
    named += [((*path, "token_file"), section.token_file) for path, section in stores.items()]
    return tuple(origin.place(path, name) for path, name in named if name)


def _only_one(file: Path) -> SecretStr:
    found = tokens_in(file)
    if len(found) > 1:
        raise SettingsError(f"names the file {file}, which holds {len(found)} tokens; a store has one")
    return found[0]


def _blamed(origin: Origin, path: KeyPath, token: Callable[[], T]) -> T:
    try:
        return token()
    except SettingsError as fault:
        raise origin.error(path, fault.problem) from None


def _from_keyring(entry: str) -> str:
    service, slash, user = entry.rpartition("/")
    if not slash:
        raise SettingsError("must be service/user")
    try:
        keyring = cast("Any", importlib.import_module("keyring"))
    except ImportError:
        raise SettingsError("needs the package keyring: pip install 'callosum-mcp[keyring]'") from None
    try:
        value = keyring.get_password(service, user)
    except keyring.errors.KeyringError as fault:
        raise SettingsError(f"the keyring does not open for {entry}: {one_line(str(fault), 120)}") from None
    if not value:
        raise SettingsError(f"the keyring holds nothing for {entry}")
    return str(value)
