"""``callosum-mcp`` as ever, but that it says how it fares: on SIGUSR1 one line of JSON goes to the file named first.

    python bench/observed.py FILE serve …

Above: `soak`, which starts it. Below: the command. The sessions of clients that vanished are closed after `IDLE_S`
instead of half an hour, so that a short soak sees them go.
"""

from __future__ import annotations

import asyncio
import gc
import json
import signal
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from callosum_mcp.cli import main

IDLE_S = 5.0


def _watched(file: Path) -> None:
    numbers = 0

    def tell(number: int, frame: object) -> None:
        nonlocal numbers
        numbers += 1
        gc.collect()
        tasks = Counter(getattr(task.get_coro(), "__qualname__", "?") for task in asyncio.all_tasks())
        told = {"number": numbers, "threads": threading.active_count(), "tasks": dict(tasks)}
        written = file.with_suffix(".new")
        written.write_text(json.dumps(told), encoding="utf-8")
        written.replace(file)

    signal.signal(signal.SIGUSR1, tell)


def _forgetful() -> None:
    made = StreamableHTTPSessionManager.__init__

    def init(self: StreamableHTTPSessionManager, *args: Any, **more: Any) -> None:
        made(self, *args, **{**more, "session_idle_timeout": IDLE_S})

    StreamableHTTPSessionManager.__init__ = init


if __name__ == "__main__":
    _watched(Path(sys.argv[1]))
    _forgetful()
    main(sys.argv[2:])
