"""The first index of a notes store on a terminal: shown, waited for, and kept when it is interrupted."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from .shell import PROCESS_S, Shell, command

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal is a thing of POSIX")


@pytest.fixture
def cache(shell: Shell) -> Path:
    """The folder of the index of a store named ``diary``."""
    folder = shell.cwd / "index"
    options = {"cache_dir": str(folder)}
    shell.config([{"name": "diary", "type": "notes", "url": str(shell.cwd / "notes"), "options": options}])
    (shell.cwd / "notes").mkdir()
    return folder


@contextmanager
def at_a_terminal(shell: Shell) -> Generator[tuple[subprocess.Popen[bytes], int]]:
    """``recall zebra`` whose stderr is a terminal, and the terminal's other end."""
    ours, theirs = os.openpty()
    try:
        argv = command("recall", "zebra", "--json")
        with subprocess.Popen(argv, cwd=shell.cwd, stdout=subprocess.PIPE, stderr=theirs) as process:
            os.close(theirs)
            yield process, ours
    finally:
        os.close(ours)


def everything(terminal: int) -> str:
    said = b""
    while True:
        try:
            piece = os.read(terminal, 4_096)
        except OSError:  # Linux's word for the end of a terminal
            piece = b""
        if not piece:
            return said.decode()
        said += piece


def test_the_index_is_waited_for_and_its_line_is_wiped_in_the_end(shell: Shell, cache: Path) -> None:
    for number in range(1_100):
        (shell.cwd / "notes" / f"{number}.md").write_text("zebra")
    with at_a_terminal(shell) as (process, terminal):
        said = everything(terminal)
        out = process.communicate(timeout=PROCESS_S)[0].decode()
    lines = said.split("\r")
    assert [line for line in lines if line.strip()] == [
        "indexing diary: 500 of 1,100 files",
        "indexing diary: 1,000 of 1,100 files",
    ]
    assert (lines[-1], lines[-2].strip()) == ("", "")
    assert process.returncode == 0
    assert "still indexing" not in out and '"id": "diary:' in out


def test_a_folder_that_is_indexed_already_shows_no_line(shell: Shell, cache: Path) -> None:
    (shell.cwd / "notes" / "a.md").write_text("zebra")
    assert shell.run("recall", "zebra").err == ""
    with at_a_terminal(shell) as (process, terminal):
        assert everything(terminal) == ""
        process.communicate(timeout=PROCESS_S)


def test_interrupting_keeps_what_is_indexed(shell: Shell, cache: Path) -> None:
    for number in range(8):
        (shell.cwd / "notes" / f"{number}.md").write_text(f"zebra {number}\n\n" + "备份每天凌晨三点运行。\n\n" * 40_000)
    with at_a_terminal(shell) as (process, terminal):
        shown = os.read(terminal, 4_096).decode()
        process.send_signal(signal.SIGINT)
        everything(terminal)
        process.communicate(timeout=PROCESS_S)
    assert re.fullmatch(r"\rindexing diary: \d of 8 files", shown)
    assert process.returncode == 130
    (file,) = cache.glob("*.sqlite3")
    with closing(sqlite3.connect(file)) as kept:
        (files,) = kept.execute("SELECT count(*) FROM files").fetchone()
        (state,) = kept.execute("PRAGMA integrity_check").fetchone()
    assert state == "ok"
    assert 1 <= files < 8
