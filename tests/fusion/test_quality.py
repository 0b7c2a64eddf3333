"""The merge keeps the quality it was measured to have, on the sample that comes with the repository."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench" / "quality.py"
MEASURED = {"scifact-overlap3/mixed": 0.597, "scifact-topic8/mixed": 0.640}
SLACK = 0.005
_LINE = re.compile(r"^(\S+)\s+n=\s*\d+\s+yours (\d\.\d+)", re.MULTILINE)


@pytest.fixture(scope="module")
def printed() -> str:
    """What the bench says, within half a minute."""
    command = [sys.executable, str(BENCH)]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=30).stdout


def test_ndcg_is_what_it_was_measured_to_be(printed: str) -> None:
    found = {setting: float(value) for setting, value in _LINE.findall(printed)}
    assert set(found) == set(MEASURED)
    for setting, value in found.items():
        assert value >= MEASURED[setting] - SLACK, setting


def test_the_order_does_not_change_when_a_store_rescales_its_scores(printed: str) -> None:
    assert "order unchanged under monotone rescaling" in printed
