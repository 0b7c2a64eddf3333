"""Stores appended to a settings file: everything else stays as somebody wrote it, and nothing is half written."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from callosum_mcp.errors import SettingsError
from callosum_mcp.settings.appending import NewStore, blocks, with_stores
from callosum_mcp.settings.source import parse_source
from callosum_mcp.settings.writing import NEW_FILE, replace_settings, text_with_stores

ENTRY: dict[str, Any] = {"name": "new", "type": "notes", "url": "~/n", "options": {"include": ["*.md", "*.txt"]}}
NEW = NewStore(entry=ENTRY, comments=("from a file",))
BLOCK = """\
{0}# from a file
{0}- name: new
{0}  type: notes
{0}  url: ~/n
{0}  options:
{0}    include: ['*.md', '*.txt']
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "stores:\n{2}"),
        ("# mine\n", "# mine\nstores:\n{2}"),
        ("federation: {k: 9}", "federation: {k: 9}\nstores:\n{2}"),
        ("---\nserver: {}\n...\n", "---\nserver: {}\nstores:\n{2}...\n"),
        ("  server: {}\n", "  server: {}\n  stores:\n{4}"),
        ("stores:\n  - name: a # why\nserver: {}\n", "stores:\n  - name: a # why\n{2}server: {}\n"),
        ("stores:\n- name: a\n# next\nserver: {}\n", "stores:\n- name: a\n{0}# next\nserver: {}\n"),
        ("stores:\n  - name: a\n    # about a\n\n# next\n", "stores:\n  - name: a\n    # about a\n{2}\n# next\n"),
        ("stores:\n  - name: a\n    url: |\n      x\n", "stores:\n  - name: a\n    url: |\n      x\n{2}"),
        ("stores:\n  - {name: a,\n     url: x}\n", "stores:\n  - {name: a,\n     url: x}\n{2}"),
        ("stores: [] # none\nserver: {}\n", "stores: # none\n{2}server: {}\n"),
        ("stores:  # none\nserver: {}\n", "stores:  # none\n{2}server: {}\n"),
        ("stores:\n", "stores:\n{2}"),
        ("stores: ~\n", "stores:\n{2}"),
    ],
)
def test_a_file_of_blocks_gets_a_block(before: str, after: str) -> None:
    wanted = after
    for column in (0, 2, 4):
        wanted = wanted.replace(f"{{{column}}}", BLOCK.replace("{0}", " " * column))
    assert with_stores(before, "x.yaml", [NEW]) == wanted


INLINE = json.dumps(ENTRY)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("stores: [{name: a}]\n", f"stores: [{{name: a}}, {INLINE}]\n"),
        ("stores: [{name: a}, # a\n]\n", f"stores: [{{name: a}}, {INLINE}, # a\n]\n"),
        ('{"stores": [], "server": {}}', f'{{"stores": [{INLINE}], "server": {{}}}}'),
        ('{"stores": null}', f'{{"stores": [{INLINE}]}}'),
        ('{"server": {}}\n', f'{{"server": {{}}, "stores": [{INLINE}]}}\n'),
        ("{}", f'{{"stores": [{INLINE}]}}'),
    ],
)
def test_a_file_in_brackets_gets_an_item(before: str, after: str) -> None:
    assert with_stores(before, "x.yaml", [NEW]) == after


def test_line_ends_are_those_of_the_file() -> None:
    assert with_stores("stores:\r\n  - name: a\r\n", "x.yaml", [NEW]).count("\r\n") == 8


def test_a_json_file_keeps_its_indentation_and_its_order() -> None:
    before = '{\n\t"stores": [{"name": "ä"}],\n\t"server": {}\n}\n'
    after = with_stores(before, "x.JSON", [NEW])
    assert list(json.loads(after)) == ["stores", "server"]
    assert after.startswith('{\n\t"stores": [\n\t\t{\n\t\t\t"name": "ä"')
    assert json.loads(after)["stores"][1] == ENTRY
    assert with_stores("{}", "x.json", [NEW]).startswith('{\n  "stores"')


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: &x []\nstores: *x\n", "x.yaml: stores: is an alias of another part"),
        ("stores: 5\n", "x.yaml: stores: must be a list"),
        ("- 1\n", "x.yaml, line 1: must be a mapping"),
        ("a: 1\n---\nb: 2\n", "x.yaml.*: is not valid YAML"),
        ("a: {\n", "x.yaml.*: is not valid YAML"),
        ("stores: &s\n  - name: a\nother: *s\n", "x.yaml: stores cannot be appended to as it is written"),
    ],
)
def test_a_file_that_cannot_be_appended_to_is_refused(text: str, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        with_stores(text, "x.yaml", [NEW])


VALUE = st.text(max_size=12) | st.integers(-5, 5) | st.booleans() | st.lists(st.text(max_size=5), max_size=3)
STORE = st.dictionaries(st.text(alphabet="abcdef", min_size=1), VALUE, min_size=1, max_size=4)


def _printable(value: object) -> bool:
    """YAML has no way to write some characters that no settings hold."""
    try:
        return yaml.safe_load(json.dumps(value)) == value
    except yaml.YAMLError:
        return False


@settings(deadline=None)
@example([], [{"a": "\x85"}, {"a": "b\u2028c"}, {"a": ["\u2029"]}], "block")
@given(
    st.lists(STORE.filter(_printable), max_size=3),
    st.lists(STORE.filter(_printable), min_size=1, max_size=3),
    st.sampled_from(["block", "flow", "json"]),
)
def test_whatever_the_file_holds_is_there_afterwards_with_the_new_ones_behind(
    old: list[dict[str, Any]], new: list[dict[str, Any]], style: str
) -> None:
    data = {"server": {"port": 1}, "stores": old, "federation": {"k": 2}}
    text = (
        json.dumps(data)
        if style == "json"
        else yaml.safe_dump(data, sort_keys=False, default_flow_style=style == "flow")
    )
    name = "x.json" if style == "json" else "x.yaml"
    after = with_stores(text, name, [NewStore(entry=entry) for entry in new])
    assert parse_source(after, name).data == {**data, "stores": [*old, *new]}


def test_blocks_can_stand_alone() -> None:
    assert yaml.safe_load("stores:\n" + blocks([NEW], 2)) == {"stores": [ENTRY]}


def test_a_new_file_begins_with_the_default_notes(tmp_path: Path) -> None:
    made = text_with_stores(tmp_path / "callosum.yaml", [NEW])
    assert made == NEW_FILE + BLOCK.replace("{0}", "  ")
    names = [store["name"] for store in json.loads(text_with_stores(tmp_path / "callosum.json", [NEW]))["stores"]]
    assert names == ["notes", "new"]


def test_a_byte_order_mark_stays(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_bytes(b"\xef\xbb\xbfstores: []\n")
    assert text_with_stores(file, [NEW]).startswith("\ufeffstores:\n")


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_bytes(b"\xff")
    with pytest.raises(SettingsError, match="is not UTF-8"):
        text_with_stores(file, [NEW])
    with pytest.raises(SettingsError, match="cannot be read"):
        text_with_stores(tmp_path, [NEW])


def accept(file: Path) -> None:
    assert file.read_text(encoding="utf-8") == "new\n"


def test_a_file_is_replaced_as_a_whole_and_the_old_ones_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "callosum.yaml"
    file.write_text("old\n", encoding="utf-8")
    file.chmod(0o640)
    first = replace_settings(file, "new\n", accept)
    second = replace_settings(file, "new\n", accept)
    assert (first, second) == (tmp_path / "callosum.yaml.bak", tmp_path / "callosum.yaml.bak-2")
    assert [path.read_text(encoding="utf-8") for path in (file, tmp_path / "callosum.yaml.bak")] == ["new\n", "old\n"]
    assert sys.platform == "win32" or stat.S_IMODE(file.stat().st_mode) == 0o640
    assert len(list(tmp_path.iterdir())) == 3


def test_a_new_file_may_stand_in_a_new_folder(tmp_path: Path) -> None:
    file = tmp_path / "a" / "b" / "callosum.yaml"
    assert replace_settings(file, "new\n", accept) is None
    assert file.read_text(encoding="utf-8") == "new\n"


def test_a_text_that_is_refused_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "callosum.yaml"
    file.write_text("old\n", encoding="utf-8")

    def refuse(written: Path) -> None:
        raise SettingsError("stores.0.type: is unknown", source=str(written), line=3)

    with pytest.raises(SettingsError) as told:
        replace_settings(file, "new\n", refuse)
    assert str(told.value) == f"{file}, line 3: stores.0.type: is unknown; nothing was changed"
    assert [(path.name, path.read_text(encoding="utf-8")) for path in tmp_path.iterdir()] == [
        ("callosum.yaml", "old\n")
    ]


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(SettingsError, match=r"cannot be written: .*; nothing was changed"):
        replace_settings(tmp_path / "file" / "callosum.yaml", "new\n", accept)


@pytest.mark.skipif(sys.platform == "win32", reason="links want a privilege there")
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.yaml", tmp_path / "callosum.yaml"
    real.write_text("old\n", encoding="utf-8")
    link.symlink_to(real)
    replace_settings(link, "new\n", accept)
    assert os.path.islink(link) and real.read_text(encoding="utf-8") == "new\n"
