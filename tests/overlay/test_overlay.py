"""The overlay's file: nothing in it is ever lost, half written, or open to others."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from callosum_mcp.errors import DuplicateStore, SettingsError

from .shelf import entries, overlay_at, request, tokens, write_entries

WRITER = """
import sys
from pathlib import Path
from callosum_mcp.federation.overlay import Overlay
from callosum_mcp.models.requests import AddStoreRequest, parse
overlay = Overlay(Path(sys.argv[1]), lambda variable, keyring: None)
for n in range(int(sys.argv[3])):
    name = f"{sys.argv[2]}{n}"
    overlay.add(parse(AddStoreRequest, {"name": name, "type": "seren_memory", "url": "http://127.0.0.1:9"}))
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config" / "runtime-stores.json"


def test_what_was_added_is_there_after_a_restart_with_its_token_by_name_only(path: Path) -> None:
    overlay_at(path).add(
        request("a", url="http://127.0.0.1:9/", weight=2, floor=0.5, tier="older-note", token_env="CALLOSUM_T")
    )
    overlay_at(path).add(request("b"))
    a, b = overlay_at(path).load()
    assert (a.name, a.type, a.url, a.weight, a.floor, a.tier) == (
        "a",
        "seren_memory",
        "http://127.0.0.1:9",
        2.0,
        0.5,
        "older-note",
    )
    assert a.token is not None and a.token.get_secret_value() == "token-of-t"
    assert (a.managed, b.managed, b.name, b.token) == (True, True, "b", None)
    assert "token-of-t" not in path.read_text(encoding="utf-8")


def test_what_was_removed_is_gone_after_a_restart(path: Path) -> None:
    overlay = overlay_at(path)
    overlay.add(request("a"))
    overlay.add(request("b"))
    overlay.remove("a")
    assert [spec.name for spec in overlay_at(path).load()] == ["b"]


def test_a_name_stands_in_the_file_once(path: Path) -> None:
    overlay = overlay_at(path)
    overlay.add(request("a", weight=1))
    overlay.add(request("a", weight=3))
    assert [spec.weight for spec in overlay_at(path).load()] == [3.0]


def test_a_name_that_another_process_took_meanwhile_is_not_taken_from_it(path: Path) -> None:
    overlay = overlay_at(path)
    overlay.load()
    overlay_at(path).add(request("a", weight=1))
    with pytest.raises(DuplicateStore, match="another process added a store named 'a'"):
        overlay.add(request("a", weight=3))
    assert [spec.weight for spec in overlay_at(path).load()] == [1.0]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no file modes")
def test_the_file_is_readable_by_its_owner_alone_even_if_it_was_not_before(path: Path) -> None:
    path.parent.mkdir()
    write_entries(path)
    path.chmod(0o644)
    overlay_at(path).add(request("a"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_write_that_fails_half_way_leaves_the_old_file_and_nothing_else(
    path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    overlay = overlay_at(path)
    overlay.add(request("a"))
    before = path.read_bytes()

    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os if step == "fsync" else Path, step, full)
    with pytest.raises(SettingsError) as caught:
        overlay.add(request("b"))
    monkeypatch.undo()
    assert str(caught.value) == f"{path}: cannot be written (No space left on device); nothing was changed"
    assert path.read_bytes() == before
    assert {file.name for file in path.parent.iterdir()} <= {path.name, f"{path.name}.lock"}


def test_a_folder_that_cannot_be_made_is_a_settings_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(SettingsError, match=r"cannot be written \(.+\); nothing was changed"):
        overlay_at(tmp_path / "file" / "runtime-stores.json").add(request("a"))


def test_a_missing_file_means_no_managed_stores(path: Path) -> None:
    overlay = overlay_at(path)
    assert (overlay.load(), overlay.notes, path.parent.exists()) == ([], [], False)


@pytest.mark.promise("4e")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{ half", "is not JSON"),
        ("\x00", "is not JSON"),
        ("", "is not JSON"),
        ("[" * 200_000, "is not JSON"),
        ('{"a": 1}', "is not a list"),
    ],
)
def test_a_corrupt_file_is_set_aside_and_said_and_the_next_write_starts_anew(path: Path, text: str, said: str) -> None:
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    overlay = overlay_at(path)
    assert overlay.load() == []
    (kept,) = path.parent.glob("runtime-stores.json.corrupt-*")
    assert overlay.notes == [f"overlay {path} {said}; it was kept as {kept.name} and managed stores start empty"]
    overlay.add(request("a"))
    assert (kept.read_text(encoding="utf-8"), [e["name"] for e in entries(path)]) == (text, ["a"])


@pytest.mark.parametrize("step", ["add", "load"])
def test_a_file_that_became_corrupt_while_running_is_set_aside_and_what_was_known_of_it_takes_its_place(
    path: Path, step: str
) -> None:
    overlay = overlay_at(path)
    overlay.add(request("a"))
    path.write_bytes(b"\xff\xfe")
    if step == "add":
        overlay.add(request("b"))
    else:
        assert [spec.name for spec in overlay.load()] == ["a"]
    (kept,) = path.parent.glob("*.corrupt-*")
    assert kept.read_bytes() == b"\xff\xfe"
    assert overlay.notes == [
        f"overlay {path} is not JSON; it was kept as {kept.name} and the stores known here took its place"
    ]
    assert [e["name"] for e in entries(path)] == (["a", "b"] if step == "add" else ["a"])
    overlay.load()
    assert len(overlay.notes) == 1, "that a file was set aside stays said until the process ends"


def test_a_file_that_cannot_be_read_any_more_leaves_the_stores_known_from_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    overlay = overlay_at(path)
    overlay.add(request("a"))

    def denied(self: Path, **options: object) -> str:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "read_text", denied)
        assert [spec.name for spec in overlay.load()] == ["a"]
        assert overlay.notes == [f"overlay {path} cannot be read (Permission denied); it is left as it is"]
    assert ([spec.name for spec in overlay.load()], overlay.notes) == (["a"], [])


def test_two_corrupt_files_in_a_row_are_both_kept(path: Path) -> None:
    path.parent.mkdir()
    for text in ("one", "two"):
        path.write_text(text, encoding="utf-8")
        overlay_at(path).load()
    assert {kept.read_text(encoding="utf-8") for kept in path.parent.glob("*.corrupt-*")} == {"one", "two"}


def test_a_corrupt_file_that_cannot_be_set_aside_is_left_as_it_is_and_never_overwritten(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.parent.mkdir()
    path.write_text("{ half", encoding="utf-8")

    def denied(self: Path, target: Path) -> Path:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "rename", denied)
    overlay = overlay_at(path)
    assert overlay.load() == []
    assert overlay.notes == [
        f"overlay {path} is corrupt and cannot be set aside (Permission denied); it is left as it is"
    ]
    with pytest.raises(SettingsError, match="cannot be written"):
        overlay.add(request("a"))
    assert path.read_text(encoding="utf-8") == "{ half"


def test_a_file_that_cannot_be_read_is_said_and_never_overwritten(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.parent.mkdir()
    write_entries(path, {"name": "precious", "type": "seren_memory", "url": "http://127.0.0.1:9"})
    before = path.read_bytes()

    def denied(self: Path, **options: object) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_text", denied)
    overlay = overlay_at(path)
    assert overlay.load() == []
    assert overlay.notes == [f"overlay {path} cannot be read (Permission denied); it is left as it is"]
    with pytest.raises(SettingsError, match=r"cannot be written \(Permission denied\); nothing was changed"):
        overlay.add(request("a"))
    assert path.read_bytes() == before


def test_entries_that_are_not_understood_are_left_out_said_and_kept(path: Path) -> None:
    path.parent.mkdir()
    strange: list[object] = [
        "text",
        None,
        {"type": "seren_memory", "url": "http://h"},
        {"name": "heavy", "type": "seren_memory", "url": "http://h", "weight": 1e9},
        {"name": "nan", "type": "seren_memory", "url": "http://h", "floor": float("nan")},
        {"name": "a:b", "type": "seren_memory", "url": "http://h"},
        {"name": "later", "type": "of another version", "url": "x", "new": {"deep": [1]}},
        {"name": "keyed", "type": "seren_memory", "url": "http://h", "token_keyring": "s/u"},
        {"name": "env", "type": "seren_memory", "url": "http://h", "token_env": "NOT_SET"},
    ]
    write_entries(path, *strange)
    overlay = overlay_at(path)
    assert [spec.name for spec in overlay.load()] == ["later"]
    assert overlay.notes == [
        "overlay: store '?' left out: must be an object",
        "overlay: store '?' left out: must be an object",
        "overlay: store '?' left out: name: is required",
        "overlay: store 'heavy' left out: weight: must be less than or equal to 100",
        "overlay: store 'nan' left out: floor: must be a finite number",
        "overlay: store 'a:b' left out: name: string should match pattern '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$'",
        "overlay: store 'keyed' left out: the keyring holds nothing for s/u",
        "overlay: store 'env' left out: names the environment variable NOT_SET, which is not set",
    ]
    overlay.add(request("a"))
    overlay.remove("a")
    assert json.dumps(entries(path)) == json.dumps(strange)


def test_a_file_of_the_peer_is_read_with_its_plain_tokens_and_kept_as_it_is(path: Path) -> None:
    path.parent.mkdir()
    theirs = {
        "name": "theirs",
        "type": "seren_loci",
        "url": "http://127.0.0.1:7422/",
        "weight": 1.5,
        "floor": 0.2,
        "token": "plain",
    }
    write_entries(path, theirs, {**theirs, "name": "open", "token": ""})
    stored, unlocked = overlay_at(path).load()
    assert (stored.name, stored.type, stored.url, stored.weight, stored.floor) == (
        "theirs",
        "seren_loci",
        "http://127.0.0.1:7422",
        1.5,
        0.2,
    )
    assert stored.token is not None and stored.token.get_secret_value() == "plain"
    assert (unlocked.token, "plain" in repr(stored)) == (None, False)
    overlay_at(path).add(request("ours"))
    assert entries(path)[0] == theirs


def test_a_wrong_token_is_not_shown_in_the_note_about_it(path: Path) -> None:
    path.parent.mkdir()
    write_entries(path, {"name": "a", "type": "seren_memory", "url": "http://h", "token": 8675309117})
    overlay = overlay_at(path)
    overlay.load()
    assert overlay.notes == ["overlay: store 'a' left out: token: must be a valid string"]


def test_a_byte_order_mark_does_not_make_a_file_corrupt(path: Path) -> None:
    path.parent.mkdir()
    path.write_text("\ufeff[]", encoding="utf-8")
    overlay = overlay_at(path)
    assert (overlay.load(), overlay.notes, path.exists()) == ([], [], True)


def test_without_a_path_nothing_is_written_or_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from callosum_mcp.federation.overlay import Overlay

    monkeypatch.chdir(tmp_path)
    overlay = Overlay(None, tokens)
    overlay.add(request("a"))
    overlay.remove("a")
    assert (overlay.load(), list(tmp_path.iterdir())) == ([], [])


def test_two_threads_that_write_lose_nothing_of_each_other(path: Path) -> None:
    faults: list[SettingsError] = []

    def write(prefix: str) -> None:
        overlay = overlay_at(path)
        try:
            for n in range(15):
                overlay.add(request(f"{prefix}{n}"))
                if n % 3 == 0:
                    overlay.remove(f"{prefix}{n}")
        except SettingsError as fault:
            faults.append(fault)

    threads = [threading.Thread(target=write, args=(prefix,)) for prefix in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    expected = {f"{prefix}{n}" for prefix in "ab" for n in range(15) if n % 3}
    assert {spec.name for spec in overlay_at(path).load()} == expected


@pytest.mark.promise("4c")
def test_two_processes_that_write_lose_nothing_of_each_other(path: Path) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), prefix, "10"]) for prefix in "ab"]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    assert {spec.name for spec in overlay_at(path).load()} == {f"{prefix}{n}" for prefix in "ab" for n in range(10)}


def test_a_file_that_another_process_holds_for_too_long_is_an_error_and_not_a_hang(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from filelock import FileLock

    path.parent.mkdir()
    monkeypatch.setattr("callosum_mcp.federation.overlay._LOCK_S", 0.05)
    with FileLock(f"{path}.lock"), pytest.raises(SettingsError, match=r"cannot be written \(.*could not be acquired"):
        overlay_at(path).add(request("a"))
