"""Clients' files as they really look: where they are, comments in them, every way of naming a server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callosum_mcp.cli.importing import jsonc
from callosum_mcp.cli.importing.clients import Listed, NoServersError, Server, read, server
from callosum_mcp.cli.importing.places import named, places

HERE = Path("/project")

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_plain_json_is_read_as_it_is(value: object) -> None:
    assert jsonc.parse(json.dumps(value)) == value
    assert jsonc.parse(json.dumps(value, indent=2, ensure_ascii=False)) == value


def test_comments_and_last_commas_are_passed_over_but_not_inside_strings() -> None:
    text = '\ufeff{ // a "comment"\n "url": "http://a//b", /* two\n lines, */ "list": ["//x", ",]",\n],\n}'
    assert jsonc.parse(text) == {"url": "http://a//b", "list": ["//x", ",]"]}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{\n// c\n"a" 1}', r"is not JSON: .* \(line 3\)"),
        ("[NaN]", "is not JSON: NaN is no value"),
        ("[" * 100_000, "is not JSON"),
        ("", "is not JSON"),
    ],
)
def test_what_is_no_json_is_refused_with_its_line(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        jsonc.parse(text)


FULL: dict[str, Any] = {"command": "npx", "args": ["-y", "x", 7], "env": {"A": "b", "N": 1, "F": False}, "cwd": "sub"}


@pytest.mark.parametrize(
    ("entry", "wanted"),
    [
        (
            FULL,
            Server(
                name="s",
                kind="stdio",
                command="npx",
                args=("-y", "x", "7"),
                env={"A": "b", "N": "1", "F": "false"},
                cwd="sub",
            ),
        ),
        ({"type": "local", "command": ["uvx", "y"]}, Server(name="s", kind="stdio", command="uvx", args=("y",))),
        ({"type": "http", "url": "http://h/mcp"}, Server(name="s", kind="http", url="http://h/mcp")),
        ({"type": "sse", "url": "http://h/x"}, Server(name="s", kind="sse", url="http://h/x")),
        ({"url": "http://h/x"}, Server(name="s", kind=None, url="http://h/x")),
        ({"transport": "streamable-http", "serverUrl": "http://h/x"}, Server(name="s", kind="http", url="http://h/x")),
        ({"url": "http://h", "headers": {"A": "b"}}, Server(name="s", kind=None, url="http://h", headers={"A": "b"})),
        (
            {"command": "x", "envFile": ".env"},
            Server(name="s", kind="stdio", command="x", remarks=("its envFile is not read",)),
        ),
    ],
)
def test_an_entry_is_read_whatever_its_client_calls_things(entry: object, wanted: Server) -> None:
    assert server("s", entry) == wanted


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"command": "x", "disabled": True}, "is switched off there"),
        ({"command": "x", "enabled": False}, "is switched off there"),
        ({}, "names neither a command nor a url"),
        ({"command": []}, "names neither a command nor a url"),
        ("x", "is not an object"),
    ],
)
def test_an_entry_that_cannot_be_asked_says_why(entry: object, said: str) -> None:
    assert read(json.dumps({"servers": {"s": entry}}), HERE) == Listed(left_out=(("s", said),))


@pytest.mark.parametrize(
    "root",
    [
        {"mcpServers": {"s": {"command": "x"}}},
        {"servers": {"s": {"command": "x"}}, "inputs": []},
        {"mcp": {"servers": {"s": {"command": "x"}}}},
        {"projects": {"/project": {"mcpServers": {"s": {"command": "x"}}}}, "mcpServers": {}},
        {"projects": {"/project": {"mcpServers": {"s": {"command": "x"}}}}, "mcpServers": {"s": {"command": "other"}}},
    ],
)
def test_servers_are_found_under_every_root(root: object) -> None:
    assert read(json.dumps(root), HERE).servers == (Server(name="s", kind="stdio", command="x"),)


def test_the_servers_of_another_project_are_nobodys() -> None:
    root = {"projects": {"/other": {"mcpServers": {"s": {"command": "x"}}}}}
    with pytest.raises(NoServersError, match="holds neither mcpServers nor servers"):
        read(json.dumps(root), HERE)


def test_a_list_is_no_file_of_a_client() -> None:
    with pytest.raises(ValueError, match="is not an object"):
        read("[]", HERE)


@pytest.mark.parametrize(
    ("platform", "environ", "wanted"),
    [
        ("linux", {}, ["/users/u/.config/Claude/claude_desktop_config.json", "/users/u/.config/Code/User/mcp.json"]),
        ("linux", {"XDG_CONFIG_HOME": "/cfg"}, ["/cfg/Claude/claude_desktop_config.json"]),
        (
            "darwin",
            {},
            [
                "/users/u/Library/Application Support/Claude/claude_desktop_config.json",
                "/users/u/.config/github-copilot/intellij/mcp.json",
            ],
        ),
        (
            "win32",
            {"APPDATA": "/roaming", "LOCALAPPDATA": "/local"},
            ["/roaming/Claude/claude_desktop_config.json", "/local/github-copilot/intellij/mcp.json"],
        ),
        ("win32", {}, ["/users/u/AppData/Roaming/Code/User/mcp.json"]),
        ("linux", {"COPILOT_HOME": "/copilot"}, ["/copilot/mcp-config.json", "/users/u/.claude.json"]),
        ("linux", {}, ["/users/u/.copilot/mcp-config.json", "/users/u/.mcp.json", "/project/.vs/mcp.json"]),
    ],
)
def test_each_platform_has_its_places(platform: str, environ: dict[str, str], wanted: list[str]) -> None:
    found = [place.path.as_posix() for place in places(HERE, Path("/users/u"), platform, environ)]
    assert set(wanted) <= set(found) and len(set(found)) == len(found)


def test_only_files_of_the_project_that_nobody_named_are_strangers() -> None:
    found = places(HERE, Path("/users/u"), "linux", {})
    assert {place.path.as_posix() for place in found if not place.trusted} == {
        "/project/.mcp.json",
        "/project/.vscode/mcp.json",
        "/project/.vs/mcp.json",
    }


@pytest.mark.parametrize(
    ("path", "folder"),
    [("/a/.vscode/mcp.json", "/a"), ("/a/.vs/mcp.json", "/a"), ("/a/.mcp.json", "/a"), ("/a/b/claude.json", "/a/b")],
)
def test_a_file_that_is_named_is_trusted_and_keeps_its_folder(path: str, folder: str) -> None:
    place = named(Path(path))
    assert (place.folder, place.trusted) == (Path(folder), True)
