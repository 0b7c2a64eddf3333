"""``callosum-mcp doctor``: an exit code for how bad it is, and a cure for each finding."""

from __future__ import annotations

import threading

import pytest

from callosum_mcp.cli.doctor import CURES

from .shell import FakeMemory, Shell, no_default_servers, serving, store


def test_all_well_is_0_with_a_line_for_every_store(shell: Shell, memory: FakeMemory) -> None:
    (shell.cwd / "a.md").write_text("# Hermes\n\nThe status of the current project is well.\n", encoding="utf-8")
    config = shell.config(
        [
            store("memory", memory.url),
            {"name": "notes", "type": "notes", "url": str(shell.cwd)},
            store("off", "http://127.0.0.1:9", enabled=False),
        ]
    )
    ran = shell.run("doctor")
    assert (ran.code, ran.err) == (0, "")
    settings, memory_line, notes_line, off = ran.out.splitlines()
    assert settings == f"settings  {config}"
    assert memory_line == f"ok        memory (seren_memory {memory.url}): SerenMemory: 2 short, 0 near, 0 long"
    assert notes_line.startswith(f"ok        notes (notes {shell.cwd}): notes: 1 files, 1 sections")
    assert off == "off       off"


def test_some_stores_down_is_10_with_the_cure_of_each(shell: Shell, memory: FakeMemory, nobody: str) -> None:
    shell.config([store("memory", memory.url), store("gone", nobody)])
    ran = shell.run("doctor")
    assert (ran.code, ran.err) == (10, "")
    assert ran.out.splitlines()[2:] == [
        f"DOWN      gone (seren_memory {nobody}): refused — no connection: nothing listens at its address",
        f"          cure: {CURES['refused']}",
    ]


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (401, None, "auth_failed"),
        (403, None, "auth_failed"),
        (429, None, "rate_limited"),
        (404, None, "bad_reply"),
        (500, None, "error"),
        (503, b'{"error": "safe_mode"}', "error"),
        (200, b"<html>login</html>", "bad_reply"),
        (302, None, "bad_reply"),
    ],
)
def test_no_store_answers_is_11_and_each_kind_of_failure_has_its_cure(
    shell: Shell, memory: FakeMemory, status: int, body: bytes | None, reason: str
) -> None:
    memory.status, memory.body = status, body
    shell.config([store("memory", memory.url)])
    ran = shell.run("doctor")
    assert (ran.code, ran.err) == (11, "")
    finding, cure = ran.out.splitlines()[1:]
    assert finding.startswith(f"DOWN      memory (seren_memory {memory.url}): {reason} — ")
    assert cure == f"          cure: {CURES[reason]}"


def test_a_store_that_is_well_by_its_own_account_and_answers_no_question_is_found(shell: Shell) -> None:
    with serving(FakeMemory(status=500, search_only=True)) as sick, serving(FakeMemory()) as well:
        shell.config([store("sick", sick.url), store("well", well.url)])
        some = shell.run("doctor")
        shell.config([store("sick", sick.url)])
        none = shell.run("doctor")
    assert (some.code, none.code) == (10, 11)
    assert (
        f"DOWN      sick (seren_memory {sick.url}): error — answered 500\n          cure: {CURES['error']}" in none.out
    )


@pytest.mark.promise("P12")
def test_a_store_that_finds_nothing_though_it_holds_memories_is_found(shell: Shell, memory: FakeMemory) -> None:
    memory.body = b'{"hits": [], "tiers": {"short": 7}}'
    shell.config([store("memory", memory.url)])
    ran = shell.run("doctor")
    assert (ran.code, "bad_reply — found nothing although it holds 7 memories" in ran.out) == (11, True)


def test_a_store_that_hangs_is_a_timeout_with_its_cure(shell: Shell) -> None:
    with serving(FakeMemory(gate=threading.Event())) as slow:
        shell.config([store("slow", slow.url, timeout_s=0.2)])
        ran = shell.run("doctor")
    assert (ran.code, ran.err) == (11, "")
    assert "timeout — no answer within 0.2 s" in ran.out
    assert f"cure: {CURES['timeout']}" in ran.out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("server:\n  prot: 1\n", "line 2: server.prot: is unknown; did you mean 'port'?"),
        ("server: [\n", "line 2: is not valid YAML: "),
        ("stores:\n- {name: a, type: nots}\n", "line 2: stores.0: store 'a': type 'nots' is unknown; "),
        ("stores:\n- {name: a, type: notes, token_env: NOT_SET_1}\n", "line 2: stores.0.token_env: names the environ"),
    ],
)
def test_broken_settings_are_12_with_file_line_and_cure(shell: Shell, text: str, said: str) -> None:
    path = shell.cwd / "callosum.yaml"
    path.write_text(text, encoding="utf-8")
    ran = shell.run("doctor")
    finding, cure = ran.out.splitlines()
    assert (ran.code, ran.err, finding.startswith(f"BROKEN  settings: {path}, {said}")) == (12, "", True)
    assert cure.strip().startswith("cure: ")


def test_a_named_file_that_is_missing_is_12(shell: Shell) -> None:
    ran = shell.spawn("doctor", "--config", "nowhere.yaml")
    assert (ran.code, ran.err, "does not exist" in ran.out) == (12, "", True)


@pytest.mark.parametrize("stores", [[], [store("off", "http://127.0.0.1:9", enabled=False)]])
def test_no_store_to_ask_is_11_with_a_cure(shell: Shell, stores: list[dict[str, object]]) -> None:
    shell.config(stores)
    ran = shell.run("doctor")
    assert ran.code == 11
    finding, cure = ran.out.splitlines()[-2:]
    assert (finding, cure.startswith("          cure: declare one under `stores`")) == (
        "NONE      no store is enabled",
        True,
    )


def test_without_settings_servers_that_do_not_run_are_absent_and_no_fault(
    shell: Shell, nobody: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_default_servers(monkeypatch, nobody)
    ran = shell.run("doctor")
    lines = ran.out.splitlines()
    assert (ran.code, ran.err) == (0, "")
    assert lines[0].startswith("settings  none found: ")
    assert lines[1].startswith("ok        notes (notes .): ")
    assert lines[2:] == [
        f"absent    memory (seren_memory {nobody}): not running (default store)",
        f"absent    loci (seren_loci {nobody}): not running (default store)",
    ]


def test_what_is_wrong_with_the_overlay_is_said(shell: Shell, memory: FakeMemory) -> None:
    shell.config([store("memory", memory.url)])
    (shell.cwd / "runtime-stores.json").write_text("{", encoding="utf-8")
    ran = shell.run("doctor")
    assert (ran.code, "\nNOTE      overlay " in ran.out) == (0, True)
