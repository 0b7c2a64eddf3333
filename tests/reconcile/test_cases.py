"""Our own labelled cases as a floor under precision, recall, winners and false alarms."""

from __future__ import annotations

import pytest

from reconcile.world import CASES, bench_conflicts

main, measure = bench_conflicts().main, bench_conflicts().measure


def test_precision_recall_winners_and_false_alarms_stay_above_their_floor() -> None:
    score = measure(CASES)

    assert score.precision >= 0.95, score.wrong
    assert score.recall >= 0.90, score.wrong
    assert score.winners >= 0.98 * score.hit, score.wrong
    assert score.kinds >= 0.90 * score.hit, score.wrong
    assert score.alarms <= 2, score.wrong


def test_the_bench_prints_the_scorers_line_last(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(CASES)]) == 0

    last = capsys.readouterr().out.splitlines()[-1]
    assert last == measure(CASES).line()
    assert last.startswith("precision ") and "  false alarms " in last


def test_the_bench_without_a_file_says_how_it_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "usage" in capsys.readouterr().err
