"""``callosum-mcp demo``: the main job in seconds, with no server, no network, no settings and no home."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .shell import Shell


def stores_of(page: str) -> dict[str, str]:
    return dict(re.findall(r"^  (\S+)\s+(up|down|skipped), ", page, flags=re.MULTILINE))


def test_it_prints_one_list_out_of_three_stores_with_the_dead_one_down_and_what_to_do_next(shell: Shell) -> None:
    ran = shell.run("demo")
    assert (ran.code, ran.err) == (0, "")
    assert stores_of(ran.out) == {"facts": "up", "episodes": "up", "notes": "up", "old-laptop": "down"}
    shown = re.findall(r"^\[r\d+\] .+?\n     — (\w+) · ", ran.out, flags=re.MULTILINE | re.DOTALL)
    assert {"facts", "episodes", "notes"} <= set(shown)
    assert "old-laptop  down, " in ran.out and "refused: no connection" in ran.out
    assert [line.startswith("Next: ") for line in ran.out.splitlines() if "Next" in line] == [True]
    assert ran.out.splitlines()[-1].startswith("Next: `claude mcp add callosum -- callosum-mcp`")


@pytest.mark.parametrize("home", [None, "readonly"])
def test_it_works_without_a_home_or_a_network_and_leaves_nothing_behind(
    shell: Shell, tmp_path: Path, home: str | None
) -> None:
    scratch = tmp_path / "scratch \U0001f98a"
    scratch.mkdir()
    no_folder = tmp_path / "file"
    no_folder.write_text("", encoding="utf-8")
    place = None if home is None else str(no_folder)
    nowhere = "http://127.0.0.1:9"
    ran = shell.spawn(
        "demo",
        environ={
            "HOME": place,
            "XDG_CONFIG_HOME": place,
            "XDG_CACHE_HOME": place,
            "TMPDIR": str(scratch),
            "HTTP_PROXY": nowhere,
            "HTTPS_PROXY": nowhere,
            "ALL_PROXY": nowhere,
        },
    )
    assert (ran.code, ran.err) == (0, "")
    assert stores_of(ran.out) == {"facts": "up", "episodes": "up", "notes": "up", "old-laptop": "down"}
    assert (list(scratch.iterdir()), list(shell.cwd.iterdir())) == ([], [])


def test_the_users_own_settings_have_no_part_in_it(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    (shell.cwd / "callosum.yaml").write_text("{ broken", encoding="utf-8")
    (shell.cwd / "runtime-stores.json").write_text("{ broken", encoding="utf-8")
    monkeypatch.setenv("CALLOSUM_PORT", "no number")
    ran = shell.run("demo")
    assert (ran.code, len(stores_of(ran.out))) == (0, 4)
    assert sorted(path.name for path in shell.cwd.iterdir()) == ["callosum.yaml", "runtime-stores.json"]
