"""Other people's memories as stores, live: seeded by their own tools, asked through our server over stdio.

Each one comes back mapped (id, text, time), is `down` with a reason while it is dead, and is asked again when back.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters

from . import install
from .engines import Cluster, Over, cluster, recalled, signal_group, status_of, unread_request
from .ours import command
from .server import Port, Server

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="engines are stopped with POSIX signals")

QUESTION = "Hermes status"
TEXT = "Hermes is stopped since October; the status page says so."


def needs(missing: list[str], part: str) -> None:
    """Skip, or on CI fail, where an engine is not installed."""
    if not missing:
        return
    reason = f"not installed: {', '.join(missing)}; run `{install.COMMAND} {part}`"
    if os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """Ends whatever a test started."""
    with ExitStack() as all_of_it:
        yield all_of_it


async def wrote(transport: Any, tool: str, arguments: Mapping[str, Any]) -> None:
    """One call of an engine's own writing tool."""
    async with Client(transport) as client:
        result = await client.call_tool(tool, dict(arguments))
    assert not result.is_error, result.content


async def killed_while_asked(client: Client, child: int, question: str) -> dict[str, Any]:
    """The answer to a question in the middle of which a child is killed."""
    signal_group(child, signal.SIGSTOP)  # it takes the question and does not answer it
    answers: list[dict[str, Any]] = []

    async def ask() -> None:
        answers.append(await recalled(client, question))

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        await unread_request(child)
        signal_group(child, signal.SIGKILL)
    return answers[0]


async def check_killed(over: Over, store: str, question: str = QUESTION) -> dict[str, Any]:
    """A child that is killed in the middle of a question is down, and there again for the next one: its answer."""
    async with over.client() as client:
        first = await recalled(client, question)
        assert status_of(first, store)["status"] == "up", first["engines"]
        child = over.child()
        killed = await killed_while_asked(client, child, question)
        while status_of(killed, store)["status"] == "up":  # the kill came before the question: a new child was asked
            child = over.child()
            killed = await killed_while_asked(client, child, question)
        assert status_of(killed, store)["status"] == "down", killed
        assert killed["answer_kind"] == "unknown"
        again = await recalled(client, question)
        assert status_of(again, store)["status"] == "up", again["engines"]
        assert [hit["id"] for hit in again["hits"]] == [hit["id"] for hit in first["hits"]]
        assert over.child() != child
    return again


@pytest.fixture
def graph(tmp_path: Path) -> Over:
    """@modelcontextprotocol/server-memory with one entity in it."""
    needs(install.missing_npm(), "npm")
    environ = {"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl"), "PATH": install.npm_path()}
    program = str(install.npm_command("mcp-server-memory"))
    entity = {"name": "Hermes", "entityType": "service", "observations": [TEXT]}
    parameters = StdioServerParameters(command=program, args=[], env=environ)
    anyio.run(wrote, parameters, "create_entities", {"entities": [entity]})
    transport = {"type": "stdio", "command": program, "env": environ}
    return Over.stores(tmp_path / "over", [{"name": "graph", "type": "server-memory", "transport": transport}])


async def test_server_memory_gives_its_entity(graph: Over) -> None:
    async with graph.client() as client:
        answer = await recalled(client, QUESTION)
        full = await client.call_tool("fetch", {"id": "graph:Hermes"})
    (hit,) = answer["hits"]
    assert (hit["id"], hit["title"], hit["text"]) == ("graph:Hermes", "Hermes", TEXT)
    assert (hit["type"], "last_seen" in hit) == ("service", False)
    assert dict(full.structured_content or {})["text"] == TEXT


async def test_server_memory_killed_in_a_question_is_there_for_the_next(graph: Over) -> None:
    await check_killed(graph, "graph", "Hermes")  # one term, one call


def test_a_probe_shows_what_server_memory_said_beside_its_hit(graph: Over) -> None:
    ran = graph.run("stores", "probe", "graph", "--config", str(graph.config), "--query", QUESTION, "--json")
    seen = json.loads(ran.stdout)
    assert (ran.returncode, seen["probe"]["status"], seen["error"]) == (0, "up", None)
    calls = {call["arguments"]["query"].lower(): call for call in seen["calls"]}
    assert calls.keys() == {"hermes", "status"}
    assert {call["called"] for call in calls.values()} == {"search_nodes"}
    assert TEXT in calls["hermes"]["reply"][0]["text"]
    assert seen["hits"][0]["id"] == "Hermes"
    page = graph.run("stores", "probe", "graph", "--config", str(graph.config), "--query", QUESTION).stdout
    assert "call 1  search_nodes" in page and TEXT in page


def test_an_import_recognises_server_memory_and_writes_a_store_that_works(graph: Over, tmp_path: Path) -> None:
    (store,) = json.loads(graph.config.read_text(encoding="utf-8"))["stores"]
    how = store["transport"]
    servers = {
        "mine": {"command": how["command"], "env": {**how["env"], "API_TOKEN": "canary-7d1f"}},
        "callosum": {"command": "callosum-mcp"},
        "broken": {"command": "/bin/false"},
    }
    project = Over.stores(tmp_path / "project", [])
    (project.folder / ".mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    unasked = project.run("stores", "import", "--config", str(project.config))
    assert "would start" in unasked.stderr and "server-memory" not in unasked.stdout
    shown = project.run("stores", "import", ".mcp.json", "--dry-run", "--config", str(project.config))
    assert shown.stdout.startswith("stores:\n  # from ") and "type: server-memory" in shown.stdout
    assert "broken: failed" in shown.stderr and "callosum: left out" in shown.stderr
    written = project.run("stores", "import", "--yes", "--config", str(project.config))
    assert (written.returncode, "API_TOKEN" in written.stderr) == (0, True)
    assert "canary-7d1f" not in project.config.read_text(encoding="utf-8") + written.stdout + written.stderr
    ready = Over(folder=project.folder, environ={"API_TOKEN": "canary-7d1f"})
    found = json.loads(ready.run("recall", QUESTION, "--json", "--config", str(ready.config)).stdout)
    assert [hit["id"] for hit in found["hits"]] == ["mine:Hermes"]


@pytest.fixture
def notebook(tmp_path: Path) -> Over:
    """basic-memory with one note in it, its model off."""
    needs(install.missing_engines(), "engines")
    home = tmp_path / "notebook"
    home.mkdir()
    program = install.python_of(install.engines_venv()).with_name("basic-memory")
    environ = {"HOME": str(home), "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false", "PATH": os.environ["PATH"]}
    parameters = StdioServerParameters(command=str(program), args=["mcp"], env=environ)
    note = {"title": "Hermes status", "directory": "ops", "content": TEXT}
    anyio.run(wrote, parameters, "write_note", note)
    transport = {"type": "stdio", "command": str(program), "args": ["mcp"], "env": environ, "connect_timeout_s": 60}
    store = {"name": "notebook", "type": "basic-memory", "timeout_s": 60, "transport": transport}
    return Over.stores(tmp_path / "over", [store])


async def test_basic_memory_gives_its_note_and_is_there_again_after_it_was_killed(notebook: Over) -> None:
    (hit,) = (await check_killed(notebook, "notebook"))["hits"]
    assert (hit["id"], hit["title"], hit["path"]) == (
        "notebook:main/ops/hermes-status",
        "Hermes status",
        "ops/Hermes status.md",
    )
    assert TEXT in hit["text"]
    assert hit["last_seen"] and hit["tier"] == "recent-file"


CODE = 'def hash_token(value: str) -> str:\n    """Hash a token before it is stored."""\n    return value[::-1]\n'


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """A project that Serena knows, with one function in it."""
    needs(install.missing_engines(), "engines")
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    (project / "src" / "auth.py").write_text(CODE, encoding="utf-8")
    argv = [serena(), "project", "create", str(project), "--language", "python_jedi"]
    done = subprocess.run(argv, env=serena_environ(tmp_path), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return project


def serena() -> str:
    return str(install.python_of(install.engines_venv()).with_name("serena"))


def serena_environ(home: Path) -> dict[str, str]:
    path = os.pathsep.join([str(Path(serena()).parent), os.environ["PATH"]])  # of its language server, too
    return {"HOME": str(home), "PATH": path, "SERENA_USAGE_REPORTING": "false"}


def serena_arguments(project: Path) -> list[str]:
    silent = ["--enable-web-dashboard", "false"]
    return ["start-mcp-server", "--agent-interface", "tools", "--project", str(project), *silent]


def check_symbol(answer: Mapping[str, Any]) -> None:
    (hit,) = answer["hits"]
    assert (hit["id"], hit["path"]) == ("code:src/auth.py#hash_token", "src/auth.py:1")
    assert hit["text"].splitlines()[0] == CODE.splitlines()[0]
    assert hit["last_seen"]  # of the file, since Serena tells no time


async def test_serena_over_stdio_gives_the_symbol_and_survives_being_killed(code: Path, tmp_path: Path) -> None:
    transport = {
        "type": "stdio",
        "command": serena(),
        "args": [*serena_arguments(code), "--context", "ide-assistant"],
        "env": serena_environ(tmp_path),
    }
    options = {"last_seen": {"stat_root": str(code)}}
    store = {"name": "code", "type": "serena.find_symbol", "timeout_s": 60, "transport": transport, "options": options}
    over = Over.stores(tmp_path / "over", [store])
    check_symbol(await check_killed(over, "code", "where is hash_token defined"))


async def test_serena_over_sse_gives_the_symbol_again_after_its_restart(
    code: Path, tmp_path: Path, stack: ExitStack
) -> None:
    port = Port()
    arguments = [*serena_arguments(code), "--context", "desktop-app", "--transport", "sse", "--port", str(port.number)]
    folder = tmp_path / "sse"
    folder.mkdir()
    server = Server(
        name="serena",
        argv=[serena(), *arguments],
        folder=folder,
        home=tmp_path,
        port=port,
        environ=serena_environ(tmp_path),
        ready_path="/sse",
    )
    stack.callback(server.close)
    server.start()
    options = {"last_seen": {"stat_root": str(code)}}
    store = {
        "name": "code",
        "type": "serena.find_symbol",
        "url": f"{server.url}/sse",
        "timeout_s": 60,
        "options": options,
    }
    over = Over.stores(tmp_path / "over", [store])
    async with over.client() as client:
        check_symbol(await recalled(client, "where is hash_token defined"))
        await check_restarted(client, server, "code", "hash_token")


async def check_restarted(client: Client, server: Server | Cluster, store: str, question: str) -> None:
    """A server that is gone is down with a reason, and asked again when it is back."""
    await anyio.to_thread.run_sync(server.stop)
    down = status_of(await recalled(client, question), store)
    assert down["status"] == "down" and down["detail"], down
    await anyio.to_thread.run_sync(server.start)
    up = status_of(await recalled(client, question), store)
    assert (up["status"], up["hits"]) == ("up", 1), up


@pytest.mark.parametrize("endpoint", ["sse", "mcp"])
@pytest.mark.parametrize("protocol", ["auto", "legacy"])
async def test_a_callosum_is_a_store_of_another_one(
    tmp_path: Path, stack: ExitStack, endpoint: str, protocol: str
) -> None:
    below = tmp_path / "below"
    (below / "notes").mkdir(parents=True)
    (below / "notes" / "hermes.md").write_text(f"# Hermes status\n\n{TEXT}\n", encoding="utf-8")
    settings = {"stores": [{"name": "notes", "type": "notes", "url": str(below / "notes")}]}
    config = below / "callosum.yaml"
    config.write_text(json.dumps(settings), encoding="utf-8")
    port = Port()
    argv = [command(), "serve", "--transport", "http", "--port", str(port.number), "--config", config]
    server = Server(name="below", argv=argv, folder=below, home=below, port=port)
    stack.callback(server.close)
    server.start()
    transport = {"protocol": protocol}
    store = {"name": "office", "type": "callosum", "url": f"{server.url}/{endpoint}", "transport": transport}
    over = Over.stores(tmp_path / "over", [store])
    async with over.client() as client:
        answer = await recalled(client, QUESTION)
        (hit,) = answer["hits"]
        assert hit["id"].startswith("office:notes:hermes.md") and TEXT in hit["text"]
        assert hit["last_seen"]
        full = await client.call_tool("fetch", {"id": hit["id"]})
        assert TEXT in dict(full.structured_content or {})["text"]
        await check_restarted(client, server, "office", QUESTION)


async def test_a_server_of_mcp_1_over_sse_is_a_store_by_its_options_alone(
    mcp1_python: Path, tmp_path: Path, stack: ExitStack
) -> None:
    port = Port()
    script = Path(__file__).with_name("mcp1_server.py")
    folder = tmp_path / "old"
    folder.mkdir()
    argv = [mcp1_python, script, str(port.number), folder / "notes.jsonl"]
    server = Server(name="old", argv=argv, folder=folder, home=folder, port=port)
    stack.callback(server.close)
    server.start()
    note = {"note_id": "n1", "text": TEXT, "written": "2026-10-20T10:00:00Z"}
    await wrote(sse_client(f"{server.url}/sse"), "add_note", note)
    options = {
        "tool": "find_notes",
        "args": {"query": "{query}", "top": "{limit|int}"},
        "extract": [{"items": "$.notes[*]", "fields": {"id": "note_id", "snippet": "text", "last_seen": "written"}}],
    }
    store = {"name": "old", "type": "mcp", "url": f"{server.url}/sse", "options": options}
    over = Over.stores(tmp_path / "over", [store])
    async with over.client() as client:
        answer = await recalled(client, QUESTION)
        (hit,) = answer["hits"]
        assert (hit["id"], hit["text"], hit["last_seen"]) == ("old:n1", TEXT, "2026-10-20T10:00:00Z")
        await check_restarted(client, server, "old", QUESTION)


@pytest.fixture
def postgres(tmp_path: Path) -> Iterator[Cluster]:
    """A PostgreSQL server with one row in it."""
    needs(install.missing_postgres(), "postgres")
    import psycopg

    with cluster(tmp_path / "postgres") as running:
        with psycopg.connect(running.url, password=running.password, autocommit=True) as connection:
            connection.execute("CREATE TABLE memories (id int PRIMARY KEY, title text, body text, seen timestamptz)")
            row = (7, "Hermes status", TEXT, "2026-10-20T10:00:00Z")
            connection.execute("INSERT INTO memories VALUES (%s, %s, %s, %s)", row)
        yield running


def postgres_store(running: Cluster, **options: object) -> dict[str, Any]:
    columns = {"text_column": "body", "title_column": "title", "time_column": "seen"}
    return {
        "name": "table",
        "type": "postgres",
        "url": running.url,
        "token_env": "PG_PASSWORD",
        "timeout_s": 10,
        "options": {"table": "memories", **columns, **options},
    }


async def test_postgresql_gives_its_row_and_is_asked_again_after_its_restart(postgres: Cluster, tmp_path: Path) -> None:
    over = Over.stores(tmp_path / "over", [postgres_store(postgres)])
    over = Over(folder=over.folder, environ={"PG_PASSWORD": postgres.password})
    async with over.client() as client:
        answer = await recalled(client, QUESTION)
        (hit,) = answer["hits"]
        assert (hit["id"], hit["title"], hit["path"]) == ("table:7", "Hermes status", "memories/7")
        assert (hit["text"], hit["last_seen"]) == (TEXT, "2026-10-20T10:00:00Z")
        loose = await recalled(client, "Is anything known of the herm service?")
        assert status_of(loose, "table")["detail"] == "asked with any of its words"
        assert [hit["id"] for hit in loose["hits"]] == ["table:7"]
        assert dict((await client.call_tool("fetch", {"id": "table:7"})).structured_content or {})["text"] == TEXT
        await check_restarted(client, postgres, "table", QUESTION)


@pytest.mark.parametrize(
    ("changes", "reason", "said"),
    [
        (
            {"options": {"table": "memorys"}},
            "error",
            "there is no table memorys (option table); did you mean 'memories'?",
        ),
        ({"options": {"table": "memories", "text_column": "bdy"}}, "error", "has no column 'bdy' (option text_column)"),
        (
            {"options": {"table": "memories", "text_column": "body", "language": "klingon"}},
            "error",
            "(option language)",
        ),
        ({"token_env": "WRONG"}, "auth_failed", "refused the login"),
    ],
)
def test_a_wrong_setting_for_postgresql_is_named(
    postgres: Cluster, tmp_path: Path, changes: dict[str, Any], reason: str, said: str
) -> None:
    over = Over.stores(tmp_path / "over", [{**postgres_store(postgres), **changes}])
    over = Over(folder=over.folder, environ={"PG_PASSWORD": postgres.password, "WRONG": "wrong-password"})
    ran = over.run("stores", "probe", "--json", "--config", str(over.config))
    (store,) = json.loads(ran.stdout)["stores"]
    assert (store["health"]["status"], store["health"]["reason"]) == ("down", reason)
    assert said in store["health"]["detail"]
    assert postgres.password not in ran.stdout + ran.stderr


async def test_nothing_that_a_store_asks_postgresql_can_write(postgres: Cluster) -> None:
    """Not even a view that would."""
    import psycopg

    from callosum_mcp.adapters import registry
    from callosum_mcp.models.values import StoreQuery, StoreSpec
    from callosum_mcp.testing import check_adapter

    with psycopg.connect(postgres.url, password=postgres.password, autocommit=True) as connection:
        connection.execute("CREATE TABLE log (at timestamptz)")
        connection.execute(
            "CREATE FUNCTION touched() RETURNS text LANGUAGE sql VOLATILE AS "
            "$$INSERT INTO log VALUES (now()); SELECT 'Hermes was touched'::text$$"
        )
        connection.execute("CREATE VIEW spy AS SELECT 1 AS id, touched() AS text")
        url = postgres.url.replace("@", f":{postgres.password}@")
        spying = registry.create(StoreSpec(name="spy", type="postgres", url=url, options={"table": "spy"}))
        from callosum_mcp.errors import StoreFailed

        with pytest.raises(StoreFailed, match="read-only"):
            await spying.search(StoreQuery(text="hermes"))
        await spying.aclose()
        columns = {"text_column": "body", "title_column": "title", "time_column": "seen"}
        table = registry.create(StoreSpec(name="t", type="postgres", url=url, options={"table": "memories", **columns}))
        await check_adapter(table, "hermes")
        await table.aclose()
        count = connection.execute("SELECT count(*) FROM log").fetchone()
    assert count == (0,)
