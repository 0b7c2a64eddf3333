"""``callosum-mcp ask``: the answer as a page and as an object, and what its exit code says."""

from __future__ import annotations

from pathlib import Path

from callosum_mcp.models.asking import AskResult

from .shell import FakeMemory, Shell, store


def test_the_object_is_the_contracts(shell: Shell, memory: FakeMemory) -> None:
    shell.config([store("memory", memory.url)])
    ran = shell.run("ask", "Is Hermes active?", "--json", "-k", "1")
    result = AskResult.model_validate(ran.json)
    assert (ran.code, ran.err) == (0, "")
    assert result.answer is not None and result.answer.startswith("Hermes is active (memory, agent memory, ")
    assert [found.id for found in result.hits] == ["memory:m1"]


def test_the_page_holds_answer_receipts_hits_and_stores(shell: Shell, memory: FakeMemory, nobody: str) -> None:
    shell.config(
        [store("memory", memory.url), store("gone", nobody)],
        answer={"backends": [{"type": "ollama", "url": nobody}]},
    )
    ran = shell.run("ask", "Is Hermes active?")
    assert ran.code == 0
    assert ran.out.startswith("» Is Hermes active?\n\nHermes is active (memory, agent memory, ")
    assert "gone did not answer (refused), so something may be missing [engines]." in " ".join(ran.out.split())
    for part in (
        "\n\n[r1] Hermes is active\n",
        "\n\nhits:\n",
        "written by merge: unavailable (ollama: ",
        "\nstores:\n",
    ):
        assert part in ran.out


def test_a_conflict_is_on_the_page(shell: Shell, memory: FakeMemory, tmp_path: Path) -> None:
    live = tmp_path / "live"
    live.mkdir()
    (live / "hermes.md").write_text("Hermes is stopped.\n", encoding="utf-8")
    infra = {"name": "infra", "type": "notes", "url": str(live), "tier": "live-infra"}
    shell.config([store("memory", memory.url), infra])
    ran = shell.run("ask", "Is Hermes active?")
    assert "conflict: hermes status: live-infra [r1] over agent-memory [r2] (" in ran.out


def test_all_stores_down_is_exit_1_with_what_is_known_of_them(shell: Shell, nobody: str) -> None:
    shell.config([store("gone", nobody)])
    page, whole = shell.run("ask", "hermes"), shell.run("ask", "hermes", "--json")
    assert (page.code, whole.code) == (1, 1)
    assert "no store answered" in page.err and "[engines]" in page.out
    assert whole.json["engines"][0]["reason"] == "refused"


def test_a_wrong_option_is_exit_2(shell: Shell, memory: FakeMemory) -> None:
    shell.config([store("memory", memory.url)])
    ran = shell.run("ask", "x", "-k", "0")
    assert ran.code == 2 and "k: must be greater than or equal to 1" in ran.err


def test_only_what_is_asked_for_is_shown(shell: Shell, memory: FakeMemory) -> None:
    shell.config([store("memory", memory.url)])
    searched = shell.run("ask", "hermes", "--mode", "search", "--no-synthesize", "--scope", "memory").out
    assert "hits:" in searched and "[r1]" not in searched
