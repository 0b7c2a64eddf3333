"""A client's server as a store: what is asked now, and what would be written.

Above: the command. Below: `clients`, `variables`. Pure. Both come from the same translated text: the one with its
secrets, since the server has to be asked, the other without.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from callosum_mcp.cli.importing.clients import Server
from callosum_mcp.cli.importing.variables import Variables, variable_name
from callosum_mcp.models.values import StoreSpec, TransportSpec

_NAME_CHARS = 64
_HEADER = re.compile(
    r"((?i:authorization|cookie|x-[a-z0-9-]+|[a-z-]*(?:key|token)):\s*|[A-Za-z-]+:\s+)(\S.*)", re.DOTALL
)
_PAIR = re.compile(r"(-{0,2}[A-Za-z_][A-Za-z0-9_-]*=)(.*)", re.DOTALL)


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One server, ready to be asked and to be written.

    Attributes:
        server: As the client has it.
        entry: The store's keys besides name, type and options; holds no secret.
        spec: The store to ask, secrets and all; None if a variable is missing, and `lacking` says which.
        lacking: Why it cannot be asked.
        needed: Variables that have to be set once it is written, and what each stands for.
    """

    server: Server
    entry: Mapping[str, Any] = field(default_factory=dict[str, Any])
    spec: StoreSpec | None = field(default=None, repr=False)
    lacking: str = ""
    needed: Mapping[str, str] = field(default_factory=dict[str, str])


def entry_of(server: Server, variables: Variables, *, here: bool) -> Entry:
    """What to ask and what to write.

    Args:
        server: As the client has it.
        variables: Translates its texts, and remembers the secrets taken out.
        here: Whether the settings file stands in the folder of the client's file; then a folder need not be named.
    """
    try:
        plain = _translated(server, variables, here=here)
        entry = dict(_written(server, plain, variables))
        return Entry(server=server, entry=entry, spec=_asked(server, plain, variables), needed=variables.needed)
    except ValueError as fault:
        return Entry(server=server, lacking=str(fault))


def _translated(server: Server, variables: Variables, *, here: bool) -> Server:
    """The server with its variables in our notation; secrets still stand in it."""
    now = variables.translated
    cwd = now(server.cwd)
    if server.kind == "stdio" and not (here and not cwd):
        cwd = str(Path(variables.folder, cwd))
    return Server(
        name=server.name,
        kind=server.kind,
        command=now(server.command),
        args=tuple(now(arg) for arg in server.args),
        env={name: now(value) for name, value in server.env.items()},
        cwd=cwd,
        url=now(server.url),
        headers={name: now(value) for name, value in server.headers.items()},
    )


def _asked(server: Server, plain: Server, variables: Variables) -> StoreSpec:
    """The store to ask, its variables replaced.

    Raises:
        ValueError: If a variable is not set.
    """
    real = variables.real
    transport = TransportSpec(
        type=plain.kind or "auto",
        command=real(plain.command),
        args=tuple(real(arg) for arg in plain.args),
        env={name: real(value) for name, value in plain.env.items()},
        cwd=real(plain.cwd),
    )
    headers = {name: real(value) for name, value in plain.headers.items()}
    return StoreSpec(name=server.name, type="mcp", url=real(plain.url), headers=headers, transport=transport)


def _written(server: Server, plain: Server, variables: Variables) -> Iterator[tuple[str, Any]]:
    where = f"of server {server.name}"
    token = variable_name(server.name, "token")
    if plain.url:
        yield "url", variables.hidden_url(plain.url, token, f"the secret in the url {where}")
        if plain.kind is not None and (plain.kind == "sse") != plain.url.partition("?")[0].rstrip("/").endswith("/sse"):
            yield "transport", {"type": plain.kind}
    else:
        yield "transport", dict(_command(server, plain, variables, where))
    headers = {
        name: variables.hidden_header(name, value, _header_variable(server.name, name), f"the header {name} {where}")
        for name, value in plain.headers.items()
    }
    if headers:
        yield "headers", headers


def _command(server: Server, plain: Server, variables: Variables, where: str) -> Iterator[tuple[str, Any]]:
    yield "type", "stdio"
    yield "command", plain.command
    if plain.args:
        yield "args", list(_args(server, plain.args, variables, where))
    env = {
        name: variables.hidden(value, name, variable_name(name), f"the variable {name} {where}")
        for name, value in plain.env.items()
    }
    if env:
        yield "env", env
    if plain.cwd:
        yield "cwd", plain.cwd


def _args(server: Server, args: tuple[str, ...], variables: Variables, where: str) -> Iterator[str]:
    """Arguments without secrets: ``--token X``, ``--token=X``, ``TOKEN=X``, ``Authorization: X``, whatever looks so."""
    flag = ""
    for arg in args:
        if (header := _HEADER.match(arg)) is not None:
            name, value = header.groups()
            variable = _header_variable(server.name, name.rstrip(": "))
            yield name + variables.hidden_header(name.rstrip(": "), value, variable, f"the argument {name}… {where}")
        elif (pair := _PAIR.match(arg)) is not None:
            name, value = pair.groups()
            bare = name.strip("-=")
            variable = variable_name(server.name, bare) if name.startswith("-") else variable_name(bare)
            yield name + variables.hidden(value, bare, variable, f"the argument {name}… {where}")
        elif arg.startswith("-"):
            yield arg
        else:
            variable = variable_name(server.name, flag.strip("-") or "token")
            yield variables.hidden(
                arg, flag, variable, f"the argument after {flag} {where}" if flag else f"an argument {where}"
            )
        flag = arg if arg.startswith("-") and "=" not in arg else ""


def _header_variable(server: str, header: str) -> str:
    return variable_name(server, "token" if header.lower() == "authorization" else header)


def store_name(wanted: str, taken: Collection[str]) -> str:
    """A name that a store may have and that none has."""
    base = re.sub(r"[^A-Za-z0-9_.-]+", "-", wanted).strip("-_.")[: _NAME_CHARS - 4] or "store"
    name, count = base, 1
    while name in taken:
        count += 1
        name = f"{base}-{count}"
    return name
