"""A client's server as a store: no secret is written again, every variable is in our notation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callosum_mcp.cli.importing.clients import Server
from callosum_mcp.cli.importing.entries import Entry, entry_of, store_name
from callosum_mcp.cli.importing.variables import Variables, is_secret, variable_name
from callosum_mcp.models.requests import NAME_PATTERN

CANARY = "canary7d1f2e9b4c8a6d30"  # looks like nobody's word


def entry(server: Server, environ: Mapping[str, str] | None = None, *, here: bool = True) -> Entry:
    variables = Variables(folder=Path("/project"), home=Path("/users/u"), environ=environ or {})
    return entry_of(server, variables, here=here)


def started(*args: str, **env: str) -> Server:
    return Server(name="my store", kind="stdio", command="run", args=args, env=env)


@pytest.mark.parametrize(
    ("server", "written", "needed"),
    [
        (
            started(GITHUB_TOKEN="literal"),
            {"env": {"GITHUB_TOKEN": "${GITHUB_TOKEN}"}},
            {"GITHUB_TOKEN": "the variable GITHUB_TOKEN of server my store"},
        ),
        (started(PLAIN=CANARY), {"env": {"PLAIN": "${PLAIN}"}}, {"PLAIN": "the variable PLAIN of server my store"}),
        (started(LEVEL="debug", KEY_FILE="/etc/k"), {"env": {"LEVEL": "debug", "KEY_FILE": "/etc/k"}}, {}),
        (
            started("--token", "abc"),
            {"args": ["--token", "${MY_STORE_TOKEN}"]},
            {"MY_STORE_TOKEN": "the argument after --token of server my store"},
        ),
        (
            started("--api-key=abc"),
            {"args": ["--api-key=${MY_STORE_API_KEY}"]},
            {"MY_STORE_API_KEY": "the argument --api-key=… of server my store"},
        ),
        (
            started("-e", "API_KEY=abc"),
            {"args": ["-e", "API_KEY=${API_KEY}"]},
            {"API_KEY": "the argument API_KEY=… of server my store"},
        ),
        (
            started("--header", "Authorization: Bearer abc"),
            {"args": ["--header", "Authorization: Bearer ${MY_STORE_TOKEN}"]},
            {"MY_STORE_TOKEN": "the argument Authorization: … of server my store"},
        ),
        (
            started(CANARY),
            {"args": ["${MY_STORE_TOKEN}"]},
            {"MY_STORE_TOKEN": "an argument of server my store"},
        ),
        (
            started("postgresql://u:pw@host/db", "https://host/x?api_key=abc&page=2"),
            {"args": ["postgresql://u:${MY_STORE_TOKEN}@host/db", "https://host/x?api_key=${MY_STORE_TOKEN_2}&page=2"]},
            {
                "MY_STORE_TOKEN": "an argument of server my store",
                "MY_STORE_TOKEN_2": "an argument of server my store",
            },
        ),
        (
            started("-y", "@scope/pkg@1.2.3", "--port", "80", "C:\\x"),
            {"args": ["-y", "@scope/pkg@1.2.3", "--port", "80", "C:\\x"]},
            {},
        ),
    ],
)
def test_a_literal_secret_becomes_a_variable_that_is_told(
    server: Server, written: dict[str, Any], needed: dict[str, str]
) -> None:
    made = entry(server)
    assert made.entry["transport"] == {"type": "stdio", "command": "run", **written}
    assert made.needed == needed
    assert made.spec is not None and made.spec.transport is not None
    assert (made.spec.transport.args, made.spec.transport.env) == (server.args, server.env)  # asked as it is


@pytest.mark.parametrize(
    ("headers", "written", "needed"),
    [
        ({"Authorization": "Bearer abc"}, {"Authorization": "Bearer ${REMOTE_TOKEN}"}, ["REMOTE_TOKEN"]),
        ({"X-Team": "abc"}, {"X-Team": "${REMOTE_X_TEAM}"}, ["REMOTE_X_TEAM"]),
        ({"Accept": "text/plain"}, {"Accept": "text/plain"}, []),
        ({"Authorization": "Bearer ${TOKEN}"}, {"Authorization": "Bearer ${TOKEN}"}, ["TOKEN"]),
        ({"X-Key": "${env:TOKEN}"}, {"X-Key": "${TOKEN}"}, ["TOKEN"]),
        ({"X-Key": "${input:my-key}"}, {"X-Key": "${MY_KEY}"}, ["MY_KEY"]),
        ({"X-Key": "${TOKEN:-none}"}, {"X-Key": "${TOKEN}"}, ["TOKEN"]),
        ({"Accept": "${KIND:-text/plain}"}, {"Accept": "${KIND:-text/plain}"}, []),
        ({"X-Key": f"${{TOKEN:-{CANARY}}}"}, {"X-Key": "${TOKEN}"}, ["TOKEN"]),
        ({"X-Key": "${command:ext.token}"}, {"X-Key": "${COMMAND_EXT_TOKEN}"}, ["COMMAND_EXT_TOKEN"]),
    ],
)
def test_headers_keep_references_and_lose_values(
    headers: dict[str, str], written: dict[str, str], needed: list[str]
) -> None:
    made = entry(Server(name="remote", kind="http", url="http://h/mcp", headers=headers))
    if made.lacking:
        assert "needs a variable that is not set" in made.lacking
        made = entry(
            Server(name="remote", kind="http", url="http://h/mcp", headers=headers), dict.fromkeys(needed, "value")
        )
        assert made.needed == {}
    else:
        assert list(made.needed) == needed
    assert made.entry == {"url": "http://h/mcp", "headers": written}


def test_a_variable_that_holds_another_value_already_is_left_alone() -> None:
    made = entry(started(API_KEY="mine", OTHER_KEY="yours"), {"API_KEY": "someone else's", "OTHER_KEY": "yours"})
    assert made.entry["transport"]["env"] == {"API_KEY": "${API_KEY_2}", "OTHER_KEY": "${OTHER_KEY}"}
    assert list(made.needed) == ["API_KEY_2"]


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz0123456789", min_size=16, max_size=40), st.integers(0, 7))
def test_nothing_that_looks_like_a_token_is_written(secret: str, at: int) -> None:
    token = f"a1{secret}"
    server = [
        started(token),
        started(f"--x={token}"),
        started(X=token),
        Server(name="s", kind="http", url=f"http://h/{token}/mcp"),
        Server(name="s", kind="http", url=f"http://h/mcp?x={token}"),
        Server(name="s", kind="http", url=f"http://u:{token}@h/mcp"),
        Server(name="s", kind="http", url="http://h/mcp", headers={"X": token}),
        started("--header", f"Authorization:Bearer {token}"),
    ][at]
    made = entry(server)
    assert made.spec is not None
    assert token not in json.dumps(dict(made.entry)) + json.dumps(dict(made.needed)) + repr(made)


def test_places_of_a_client_become_paths() -> None:
    made = entry(started("${workspaceFolder}/x", "${userHome}/y", "${workspaceFolderBasename}"))
    assert made.entry["transport"]["args"] == ["/project/x", "/users/u/y", "project"]


@pytest.mark.parametrize(
    ("cwd", "here", "written"),
    [("", True, None), ("", False, "/project"), ("sub", True, "/project/sub"), ("/abs", False, "/abs")],
)
def test_a_program_starts_where_its_client_would_start_it(cwd: str, here: bool, written: str | None) -> None:
    made = entry(Server(name="s", kind="stdio", command="x", cwd=cwd), here=here)
    assert made.entry["transport"].get("cwd") == written


@pytest.mark.parametrize(
    ("kind", "url", "transport"),
    [
        ("sse", "http://h/sse", None),
        ("sse", "http://h/events", {"type": "sse"}),
        ("http", "http://h/mcp", None),
        ("http", "http://h/sse", {"type": "http"}),
        (None, "http://h/mcp", None),
    ],
)
def test_a_transport_is_written_only_where_the_url_does_not_tell(
    kind: Any, url: str, transport: dict[str, str] | None
) -> None:
    assert entry(Server(name="s", kind=kind, url=url)).entry.get("transport") == transport


@pytest.mark.parametrize(
    ("server", "said"),
    [
        (started("${x"), "holds a ${ that names no variable"),
        (started("${NOPE}"), "needs a variable that is not set: NOPE (the file names it, and it is not set here)"),
        (started("${input:key}"), "needs a variable that is not set: KEY (the client asks for key)"),
    ],
)
def test_a_server_that_cannot_be_asked_says_what_it_lacks(server: Server, said: str) -> None:
    assert entry(server) == Entry(server=server, lacking=said)


@pytest.mark.parametrize(
    ("label", "value", "secret"),
    [
        ("Authorization", "x", True),
        ("apiKey", "x", True),
        ("DB_PASSWORD", "x", True),
        ("PASSWORD_FILE", "/run/x", False),
        ("MODEL", "all-minilm-l6-v2", False),
        ("X", "sk-abc", True),
        ("X", "ghp_abcdef", True),
        ("X", "123e4567-e89b-12d3-a456-426614174000", True),
        ("PATH", "/usr/local/bin:/usr/bin", False),
        ("X", "keyboard", False),
    ],
)
def test_what_may_be_a_secret(label: str, value: str, secret: bool) -> None:
    assert is_secret(label, value) is secret


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        (("my store", "token"), "MY_STORE_TOKEN"),
        (("9x",), "STORE_9X"),
        (("callosum_x",), "STORE_CALLOSUM_X"),
        (("",), "SECRET"),
    ],
)
def test_a_variable_has_a_name_that_every_shell_takes(parts: tuple[str, ...], name: str) -> None:
    assert variable_name(*parts) == name


@given(st.text(max_size=100), st.sets(st.text(max_size=8), max_size=4))
def test_a_store_gets_a_valid_name_of_its_own(wanted: str, taken: set[str]) -> None:
    import re

    first = store_name(wanted, taken)
    second = store_name(wanted, {*taken, first})
    assert re.fullmatch(NAME_PATTERN, first) and re.fullmatch(NAME_PATTERN, second)
    assert first not in taken and second != first
