"""Start-up over stdio: process start → answered initialize → answered tools/list, ours beside a bare SDK server.

    python bench/startup.py [--rounds 15]

Each round starts both, in turn and in changing order, so that a busy machine slows both alike. The bare server is an
`MCPServer` of the same SDK with one tool. Prints the medians and the ratio; the target is 1.10.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BARE = """
from mcp.server import MCPServer
server = MCPServer("bare")
@server.tool()
async def echo(text: str) -> str:
    return text
server.run("stdio")
"""
TARGET = 1.10
CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "0"}}


def timed(argv: list[str], folder: Path) -> tuple[float, float, float]:
    """Seconds from process start to the answers of initialize and of tools/list, and the CPU seconds until then."""
    began = time.perf_counter()
    with subprocess.Popen(
        argv, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin and process.stdout

        def ask(identity: int | None, method: str, params: dict[str, object]) -> float:
            frame = {"jsonrpc": "2.0", "method": method, "params": params} | ({"id": identity} if identity else {})
            process.stdin.write(json.dumps(frame).encode() + b"\n")  # pyright: ignore[reportOptionalMemberAccess]
            process.stdin.flush()  # pyright: ignore[reportOptionalMemberAccess]
            if identity:
                answer = json.loads(process.stdout.readline())  # pyright: ignore[reportOptionalMemberAccess]
                assert "result" in answer, answer
            return time.perf_counter() - began

        initialized = ask(1, "initialize", dict(CLIENT))
        ask(None, "notifications/initialized", {})
        listed = ask(2, "tools/list", {})
        burned = cpu_s(process.pid)
        process.stdin.close()
        process.wait(20)
    return initialized, listed, burned


def cpu_s(pid: int) -> float:
    """User and system seconds of a process so far (Linux; 0 elsewhere)."""
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        return 0.0
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bare.py").write_text(BARE)
        python = sys.executable
        contenders = {"bare mcp": [python, "bare.py"], "callosum-mcp": [python, "-m", "callosum_mcp"]}
        taken: dict[str, list[tuple[float, float, float]]] = {who: [] for who in contenders}
        for number in range(rounds + 1):
            for who in list(contenders)[:: 1 if number % 2 else -1]:
                figure = timed(contenders[who], folder)
                if number:  # the first round only warms the disk cache
                    taken[who].append(figure)
    report(taken)


COLUMNS = ("initialize ms", "tools/list ms", "CPU ms")


def report(taken: dict[str, list[tuple[float, float, float]]]) -> None:
    """The medians, and the median of the paired ratios of ours to the bare server's."""
    bare, ours = taken["bare mcp"], taken["callosum-mcp"]
    print(f"{'server':<14}{''.join(f'{name:>16}' for name in COLUMNS)}   (medians of {len(bare)} paired rounds)")
    for who, figures in taken.items():
        print(f"{who:<14}{''.join(f'{statistics.median(c) * 1_000:>16.0f}' for c in zip(*figures, strict=True))}")
    ratios = [statistics.median(o[i] / max(b[i], 0.001) for o, b in zip(ours, bare, strict=True)) for i in range(3)]
    verdict = "met" if ratios[1] <= TARGET else "NOT met"
    columns = "".join(f"{ratio:>16.2f}" for ratio in ratios)
    print(f"{'ratio':<14}{columns}   target <= {TARGET:.2f} at tools/list: {verdict}")


if __name__ == "__main__":
    main()
