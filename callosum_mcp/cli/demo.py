"""``callosum-mcp demo``: the main job on a sample world that comes with the package.

Above: the commands. Below: app. Three embedded stores (folders of notes), and a fourth that nobody runs. No server, no
network, no settings; everything happens in a temporary folder.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import anyio

from callosum_mcp.app import build
from callosum_mcp.models.requests import RecallRequest
from callosum_mcp.settings import load
from callosum_mcp.surface.render import recall_page

QUERY = "Is Hermes active, and on which port?"
_AGE_DAYS = {"facts": 0.1, "episodes": 40.0, "notes": 12.0}
_TIERS = {"facts": "live-infra", "episodes": "agent-memory", "notes": "recent-file"}
_NOBODY = "http://127.0.0.1:9"  # the discard port, on which nothing listens
_NEXT = (
    "Next: `claude mcp add callosum -- callosum-mcp` gives this to Claude Code; without settings it reads the notes of "
    "the current folder, SerenMemory on 7420 and SerenLoci on 7422. README.md says how to name other stores."
)


def demo() -> int:
    """Print a merged list out of the sample world; the exit code is 0."""
    with tempfile.TemporaryDirectory(prefix="callosum-demo-") as folder:
        root = Path(folder)
        _lay_out(root)
        config = root / "callosum.yaml"
        config.write_text(_config(root), encoding="utf-8")
        application = build(load(config, {}, root), keep_overlay=False)

        async def ask() -> str:
            async with application.running():
                return recall_page(await application.federation.recall(RecallRequest(query=QUERY, n_results=6)))

        sys.stdout.write(f"{anyio.run(ask)}\n\n{_NEXT}\n")
    return 0


def _lay_out(root: Path) -> None:
    """Copy the sample world, each store's files as old as its story says."""
    with as_file(files("callosum_mcp.cli") / "demo_world") as world:
        shutil.copytree(world, root, dirs_exist_ok=True)
    for name, age_days in _AGE_DAYS.items():
        moment = time.time() - age_days * 86_400
        for file in (root / name).glob("*.md"):
            os.utime(file, (moment, moment))


def _config(root: Path) -> str:
    import json

    stores: list[dict[str, Any]] = [
        {
            "name": name,
            "type": "notes",
            "url": str(root / name),
            "tier": _TIERS[name],
            "options": {"cache_dir": str(root)},
        }
        for name in _AGE_DAYS
    ]
    stores.append({"name": "old-laptop", "type": "seren_memory", "url": _NOBODY})
    return json.dumps({"stores": stores}, ensure_ascii=False)
