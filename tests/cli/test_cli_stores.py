"""``callosum-mcp stores``: list, probe, add and remove, across processes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from callosum_mcp.models.results import StoresResult

from .shell import FakeMemory, Shell, store


def names(shell: Shell) -> list[str]:
    return [entry["name"] for entry in shell.run("stores", "list", "--json").json["stores"]]


def test_the_list_shows_place_and_knobs_of_every_store_without_asking_any(shell: Shell, memory: FakeMemory) -> None:
    config = shell.config(
        [
            store("memory", memory.url, weight=2, floor=0.1, tier="agent-memory", token="canary-7d1f"),
            store("off", "http://127.0.0.1:9", enabled=False),
        ]
    )
    page, whole = shell.run("stores", "list"), shell.run("stores", "list", "--json")
    assert (page.code, page.err, memory.tokens) == (0, "", [])
    first, second, *rest = page.out.splitlines()
    assert first == f"memory: seren_memory {memory.url} (base, weight 2, floor 0.1, agent-memory, token)"
    assert second == "off: seren_memory http://127.0.0.1:9 (base, weight 1, floor 0, off)"
    assert rest[:3] == ["", f"config: {config}", f"overlay: {shell.cwd / 'runtime-stores.json'}"]
    assert rest[3].startswith("settings: fusion_mode ")
    result = StoresResult.model_validate(whole.json)
    assert [(entry.name, entry.auth, entry.health) for entry in result.stores] == [
        ("memory", True, None),
        ("off", False, None),
    ]
    assert "canary-7d1f" not in page.out + whole.out


def test_a_list_without_any_store_says_so(shell: Shell) -> None:
    shell.config([])
    assert shell.run("stores", "list").out.startswith("no stores\n\nconfig: ")


def test_a_probe_says_of_every_store_whether_it_answers(shell: Shell, memory: FakeMemory, nobody: str) -> None:
    shell.config([store("memory", memory.url), store("gone", nobody)])
    page, whole = shell.run("stores", "probe"), shell.run("stores", "probe", "--json")
    up, down, *_ = page.out.splitlines()
    assert (page.code, whole.code) == (0, 0)
    assert " — up, " in up and up.endswith(": 2 short, 0 near, 0 long")
    assert " — down, " in down and down.endswith("refused: no connection: nothing listens at its address")
    assert [entry["health"]["status"] for entry in whole.json["stores"]] == ["up", "down"]


def test_an_added_store_is_probed_kept_for_the_next_process_and_asked(shell: Shell, memory: FakeMemory) -> None:
    shell.config([])
    added = shell.spawn(
        *("stores", "add", "more", "seren_memory", memory.url),
        *("--weight", "1.5", "--floor", "0.1", "--tier", "older-note"),
    )
    assert (added.code, added.err, added.out) == (0, "", "added more: up — SerenMemory: 2 short, 0 near, 0 long\n")
    assert json.loads((shell.cwd / "runtime-stores.json").read_text(encoding="utf-8")) == [
        {
            "name": "more",
            "type": "seren_memory",
            "url": memory.url,
            "weight": 1.5,
            "floor": 0.1,
            "tier": "older-note",
        }
    ]
    assert (
        f"more: seren_memory {memory.url} (managed, weight 1.5, floor 0.1, older-note)"
        in shell.run("stores", "list").out
    )
    assert [found["id"] for found in shell.run("recall", "hermes", "--json").json["hits"]] == ["more:m1", "more:m2"]


def test_a_store_that_does_not_answer_is_added_and_its_state_said(shell: Shell, nobody: str) -> None:
    shell.config([])
    ran = shell.run("stores", "add", "gone", "seren_loci", nobody)
    assert (ran.code, ran.out) == (0, "added gone: down — no connection: nothing listens at its address\n")
    assert names(shell) == ["gone"]


def test_a_token_is_kept_by_the_name_of_its_variable_and_sent_to_its_store(
    shell: Shell, memory: FakeMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLOSUM_MORE", "canary-7d1f")
    shell.config([])
    ran = shell.run("stores", "add", "more", "seren_memory", memory.url, "--token-env", "CALLOSUM_MORE")
    kept = (shell.cwd / "runtime-stores.json").read_text(encoding="utf-8")
    assert (set(memory.tokens), "CALLOSUM_MORE" in kept) == ({"Bearer canary-7d1f"}, True)
    assert "canary-7d1f" not in kept + ran.out + ran.err


def test_a_removed_store_is_gone_for_the_next_process(shell: Shell, nobody: str) -> None:
    shell.config([store("base", nobody)])
    shell.run("stores", "add", "more", "seren_memory", nobody)
    removed = shell.run("stores", "remove", "more")
    assert (removed.code, removed.out, names(shell)) == (0, "removed more\n", ["base"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["remove", "base"], "store 'base' is a base store: remove it from "),
        (["remove", "bace"], "no store named 'bace'; did you mean 'base'?"),
        (["remove", "a b"], "name: string should match pattern"),
        (["add", "base", "seren_memory", "http://127.0.0.1:9"], "name: a store named 'base' exists already; choose"),
        (["add", "a b", "seren_memory", "http://127.0.0.1:9"], "name: string should match pattern"),
        (["add", "a", "seren_memry", "http://127.0.0.1:9"], "type: 'seren_memry' is unknown; did you mean"),
        (["add", "a", "notes", "/etc"], "url: must start with http:// or https:// and name a host"),
        (["add", "a", "notes", "http://127.0.0.1:9"], "type: a notes store names a folder and is declared in the"),
        (["add", "a", "seren_memory", "http://example.org"], "url: host 'example.org' is neither loopback nor in"),
        (["add", "a", "seren_memory", "http://u:p@127.0.0.1"], "url: must not hold a password; use token_env"),
        (["add", "a", "seren_memory", "http://127.0.0.1:9", "--weight", "101"], "weight: must be less than or equal"),
        (["add", "a", "seren_memory", "http://127.0.0.1:9", "--weight", "big"], "weight: must be a valid number"),
        (["add", "a", "seren_memory", "http://127.0.0.1:9", "--floor", "-1"], "floor: must be greater than or equal"),
        (["add", "a", "seren_memory", "http://127.0.0.1:9", "--token-env", "HOME"], "token_env: must match CALLOSUM_*"),
        (["add", "a", "seren_memory", "http://127.0.0.1:9", "--token-env", "CALLOSUM_X"], "token_env: names the envir"),
    ],
)
def test_a_refused_change_is_exit_2_with_its_reason_and_changes_nothing(
    shell: Shell, nobody: str, arguments: list[str], said: str
) -> None:
    shell.config([store("base", nobody)])
    ran = shell.run("stores", *arguments)
    assert (ran.code, ran.out, ran.err[: len(said) + 14]) == (2, "", f"callosum-mcp: {said}")
    assert [path.name for path in shell.cwd.iterdir()] == ["callosum.yaml"]


def test_an_overlay_that_cannot_be_written_is_exit_2_with_its_place(
    shell: Shell, nobody: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = shell.config([store("base", nobody)])
    monkeypatch.setenv("CALLOSUM_RUNTIME_STORES", str(config / "below-a-file.json"))
    ran = shell.run("stores", "add", "a", "seren_memory", nobody)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"callosum-mcp: {config / 'below-a-file.json'}: cannot be written (")


def test_without_settings_an_added_store_is_kept_in_the_users_folder(
    shell: Shell, memory: FakeMemory, tmp_path: Path
) -> None:
    assert shell.run("stores", "add", "more", "seren_memory", memory.url).code == 0
    assert names(shell) == ["notes", "memory", "loci", "more"]
    assert list(shell.cwd.iterdir()) == []
    if os.name == "posix":
        assert [path.name for path in tmp_path.rglob("runtime-stores.json")] == ["runtime-stores.json"]


def test_a_corrupt_overlay_is_said_in_the_list(shell: Shell) -> None:
    shell.config([])
    (shell.cwd / "runtime-stores.json").write_text("{", encoding="utf-8")
    assert "\nnote: overlay " in shell.run("stores", "list").out
