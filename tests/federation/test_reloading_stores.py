"""Stores, tokens and what was changed at run time, when the settings change under a running server."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from callosum_mcp.app import build
from callosum_mcp.federation.overlay import Overlay
from callosum_mcp.models.requests import AddStoreRequest, RemoveStoreRequest, parse
from callosum_mcp.settings import load
from callosum_mcp.settings.watch import RETRY
from tests.cli.shell import FakeMemory

from .reloading import Running, added, memory, running, written


@pytest.mark.promise("2d")
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


@pytest.mark.promise("4c")
async def test_a_store_that_another_process_adds_or_removes_is_seen(tmp_path: Path, a: FakeMemory) -> None:
    async with running(tmp_path, written(memory("one", a.url))) as here:
        other = Overlay(tmp_path / "runtime-stores.json", lambda variable, keyring: None)
        other.add(added("theirs", a.url))
        await here.settle()
        assert here.names() == ["one", "theirs"]
        other.remove("theirs")
        await here.settle()
        assert here.names() == ["one"]


@pytest.mark.promise("4e")
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
