"""The index behind a `notes` store: incremental, shared, interruptible, and only a cache."""

from __future__ import annotations

import sqlite3
import stat
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from anyio import to_thread

from callosum_mcp.adapters.notes import NotesAdapter, index
from callosum_mcp.adapters.notes.scan import Scanner, Tree
from callosum_mcp.errors import StoreFailed
from callosum_mcp.models.values import ProbeReport, StoreQuery, StoreSpec

from .notes_world import Notes, ids

pytestmark = pytest.mark.anyio


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    (tmp_path / "notes").mkdir()
    return Notes(folder=tmp_path / "notes", cache=tmp_path / "cache")


class Gate:
    """A progress callback that holds the indexing thread after its first batch until the test lets it go."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, int]] = []
        self._reached = threading.Event()
        self._open = threading.Event()

    def __call__(self, done: int, total: int) -> None:
        self.calls.append((done, total))
        self._reached.set()
        assert self._open.wait(60)

    async def reached(self) -> None:
        assert await to_thread.run_sync(self._reached.wait, 60)

    def open(self) -> None:
        self._open.set()


async def test_added_changed_and_removed_files_are_seen_at_the_next_search(notes: Notes) -> None:
    notes.write("a.md", "# h\n\nzebra 斑马")
    gone = notes.write("gone.md", "zebra")
    async with notes.store() as store:
        assert await ids(store, "zebra") == ["gone.md#L1", "a.md#L1"]
        notes.write("a.md", "giraffe")
        notes.write("new.md", "zebra")
        gone.unlink()
        assert await ids(store, "zebra") == ["new.md#L1"]
        assert await ids(store, "斑马") == []
        assert await ids(store, "giraffe") == ["a.md#L1"]


async def test_only_changed_files_are_read_again(notes: Notes) -> None:
    notes.write("a.md", "zebra")
    notes.write("b.md", "zebra")
    assert len(await notes.ids("zebra")) == 2
    calls: list[tuple[int, int]] = []
    async with notes.store() as store:
        store.on_progress = lambda done, total: calls.append((done, total))
        assert len(await ids(store, "zebra")) == 2
        assert calls == []
        notes.write("b.md", "giraffe")
        assert len(await ids(store, "zebra")) == 1
    assert calls == [(2, 2)]


async def test_a_finished_check_is_trusted_for_a_while(notes: Notes) -> None:
    notes.write("a.md", "zebra")
    async with notes.store(recheck_s=3600) as store:
        assert await ids(store, "zebra") == ["a.md#L1"]
        notes.write("b.md", "zebra")
        assert await ids(store, "zebra") == ["a.md#L1"]


class SlowTree:
    """Folders whose first walk takes long enough, and whose later ones take until the test lets them end."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._open = threading.Event()
        self._walked = 0
        walk = Scanner.walk

        def slowly(scanner: Scanner, stopped: Callable[[], bool]) -> Tree:
            self._walked += 1
            assert self._walked == 1 or self._open.wait(60)
            return walk(scanner, stopped)

        monkeypatch.setattr(Scanner, "walk", slowly)
        monkeypatch.setattr(index, "_WAITED_WALK_S", 0.0)
        monkeypatch.setattr(index, "_WALKS_TRUSTED", 0.0)

    def open(self) -> None:
        self._open.set()


async def test_a_large_tree_is_checked_again_in_the_background(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = SlowTree(monkeypatch)
    notes.write("a.md", "zebra")
    async with notes.store(recheck_s=1e-9, first_wait_s=60) as store:
        assert await ids(store, "zebra") == ["a.md#L1"]
        notes.write("b.md", "zebra")
        meanwhile = await store.search(StoreQuery(text="zebra"))
        assert ([hit.id for hit in meanwhile.hits], meanwhile.remark) == (["a.md#L1"], None)
        tree.open()
        with anyio.fail_after(60):
            while len(await ids(store, "zebra")) < 2:
                await anyio.lowlevel.checkpoint()


async def test_a_large_tree_that_vanishes_is_told_by_a_later_search(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = SlowTree(monkeypatch)
    notes.write("a.md", "zebra").rename(notes.folder / "b.md")
    async with notes.store(recheck_s=1e-9) as store:
        assert await ids(store, "zebra") == ["b.md#L1"]
        notes.folder.rename(notes.folder.with_name("elsewhere"))
        assert await ids(store, "zebra") == ["b.md#L1"]
        tree.open()
        with pytest.raises(StoreFailed, match="folder not found"), anyio.fail_after(60):
            while True:
                await ids(store, "zebra")


async def test_a_search_during_the_first_index_gives_what_is_there_and_says_so(notes: Notes) -> None:
    for number in range(1200):
        notes.write(f"{number}.md", "zebra")
    gate = Gate()
    async with notes.store(first_wait_s=0) as store:
        store.on_progress = gate
        first = await store.search(StoreQuery(text="zebra"))
        await gate.reached()
        second = await store.search(StoreQuery(text="zebra", limit=500))
        gate.open()
    assert first.remark is not None and first.remark.startswith("still ")
    assert (len(second.hits), second.remark) == (500, "still indexing: 500 of 1,200 files")
    assert {hit.id for hit in second.hits} == {f"{number}.md#L1" for number in range(700, 1200)}, "the newest first"


async def test_a_file_that_vanishes_meanwhile_is_no_error(notes: Notes) -> None:
    gone = notes.write("gone.md", "zebra", age_days=1)
    for number in range(500):
        notes.write(f"{number}.md", "zebra")
    gate = Gate()
    async with notes.store() as store, anyio.create_task_group() as group:
        store.on_progress = gate
        group.start_soon(ids, store, "zebra")
        await gate.reached()
        gone.unlink()
        gone.symlink_to("/etc/hostname")
        gate.open()
        assert "gone.md#L1" not in await ids(store, "zebra", limit=500)
    assert gate.calls == [(500, 501), (501, 501)]


async def test_a_cancelled_search_leaves_the_index_whole(notes: Notes) -> None:
    for number in range(600):
        notes.write(f"{number}.md", "zebra")
    gate = Gate()
    async with notes.store() as store:
        store.on_progress = gate
        async with anyio.create_task_group() as group:
            group.start_soon(ids, store, "zebra")
            await gate.reached()
            group.cancel_scope.cancel()
        gate.open()
        assert len(await ids(store, "zebra", limit=500)) == 500
        assert (await store.probe()).entries == 600


async def test_closing_stops_the_indexing_and_the_next_start_goes_on(notes: Notes) -> None:
    for number in range(1200):
        notes.write(f"{number}.md", "zebra")
    gate = Gate()
    store = NotesAdapter(notes.spec(first_wait_s=0))
    store.on_progress = gate
    await store.search(StoreQuery(text="zebra"))
    await gate.reached()
    async with anyio.create_task_group() as group:
        group.start_soon(store.aclose)
        await anyio.wait_all_tasks_blocked()
        gate.open()
    with pytest.raises(StoreFailed, match="closed"):
        await store.search(StoreQuery(text="zebra"))
    calls: list[tuple[int, int]] = []
    async with notes.store() as again:
        again.on_progress = lambda done, total: calls.append((done, total))
        assert len(await ids(again, "zebra", limit=500)) == 500
    assert calls[-1] == (1200, 1200) and calls[0][0] > 500


async def test_closing_a_store_that_was_never_asked_does_nothing(notes: Notes) -> None:
    await NotesAdapter(notes.spec()).aclose()
    assert not notes.cache.exists()


async def test_two_stores_share_one_cache_file(notes: Notes) -> None:
    for number in range(600):
        notes.write(f"{number}.md", "zebra")
    found: list[int] = []

    async def ask(store: NotesAdapter) -> None:
        found.append(len(await ids(store, "zebra", limit=500)))

    async with notes.store() as one, notes.store() as two, anyio.create_task_group() as group:
        group.start_soon(ask, one)
        group.start_soon(ask, two)
    assert found == [500, 500]
    async with notes.store() as one, notes.store() as two:
        assert await ids(one, "giraffe") == await ids(two, "giraffe") == []
        notes.write("new.md", "giraffe")
        assert await ids(one, "giraffe") == await ids(two, "giraffe") == ["new.md#L1"]
        assert (await two.probe()).entries == 601


async def test_while_another_process_writes_the_index_answers_as_it_is(notes: Notes) -> None:
    notes.write("a.md", "zebra")
    async with notes.store() as store:
        assert await ids(store, "zebra") == ["a.md#L1"]
        notes.write("b.md", "zebra")
        other = sqlite3.connect(notes.cache_file(), isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        reply = await store.search(StoreQuery(text="zebra"))
        other.close()
        assert (len(reply.hits), reply.remark) == (1, "another process is updating the index")
        assert len(await ids(store, "zebra")) == 2


async def test_the_cache_file_is_private_and_outside_the_notes(notes: Notes) -> None:
    notes.write("a.md", "zebra")
    await notes.ids("zebra")
    assert stat.S_IMODE(notes.cache_file().stat().st_mode) == 0o600
    assert [file.name for file in notes.folder.iterdir()] == ["a.md"]


async def test_by_default_the_cache_is_in_the_users_cache_folder(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(notes.cache))
    notes.write("a.md", "zebra")
    assert await notes.ids("zebra", cache_dir="") == ["a.md#L1"]
    assert len(list(notes.cache.glob("callosum-mcp/notes/*.sqlite3"))) == 1


async def test_options_that_decide_what_is_held_have_an_index_of_their_own(notes: Notes) -> None:
    notes.write("a.md", "zebra")
    notes.write("b.txt", "zebra")
    assert len(await notes.ids("zebra")) == 2
    assert await notes.ids("zebra", include=["*.md"]) == ["a.md#L1"]
    assert len(list(notes.cache.glob("*.sqlite3"))) == 2


@pytest.mark.parametrize("damage", ["garbage", "old version", "empty"])
async def test_a_cache_that_is_damaged_or_of_another_version_is_rebuilt(notes: Notes, damage: str) -> None:
    notes.write("a.md", "zebra")
    await notes.ids("zebra")
    file = notes.cache_file()
    if damage == "old version":
        with sqlite3.connect(file) as connection:
            connection.execute("PRAGMA user_version = 99")
        connection.close()
    else:
        file.write_bytes(b"not a database, not at all" * 100 if damage == "garbage" else b"")
    async with notes.store() as store:
        reply = await store.search(StoreQuery(text="zebra"))
    assert ([hit.id for hit in reply.hits], reply.remark) == (["a.md#L1"], None)


@pytest.mark.parametrize("statement", ["UPDATE chunks SET text = x'00'", "DROP TABLE words", "DROP TABLE files"])
@pytest.mark.parametrize("touched", [False, True])
async def test_a_cache_that_breaks_while_in_use_is_rebuilt(notes: Notes, statement: str, touched: bool) -> None:
    notes.write("a.md", "zebra")
    async with notes.store() as store:
        assert await ids(store, "zebra") == ["a.md#L1"]
        with sqlite3.connect(notes.cache_file()) as connection:
            connection.execute(statement)
        connection.close()
        if touched:
            notes.write("a.md", "zebra zebra")
        assert await ids(store, "zebra") == ["a.md#L1"]
        assert (await store.probe()).entries == 1


async def test_without_a_usable_cache_folder_a_temporary_one_serves(
    notes: Notes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    notes.cache.write_text("a file, not a folder")
    notes.write("a.md", "zebra")
    async with notes.store() as store:
        reply = await store.search(StoreQuery(text="zebra"))
        assert [hit.id for hit in reply.hits] == ["a.md#L1"]
    assert reply.remark is not None
    assert reply.remark.startswith(f"the index is kept in a temporary folder: {notes.cache} cannot be used (")
    assert list((tmp_path / "temporary").iterdir()) == []


async def test_without_any_place_for_the_index_the_store_fails(
    notes: Notes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    notes.cache.write_text("a file, not a folder")
    async with notes.store() as store:
        with pytest.raises(StoreFailed, match="the notes index cannot be kept: "):
            await store.search(StoreQuery(text="zebra"))
        with pytest.raises(StoreFailed, match="the notes index cannot be read: "):
            await store.probe()


async def test_a_probe_counts_what_is_indexed_without_waiting(notes: Notes) -> None:
    notes.write("a.md", "# one\n\nzebra\n\n# two\n\nzebra")
    gate = Gate()
    async with notes.store() as store:
        store.on_progress = gate
        first = await store.probe()
        await gate.reached()
        gate.open()
        await store.search(StoreQuery(text="zebra"))
    async with notes.store(recheck_s=60) as store:
        await store.search(StoreQuery(text="zebra"))
        last = await store.probe()
    assert first.detail.startswith("notes: ") and "; still " in first.detail
    assert last == ProbeReport(detail="notes: 1 files, 2 sections indexed", entries=2, last_ingest=last.last_ingest)
    assert last.last_ingest is not None


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"folders": "notes"}, "option folders: must be a list of non-empty texts"),
        ({"folders": ["a\0b"]}, "option folders: a path holds no null character"),
        ({"include": [""]}, "option include: must be a list of non-empty texts"),
        ({"exclude": [1]}, "option exclude: must be a list of non-empty texts"),
        ({"gitignore": "yes"}, "option gitignore: must be true or false"),
        ({"hidden": 1}, "option hidden: must be true or false"),
        ({"max_file_bytes": 0}, "option max_file_bytes: must be a number from 1 to 67108864"),
        ({"max_files": True}, "option max_files: must be a number from 1 to 1000000"),
        ({"cache_dir": 5}, "option cache_dir: must be text"),
        ({"recheck_s": -1}, "option recheck_s: must be a number from 0 to 3600"),
        ({"first_wait_s": float("nan")}, "option first_wait_s: must be a number from 0 to 60"),
    ],
)
def test_a_wrong_option_is_refused_by_name_and_bound(options: dict[str, object], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        NotesAdapter(StoreSpec(name="n", type="notes", options=options))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_a_progress_callback_that_fails_is_no_empty_answer(notes: Notes) -> None:
    def fail(done: int, total: int) -> None:
        raise RuntimeError(f"{done} of {total}")

    notes.write("a.md", "zebra")
    async with notes.store() as store:
        store.on_progress = fail
        with pytest.raises(StoreFailed, match="broken off"):
            await store.search(StoreQuery(text="zebra"))
        assert await ids(store, "zebra") == ["a.md#L1"]
