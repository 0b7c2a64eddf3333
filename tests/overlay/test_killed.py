"""A process that is killed while it writes the overlay leaves the old file or the new one, and no hindrance."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .shelf import entries, overlay_at, request, write_entries

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL and fork are POSIX")

AT_EVERY_BYTE = """
import json, os, signal, sys
from pathlib import Path
from callosum_mcp.federation import overlay as module
from callosum_mcp.models.requests import AddStoreRequest, parse

path = Path(sys.argv[1])
overlay = module.Overlay(path, lambda variable, keyring: None)
wanted = parse(AddStoreRequest, {"name": "new", "type": "seren_memory", "url": "http://127.0.0.1:9"})
old = path.read_bytes()
new = json.dumps([*json.loads(old), wanted.model_dump(mode="json", exclude_none=True)], indent=2, ensure_ascii=False)

def killed():
    os.kill(os.getpid(), signal.SIGKILL)

def killed_at(byte):
    def dump(entries, file, **how):
        file.write(new[:byte])
        file.flush()
        killed()
    module.json.dump = dump

def killed_at_step(step):
    if step == "lock":
        module._replace = lambda *given: killed()
    if step == "fsync":
        module.os.fsync = lambda handle: killed()
    if step == "replace":
        Path.replace = lambda *given: killed()
    if step == "replaced":
        before = Path.replace
        Path.replace = lambda self, target: (before(self, target), killed())

points = [(killed_at, byte) for byte in range(len(new) + 1)]
points += [(killed_at_step, step) for step in ("lock", "fsync", "replace", "replaced")]
for arrange, point in points:
    child = os.fork()
    if child == 0:
        arrange(point)
        overlay.add(wanted)
        os._exit(0)
    _, how = os.waitpid(child, 0)
    assert os.WIFSIGNALED(how) and os.WTERMSIG(how) == signal.SIGKILL, (point, how)
    found = path.read_bytes()
    assert found == (new.encode() if point == "replaced" else old), (point, found)
    path.write_bytes(old)
print(len(points))
"""

FOREVER = """
import sys
from pathlib import Path
from callosum_mcp.federation.overlay import Overlay
from callosum_mcp.models.requests import AddStoreRequest, parse
overlay = Overlay(Path(sys.argv[1]), lambda variable, keyring: None)
n = len(overlay.load())
while True:
    overlay.add(parse(AddStoreRequest, {"name": f"s{n}", "type": "seren_memory", "url": "http://127.0.0.1:9"}))
    n += 1
    print(n, flush=True)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runtime-stores.json"


@pytest.mark.promise("4d")
def test_a_kill_at_any_byte_of_a_write_leaves_the_old_file_or_the_new_one(path: Path) -> None:
    write_entries(path, {"name": "old", "type": "seren_loci", "url": "http://127.0.0.1:7422"})
    done = subprocess.run(
        [sys.executable, "-c", AT_EVERY_BYTE, str(path)], capture_output=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr.decode()) == (0, "")
    assert int(done.stdout) > 100
    overlay_at(path).add(request("after"))
    assert [entry["name"] for entry in entries(path)] == ["old", "after"]
    left = sorted(file.name for file in path.parent.iterdir())
    assert left == [path.name, f"{path.name}.lock"], "what was half written is taken away by the next write"


@pytest.mark.promise("4d")
def test_a_process_killed_at_random_moments_never_loses_what_it_said_was_written(path: Path) -> None:
    chance, said = random.Random(6), 0
    for _ in range(6):
        writer = subprocess.Popen([sys.executable, "-c", FOREVER, str(path)], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        with writer.stdout as lines:
            said = int(lines.readline())
            time.sleep(chance.random() / 20)  # the moment is the point here
            writer.kill()
            said = max([said, *(int(line) for line in lines.read().split(b"\n") if line.strip())])
        writer.wait(60)
        found = [entry["name"] for entry in entries(path)]
        assert found == [f"s{n}" for n in range(len(found))]
        assert len(found) in (said, said + 1)
