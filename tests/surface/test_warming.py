"""Engines are connected to in the background, once a client has our tools and never before."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from .world import INITIALIZED, eventually, initialize, pipe, request, write_config

ENGINE = Path(__file__).parents[1] / "adapters" / "engine" / "small_engine.py"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log.jsonl"


@pytest.fixture
def config(tmp_path: Path, log: Path) -> Path:
    """One engine that never ends by itself, another whose command does not exist."""
    options: dict[str, Any] = {
        "tool": "find",
        "args": {"query": "{query}"},
        "extract": [{"items": "$.hits[*]", "fields": {"id": "id", "snippet": "text"}}],
    }
    transport = {"type": "stdio", "command": sys.executable, "args": [str(ENGINE), "--log", str(log), "--ignore-eof"]}
    small = {"name": "small", "type": "mcp", "transport": transport, "options": options}
    gone = {"name": "gone", "type": "mcp", "transport": {"command": "no-such-program-of-ours"}, "options": options}
    return write_config(tmp_path, [small, gone])


def entries(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize("end", ["eof", "sigterm"])
def test_an_engine_is_warmed_after_the_first_list_of_tools_and_ends_with_us(config: Path, log: Path, end: str) -> None:
    with pipe("serve", "--config", str(config)) as talk:
        talk.write(initialize(1), INITIALIZED)
        talk.answer(1)
        assert not log.exists()
        talk.write(request(2, "tools/list"))
        talk.answer(2)
        assert not log.exists()
        eventually(lambda: any(entry.get("method") == "tools/list" for entry in entries(log)), "it is warm")
        engine = next(entry["started"] for entry in entries(log) if "started" in entry)
        assert alive(engine)
        if end == "eof":
            assert talk.end() == 0
        else:
            os.kill(talk.process.pid, 15)
            talk.process.wait(10)
        eventually(lambda: not alive(engine), "the engine ends")
