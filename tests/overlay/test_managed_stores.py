"""Managed stores through the whole program: what a restart finds, who wins a name, and what a failure leaves."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from callosum_mcp.app import Application, build
from callosum_mcp.errors import DuplicateStore, ProtectedStore, SettingsError
from callosum_mcp.models.requests import ListStoresRequest, RemoveStoreRequest
from callosum_mcp.models.results import StoreOut
from callosum_mcp.settings import load

from .shelf import entries, request, write_entries


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "callosum.yaml").write_text(
        "stores:\n- {name: base, type: seren_memory, url: 'http://127.0.0.1:9'}\n", encoding="utf-8"
    )
    return tmp_path


def application_in(folder: Path) -> Application:
    return build(load(None, {}, folder))


async def stores_of(application: Application) -> tuple[list[StoreOut], list[str]]:
    listed = await application.administration.list_stores(ListStoresRequest())
    return listed.stores, listed.notes or []


async def test_an_added_store_is_there_after_a_restart_and_a_removed_one_is_not(folder: Path) -> None:
    first = application_in(folder)
    async with first.running():
        await first.administration.add_store(request("more"))
        await first.administration.add_store(request("less"))
        await first.administration.remove_store(RemoveStoreRequest(name="less"))
    stores, notes = await stores_of(application_in(folder))
    assert [(store.name, store.managed) for store in stores] == [("base", False), ("more", True)]
    assert notes == []


async def test_a_base_store_wins_its_name_and_the_entry_it_hides_is_said_and_kept(folder: Path) -> None:
    overlay = folder / "runtime-stores.json"
    hidden = {"name": "base", "type": "seren_loci", "url": "http://127.0.0.1:7"}
    write_entries(overlay, hidden)
    application = application_in(folder)
    stores, notes = await stores_of(application)
    assert [(store.name, store.type, store.managed) for store in stores] == [("base", "seren_memory", False)]
    assert notes == ["overlay: store 'base' is left out: the name is taken"]
    with pytest.raises(DuplicateStore):
        await application.administration.add_store(request("base"))
    async with application.running():
        await application.administration.add_store(request("more"))
    assert entries(overlay)[0] == hidden


async def test_a_base_store_is_removed_from_its_file_alone(folder: Path) -> None:
    application = application_in(folder)
    with pytest.raises(ProtectedStore) as caught:
        await application.administration.remove_store(RemoveStoreRequest(name="base"))
    assert str(caught.value) == f"store 'base' is a base store: remove it from {folder / 'callosum.yaml'}"


async def test_an_entry_of_a_type_that_is_not_known_here_is_said_and_kept(folder: Path) -> None:
    overlay = folder / "runtime-stores.json"
    strange = {"name": "later", "type": "not_yet", "url": "http://127.0.0.1:9"}
    write_entries(overlay, strange)
    stores, (note,) = await stores_of(application_in(folder))
    assert [store.name for store in stores] == ["base"]
    assert note.startswith("overlay: store 'later' left out: type 'not_yet' is unknown; ")
    assert entries(overlay) == [strange]


async def test_a_corrupt_overlay_is_said_by_list_stores(folder: Path) -> None:
    (folder / "runtime-stores.json").write_text("{", encoding="utf-8")
    stores, (note,) = await stores_of(application_in(folder))
    assert ([store.name for store in stores], "it was kept as runtime-stores.json.corrupt-" in note) == (["base"], True)


async def test_an_overlay_that_cannot_be_written_changes_nothing_in_memory_either(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    application = application_in(folder)
    async with application.running():
        await application.administration.add_store(request("kept"))
        before = application.federation.state

        def full(handle: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(SettingsError, match="nothing was changed"):
            await application.administration.add_store(request("more"))
        with pytest.raises(SettingsError, match="nothing was changed"):
            await application.administration.remove_store(RemoveStoreRequest(name="kept"))
        assert application.federation.state is before
    stores, _ = await stores_of(application_in(folder))
    assert [store.name for store in stores] == ["base", "kept"]
