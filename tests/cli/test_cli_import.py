"""``callosum-mcp stores import``: what clients are set up with, asked, shown, and written once somebody said yes."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from support.replay_engine import DATA, ReplayEngine, captured, served, stdio_command

from callosum_mcp.adapters.engine import catalog
from callosum_mcp.adapters.engine.advertised import Advertised, tool_of
from callosum_mcp.cli.importing import command as importing
from callosum_mcp.cli.importing.clients import Server
from callosum_mcp.cli.importing.command import Console, Order, import_stores
from callosum_mcp.cli.importing.deciding import Verdict, decided, is_this_program
from callosum_mcp.cli.importing.entries import entry_of
from callosum_mcp.cli.importing.looking import Look
from callosum_mcp.cli.importing.recognising import Recognised, recognised
from callosum_mcp.cli.importing.variables import Variables

from .shell import Shell

TOOL_NAMES: dict[str, list[str]] = json.loads((DATA.parent / "clients" / "tool_names.json").read_text(encoding="utf-8"))
"""Names of all tools of the recorded servers."""

PRESETS = [catalog.load(name) for name in catalog.names()]


def advertised(product: str) -> Advertised:
    """All tools of a recorded server; the schemas of those that a preset uses."""
    schemas = {tool["name"]: tool["inputSchema"] for tool in captured(f"{product}/tools")}
    names = TOOL_NAMES.get(product, list(schemas))
    return Advertised(tools={name: tool_of(schemas.get(name, {})) for name in {*names, *schemas}})


@pytest.mark.parametrize(
    ("product", "kind", "others"),
    [
        ("basic-memory", "basic-memory", ()),
        ("brainrouter", "brainrouter", ()),
        ("callosum", "callosum", ()),
        ("chroma", "chroma", ()),
        ("codebase-memory-mcp", "codebase-memory-mcp", ()),
        ("graphiti", "graphiti.facts", ("graphiti.nodes",)),
        ("mcp-memory-service", "mcp-memory-service", ()),
        ("mem0", "mem0", ()),
        ("memgraph", "memgraph", ()),
        ("qdrant", "qdrant", ()),
        ("serena", "serena.find_symbol", ("serena.references",)),
        ("serena-sse", "serena.find_symbol", ("serena.references", "serena.pattern")),
        ("server-memory", "server-memory", ()),
    ],
)
def test_every_recorded_server_is_recognised_by_its_tools(product: str, kind: str, others: tuple[str, ...]) -> None:
    found = recognised(advertised(product), PRESETS)
    assert (found.type, found.others) == (kind, others)


def test_a_server_that_only_shares_a_tools_name_is_not_taken_for_the_product() -> None:
    other = Advertised(tools={"search_nodes": tool_of({"properties": {"text": {}}, "required": ["text"]})})
    assert recognised(other, PRESETS) == Recognised()
    wants_more = tool_of({"properties": {"query": {}, "customer": {}}, "required": ["query", "customer"]})
    assert recognised(Advertised(tools={"qdrant-find": wants_more}), PRESETS) == Recognised()


def test_what_nobody_can_find_out_is_missing() -> None:
    assert recognised(advertised("chroma"), PRESETS).missing == ("collection",)
    assert recognised(advertised("codebase-memory-mcp"), PRESETS).missing == ()


def verdict(
    tools: Mapping[str, Any] | Advertised, *, url: str = "http://127.0.0.1:7423/mcp", command: str = ""
) -> Verdict:
    given = Server(name="s", kind="stdio" if command else None, url=url, command=command)
    entry = entry_of(given, Variables(folder=Path("/p"), home=Path("/h"), environ={}), here=True)
    found = tools if isinstance(tools, Advertised) else Advertised(tools={name: tool_of({}) for name in tools})
    return decided(entry, Look(advertised=found), PRESETS, frozenset({7423}))


def test_callosum_is_left_out_where_it_is_this_one_and_taken_elsewhere() -> None:
    own = advertised("callosum")
    assert verdict(own).state == "left out"
    assert verdict(own, url="http://127.0.0.1:7999/sse").entry == {
        "type": "callosum",
        "url": "http://127.0.0.1:7999/sse",
    }
    assert verdict(own, url="https://memories.example.org/mcp").state == "new"


@pytest.mark.parametrize(
    ("kind", "tools"),
    [
        ("seren_memory", ["preserve_memory_verbatim", "look_at_memory", "where_else"]),
        ("seren_loci", ["search_loci", "fact_history", "still_holds"]),
    ],
)
def test_a_seren_server_becomes_a_store_of_its_own_type(kind: str, tools: list[str]) -> None:
    found = verdict(dict.fromkeys(tools), url="http://127.0.0.1:7420/mcp/")
    assert (found.state, found.entry) == ("new", {"type": kind, "url": "http://127.0.0.1:7420"})
    started = verdict(dict.fromkeys(tools), url="", command="python")
    assert (started.state, started.type) == ("fill in", kind)


def test_a_server_without_a_preset_is_unknown_and_its_tools_are_named() -> None:
    assert "(a, b)" in verdict({"a": {}, "b": {}}).said
    assert "and 3 more" in verdict({f"tool{at}": {} for at in range(11)}).said
    assert verdict({}).said == "offers no tools"


@pytest.mark.parametrize(
    ("server", "own"),
    [
        (Server(name="s", kind="stdio", command="/x/callosum-mcp"), True),
        (Server(name="s", kind="stdio", command="callosum-mcp.exe", args=("serve",)), True),
        (Server(name="s", kind="stdio", command="python", args=("-m", "callosum_mcp")), True),
        (Server(name="s", kind="stdio", command="callosum-mcp", args=("serve", "--config", "/p/callosum.yaml")), True),
        (Server(name="s", kind="stdio", command="callosum-mcp", args=("serve", "-c", "/other.yaml")), False),
        (Server(name="s", kind="stdio", command="callosum-mcp", env={"CALLOSUM_CONFIG": "/other.yaml"}), False),
        (Server(name="s", kind="stdio", command="callosum-mcp", args=("connect", "http://h/mcp")), False),
        (Server(name="s", kind="stdio", command="npx", args=("-y", "x")), False),
    ],
)
def test_a_program_is_this_one_if_it_runs_with_these_settings(server: Server, own: bool) -> None:
    assert is_this_program(server, Path("/p/callosum.yaml")) is own


@pytest.fixture
def graph() -> ReplayEngine:
    """server-memory as it was recorded, its tools all there."""
    known = {tool["name"]: tool for tool in captured("server-memory/tools")}
    tools = [known.get(name, {"name": name, "inputSchema": {"type": "object"}}) for name in TOOL_NAMES["server-memory"]]
    return ReplayEngine(tools=tools)


@pytest.fixture
def url(graph: ReplayEngine) -> Generator[str]:
    """It, behind HTTP and SSE."""
    with served(graph) as place:
        yield place


def client_file(shell: Shell, servers: Mapping[str, Any], name: str = ".mcp.json") -> Path:
    path = shell.cwd / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("// servers\n" + json.dumps({"mcpServers": servers}), encoding="utf-8")
    return path


def test_a_dry_run_prints_the_stores_and_writes_nothing(shell: Shell, url: str) -> None:
    client_file(shell, {"my graph": {"url": f"{url}/mcp", "headers": {"Authorization": "Bearer canary-7d1f"}}})
    ran = shell.run("stores", "import", "--dry-run")
    assert yaml.safe_load(ran.out) == {
        "stores": [
            {
                "name": "my-graph",
                "type": "server-memory",
                "url": f"{url}/mcp",
                "headers": {"Authorization": "Bearer ${MY_GRAPH_TOKEN}"},
            }
        ]
    }
    assert "my graph: new server-memory — recognised by its tools" in ran.err
    assert "MY_GRAPH_TOKEN  (the header Authorization of server my graph)" in ran.err
    assert (ran.code, [path.name for path in shell.cwd.iterdir()]) == (0, [".mcp.json"])
    assert "canary-7d1f" not in ran.out + ran.err


def test_nobody_asked_means_nothing_written_and_how_to(shell: Shell, url: str) -> None:
    client_file(shell, {"graph": {"url": f"{url}/mcp"}})
    ran = shell.run("stores", "import")
    assert (ran.code, "--yes" in ran.err, "--dry-run" in ran.err) == (1, True, True)
    assert [path.name for path in shell.cwd.iterdir()] == [".mcp.json"]


def test_a_yes_appends_to_the_settings_in_force_and_keeps_the_old_file(shell: Shell, url: str) -> None:
    config = shell.cwd / "callosum.yaml"
    config.write_text("# mine\nstores:\n  - { name: graph, type: notes, url: . } # notes\n", encoding="utf-8")
    client_file(shell, {"graph": {"url": f"{url}/sse"}})
    ran = shell.run("stores", "import", "--yes")
    assert (ran.code, ran.err) == (0, "")
    assert f"{config}: 1 appended; the file as it was: {config}.bak" in ran.out
    text = config.read_text(encoding="utf-8")
    assert text.startswith("# mine\nstores:\n  - { name: graph, type: notes, url: . } # notes\n  # from ")
    assert [store["name"] for store in yaml.safe_load(text)["stores"]] == ["graph", "graph-2"]
    again = shell.run("stores", "import", "--yes")
    assert "graph: left out — is store graph-2 already" in again.out
    assert "nothing to append" in again.err and config.read_text(encoding="utf-8") == text


def test_settings_are_made_where_there_are_none(shell: Shell, url: str) -> None:
    client_file(shell, {"graph": {"url": f"{url}/mcp"}})
    assert shell.run("stores", "import", "--yes", "--to", "new.yaml").code == 0
    names = [store["name"] for store in yaml.safe_load((shell.cwd / "new.yaml").read_text(encoding="utf-8"))["stores"]]
    assert names == ["notes", "graph"]


def test_settings_that_would_not_load_are_not_written(shell: Shell, url: str) -> None:
    (shell.cwd / "callosum.yaml").write_text("stores: []\nserver: {prot: 1}\n", encoding="utf-8")
    client_file(shell, {"graph": {"url": f"{url}/mcp"}})
    ran = shell.run("stores", "import", "--yes")
    assert (ran.code, "server.prot: is unknown" in ran.err) == (2, True)
    assert (shell.cwd / "callosum.yaml").read_text(encoding="utf-8") == "stores: []\nserver: {prot: 1}\n"


def test_every_server_gets_a_line_that_says_what_became_of_it(shell: Shell, url: str, nobody: str) -> None:
    servers = {
        "graph": {"url": f"{url}/mcp"},
        "twin": {"type": "sse", "url": f"{url}/sse"},
        "gone": {"type": "http", "url": f"{nobody}/mcp"},
        "off": {"url": url, "disabled": True},
        "unset": {"url": f"{url}/mcp?x=${{NO_SUCH_VARIABLE}}"},
        "callosum": {"command": "callosum-mcp"},
        "socket": {"url": "unix:///run/memory.sock"},
    }
    client_file(shell, servers)
    out = shell.run("stores", "import", "--yes").out
    assert ": graph: new server-memory — recognised by its tools\n" in out
    assert ": twin: left out — is the same server as graph of " in out
    assert ": gone: failed — refused: no connection: nothing listens at its address\n" in out
    assert ": socket: failed — error: url: must start with http:// or https:// and name a host\n" in out
    assert ": off: left out — is switched off there\n" in out
    assert ": unset: left out — needs a variable that is not set: NO_SUCH_VARIABLE" in out
    assert ": callosum: left out — is callosum-mcp itself\n" in out


class OnlySse(ReplayEngine):
    """An SSE server as most are: its stream takes no POST."""

    def app(self) -> ASGIApp:
        inner = super().app()

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            refused = scope["type"] == "http" and scope["method"] == "POST" and scope["path"] == "/sse"
            await (Response(status_code=405) if refused else inner)(scope, receive, send)

        return app


def test_a_url_that_turns_out_to_speak_sse_is_written_so(shell: Shell, graph: ReplayEngine) -> None:
    with served(OnlySse(tools=graph.tools)) as place:
        client_file(shell, {"graph": {"url": f"{place}/%73se"}})
        out = shell.run("stores", "import", "--dry-run").out
    (store,) = yaml.safe_load(out)["stores"]
    assert (store["type"], store["transport"]) == ("server-memory", {"type": "sse"})


def test_a_program_of_the_projects_file_is_not_started_unasked(
    shell: Shell, graph: ReplayEngine, tmp_path: Path
) -> None:
    command, *args = stdio_command(graph, tmp_path)
    client_file(shell, {"graph": {"command": command, "args": args}})
    unasked = shell.run("stores", "import", "--dry-run")
    assert (unasked.out, "graph: would start " in unasked.err) == ("", True)
    assert "its program was not started; --yes starts it" in unasked.err
    named = shell.run("stores", "import", "--dry-run", ".mcp.json")
    (store,) = yaml.safe_load(named.out)["stores"]
    assert store["transport"] == {"type": "stdio", "command": command, "args": args}


def test_a_preset_that_wants_more_is_shown_to_be_filled_in(shell: Shell) -> None:
    with served(ReplayEngine(tools=captured("chroma/tools"))) as place:
        client_file(shell, {"docs": {"url": f"{place}/mcp"}})
        ran = shell.run("stores", "import", "--yes")
    assert "docs: fill in chroma — recognised, but needs collection under options" in ran.out
    assert "options:\n      collection: <collection>" in ran.err
    assert not (shell.cwd / "callosum.yaml").exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "does not exist"),
        ("{", "is not JSON"),
        ("{}", "holds neither mcpServers nor servers"),
        (b"\xff", "UTF-8"),
    ],
)
def test_a_named_file_that_cannot_be_used_is_exit_2(shell: Shell, content: str | bytes | None, said: str) -> None:
    path = shell.cwd / "mcp.json"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    ran = shell.run("stores", "import", "mcp.json")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"callosum-mcp: {path}: ") and said in ran.err


def test_a_broken_file_that_nobody_named_is_told_and_passed_over(shell: Shell) -> None:
    (shell.cwd / ".mcp.json").write_text("{", encoding="utf-8")
    (shell.cwd / ".vs").mkdir()
    (shell.cwd / ".vs" / "mcp.json").write_text("{}", encoding="utf-8")
    ran = shell.run("stores", "import")
    assert ran.out.splitlines() == [
        f"{shell.cwd / '.mcp.json'}: is not JSON: Expecting property name enclosed in double quotes (line 1)",
        "no MCP server is set up in any file that was looked at",
    ]


def console(shell: Shell, answers: list[bool], said: list[str]) -> Console:
    def ask(question: str) -> bool:
        said.append(question)
        return answers.pop(0)

    environ = dict(os.environ)
    return Console(cwd=shell.cwd, home=shell.cwd, environ=environ, show=said.append, say=said.append, ask=ask)


def test_a_person_is_asked_before_a_program_starts_and_before_anything_is_written(
    shell: Shell, graph: ReplayEngine, tmp_path: Path
) -> None:
    command, *args = stdio_command(graph, tmp_path)
    client_file(shell, {"graph": {"command": command, "args": args}})
    said: list[str] = []
    assert import_stores(Order(), console(shell, [True, False], said)) == 0
    config = shell.cwd / "callosum.yaml"
    assert said[1] == "Start these programs to see what they offer?"
    assert said[-2:] == [f"Append graph to {config}?", "nothing was written"]
    assert not config.exists()
    assert import_stores(Order(), console(shell, [True, True], said)) == 0
    assert config.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal is POSIX's")
def test_a_terminal_asks_and_no_is_the_default(shell: Shell, url: str) -> None:
    import pty
    import subprocess

    from .shell import command as cli
    from .shell import process_environ

    client_file(shell, {"graph": {"url": f"{url}/mcp"}})
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        cli("stores", "import"), cwd=shell.cwd, env=process_environ(), stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    shown = b""
    while b"[y/N]" not in shown:
        shown += os.read(ours, 65_536)
    os.write(ours, b"\n")
    assert process.wait(60) == 0
    os.close(ours)
    assert not (shell.cwd / "callosum.yaml").exists()


def test_a_server_that_says_nothing_is_given_up(shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(importing, "LOOK_S", 0.3)
    silent = tmp_path / "silent.py"
    silent.write_text("import sys; sys.stdin.read()\n", encoding="utf-8")
    client_file(shell, {"silent": {"command": sys.executable, "args": [str(silent)]}})
    out = shell.run("stores", "import", "--yes").out
    assert "silent: failed — timeout: was not connected within 0.3 s" in out
