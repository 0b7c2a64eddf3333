"""Settings that change while a server runs: all in force or none, and no call notices in between.

`look` is what the running server does every second; here each look is made by hand. A change counts once two looks in a
row have seen the same.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio
import anyio.to_thread
import pytest

from callosum_mcp.app import Application, build
from callosum_mcp.errors import AllStoresFailed, SettingsError
from callosum_mcp.federation.overlay import Overlay
from callosum_mcp.federation.reloading import Prepared
from callosum_mcp.federation.stores import Connection
from callosum_mcp.models.requests import AddStoreRequest, ListStoresRequest, RecallRequest, RemoveStoreRequest, parse
from callosum_mcp.models.results import EngineOut, RecallResult
from callosum_mcp.settings import Loaded, Watch, load
from callosum_mcp.settings.watch import RETRY
from tests.cli.shell import FakeMemory, hit, serving

QUERY = RecallRequest(query="Hermes")


@dataclass(kw_only=True)
class Running:
    """A program over one settings file, as a server runs it."""

    folder: Path
    application: Application
    environ: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def file(self) -> Path:
        return self.folder / "callosum.yaml"

    def write(self, *stores: Mapping[str, Any], **sections: Any) -> None:
        self.file.write_text(written(*stores, **sections), encoding="utf-8")

    async def settle(self, looks: int = 2) -> None:
        for _ in range(looks):
            await self.application.reloader.look()

    async def notes(self) -> list[str]:
        return (await self.application.administration.list_stores(ListStoresRequest())).notes or []

    async def recall(self) -> RecallResult:
        return await self.application.federation.recall(QUERY)

    async def engine(self, name: str) -> EngineOut:
        try:
            found = await self.recall()
        except AllStoresFailed as failed:
            assert isinstance(failed.answer, RecallResult)
            found = failed.answer
        return next(engine for engine in found.engines if engine.engine == name)

    def names(self) -> list[str]:
        return self.application.federation.state.stores.names()

    def connection(self, name: str) -> Connection:
        return self.application.federation.state.stores.get(name).connection


def written(*stores: Mapping[str, Any], **sections: Any) -> str:
    return json.dumps({"stores": list(stores), **sections}, indent=1)


def memory(name: str, url: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": "seren_memory", "url": url, **more}


@asynccontextmanager
async def running(folder: Path, text: str, environ: dict[str, str] | None = None) -> AsyncGenerator[Running]:
    (folder / "callosum.yaml").write_text(text, encoding="utf-8")
    known = environ or {}
    application = build(load(None, known, folder))
    async with application.running():
        yield Running(folder=folder, application=application, environ=known)


@pytest.fixture
def a() -> Any:
    with serving(FakeMemory(hits=[hit("a1", "Hermes is the relay.")])) as found:
        yield found


@pytest.fixture
def b() -> Any:
    with serving(FakeMemory(hits=[hit("b1", "Hermes listens on 8080.")])) as found:
        yield found


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


@pytest.mark.parametrize("replace", [by_rename, by_link, with_the_old_time])
async def test_a_file_that_takes_the_others_place_is_seen(
    tmp_path: Path, a: FakeMemory, b: FakeMemory, replace: Callable[[Path, str], None]
) -> None:
    async with running(tmp_path, written(memory("one", a.url))) as here:
        for names in (["two"], ["one", "two"], ["six"]):
            replace(here.file, written(*(memory(name, b.url) for name in names)))
            await here.settle()
            assert here.names() == names


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


async def test_a_new_token_is_a_new_connection_and_a_store_that_refused_the_old_one_is_asked_again(
    tmp_path: Path, a: FakeMemory
) -> None:
    (tmp_path / "token").write_text("old\n", encoding="utf-8")
    async with running(tmp_path, written(memory("one", a.url, token_file="token"))) as here:
        a.status = 401
        assert (await here.engine("one")).reason == "auth_failed"
        a.status = 200
        assert (await here.engine("one")).status == "skipped"
        await here.settle()
        assert (await here.engine("one")).status == "skipped"
        (tmp_path / "token").write_text("# since today\nnew\n", encoding="utf-8")
        await here.settle()
        assert (await here.engine("one")).status == "up"
        assert a.tokens == ["Bearer old", "Bearer new"]


async def test_tokens_of_variables_and_of_the_keyring_are_read_again_with_the_file(
    tmp_path: Path, a: FakeMemory, b: FakeMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = {"k": "key1"}
    module = ModuleType("keyring")
    module.__dict__["get_password"] = lambda service, user: held[user]  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    monkeypatch.setitem(sys.modules, "keyring", module)
    text = written(memory("one", a.url, token_env="T"), memory("two", b.url, token_keyring="s/k"))
    async with running(tmp_path, text, {"T": "var1"}) as here:
        await here.recall()
        here.environ["T"], held["k"] = "var2", "key2"
        here.file.touch()
        await here.settle()
        await here.recall()
        assert ({*a.tokens}, a.tokens[-1]) == ({"Bearer var1", "Bearer var2"}, "Bearer var2")
        assert ({*b.tokens}, b.tokens[-1]) == ({"Bearer key1", "Bearer key2"}, "Bearer key2")


async def test_settings_that_name_what_is_not_there_yet_are_tried_again_until_it_is(
    tmp_path: Path, a: FakeMemory
) -> None:
    async with running(tmp_path, written(memory("one", a.url))) as here:
        here.write(memory("two", a.url, token_file="later"))
        await here.settle()
        (note,) = await here.notes()
        assert f"names the file {tmp_path / 'later'}, which cannot be read" in note
        (tmp_path / "later").write_text("t", encoding="utf-8")
        await here.settle(RETRY)
        assert (here.names(), await here.notes()) == (["two"], [])


async def test_what_configure_changed_stays_unless_the_file_changes_the_same(tmp_path: Path, a: FakeMemory) -> None:
    async with running(tmp_path, written(memory("one", a.url), memory("two", a.url))) as here:
        stores = [{"name": "one", "weight": 3.0, "enabled": False}, {"name": "two", "floor": 0.5}]
        await here.application.administration.configure({"k": 9, "n_results": 3, "stores": stores})
        here.write(memory("one", a.url, weight=2), memory("two", a.url), federation={"n_results": 5})
        await here.settle()
        state = here.application.federation.state
        assert (state.knobs.k, state.knobs.n_results) == (9, 5)
        one, two = (store.spec for store in state.stores.stores)
        assert (one.weight, one.enabled, two.floor) == (2.0, False, 0.5)


def added(name: str, url: str) -> AddStoreRequest:
    return parse(AddStoreRequest, {"name": name, "type": "seren_memory", "url": url})


async def test_managed_stores_stay_with_their_connections_and_changes(tmp_path: Path, a: FakeMemory) -> None:
    async with running(tmp_path, written(memory("one", a.url))) as here:
        await here.application.administration.add_store(added("mine", a.url))
        await here.application.administration.configure({"stores": [{"name": "mine", "weight": 4.0}]})
        kept = here.connection("mine")
        here.write(memory("two", a.url))
        await here.settle()
        assert (here.names(), here.connection("mine") is kept) == (["two", "mine"], True)
        assert here.application.federation.state.stores.get("mine").spec.weight == 4.0
        await here.application.administration.remove_store(RemoveStoreRequest(name="mine"))
        await here.settle()
        assert here.names() == ["two"]


async def test_a_store_that_another_process_adds_or_removes_is_seen(tmp_path: Path, a: FakeMemory) -> None:
    async with running(tmp_path, written(memory("one", a.url))) as here:
        other = Overlay(tmp_path / "runtime-stores.json", lambda variable, keyring: None)
        other.add(added("theirs", a.url))
        await here.settle()
        assert here.names() == ["one", "theirs"]
        other.remove("theirs")
        await here.settle()
        assert here.names() == ["one"]


async def test_an_overlay_that_becomes_corrupt_leaves_the_managed_stores_and_is_said(
    tmp_path: Path, a: FakeMemory
) -> None:
    async with running(tmp_path, written(memory("one", a.url))) as here:
        await here.application.administration.add_store(added("mine", a.url))
        await here.settle()
        (tmp_path / "runtime-stores.json").write_text("{ half", encoding="utf-8")
        await here.settle(4)
        (note,) = await here.notes()
        assert "is not JSON; it was kept as runtime-stores.json.corrupt-" in note
        assert here.names() == ["one", "mine"]
        again = build(load(None, {}, tmp_path))
        assert again.federation.state.stores.names() == ["one", "mine"], "a restart finds them too"


async def test_managed_stores_that_are_kept_in_memory_alone_stay_too(tmp_path: Path, a: FakeMemory) -> None:
    (tmp_path / "callosum.yaml").write_text(written(memory("one", a.url)), encoding="utf-8")
    application = build(load(None, {}, tmp_path), keep_overlay=False)
    async with application.running():
        here = Running(folder=tmp_path, application=application)
        await application.administration.add_store(added("mine", a.url))
        here.write(memory("two", a.url))
        await here.settle()
        assert here.names() == ["two", "mine"]


async def test_a_base_store_takes_the_name_of_a_managed_one_and_gives_it_back(
    tmp_path: Path, a: FakeMemory, b: FakeMemory
) -> None:
    async with running(tmp_path, written(memory("one", a.url))) as here:
        await here.application.administration.add_store(added("mine", a.url))
        here.write(memory("mine", b.url))
        await here.settle()
        assert [(store.spec.name, store.spec.managed) for store in here.application.federation.state.stores.stores] == [
            ("mine", False)
        ]
        assert await here.notes() == ["overlay: store 'mine' is left out: the name is taken"]
        here.write(memory("one", b.url))
        await here.settle()
        assert (here.names(), await here.notes()) == (["one", "mine"], [])


async def test_what_may_be_added_follows_the_file(tmp_path: Path, a: FakeMemory) -> None:
    async with running(tmp_path, written(memory("one", a.url)), {"OTHER_T": "t"}) as here:
        wanted = parse(AddStoreRequest, {**added("mine", a.url).model_dump(exclude_none=True), "token_env": "OTHER_T"})
        with pytest.raises(Exception, match="allow_token_env"):
            await here.application.administration.add_store(wanted)
        here.write(memory("one", a.url), security={"allow_token_env": ["OTHER_*"]})
        await here.settle()
        await here.application.administration.add_store(wanted)
        assert here.names() == ["one", "mine"]


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
