"""How an engine is reached, out of its store's settings and its preset: a command, or a URL with headers.

Above: the engine adapter and its connections. Below: values. Pure: nothing is started or resolved here, so that wrong
settings are refused at start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from callosum_mcp.adapters.engine.preset import Preset
from callosum_mcp.models.hosts import HostRules
from callosum_mcp.models.values import StoreSpec, TransportSpec

_SHORTEST_SECRET = 6  # hiding anything shorter would hide words of every message

Mode = Literal["auto", "legacy"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Reach:
    """One way to an engine behind MCP.

    Attributes:
        type: The transport.
        url: Where it listens (``sse``, ``http``).
        headers: What every request carries, its token included.
        command: Program and arguments (``stdio``).
        env: Variables the program gets besides the few every child gets.
        cwd: Folder it is started in; "" means the current one.
        protocol: ``auto`` asks for the newest revision first; ``legacy`` does not.
        connect_timeout_s: Seconds for starting, connecting and the handshake.
        rules: Where its connections may go; None: anywhere.
    """

    type: Literal["stdio", "sse", "http"]
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    command: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    cwd: str = ""
    protocol: Mode = "auto"
    connect_timeout_s: float = 30.0
    rules: HostRules | None = None

    def hidden(self, text: str) -> str:
        """A text of the engine without what only it may know: our token, headers, variables."""
        for secret in (*self.headers.values(), *self.env.values()):
            bare = secret.removeprefix("Bearer ")
            if len(bare) >= _SHORTEST_SECRET:
                text = text.replace(bare, "***")
        return text


def reach_of(spec: StoreSpec, preset: Preset) -> Reach:
    """How the engine of a store is reached.

    Raises:
        ValueError: If the settings give no way, or two; the text names the setting.
    """
    given = spec.transport or TransportSpec()
    over = _transport(spec, given)
    protocol = given.protocol or preset.protocol
    seconds = given.connect_timeout_s or preset.connect_timeout_s
    if over == "stdio":
        return Reach(
            type="stdio",
            command=_command(spec, given, preset),
            env={**preset.env, **given.env},
            cwd=given.cwd,
            protocol=protocol,
            connect_timeout_s=seconds,
        )
    if not urlsplit(spec.url).netloc or urlsplit(spec.url).scheme not in ("http", "https"):
        raise ValueError("url: must start with http:// or https:// and name a host")
    return Reach(
        type=over,
        url=spec.url,
        headers=_headers(spec),
        protocol=protocol,
        connect_timeout_s=seconds,
        rules=spec.rules,
    )


def check_http(spec: StoreSpec) -> None:
    """Refuse what means nothing for an engine behind plain HTTP.

    Raises:
        ValueError: If the store has no URL, or a transport.
    """
    if spec.transport is not None:
        raise ValueError(f"transport: means nothing for type {spec.type}, which is asked over plain HTTP at its url")
    if not urlsplit(spec.url).netloc or urlsplit(spec.url).scheme not in ("http", "https"):
        raise ValueError("url: must start with http:// or https:// and name a host")


def _transport(spec: StoreSpec, given: TransportSpec) -> Literal["stdio", "sse", "http"]:
    named = given.type
    if spec.url and (named == "stdio" or given.command):
        raise ValueError("transport: a store has either a url or a command (stdio), not both")
    if named == "auto":
        if not spec.url:
            return "stdio"
        return "sse" if urlsplit(spec.url).path.rstrip("/").endswith("/sse") else "http"
    if named != "stdio" and not spec.url:
        raise ValueError(f"url: is required for transport.type {named}")
    return named


def _command(spec: StoreSpec, given: TransportSpec, preset: Preset) -> tuple[str, ...]:
    if spec.managed:  # whoever may add a store at run time must not be able to start programs
        raise ValueError("url: is required; a command (stdio) can come from the settings file only")
    base = [given.command] if given.command else preset.command
    if not base:
        raise ValueError(f"transport.command: is required, since type {spec.type} names no command of its own; or url")
    return (*base, *given.args)


def _headers(spec: StoreSpec) -> dict[str, str]:
    headers = dict(spec.headers)
    token = spec.token.get_secret_value() if spec.token is not None else ""
    if token:
        headers = {name: value for name, value in headers.items() if name.lower() != "authorization"}
        headers["authorization"] = f"Bearer {token}"
    return headers
