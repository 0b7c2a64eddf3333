"""Which files a `notes` store holds, and what fetch and probe say of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from callosum_mcp.errors import StoreFailed
from callosum_mcp.models.values import StoreQuery

from .notes_world import Notes, ids

pytestmark = pytest.mark.anyio


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    (tmp_path / "notes").mkdir()
    return Notes(folder=tmp_path / "notes", cache=tmp_path / "cache")


async def names(notes: Notes, url: str | None = None, **options: object) -> set[str]:
    """The files in which ``zebra`` is found."""
    return {hit.partition("#")[0] for hit in await notes.ids("zebra", url, None, **options)}


async def test_text_files_of_any_depth_are_held_and_others_are_not(notes: Notes) -> None:
    for name in ("a.md", "B.MD", "deep/er/c.txt", "d.rst", "e.org", "f.markdown", "g.png", "h", "i.md.bak"):
        notes.write(name, "zebra")
    assert await names(notes) == {"a.md", "B.MD", "deep/er/c.txt", "d.rst", "e.org", "f.markdown"}


async def test_hidden_and_generated_folders_are_skipped(notes: Notes) -> None:
    for folder in (".git", ".obsidian", "node_modules", ".venv", "__pycache__", "kept"):
        notes.write(f"{folder}/a.md", "zebra")
    notes.write(".hidden.md", "zebra")
    assert await names(notes) == {"kept/a.md"}
    assert await names(notes, hidden=True) == {"kept/a.md", ".obsidian/a.md", ".hidden.md"}


async def test_include_and_exclude_are_globs_below_the_folder(notes: Notes) -> None:
    for name in ("a.md", "log/b.LOG", "log/old/c.log", "drafts/d.md", "drafts/keep.md"):
        notes.write(name, "zebra")
    assert await names(notes, include=["log/**/*.log", "*.md"], exclude=["drafts/**", "!drafts/keep.md"]) == {
        "a.md",
        "log/b.LOG",
        "log/old/c.log",
        "drafts/keep.md",
    }


async def test_gitignore_files_are_honoured_at_every_depth(notes: Notes) -> None:
    notes.write(".gitignore", "secret*\n/build/\nlogs/**\n!logs/keep.md\n!\n[z-a]\n")
    notes.write("sub/.gitignore", "!secret-no-more.md\nlocal.md\n")
    for name in ("a.md", "secret.md", "build/b.md", "sub/build/c.md", "logs/d.md", "logs/keep.md", "local.md"):
        notes.write(name, "zebra")
    for name in ("sub/secret.md", "sub/secret-no-more.md", "sub/local.md"):
        notes.write(name, "zebra")
    kept = {"a.md", "sub/build/c.md", "logs/keep.md", "local.md", "sub/secret-no-more.md"}
    assert await names(notes) == kept
    assert len(await names(notes, gitignore=False)) == 10


async def test_a_changed_gitignore_takes_effect_at_the_next_search(notes: Notes) -> None:
    notes.write("a.md", "zebra")
    notes.write("b.md", "zebra")
    async with notes.store() as store:
        assert await ids(store, "zebra") == ["a.md#L1", "b.md#L1"]
        rules = notes.write(".gitignore", "a.md")
        assert await ids(store, "zebra") == ["b.md#L1"]
        rules.unlink()
        assert await ids(store, "zebra") == ["a.md#L1", "b.md#L1"]


async def test_the_rules_of_the_repository_around_the_folder_hold_too(notes: Notes, tmp_path: Path) -> None:
    (tmp_path / ".git" / "info").mkdir(parents=True)
    (tmp_path / ".git" / "info" / "exclude").write_text("private.md")
    (tmp_path / ".gitignore").write_text("notes/drafts/")
    for name in ("a.md", "drafts/b.md", "private.md"):
        notes.write(name, "zebra")
    assert await names(notes) == {"a.md"}


async def test_a_folder_that_its_repository_ignores_still_shows_its_notes(notes: Notes, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("notes/\n*.md\n")
    notes.write("a.md", "zebra")
    assert await names(notes) == {"a.md"}


async def test_links_are_followed_inside_the_folder_and_never_out_of_it(notes: Notes, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("zebra")
    notes.write("real/a.md", "zebra")
    notes.write(".store/b.md", "zebra")
    links = {
        "out": outside,
        "out.md": outside / "secret.md",
        "loop": notes.folder,
        "real/up": notes.folder / "real",
        "alias": notes.folder / "real",
        "alias.md": notes.folder / "real" / "a.md",
        "opened": notes.folder / ".store",
        "gone.md": notes.folder / "nothing.md",
        "picture.png": notes.folder / "real" / "a.md",
    }
    for name, target in links.items():
        (notes.folder / name).symlink_to(target)
    async with notes.store() as store:
        for _ in range(2):
            assert sorted(await ids(store, "zebra")) == ["opened/b.md#L1", "real/a.md#L1"]
        for refused in ("out/secret.md#L1", "out.md#L1", "gone.md#L1"):
            assert await store.fetch(refused) is None


async def test_a_link_to_a_hidden_file_is_held_under_the_links_name(notes: Notes) -> None:
    notes.write(".store/b.md", "zebra")
    for name in ("one.md", "two.md"):
        (notes.folder / name).symlink_to(notes.folder / ".store" / "b.md")
    assert await names(notes) == {"one.md"}


async def test_binary_files_are_skipped_and_broken_encodings_are_read(notes: Notes) -> None:
    notes.write("binary.md", b"zebra\0zebra")
    notes.write("bom.md", b"\xef\xbb\xbf# zebra\r\n\r\ntext\rmore")
    notes.write("latin.md", "zebra caf\xe9".encode("latin-1"))
    notes.write("wide.txt", "zebra".encode("utf-16"))
    notes.write("empty.md", "")
    assert await names(notes) == {"bom.md", "latin.md", "wide.txt"}


async def test_files_too_large_are_skipped_and_counted(notes: Notes) -> None:
    notes.write("a.md", "zebra")
    notes.write("large.md", "zebra " * 100)
    async with notes.store(max_file_bytes=100, recheck_s=60) as store:
        assert await ids(store, "zebra") == ["a.md#L1"]
        report = await store.probe()
        assert await store.fetch("large.md#L1") is None
    assert report.detail == "notes: 1 files, 1 sections indexed; 1 larger than max_file_bytes left out"


async def test_more_files_than_allowed_are_left_out_and_the_answer_says_so(notes: Notes) -> None:
    for number in range(5):
        notes.write(f"{number}.md", "zebra")
    async with notes.store(max_files=3) as store:
        reply = await store.search(StoreQuery(text="zebra"))
    assert (len(reply.hits), reply.remark) == (3, "only the first 3 files are indexed (max_files)")


@pytest.mark.skipif(os.sep != "/", reason="Windows allows no such names")
async def test_names_that_cannot_be_part_of_an_id_are_left_out(notes: Notes) -> None:
    notes.write("new\nline.md", "zebra")
    (notes.folder / os.fsdecode(b"\xff.md")).write_text("zebra")
    assert await names(notes) == set()


async def test_several_folders_are_told_apart_by_their_names(notes: Notes, tmp_path: Path) -> None:
    more = [tmp_path / "work" / "notes", tmp_path / "diary"]
    notes.write("a.md", "zebra")
    for folder in more:
        folder.mkdir(parents=True)
        (folder / "a.md").write_text("zebra")
    async with notes.store(folders=[*map(str, more), str(notes.folder)]) as store:
        found = await ids(store, "zebra")
        assert sorted(found) == ["diary/a.md#L1", f"{tmp_path.name}/notes/a.md#L1", "work/notes/a.md#L1"]
        for hit_id in found:
            hit = await store.fetch(hit_id)
            assert hit is not None and hit.id == hit_id
        assert await store.fetch("elsewhere/a.md#L1") is None


async def test_a_folder_may_be_given_as_url_or_relative_to_home_or_here(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes.write("a b.md", "zebra")
    monkeypatch.setenv("HOME", str(notes.folder.parent))
    monkeypatch.setenv("USERPROFILE", str(notes.folder.parent))
    monkeypatch.chdir(notes.folder)
    for url in (
        notes.folder.as_uri(),
        f"file://localhost{notes.folder}",
        "~/notes",
        "file://~/notes",
        "file://.",
        ".",
        "",
    ):
        assert await names(notes, url=url) == {"a b.md"}, url


async def test_a_missing_folder_fails_and_is_not_an_empty_answer(notes: Notes, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place, problem in (("nowhere", "folder not found: "), ("file", "not a folder: ")):
        async with notes.store(url=str(tmp_path / place)) as store:
            for call in (lambda: store.search(StoreQuery(text="x")), store.probe, lambda: store.fetch("a.md#L1")):
                with pytest.raises(StoreFailed, match=problem):
                    await call()


async def test_a_folder_that_comes_back_is_searched_again(notes: Notes) -> None:
    notes.write("a.md", "zebra")
    async with notes.store(recheck_s=0) as store:
        assert await ids(store, "zebra") == ["a.md#L1"]
        away = notes.folder.rename(notes.folder.with_name("away"))
        with pytest.raises(StoreFailed):
            await ids(store, "zebra")
        away.rename(notes.folder)
        assert await ids(store, "zebra") == ["a.md#L1"]


async def test_fetch_reads_the_whole_section_as_the_file_is_now(notes: Notes) -> None:
    notes.write("a.md", "# One\n\nfirst\n\n# Two\n\nold\n\n# Three\n\nlast\n")
    async with notes.store() as store:
        assert await ids(store, "old") == ["a.md#L5"]
        long = "\n\n".join(f"paragraph {number} " + "word " * 100 for number in range(6))
        notes.write("a.md", f"# One\n\nfirst\n\n# Two\n\n{long}\n\n# Three\n\nlast\n")
        hit = await store.fetch("a.md#L5")
    assert hit is not None
    assert hit.text.split() == f"# Two {long}".split()
    assert hit.metadata == {
        "lines": [5, 17],
        "before": {"id": "a.md#L1", "title": "One"},
        "after": {"id": "a.md#L19", "title": "Three"},
    }


async def test_fetch_of_a_very_long_section_keeps_to_the_part_asked_for(notes: Notes) -> None:
    notes.write("a.txt", "\n\n".join(f"p{number} " + "word " * 200 for number in range(100)))
    async with notes.store() as store:
        (first, *_) = await ids(store, "p60")
        hit = await store.fetch(first)
        end = await store.fetch("a.txt#L199")
    assert hit is not None and "p60 " in hit.text and len(hit.text) <= 16_000
    assert end is not None and "p99 " in end.text and "p90 " in end.text


@pytest.mark.parametrize(("asked", "given"), [("a.md", 1), ("a.md#L4", 5), ("a.md#L99", 9), ("a.md#L0", 1)])
async def test_fetch_of_a_line_that_moved_gives_the_nearest_section(notes: Notes, asked: str, given: int) -> None:
    notes.write("a.md", "# One\n\nfirst\n\n# Two\n\nsecond\n\n# Three\n\nlast\n")
    async with notes.store() as store:
        hit = await store.fetch(asked)
    assert hit is not None and hit.id == f"a.md#L{given}"


@pytest.mark.parametrize(
    "hit_id",
    [
        "../outside.md#L1", "/etc/passwd#L1", "sub/../../outside.md#L1", "./a.md#L1", "sub//a.md#L1", "a.md/#L1",
        "ignored.md#L1", ".hidden/a.md#L1", "a.png#L1", "missing.md#L1", "empty.md#L1", "binary.md#L1", "sub#L1",
        "folder.md#L1", "a.md/b.md#L1", "a.md#Lx", "a.md#L٣", "a.md#L99999999999999999999", "", "#L1", "a\x00.md#L1",
        "\ud800.md#L1", "x" * 5000 + ".md#L1",
    ],
)  # fmt: skip
async def test_fetch_refuses_whatever_the_store_does_not_hold(notes: Notes, hit_id: str) -> None:
    (notes.folder.parent / "outside.md").write_text("secret")
    notes.write(".gitignore", "ignored.md")
    for name in ("a.md", "sub/a.md", "ignored.md", ".hidden/a.md", "a.png", "folder.md/a.txt"):
        notes.write(name, "text")
    notes.write("empty.md")
    notes.write("binary.md", b"\0")
    async with notes.store() as store:
        assert await store.fetch(hit_id) is None
