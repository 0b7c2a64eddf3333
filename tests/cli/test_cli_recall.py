"""``callosum-mcp recall``: the answer as a page and as an object, and questions that cannot be asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from callosum_mcp.models.results import RecallResult

from .shell import FakeMemory, Shell, hit, no_default_servers, store


def test_the_object_holds_the_hits_their_receipts_and_every_store(shell: Shell, memory: FakeMemory) -> None:
    shell.config([store("memory", memory.url)])
    ran = shell.run("recall", "Is Hermes active?", "--json")
    result = RecallResult.model_validate(ran.json)
    assert (ran.code, ran.err, result.query, result.answer_kind) == (0, "", "Is Hermes active?", "single")
    assert [(found.id, found.text, found.last_seen) for found in result.hits] == [
        ("memory:m1", "Hermes is active", "2023-11-14T22:13:20Z"),
        ("memory:m2", "Atlas sleeps", None),
    ]
    assert [(receipt.id, receipt.source) for receipt in result.receipts] == [("r1", "memory:m1"), ("r2", "memory:m2")]
    assert [(engine.engine, engine.status, engine.hits) for engine in result.engines] == [("memory", "up", 2)]
    assert (result.partial, result.truncated) == (False, False)


def test_the_page_says_the_same_for_a_person(shell: Shell, memory: FakeMemory) -> None:
    shell.config([store("memory", memory.url)])
    ran = shell.run("recall", "Is Hermes active?")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("» Is Hermes active?\n\n2 memories.\n\n[r1] Hermes is active\n")
    assert " · last seen 2023-11-14T22:13:20Z · memory:m1\n\n[r2] Atlas sleeps\n" in ran.out
    assert "\nstores:\n  memory  up, " in ran.out


def test_a_store_that_is_down_is_part_of_the_answer_and_no_failure(
    shell: Shell, memory: FakeMemory, nobody: str
) -> None:
    shell.config([store("gone", nobody), store("memory", memory.url)])
    page, whole = shell.run("recall", "hermes"), shell.run("recall", "hermes", "--json")
    assert (page.code, whole.code, whole.json["partial"]) == (0, 0, True)
    assert [(e["engine"], e["status"], e.get("reason")) for e in whole.json["engines"]] == [
        ("gone", "down", "refused"),
        ("memory", "up", None),
    ]
    assert "memories. Without gone: see below." in page.out
    assert "refused: no connection: nothing listens at its address" in page.out


def test_nothing_found_with_a_store_missing_is_not_called_nothing_known(
    shell: Shell, memory: FakeMemory, nobody: str
) -> None:
    memory.hits.clear()
    shell.config([store("gone", nobody), store("memory", memory.url)])
    assert "Nothing found, but not every store answered. Without gone" in shell.run("recall", "hermes").out
    assert shell.run("recall", "hermes", "--json").json["answer_kind"] == "unknown"


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_every_store_failed_is_exit_1_with_the_statuses_on_stdout(shell: Shell, nobody: str, form: list[str]) -> None:
    shell.config([store("one", nobody), store("two", nobody)])
    ran = shell.run("recall", "hermes", *form)
    assert ran.code == 1
    assert ran.err.startswith("callosum-mcp: no store answered: one: refused (no connection")
    if form:
        assert [(e["engine"], e["status"], e["reason"]) for e in ran.json["engines"]] == [
            ("one", "down", "refused"),
            ("two", "down", "refused"),
        ]
    else:
        assert "  one  down, " in ran.out and "  two  down, " in ran.out


def test_a_required_store_that_did_not_answer_is_exit_1_with_what_the_others_said(
    shell: Shell, memory: FakeMemory, nobody: str
) -> None:
    shell.config([store("memory", memory.url), store("needed", nobody, required=True)])
    ran = shell.run("recall", "hermes", "--json")
    assert (ran.code, [found["id"] for found in ran.json["hits"]]) == (1, ["memory:m1", "memory:m2"])
    assert ran.err.startswith("callosum-mcp: a required store did not answer: needed: refused")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([""], "query: string should have at least 1 character (got '')"),
        (["  \n "], "query: must hold 1 to 8000 characters that are not blank"),
        (["a\x07b"], "query: control character U+0007 at position 1 is not allowed"),
        (["x", "-n", "0"], "n_results: must be greater than or equal to 1 (got '0')"),
        (["x", "-n", "101"], "n_results: must be less than or equal to 100 (got '101')"),
        (["x", "-n", "ten"], "n_results: must be a valid integer, unable to parse string as an integer (got 'ten'); "),
        (["x", "--budget-tokens", "199"], "budget_tokens: must be greater than or equal to 200 (got '199')"),
        (["x", "--timeout-ms", "0"], "timeout_ms: must be greater than or equal to 1 (got '0')"),
        (["x", "--since", "yesterday"], "since: must be ISO 8601"),
        (["x", "--since", "2026-02-01", "--until", "2026-01-01"], "since: must not be after until"),
        (["x", "--stores", "memroy"], "no store named 'memroy'; did you mean 'memory'?"),
    ],
)
def test_a_question_that_cannot_be_asked_is_exit_2_with_the_field_and_its_bound(
    shell: Shell, nobody: str, arguments: list[str], said: str
) -> None:
    shell.config([store("memory", nobody)])
    ran = shell.run("recall", *arguments)
    assert (ran.code, ran.out, ran.err[: len(said) + 14]) == (2, "", f"callosum-mcp: {said}")
    assert ran.err.count("\n") == 1 and len(ran.err) < 400


def test_a_question_that_is_far_too_long_is_told_the_bound_and_not_repeated(shell: Shell) -> None:
    ran = shell.run("recall", "x" * 1_000_000)
    assert (ran.code, ran.out, ran.err.startswith("callosum-mcp: query: "), "8000" in ran.err) == (2, "", True, True)
    assert len(ran.err) < 400


def test_ten_that_is_no_number_is_told_the_bound_too(shell: Shell) -> None:
    assert shell.run("recall", "x", "-n", "ten").err.endswith("; allowed: 1 to 100\n")


def test_every_option_reaches_the_stores(shell: Shell, memory: FakeMemory) -> None:
    memory.hits[:] = [hit("m1", "Hermes is active", ts=1_700_000_000, topic="hermes,ops")]
    shell.config([store("memory", memory.url), store("other", memory.url)])
    ran = shell.run(
        *("recall", "hermes", "--json", "-n", "3", "--stores", "memory", "--budget-tokens", "900"),
        *("--detail", "detailed", "--since", "2023-01-01", "--until", "2024-01-01T00:00:00Z"),
        *("--types", "short", "--include-superseded", "--timeout-ms", "4000"),
    )
    assert ran.code == 0
    asked, *_ = memory.queries  # the edges ask by topic
    assert {name: asked[name] for name in ("query", "n_results", "include_short", "include_near")} == {
        "query": "hermes",
        "n_results": 15,
        "include_short": True,
        "include_near": False,
    }
    assert asked["include_superseded"] is True
    (found,) = ran.json["hits"]
    assert (found["type"], found["topics"]) == ("short", ["hermes", "ops"])
    assert [(e["engine"], e["status"], e.get("reason")) for e in ran.json["engines"]] == [
        ("memory", "up", None),
        ("other", "skipped", "out_of_scope"),
    ]


def test_only_memories_of_a_topic_are_shown_if_one_is_named(shell: Shell, memory: FakeMemory) -> None:
    memory.hits[:] = [hit("m1", "one", topic="ops"), hit("m2", "two", topic="art")]
    shell.config([store("memory", memory.url)])
    ran = shell.run("recall", "x", "--json", "--topics", "Ops", "--topics", "music")
    assert [found["id"] for found in ran.json["hits"]] == ["memory:m1"]


def test_what_was_replaced_is_shown_apart_when_asked_for(shell: Shell, memory: FakeMemory) -> None:
    memory.hits[:] = [hit("new", "Hermes is stopped"), hit("old", "Hermes is active", superseded_by="new")]
    shell.config([store("memory", memory.url)])
    plain, whole = shell.run("recall", "hermes"), shell.run("recall", "hermes", "--include-superseded")
    assert "Hermes is active" not in plain.out
    assert "\n\nreplaced by newer memories:\n\n[r2] Hermes is active\n" in whole.out


def test_what_was_cut_is_said_on_the_page(shell: Shell, memory: FakeMemory) -> None:
    memory.hits[:] = [hit(f"m{n}", f"number {n} " + "word " * 300) for n in range(8)]
    shell.config([store("memory", memory.url)])
    assert "\n\nnote: " in shell.run("recall", "number", "--budget-tokens", "300").out


def test_a_token_goes_to_its_store_and_into_no_output(
    shell: Shell, memory: FakeMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLOSUM_MEMORY_TOKEN", "canary-7d1f")
    shell.config([store("memory", memory.url, token_env="CALLOSUM_MEMORY_TOKEN")], logging={"level": "debug"})
    ran = shell.spawn("recall", "hermes", "--json", "--detail", "detailed")
    assert set(memory.tokens) == {"Bearer canary-7d1f"}
    memory.status = 401
    refused = shell.spawn("recall", "hermes")
    assert (ran.code, refused.code) == (0, 1)
    assert "auth_failed: refused our token (401)" in refused.out
    assert not [text for text in (ran.out, ran.err, refused.out, refused.err) if "canary-7d1f" in text]


def test_without_any_settings_the_notes_of_the_folder_are_asked_and_servers_that_do_not_run_are_no_fault(
    shell: Shell, nobody: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_default_servers(monkeypatch, nobody)
    empty = shell.run("recall", "hermes", "--json")
    (shell.cwd / "ops.md").write_text("# Hermes\n\nHermes listens on 8443.\n", encoding="utf-8")
    found = shell.run("recall", "hermes", "--json")
    assert (empty.code, empty.json["answer_kind"], empty.json["hits"]) == (0, "none", [])
    assert (found.code, [hit["id"] for hit in found.json["hits"]]) == (0, ["notes:ops.md#L1"])
    for ran in (empty, found):
        assert (ran.err, ran.json["partial"]) == ("", False)
        assert [(e["engine"], e["status"], e.get("reason")) for e in ran.json["engines"]] == [
            ("notes", "up", None),
            ("memory", "skipped", "refused"),
            ("loci", "skipped", "refused"),
        ]
    assert "memory  skipped, " in shell.run("recall", "hermes").out
    assert not (shell.cwd / "runtime-stores.json").exists()


def test_a_start_without_settings_leaves_nothing_in_the_folder(shell: Shell) -> None:
    before = sorted(shell.cwd.iterdir())
    assert shell.run("recall", "hermes").code == 0
    assert sorted(shell.cwd.iterdir()) == before


def test_without_any_store_the_error_says_how_to_get_one(shell: Shell) -> None:
    shell.config([])
    ran = shell.run("recall", "hermes")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        "callosum-mcp: stores: none is configured; declare one in the config file or add one with add_store\n"
    )


def test_the_notes_of_a_named_folder_are_found(shell: Shell, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# Hermes\n\nHermes listens on 8443.\n", encoding="utf-8")
    shell.config([{"name": "mine", "type": "notes", "url": str(notes)}])
    assert [found["id"] for found in shell.run("recall", "hermes", "--json").json["hits"]] == ["mine:a.md#L1"]
