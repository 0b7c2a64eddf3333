"""Settings that change while a server runs: all in force or none, and no call notices in between."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from callosum_mcp.app import build
from callosum_mcp.errors import SettingsError
from callosum_mcp.federation.reloading import Prepared
from callosum_mcp.models.requests import ListStoresRequest
from callosum_mcp.models.results import RecallResult
from callosum_mcp.settings import Loaded, Watch, load
from callosum_mcp.settings.watch import RETRY
from tests.cli.shell import FakeMemory

from .reloading import Running, memory, running, written


@pytest.mark.promise("4a")
async def test_a_changed_file_is_in_force_and_what_did_not_change_keeps_its_connection(
    tmp_path: Path, a: FakeMemory, b: FakeMemory
) -> None:
    async with running(tmp_path, written(memory("one", a.url), memory("two", b.url))) as here:
        await here.recall()
        one, two = here.connection("one"), here.connection("two")
        here.write(memory("three", b.url), memory("one", a.url, weight=2), memory("two", a.url), federation={"k": 7})
        await here.settle()
        assert here.names() == ["three", "one", "two"]
        assert here.application.federation.state.knobs.k == 7
        assert here.application.federation.state.stores.get("one").spec.weight == 2
        assert here.connection("one") is one and one.calls == 1 and one.usage() is not None
        assert here.connection("two") is not two and two.usage() is None, "what was replaced is closed"
        assert [engine.status for engine in (await here.recall()).engines] == ["up", "up", "up"]
        assert await here.notes() == []


async def test_nothing_is_read_again_while_nothing_changes(
    tmp_path: Path, a: FakeMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path, written(memory("one", a.url))) as here:
        state = here.application.federation.state

        def never(watch: Watch) -> Loaded:
            raise AssertionError("it was read")

        monkeypatch.setattr(Watch, "_read", never)
        await here.settle(3 * RETRY)
        assert here.application.federation.state is state


async def test_a_file_that_says_the_same_in_other_words_changes_nothing(tmp_path: Path, a: FakeMemory) -> None:
    async with running(tmp_path, written(memory("one", a.url))) as here:
        state = here.application.federation.state
        here.file.write_text(f"# the same\nstores: [{{name: one, type: seren_memory, url: '{a.url}'}}]\n")
        await here.settle()
        assert here.application.federation.state is state


def by_rename(path: Path, text: str) -> None:
    new = path.with_name("new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


def by_link(path: Path, text: str) -> None:
    folder = path.parent / f"version-{len(list(path.parent.iterdir()))}"
    folder.mkdir()
    (folder / path.name).write_text(text, encoding="utf-8")
    by = path.with_name("link")
    by.symlink_to(folder / path.name)
    by.replace(path)


def with_the_old_time(path: Path, text: str) -> None:
    seen = path.stat()
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))


@pytest.mark.promise("4a")
@pytest.mark.parametrize("replace", [by_rename, by_link, with_the_old_time])
async def test_a_file_that_takes_the_others_place_is_seen(
    tmp_path: Path, a: FakeMemory, b: FakeMemory, replace: Callable[[Path, str], None]
) -> None:
    async with running(tmp_path, written(memory("one", a.url))) as here:
        for names in (["two"], ["one", "two"], ["six"]):
            replace(here.file, written(*(memory(name, b.url) for name in names)))
            await here.settle()
            assert here.names() == names


@pytest.mark.promise("P38")
async def test_a_file_that_is_still_being_written_is_left_alone(tmp_path: Path, a: FakeMemory, b: FakeMemory) -> None:
    async with running(tmp_path, written(memory("one", a.url))) as here:
        text = written(memory("one", a.url), memory("two", b.url))
        for end in range(10, len(text), 10):
            here.file.write_text(text[:end], encoding="utf-8")
            await here.settle(1)
            assert (here.names(), await here.notes()) == (["one"], [])
        here.file.write_text(text, encoding="utf-8")
        await here.settle()
        assert here.names() == ["one", "two"]


BROKEN = {
    "syntax": ("stores: [\n", "line 2: is not valid YAML"),
    "bound": ("stores: []\nfederation:\n  k: 0\n", "line 3: federation.k: must be greater than or equal to 1"),
    "name": ("serfer: {}\n", "line 1: serfer: is unknown"),
    "type": ("stores:\n- {name: x, type: seren_memry, url: 'http://127.0.0.1:9'}\n", "line 2: stores.0: store 'x'"),
    "variable": ("stores:\n- {name: x, type: seren_memory, url: '${NOWHERE}'}\n", "variable NOWHERE, which is not set"),
    "empty": ("", "is empty"),
    "token": ("server:\n  bearer_token_env: T\n", "line 2: server.bearer_token_env: names the environment variable T"),
}


@pytest.mark.promise("4a", "P38")
@pytest.mark.parametrize("fault", sorted(BROKEN))
async def test_a_broken_file_leaves_the_last_good_settings_says_so_once_and_is_forgotten_when_mended(
    tmp_path: Path, a: FakeMemory, caplog: pytest.LogCaptureFixture, fault: str
) -> None:
    text, said = BROKEN[fault]
    good = written(memory("one", a.url))
    async with running(tmp_path, good) as here:
        state = here.application.federation.state
        here.file.write_text(text, encoding="utf-8")
        await here.settle(4 * RETRY)
        (note,) = await here.notes()
        assert here.application.federation.state is state
        assert note.startswith(f"settings: not in force, the last good ones stay: {here.file}") and said in note
        assert [record.getMessage() for record in caplog.records] == [note]
        assert caplog.records[0].levelno == logging.ERROR
        assert (await here.recall()).hits
        here.file.write_text(good, encoding="utf-8")
        await here.settle()
        assert (await here.notes(), here.names()) == ([], ["one"])
        assert caplog.records[-1].getMessage() == "settings: mended, and in force"


async def test_two_faults_in_a_row_are_two_lines(
    tmp_path: Path, a: FakeMemory, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(tmp_path, written(memory("one", a.url))) as here:
        for text in ("stores: [", "serfer: {}", "stores: ["):
            here.file.write_text(text, encoding="utf-8")
            await here.settle()
        assert len(caplog.records) == 3


@pytest.mark.parametrize("named", [True, False])
async def test_a_file_that_is_gone_leaves_the_last_good_settings(tmp_path: Path, a: FakeMemory, named: bool) -> None:
    file = tmp_path / "callosum.yaml"
    file.write_text(written(memory("one", a.url)), encoding="utf-8")
    application = build(load(file if named else None, {}, tmp_path))
    async with application.running():
        here = Running(folder=tmp_path, application=application)
        file.unlink()
        await here.settle()
        (note,) = await here.notes()
        assert here.names() == ["one"]
        assert ("does not exist" if named else "is gone") in note
        here.write(memory("two", a.url))
        await here.settle()
        assert (here.names(), await here.notes()) == (["two"], [])


async def test_a_file_that_comes_into_being_is_read(
    tmp_path: Path, a: FakeMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    application = build(load(None, {}, tmp_path))
    async with application.running():
        here = Running(folder=tmp_path, application=application)
        assert here.names() == ["notes", "memory", "loci"]
        here.write(memory("one", a.url))
        await here.settle()
        moved = "settings: the place of the overlay changed, which takes a restart"
        assert (here.names(), await here.notes()) == (["one"], [moved])
        listed = await application.administration.list_stores(ListStoresRequest())
        assert listed.config_file == str(here.file)


@pytest.mark.promise("4b")
async def test_a_call_in_flight_finishes_on_the_stores_it_started_with(
    tmp_path: Path, a: FakeMemory, b: FakeMemory
) -> None:
    a.gate = threading.Event()
    found: list[RecallResult] = []
    async with running(tmp_path, written(memory("one", a.url))) as here:
        old = here.connection("one")

        async def recall() -> None:
            found.append(await here.recall())

        async with anyio.create_task_group() as group:
            group.start_soon(recall)
            await anyio.to_thread.run_sync(a.asked.wait, 20)
            here.write(memory("one", b.url))
            await here.settle()
            assert old.usage() is not None, "a call still uses it"
            assert [hit.id for hit in (await here.recall()).hits] == ["one:b1"]
            a.gate.set()
        assert [hit.id for hit in found[0].hits] == ["one:a1"]
        assert old.usage() is None, "closed by the last call that used it"


async def test_what_takes_a_restart_is_said_until_it_is_taken_back(tmp_path: Path, a: FakeMemory) -> None:
    async with running(tmp_path, written(memory("one", a.url))) as here:
        sections = {
            "logging": {"level": "info"},
            "surface": {"aliases": ["darwin_ask"]},
            "answer": {"allow_paid": True},
        }
        here.write(memory("two", a.url), **sections)
        await here.settle()
        assert here.names() == ["two"]
        assert await here.notes() == [
            f"settings: {name} changed, which takes a restart" for name in ("answer", "surface", "logging")
        ]
        here.write(memory("two", a.url))
        await here.settle()
        assert await here.notes() == []


async def test_a_part_that_cannot_go_by_the_settings_keeps_all_of_them_out(tmp_path: Path, a: FakeMemory) -> None:
    async with running(tmp_path, written(memory("one", a.url))) as here:
        gone_by: list[str] = []

        def going(loaded: Loaded) -> Prepared:
            return Prepared(commit=lambda: gone_by.append("first"))

        def refusing(loaded: Loaded) -> Prepared:
            raise SettingsError("cannot go by that")

        here.application.reloader.parts += [going, refusing]
        here.write(memory("two", a.url))
        await here.settle()
        assert (here.names(), gone_by) == (["one"], [])
        assert await here.notes() == ["settings: not in force, the last good ones stay: cannot go by that"]
        here.application.reloader.parts.remove(refusing)
        await here.settle(RETRY)
        assert (here.names(), gone_by, await here.notes()) == (["two"], ["first"], [])
