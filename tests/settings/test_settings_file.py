"""Which file is read, and what is said of one that cannot be used: file, line, reason, nearest name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from callosum_mcp.models.knobs import Knobs
from callosum_mcp.settings import DEFAULT_STORES
from callosum_mcp.settings.source import Source

from .desk import Desk


def ports(n: int) -> str:
    return f"server: {{port: {n}}}\n"


def test_the_named_file_wins_then_the_variable_then_the_current_folder_then_the_users(desk: Desk) -> None:
    desk.write(ports(4), user=True)
    found = [desk.load().settings.server.port]
    desk.write(ports(3))
    found.append(desk.load().settings.server.port)
    by_variable = {"CALLOSUM_CONFIG": str(desk.write(ports(2), "by-variable.yaml"))}
    found.append(desk.load(environ=by_variable).settings.server.port)
    explicit = desk.write(ports(1), "explicit.yaml")
    found.append(desk.load(explicit, by_variable).settings.server.port)
    assert found == [4, 3, 2, 1]


@pytest.mark.parametrize("name", ["callosum.yml", "callosum.json", "seren-corpus-callosum.yaml"])
def test_other_names_are_found_in_the_current_folder_after_callosum_yaml(desk: Desk, name: str) -> None:
    other = desk.write('{"server": {"port": 5}}', name)
    assert desk.load().file == other
    ours = desk.write(ports(1))
    assert desk.load().file == ours


def test_a_named_file_that_is_missing_is_an_error_that_says_where_the_name_came_from(desk: Desk) -> None:
    error = desk.error(Path("nowhere.yaml"))
    assert str(error) == f"{desk.cwd / 'nowhere.yaml'}: does not exist; check --config or CALLOSUM_CONFIG"
    assert "does not exist" in str(desk.error(environ={"SEREN_SCC_CONFIG": "nowhere.yaml"}))


@pytest.mark.parametrize("name", ["x" * 300, "~nobody-of-that-name/callosum.yaml"])
def test_a_name_that_no_file_can_have_is_an_ordinary_error(desk: Desk, name: str) -> None:
    assert "does not exist" in str(desk.error(environ={"CALLOSUM_CONFIG": name}))


def test_a_tilde_names_the_home_folder(desk: Desk, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "mine.yaml").write_text(ports(9), encoding="utf-8")
    loaded = desk.load(environ={"CALLOSUM_CONFIG": "~/mine.yaml", "CALLOSUM_RUNTIME_STORES": "~/stores.json"})
    assert (loaded.settings.server.port, loaded.overlay) == (9, home / "stores.json")


def test_without_any_file_the_default_stores_are_asked_and_the_overlay_is_the_users(desk: Desk) -> None:
    loaded = desk.load()
    assert loaded.file is None
    assert loaded.stores == DEFAULT_STORES
    assert [store.optional for store in loaded.stores] == [False, True, True]
    assert loaded.knobs == Knobs()
    assert loaded.overlay == desk.user / "runtime-stores.json"


def test_the_overlay_lies_beside_the_file_unless_a_variable_says_otherwise(desk: Desk) -> None:
    file = desk.write("", user=True)
    assert desk.load().overlay == file.parent / "runtime-stores.json"
    assert desk.load(environ={"CALLOSUM_RUNTIME_STORES": "here.json"}).overlay == desk.cwd / "here.json"
    assert desk.load(environ={"SEREN_SCC_RUNTIME_STORES": "there.json"}).overlay == desk.cwd / "there.json"


@pytest.mark.parametrize("text", ["", "\n# nothing but a remark\n", "---\n", "server:\nstores:\nfederation:\n"])
def test_a_file_that_says_nothing_means_the_defaults_and_no_store(desk: Desk, text: str) -> None:
    file = desk.write(text)
    loaded = desk.load()
    assert (loaded.file, loaded.stores, loaded.knobs) == (file, (), Knobs())


def test_a_key_with_nothing_after_it_means_its_default(desk: Desk) -> None:
    desk.write(
        "server: {bearer_token_env: , allowed_hosts: }\nfederation: {k: , stores: }\n"
        "stores:\n- {name: a, type: notes, options: , headers: , tier: }\n"
    )
    loaded = desk.load()
    assert loaded.knobs == Knobs()
    assert [(store.name, dict(store.options), store.tier) for store in loaded.stores] == [("a", {}, None)]


def test_stores_of_both_places_are_kept_in_order_with_a_slash_at_the_end_of_a_url_left_out(desk: Desk) -> None:
    desk.write(
        "stores:\n- {name: c, type: notes, url: /}\n"
        "federation:\n  stores:\n  - {name: a, type: seren_memory, url: 'http://h/x/'}\n  - {name: b, type: notes}\n"
    )
    assert [(store.name, store.url) for store in desk.load().stores] == [("a", "http://h/x"), ("b", ""), ("c", "/")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("server:\n  prot: 1\n", "line 2: server.prot: is unknown; did you mean 'port'?"),
        ("\n\nserfer: {}\n", "line 3: serfer: is unknown; did you mean 'server'?"),
        (
            "federation:\n  k: 1\n  fusion_mod: rrf\n",
            "line 3: federation.fusion_mod: is unknown; did you mean 'fusion_mode'?",
        ),
        (
            "stores:\n- name: a\n  type: notes\n  wieght: 2\n",
            "line 4: stores.0.wieght: is unknown; did you mean 'weight'?",
        ),
        (
            "federation:\n  stores:\n  - {name: a, type: notes, ulr: x}\n",
            "line 3: federation.stores.0.ulr: is unknown; did you mean 'url'?",
        ),
        ("tls: {zzz: 1}\n", "line 1: tls.zzz: is unknown; known are trust_system_store"),
        ("1: 2\n", "line 1: 1: keys should be strings (got 1)"),
    ],
)
def test_an_unknown_key_is_an_error_with_its_line_and_the_nearest_name(desk: Desk, text: str, said: str) -> None:
    file = desk.write(text)
    assert str(desk.error()) == f"{file}, {said}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("server:\n  port: 1\n  host: x\n  port: 2\n", "line 4: server.port: stands twice"),
        ("stores: []\nserver: {}\nstores: []\n", "line 3: stores: stands twice"),
        ("stores:\n- name: a\n  type: notes\n  name: b\n", "line 4: stores.0.name: stands twice"),
        (
            "stores:\n- {name: a, type: notes}\n- {name: a, type: notes}\n",
            "line 3: stores.1.name: 'a' stands twice; names of stores are unique",
        ),
    ],
)
def test_what_stands_twice_is_an_error_since_one_of_the_two_would_be_lost(desk: Desk, text: str, said: str) -> None:
    file = desk.write(text)
    assert str(desk.error()) == f"{file}, {said}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("server:\n  port: seven\n", "line 2: server.port: must be a valid integer, unable to parse"),
        ("server:\n  port: 70000\n", "line 2: server.port: must be less than or equal to 65535 (got 70000)"),
        ("federation:\n  k: 0\n", "line 2: federation.k: must be greater than or equal to 1 (got 0)"),
        ("federation:\n  deadline_s: 0\n", "line 2: federation.deadline_s: must be greater than 0 (got 0)"),
        ("federation:\n  deadline_s: .nan\n", "line 2: federation.deadline_s: must be a finite number"),
        ("federation:\n  fusion_mode: rff\n", "line 2: federation.fusion_mode: must be "),
        ("logging:\n  level: loud\n", "line 2: logging.level: must be 'debug', 'info', 'warning' or 'error'"),
        ("server: x\n", "line 1: server: must be a mapping of names to values"),
        ("stores: {a: 1}\n", "line 1: stores: must be a list"),
        ("stores:\n- a\n", "line 2: stores.0: must be a mapping of names to values"),
        ("stores:\n- name: a\n", "line 2: stores.0.type: is required"),
        ("stores:\n- {name: 'a b', type: notes}\n", "line 2: stores.0.name: string should match pattern"),
        ("stores:\n- {name: a, type: notes, weight: 101}\n", "line 2: stores.0.weight: must be less than or equal to"),
        ("stores:\n- {name: a, type: notes, floor: -1}\n", "line 2: stores.0.floor: must be greater than or equal to"),
        ("stores:\n- {name: a, type: notes, tier: top}\n", "line 2: stores.0.tier: must be 'live-infra', "),
        ("stores:\n- {name: a, type: notes, headers: x}\n", "line 2: stores.0.headers: must be a mapping of names"),
        ("stores:\n- {name: a, type: notes, options: 5}\n", "line 2: stores.0.options: must be a mapping of names"),
        (
            "stores:\n- {name: a, type: seren_memory, include_long: true, options: 5}\n",
            "line 2: stores.0.options: must be a mapping of names",
        ),
    ],
)
def test_a_value_of_the_wrong_kind_or_out_of_bounds_is_an_error_with_its_line(desk: Desk, text: str, said: str) -> None:
    file = desk.write(text)
    assert str(desk.error()).startswith(f"{file}, {said}")


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("type: nots", "store 'a': type 'nots' is unknown; did you mean 'notes'?"),
        (
            "type: seren_loci, options: {projct: x}",
            "store 'a': option 'projct' is unknown for type seren_loci; did",
        ),
        ("type: seren_loci, options: {widen: 3}", "store 'a': option widen: must be true or false (got 3)"),
    ],
)
def test_a_type_or_an_option_that_is_wrong_is_an_error_with_the_line_of_its_store(
    desk: Desk, entry: str, said: str
) -> None:
    file = desk.write(f"stores:\n\n- {{name: a, {entry}}}\n")
    assert str(desk.error()).startswith(f"{file}, line 3: stores.0: {said}")


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("server:\n  port: [1\nstores: []\n", 3, "is not valid YAML: "),
        ("server: {\n", 2, "is not valid YAML: "),
        ("a: *nothing\n", 1, "is not valid YAML: found undefined alias"),
        ("server:\n\tport: 1\n", 2, "is not valid YAML: "),
        ("a: 1\n---\nb: 2\n", 2, "is not valid YAML: "),
        ("- a\n- b\n", 1, "must be a mapping of sections (server, federation, stores …)"),
        ("just text\n", 1, "must be a mapping of sections"),
        ("a: \x00\n", None, "is not valid YAML: "),
        ("a: 2026-99-99\n", None, "is not valid YAML: month must be in 1..12"),
        ("[" * 600, None, "is not valid YAML: "),
        ("a: &a [*a]\n", 1, "holds more than 100000 keys or 64 levels, its anchors followed"),
    ],
)
def test_a_broken_document_is_an_error_on_one_line_with_the_line_where_it_breaks(
    desk: Desk, text: str, line: int | None, said: str
) -> None:
    desk.write(text)
    error = desk.error()
    assert (error.line, error.problem[: len(said)], "\n" in str(error)) == (line, said, False)


def test_anchors_that_stand_for_an_endless_document_are_refused(desk: Desk) -> None:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    desk.write("\n".join(rows))
    assert "holds more than 100000 keys" in str(desk.error())


def test_anchors_and_merge_keys_are_understood(desk: Desk) -> None:
    desk.write("stores:\n- &first {name: a, type: seren_memory, url: 'http://h', weight: 2}\n- {<<: *first, name: b}\n")
    assert [(store.name, store.weight) for store in desk.load().stores] == [("a", 2.0), ("b", 2.0)]


def test_a_file_that_is_no_text_or_far_too_large_or_a_folder_is_refused(desk: Desk) -> None:
    path = desk.cwd / "callosum.yaml"
    path.write_bytes("server: {}".encode("utf-16"))
    assert str(desk.error()) == f"{path}: is not UTF-8 (byte 0)"
    path.write_bytes(b"#" * 1_048_577)
    assert str(desk.error()) == f"{path}: is larger than 1048576 bytes"
    assert "does not exist" in str(desk.error(desk.cwd))


def test_a_file_that_cannot_be_read_is_refused_with_the_systems_reason(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = desk.write("")

    def denied(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "read_bytes", denied)
    assert str(desk.error()) == f"{path}: cannot be read: Permission denied"


def test_a_byte_order_mark_is_no_part_of_the_text(desk: Desk) -> None:
    (desk.cwd / "callosum.yaml").write_bytes(b"\xef\xbb\xbfserver: {port: 8}\n")
    assert desk.load().settings.server.port == 8


def test_json_may_hold_tabs_escaped_slashes_and_escaped_emoji(desk: Desk) -> None:
    url = "file:///notes/\U0001f98a"
    text = json.dumps({"stores": [{"name": "a", "type": "notes", "url": url}]}, indent="\t").replace("/", "\\/")
    desk.write(text, "callosum.json")
    assert [store.url for store in desk.load().stores] == [url]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{\n"server": {"port": 1,}\n}', ", line 2: is not valid JSON: "),
        ('{\n\t"server": {\n\t\t"prot": 1}\n}', ", line 3: server.prot: is unknown; did you mean 'port'?"),
        ('{"server": {},\n"server": {}}', ", line 2: server: stands twice"),
        ("[1]", ", line 1: must be a mapping of sections (server, federation, stores …)"),
        ("[" * 200_000, ": is not valid JSON: "),
    ],
)
def test_broken_json_is_an_error_with_its_line(desk: Desk, text: str, said: str) -> None:
    file = desk.write(text, "callosum.json")
    assert str(desk.error()).startswith(f"{file}{said}")


def test_empty_json_means_the_defaults(desk: Desk) -> None:
    desk.write(" \n", "callosum.json")
    assert desk.load().knobs == Knobs()


def test_an_error_about_what_stands_in_no_file_names_no_line() -> None:
    assert str(Source("defaults").error(("server", "port"), "is wrong")) == "defaults: server.port: is wrong"
