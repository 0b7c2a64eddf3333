"""The command itself: help, version, exit codes, and what goes to which stream."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from callosum_mcp import __version__

from .shell import PROCESS_S, FakeMemory, Shell, command, process_environ, store

COMMANDS = ("serve", "recall", "stores", "doctor", "demo", "schema", "connect")


def test_help_names_every_command_and_the_exit_codes(shell: Shell) -> None:
    ran = shell.run("--help")
    assert (ran.code, ran.err) == (0, "")
    assert [name for name in COMMANDS if f"\n    {name}" not in ran.out] == []
    assert "exit codes: 0 answered · 1 every store failed · 2 wrong usage or settings" in ran.out
    assert "0 all well · 10 some stores down · 11 none answers · 12 settings broken" in ran.out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_help_of_its_own(shell: Shell, name: str) -> None:
    ran = shell.run(name, "--help")
    assert (ran.code, ran.err, ran.out.startswith(f"usage: callosum-mcp {name}")) == (0, "", True)


def test_the_version_is_the_packages(shell: Shell) -> None:
    assert shell.run("--version").out == f"callosum-mcp {__version__}\n"


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_at_a_terminal_the_bare_command_shows_help(shell: Shell) -> None:
    import pty

    terminal, ours = pty.openpty()
    try:
        ended = subprocess.run(
            command(), cwd=shell.cwd, stdin=ours, capture_output=True, timeout=PROCESS_S, check=False
        )
    finally:
        os.close(terminal)
        os.close(ours)
    assert (ended.returncode, ended.stderr, ended.stdout.startswith(b"usage: callosum-mcp")) == (0, b"", True)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
def test_without_any_input_the_bare_command_shows_help(shell: Shell) -> None:
    ended = subprocess.run(
        ["sh", "-c", '"$@" <&-', "sh", *command()], cwd=shell.cwd, capture_output=True, timeout=PROCESS_S, check=False
    )
    assert (ended.returncode, ended.stderr, ended.stdout.startswith(b"usage: callosum-mcp")) == (0, b"", True)


@pytest.mark.parametrize("arguments", [[], ["--config", "callosum.yaml"], ["serve", "-c", "callosum.yaml"]])
def test_without_a_terminal_it_serves_until_its_input_ends(shell: Shell, arguments: list[str]) -> None:
    shell.config([])
    ran = shell.spawn(*arguments)
    assert (ran.code, ran.out, ran.err) == (0, "", "")


@pytest.mark.parametrize("arguments", [["--config", "nowhere.yaml"], ["serve", "--config", "nowhere.yaml"]])
def test_a_server_whose_settings_are_broken_does_not_start(shell: Shell, arguments: list[str]) -> None:
    ran = shell.spawn(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"callosum-mcp: {shell.cwd / 'nowhere.yaml'}: does not exist; check --config or CALLOSUM_CONFIG\n"


@pytest.mark.parametrize("place", ["before", "after"])
def test_the_settings_file_may_be_named_before_or_after_the_command(shell: Shell, place: str) -> None:
    named = shell.config([store("only", "http://127.0.0.1:9")]).rename(shell.cwd / "named.yaml")
    option = ["--config", str(named)]
    ran = shell.run(*option, "stores", "list") if place == "before" else shell.run("stores", "list", *option)
    assert (ran.code, ran.out.startswith("only: seren_memory http://127.0.0.1:9 (base")) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nonsense"], "argument COMMAND: invalid choice: 'nonsense'"),
        (["recall"], "the following arguments are required: query"),
        (["recall", "x", "--nope"], "unrecognized arguments: --nope"),
        (["recall", "x", "--detail", "all"], "argument --detail: invalid choice: 'all'"),
        (["stores"], "the following arguments are required: ACTION"),
        (["stores", "add", "a"], "the following arguments are required: type, url"),
        (["serve", "--port", "70000"], "argument --port: must be a number from 0 to 65535 (got '70000')"),
        (["serve", "--port", "seven"], "argument --port: must be a number from 0 to 65535 (got 'seven')"),
        (["serve", "--transport", "pigeon"], "argument --transport: invalid choice: 'pigeon'"),
    ],
)
def test_wrong_usage_is_exit_2_with_the_argument_on_stderr(shell: Shell, arguments: list[str], said: str) -> None:
    ran = shell.run(*arguments)
    assert (ran.code, ran.out, said in ran.err) == (2, "", True)


@pytest.mark.parametrize(
    "arguments",
    [["recall", "x"], ["stores", "list"], ["stores", "probe"], ["stores", "add", "a", "notes", "x"], ["serve"]],
)
def test_broken_settings_are_exit_2_with_file_and_line_on_stderr(shell: Shell, arguments: list[str]) -> None:
    path = shell.cwd / "callosum.yaml"
    path.write_text("server:\n  prot: 1\n", encoding="utf-8")
    ran = shell.run(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"callosum-mcp: {path}, line 2: server.prot: is unknown; did you mean 'port'?\n"


def test_a_url_to_connect_to_that_is_none_is_exit_2(shell: Shell) -> None:
    ran = shell.run("connect", "ftp://somewhere")
    assert (ran.code, ran.out, ran.err) == (2, "", "callosum-mcp: url: must start with http:// or https://\n")


def test_a_reader_who_wants_no_more_ends_the_command_without_a_word(shell: Shell) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ended = subprocess.run(
            command("schema"), stdout=writing, stderr=subprocess.PIPE, timeout=PROCESS_S, check=False
        )
    finally:
        os.close(writing)
    assert (ended.returncode, ended.stderr) == (141, b"")


def test_a_reader_who_went_while_it_was_written_ends_it_the_same_way(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w", encoding="utf-8") as closed:
        monkeypatch.setattr(sys, "stdout", closed)
        ran = shell.run("schema")
    assert (ran.code, ran.err) == (141, "")


def test_an_output_of_another_kind_is_written_as_it_is(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    class Plain(io.StringIO):
        encoding = "utf-8"

    plain = Plain()
    monkeypatch.setattr(sys, "stdout", plain)
    monkeypatch.setattr(sys, "stdin", None)
    assert (shell.run().code, plain.getvalue().startswith("usage: callosum-mcp")) == (0, True)


def test_a_port_that_is_taken_is_exit_2_with_what_to_do(shell: Shell, nobody: str) -> None:
    port = nobody.rpartition(":")[2]
    shell.config([])
    ran = shell.run("serve", "--transport", "http", "--port", port)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"callosum-mcp: cannot listen on 127.0.0.1 port {port} (")
    assert ran.err.endswith("; choose another with --port\n")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other signals")
def test_an_interrupt_ends_the_command_without_a_trace(shell: Shell, memory: FakeMemory) -> None:
    import threading

    memory.gate = threading.Event()
    shell.config([store("slow", memory.url)])
    with subprocess.Popen(
        command("recall", "x"), cwd=shell.cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert memory.asked.wait(PROCESS_S)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PROCESS_S)
    assert (process.returncode, out, err) == (130, b"", b"")


def test_an_output_that_lacks_a_character_still_gets_the_rest(shell: Shell, memory: FakeMemory) -> None:
    memory.hits[0]["content"] = "狐 is \U0001f98a"
    shell.config([store("memory", memory.url)])
    ascii_only = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    page, whole = (shell.spawn("recall", "狐", *more, environ=ascii_only) for more in ([], ["--json"]))
    assert (page.code, page.err, "? is ?" in page.out) == (0, "", True)
    assert (whole.code, whole.err, whole.json["hits"][0]["text"]) == (0, "", "狐 is \U0001f98a")


def test_logs_go_to_stderr_at_the_level_of_the_settings(shell: Shell, memory: FakeMemory) -> None:
    shell.config([store("memory", memory.url)], logging={"level": "debug"})
    ran = shell.spawn("recall", "hermes", "--json", environ={"PYTHONASYNCIODEBUG": "1"})
    assert (ran.code, [found["id"] for found in ran.json["hits"]]) == (0, ["memory:m1", "memory:m2"])
    assert "DEBUG asyncio: " in ran.err


def test_the_module_and_the_command_are_the_same(shell: Shell) -> None:
    assert shell.spawn("--version").out == f"callosum-mcp {__version__}\n"


def test_nothing_but_the_result_object_is_on_stdout(shell: Shell, memory: FakeMemory, tmp_path: Path) -> None:
    shell.config([store("memory", memory.url)])
    ran = shell.spawn("recall", "hermes", "--json")
    assert (ran.code, ran.err, json.loads(ran.out)["query"]) == (0, "", "hermes")
    assert process_environ({"HOME": None}).get("HOME") is None
