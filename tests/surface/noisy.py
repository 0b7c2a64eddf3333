"""A third party's adapter that misbehaves, as a real installed package would: it prints, blocks threads, hangs.

Above: the tests of the server as a process. Below: an entry point in a folder on the path of that process.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

MODULE = """
import logging, os, subprocess, sys, threading, time, warnings
from pathlib import Path

import anyio

from callosum_mcp.adapters.base import Adapter
from callosum_mcp.models.values import Hit, ProbeReport, StoreReply

FOREVER_S = 3600


def noise(where):
    print("print", where, flush=True)
    sys.stdout.write("write " + where + "\\n")
    os.write(1, b"descriptor 1 " + where.encode() + b"\\n")
    subprocess.run([sys.executable, "-c", "print('a child')"], stdin=None, check=True)
    warnings.warn("a warning " + where)
    logging.getLogger("noisy").error("a log line %s", where)


noise("at import")


def blocked(path):
    Path(path).touch()
    time.sleep(FOREVER_S)


class Noisy(Adapter):
    options = frozenset({"does", "told"})

    async def search(self, query):
        does, told = self.spec.options.get("does", ""), self.spec.options.get("told", "")
        if does == "block a thread":
            await anyio.to_thread.run_sync(blocked, told)
        if does == "leave a thread":
            threading.Thread(target=blocked, args=(told,)).start()
        if does == "block the loop":
            blocked(told)
        if does == "read stdin":
            text = sys.stdin.read() + os.read(0, 10).decode()
            return StoreReply(hits=(Hit(store=self.spec.name, id="1", text="stdin held " + repr(text)),))
        noise("in a search")
        return StoreReply(hits=(Hit(store=self.spec.name, id="1", text="Hermes 停止 \\U0001f6d1 naïve"),))

    async def fetch(self, hit_id):
        return None

    async def probe(self):
        noise("in a probe")
        return ProbeReport(detail="noisy")
"""


def installed(folder: Path) -> Path:
    """The folder to put on the path: a package with the entry point of a store type ``noisy``."""
    (folder / "noisy_adapter.py").write_text(MODULE, encoding="utf-8")
    metadata = folder / "noisy_adapter-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: noisy-adapter\nVersion: 1.0\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text(
        "[callosum_mcp.adapters]\nnoisy = noisy_adapter:Noisy\n", encoding="utf-8"
    )
    return folder


def store(**options: Any) -> dict[str, Any]:
    """A store of that type."""
    return {"name": "noisy", "type": "noisy", "url": "http://127.0.0.1:9", "timeout_s": 300, "options": options}
