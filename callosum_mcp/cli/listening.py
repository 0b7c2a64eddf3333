"""Where the HTTP server may listen, and whom it lets in there, by settings that may change while it does.

Above: `serve`. Below: the guard. Loopback, or a token, or the user's word: without one of them nothing is listened on.
A running server that wants a token goes on wanting one, whatever becomes of its settings.
"""

from __future__ import annotations

from ipaddress import ip_address

from callosum_mcp.errors import SettingsError
from callosum_mcp.federation.reloading import Part, Prepared
from callosum_mcp.settings import Loaded
from callosum_mcp.surface.guard import LOOPBACK, Guard, Policy, allowed

_ANY_ADDRESS = frozenset({"0.0.0.0", "::", ""})

TOKEN_SETTINGS = "server.bearer_token_file, bearer_token_env, bearer_token_keyring or bearer_tokens"
"""Where a token can be named, for messages."""


def may_listen(address: str, loaded: Loaded) -> bool:
    """Whether listening there lets nobody in who should not be: loopback, a token, or the user's word."""
    return is_loopback(address) or bool(loaded.bearers) or loaded.settings.server.allow_open_lan


def is_loopback(address: str) -> bool:
    """Whether only this machine reaches an address."""
    if address in LOOPBACK:
        return True
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False


def refused(address: str) -> str:
    """What to say where it may not listen."""
    return (
        f"refused to listen on {address} without a token: anybody there could read every memory. "
        f"Set {TOKEN_SETTINGS}, or server.allow_open_lan: true"
    )


def policy_at(address: str, loaded: Loaded) -> Policy:
    """Who may call a server that listens there."""
    server = loaded.settings.server
    everywhere = address in _ANY_ADDRESS and not server.allowed_hosts
    return Policy(
        tokens=loaded.bearers,
        hosts=allowed([*server.allowed_hosts, address]),
        origins=frozenset(server.allowed_origins),
        any_host=everywhere and bool(loaded.bearers),
        any_address=everywhere,
    )


def door(guard: Guard, address: str, started: Loaded, *, fixed: tuple[str, ...]) -> Part:
    """The guard as a part of the program that goes by changed settings.

    Args:
        guard: Of the server.
        address: Where it listens.
        started: The settings it started with.
        fixed: Settings of the section `server` that a running server cannot go by.
    """

    def prepared(loaded: Loaded) -> Prepared:
        _refuse_to_open(address, started, loaded)
        policy = policy_at(address, loaded)
        was, now = started.settings.server, loaded.settings.server
        changed = (name for name in fixed if getattr(was, name) != getattr(now, name))
        return Prepared(commit=lambda: guard.follow(policy), restart=tuple(f"server.{name}" for name in changed))

    return prepared


def _refuse_to_open(address: str, started: Loaded, loaded: Loaded) -> None:
    place = str(loaded.file) if loaded.file else None
    if not may_listen(address, loaded):
        raise SettingsError(refused(address), source=place)
    if started.bearers and not loaded.bearers:
        raise SettingsError(
            f"server: names no token any more, and a running server stays shut. Set {TOKEN_SETTINGS}, or restart it",
            source=place,
        )
