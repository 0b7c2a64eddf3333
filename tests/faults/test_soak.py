"""A short soak: the bench itself, for a few seconds. Minutes of it, and its figures: ``python bench/soak.py``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.promise("3f")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at processes in /proc")
def test_nothing_is_lost_swapped_or_left_over_in_a_short_soak(tmp_path: Path) -> None:
    file = tmp_path / "soak.json"
    argv = [sys.executable, str(ROOT / "bench" / "soak.py"), "--seconds", "20", "--callers", "12", "--json", str(file)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=240, check=False)
    assert file.exists(), done.stdout + done.stderr
    found = json.loads(file.read_text(encoding="utf-8"))
    assert (found["wrong"], found["left"], found["trace"]) == ([], 0, False)
    assert set(found["calls"]) == {"rest", "session", "sse", "stateless", "stdio"}, found["errors"]
    assert set(found["went"]) == {"cancels", "vanishes"} and found["stores"]
    start, end = found["server"]
    assert end["children"] <= max(start["children"], 1)
    assert end["tasks"] <= start["tasks"] + 10
