"""Coverage-guided fuzzing of the entry points by atheris, where that is installed.

    python -m fuzz.run [--seconds 10] [TARGET …]

Run it in the folder `tests`. Each target gets a process of its own and that many seconds; one that finds something ends
with the input in a file, and so does this. The seeds are the recorded replies and the examples of this repository.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
DATA = HERE.parent / "data"
PRESETS = HERE.parent.parent / "callosum_mcp" / "adapters" / "engine" / "presets"
NOT_THERE = "fuzz: atheris is not installed, so nothing was fuzzed beyond hypothesis; pip install atheris"
_MOST = 64 * 2**10


def seeds(name: str) -> Iterator[bytes]:
    """What an entry point usually gets."""
    if name in ("preset", "settings_text", "settings_file", "mapping"):
        yield from (file.read_bytes() for file in sorted(PRESETS.glob("*.yaml")))
        return
    for file in sorted(DATA.rglob("*.json")):
        data = file.read_bytes()
        if len(data) <= _MOST:
            yield b"\x00\xff" + data if name == "engine_reply" else data


def fuzz(name: str, folder: Path, seconds: int) -> None:
    """Fuzz one target in this process, which atheris ends."""
    atheris: Any = importlib.import_module("atheris")
    with atheris.instrument_imports(include=["callosum_mcp"]):
        from .targets import TARGETS, tried
    for number, data in enumerate(seeds(name)):
        (folder / f"seed-{number}").write_bytes(data)
    target = TARGETS[name]
    found = Path(tempfile.gettempdir()) / f"callosum-fuzz-{name}-"
    switches = [
        f"-artifact_prefix={found}",
        f"-max_total_time={seconds}",
        f"-max_len={_MOST}",
        "-timeout=20",
        "-print_final_stats=0",
        "-verbosity=0",
    ]

    def one(data: bytes) -> None:
        tried(target, data)

    atheris.Setup([sys.argv[0], *switches, str(folder)], one)
    atheris.Fuzz()


def say(line: str) -> None:
    """Print a result at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def fuzzed(name: str, seconds: int) -> int:
    """Fuzz one target in a process of its own; its exit code."""
    with tempfile.TemporaryDirectory(prefix="callosum-seeds-") as folder:
        line = [sys.executable, "-m", "fuzz.run", "--inside", folder, "--seconds", str(seconds), name]
        ended = subprocess.run(line, cwd=HERE.parent, stderr=subprocess.PIPE, check=False)
    if ended.returncode:
        sys.stderr.write(ended.stderr.decode("utf-8", "replace")[-4_000:])
    say(f"fuzz: {name}: {'FOUND SOMETHING' if ended.returncode else 'nothing found'} in {seconds} s")
    return ended.returncode


def main() -> int:
    """Fuzz what is named, or everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if importlib.util.find_spec("atheris") is None:
        say(NOT_THERE)
        return 0
    if options.inside is not None:
        fuzz(options.targets[0], options.inside, options.seconds)
    from .targets import TARGETS

    names: list[str] = options.targets or list(TARGETS)
    unknown = sorted(set(names) - set(TARGETS))
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; there are {', '.join(TARGETS)}")
    return max([fuzzed(name, options.seconds) for name in names])


if __name__ == "__main__":
    sys.exit(main())
