"""The environment as settings: names over the file, ``${VAR}`` inside it.

Above: the loader. Below: nothing. With `source`, the only reader of the environment in the package; it takes the
environment as a mapping, so that a test gives its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from callosum_mcp.errors import SettingsError
from callosum_mcp.models.knobs import Knobs
from callosum_mcp.settings.source import KeyPath

PREFIX, PEER_PREFIX = "CALLOSUM_", "SEREN_SCC_"

_PLACE = re.compile(r"\$\{([^}]*)(\}?)")
_VARIABLE = re.compile(r"(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?", re.DOTALL)
_LISTS = frozenset(
    {"ALLOWED_HOSTS", "ALLOWED_ORIGINS", "ALLOW_HOSTS", "ALLOW_TOKEN_ENV", "PORTS", "ALIASES", "BEARER_TOKENS"}
)
_DOORS = "BEARER_TOKEN"  # whoever sets one of these wants the door shut, so an empty one is no wish to have it open

NAMES: dict[str, KeyPath] = {
    **{name.upper(): ("federation", name) for name in Knobs.model_fields},
    **{
        name.upper(): ("server", name)
        for name in (
            "host port ports bearer_token bearer_tokens bearer_token_env bearer_token_keyring bearer_token_file "
            "allow_open_lan"
        ).split()
    },
    "ALLOWED_HOSTS": ("server", "allowed_hosts"),
    "ALLOWED_ORIGINS": ("server", "allowed_origins"),
    "ALLOW_HOSTS": ("security", "allow_hosts"),
    "ALLOW_TOKEN_ENV": ("security", "allow_token_env"),
    **{
        f"ANSWER_{name.upper()}": ("answer", name)
        for name in "synthesize allow_paid available_s rerank rerank_url rerank_model rerank_token_env".split()
    },
    "ALIASES": ("surface", "aliases"),
    "LOG_LEVEL": ("logging", "level"),
    "LOG_QUERIES": ("logging", "log_queries"),
}
"""Names behind ``CALLOSUM_`` and the setting each overrides."""

_PEER_NAMES = {
    "MCP_ALLOWED_HOSTS": "ALLOWED_HOSTS",
    "MCP_ALLOWED_ORIGINS": "ALLOWED_ORIGINS",
    "LOG_QUERY": "LOG_QUERIES",
    **{
        name: name
        for name in ("HOST", "PORT", "BEARER_TOKEN", "BEARER_TOKEN_ENV", "BEARER_TOKEN_KEYRING", "ALLOW_OPEN_LAN")
    },
    "LOG_LEVEL": "LOG_LEVEL",
}
_SPECIAL = ("CONFIG", "RUNTIME_STORES")


def overrides(environ: Mapping[str, str]) -> dict[KeyPath, tuple[str, Any]]:
    """Settings out of the environment as path → (variable, value); our names win over the peer's.

    Raises:
        SettingsError: If a variable is nearly one of ours, or one of ours that names a token is empty: neither must be
            silently without effect.
    """
    found: dict[KeyPath, tuple[str, Any]] = {}
    for theirs, ours in _PEER_NAMES.items():
        _take(environ, PEER_PREFIX + theirs, ours, found)
    for name in NAMES:
        if name.startswith(_DOORS) and environ.get(PREFIX + name, "set").strip(" ,") == "":
            raise SettingsError("is empty; give it what it names, or unset it", source=f"variable {PREFIX}{name}")
        _take(environ, PREFIX + name, name, found)
    _refuse_typos(environ)
    return found


def _take(environ: Mapping[str, str], variable: str, name: str, found: dict[KeyPath, tuple[str, Any]]) -> None:
    value = environ.get(variable, "")
    if value == "":
        return
    items = [part.strip() for part in value.split(",") if part.strip()]
    found[NAMES[name]] = (variable, items if name in _LISTS else value.lower() if name == "LOG_LEVEL" else value)


def _refuse_typos(environ: Mapping[str, str]) -> None:
    known = [*NAMES, *_SPECIAL]
    for variable in environ:
        name = variable.removeprefix(PREFIX)
        if name == variable or name in known:
            continue
        close = get_close_matches(name, known, n=1, cutoff=0.85)
        if close:
            raise SettingsError(f"is unknown; did you mean {PREFIX}{close[0]}?", source=f"variable {variable}")


def expand(value: str, environ: Mapping[str, str]) -> str:
    """A text with ``${VAR}``, ``${VAR:-default}`` and ``${env:VAR}`` replaced.

    Raises:
        SettingsError: If a variable without a default is not set or empty (a token that is empty would silently turn
            authorisation off), or if what stands in the braces names no variable.
    """

    def replaced(match: re.Match[str]) -> str:
        named = _VARIABLE.fullmatch(match.group(1))
        if named is None or not match.group(2):
            raise SettingsError("holds a ${ that names no variable; write ${NAME} or ${NAME:-default}")
        name, default = named.groups()
        given = environ.get(name) or default
        if given is None:
            raise SettingsError(
                f"names the environment variable {name}, which is not set; write ${{{name}:-default}} for a default"
            )
        return given

    return _PLACE.sub(replaced, value)
