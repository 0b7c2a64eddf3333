"""The notes store at scale: first index, recall, re-check of an unchanged tree, memory.

    python bench/notes.py [--files 20000] [--keep FOLDER] [--quick]

Grows a tree of real text (`notestree`), indexes it through a federation as a server would, and asks it 20 questions of
every sort: rare words, only stopwords, nine words, pasted text, Chinese, Japanese, Korean. While the first index is
made, the delay of a timer on the event loop is measured, which is what other stores' answers would wait. Then a second
process opens the finished index and is measured in the same way. The tree and the index are deleted in the end;
``--keep FOLDER`` keeps them there, and uses a tree that is there already.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
from notestree import grow
from tables import show, verdict

from callosum_mcp.adapters.notes import NotesAdapter
from callosum_mcp.adapters.notes.index import Index
from callosum_mcp.adapters.notes.options import read_options
from callosum_mcp.federation.federation import Federation, State
from callosum_mcp.federation.stores import Store, StoreSet
from callosum_mcp.models.knobs import Knobs
from callosum_mcp.models.requests import RecallRequest
from callosum_mcp.models.values import StoreQuery, StoreSpec

RECALL_MS, RECHECK_MS, RSS_MB = 50.0, 300.0, 300.0
QUESTIONS = {
    "one number": "QX-01234",
    "one rare word": "mitochondria",
    "two words": "garbage collector",
    "a name": "urllib.request.urlopen",
    "a question": "how do I set the timeout of a socket",
    "about a gene": "does vitamin D lower the risk of breast cancer?",
    "nine words": "which function returns the list of all running threads",
    "nine common words": "return value type object function class method name string",
    "stopwords": "what is it that the of and to in",
    "two stopwords": "the and",
    "what is this": "what is this?",
    "one common word": "object",
    "in every file": "note ticket",
    "a phrase": "copy-on-write file-like",
    "Chinese": "数据库备份保存在哪里",
    "Japanese": "バックアップはいつ実行されますか",
    "Korean": "백업은 언제 실행됩니까",
    "mixed": "backup 备份 schedule",
    "nothing": "zyzzyva quokkas",
    "a pasted paragraph": "The type of the argument must be a string or a bytes-like object, otherwise a TypeError is "
    "raised; if the file cannot be opened, an OSError is raised instead and the caller has to close the stream itself "
    "before the next call, which returns None when there is nothing more to read from the underlying raw stream.",
}
Figures = dict[str, Any]
Taken = dict[str, list[tuple[float, float]]]
"""For each question, the milliseconds of every round: by the clock, and of CPU."""


def memory_mb(field: str) -> float:
    """`VmRSS` (now) or `VmHWM` (peak) of this process; where there is no /proc, the peak."""
    status = Path("/proc/self/status")
    if not status.exists():
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / (2**20 if sys.platform == "darwin" else 1_024)
    lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
    return int(lines[field].split()[0]) / 1_024


def federation_of(spec: StoreSpec) -> tuple[Federation, NotesAdapter]:
    """A federation over the one store, with all the time in the world."""
    adapter = NotesAdapter(spec)
    stores = StoreSet((Store.of(spec, adapter),))
    return Federation(
        State(stores=stores, knobs=Knobs(per_store_timeout_s=300, deadline_s=600, edges_enabled=False))
    ), adapter


async def _lags_until(done: anyio.Event, lags: list[float]) -> None:
    while not done.is_set():
        asked = time.perf_counter()
        await anyio.sleep(0.005)
        lags.append((time.perf_counter() - asked - 0.005) * 1_000)


async def first_index(spec: StoreSpec) -> Figures:
    """The index made from nothing, and what it costs the event loop meanwhile."""
    federation, adapter = federation_of(spec)
    complete, lags = anyio.Event(), list[float]()
    began = time.perf_counter()
    async with anyio.create_task_group() as group:
        group.start_soon(_lags_until, complete, lags)
        while True:
            result = await federation.recall(RecallRequest(query="garbage collector"))
            if not result.engines[0].detail:
                break
            await anyio.sleep(0.5)
        complete.set()
    wall = time.perf_counter() - began
    await adapter.aclose()
    return {
        "first index s": wall,
        "loop lag p50 ms": statistics.median(lags),
        "p99 ms": statistics.quantiles(lags, n=100)[98],
        "max ms": max(lags),
        "peak RSS MB": memory_mb("VmHWM"),
    }


async def asked(spec: StoreSpec, rounds: int) -> Figures:
    """Searches of the store and whole recalls over the finished index, each question in turn."""
    federation, adapter = federation_of(spec)
    found: Taken = {name: [] for name in QUESTIONS}
    taken: Taken = {name: [] for name in QUESTIONS}
    opened, _ = await _timed(federation.recall(RecallRequest(query="first of all")))
    for number in range(rounds):
        names = list(QUESTIONS)[:: 1 if number % 2 else -1]
        for name in names:
            found[name].append(await _timed(adapter.search(StoreQuery(text=QUESTIONS[name], limit=50))))
            taken[name].append(await _timed(federation.recall(RecallRequest(query=QUESTIONS[name]))))
            await anyio.sleep(0.12)  # so that checks of the folders fall due among the questions
    await adapter.aclose()
    return {"opened": opened, "found": found, "taken": taken, "rss": memory_mb("VmRSS"), "peak": memory_mb("VmHWM")}


async def _timed(asked: Awaitable[object]) -> tuple[float, float]:
    """Milliseconds of the clock, and of this process's CPU, which other processes lengthen less."""
    began, burned = time.perf_counter(), time.process_time()
    await asked
    return (time.perf_counter() - began) * 1_000, (time.process_time() - burned) * 1_000


def rechecks(spec: StoreSpec, rounds: int) -> list[float]:
    """Milliseconds of each check of the unchanged folders, after one that had everything to learn."""
    always = replace(spec, options={**spec.options, "recheck_s": 0})
    index = Index(read_options(always), lambda done, total: None)
    taken: list[float] = []
    for _ in range(rounds + 1):
        began = time.perf_counter()
        index.refresh().done.wait()
        taken.append((time.perf_counter() - began) * 1_000)
    index.close()
    return taken


def _in_a_process(function: Any, *arguments: Any) -> Any:
    """A function's result from a fresh process, so that the memory it reports is its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


def _first(spec: StoreSpec) -> Figures:
    return anyio.run(first_index, spec)


def _asked(spec: StoreSpec, rounds: int) -> Figures:
    return anyio.run(asked, spec, rounds)


def measure(folder: Path, files: int, rounds: int) -> None:
    """Print the tables and whether the targets are met."""
    tree = folder / "tree"
    if not tree.exists():
        tree.mkdir(parents=True)
        began = time.perf_counter()
        size = _in_a_process(grow, tree, files)
        print(f"{files:,} files, {size / 1e6:.0f} MB written in {time.perf_counter() - began:.0f} s", flush=True)
    spec = StoreSpec(name="notes", type="notes", url=str(tree), options={"cache_dir": str(folder / "cache")})
    if not (folder / "cache").exists():
        show("First index", [_in_a_process(_first, spec)])
    figures = _in_a_process(_asked, spec, rounds)
    _report(figures, _in_a_process(rechecks, spec, 5))


def _report(figures: Figures, checks: Sequence[float]) -> None:
    found: Taken = figures["found"]
    taken: Taken = figures["taken"]
    rows = [{"question": name, **_one("search", found[name]), **_one("recall", taken[name])} for name in QUESTIONS]
    show("Each question", rows, [f"the first recall of the process took {figures['opened']:.0f} ms"])
    totals = {"search of the store": _all(found), "whole recall": _all(taken)}
    show("All questions", [{"": name, **spread} for name, spread in totals.items()])
    again = statistics.median(checks[1:])
    show("Check", [{"first of a process ms": checks[0], "unchanged p50 ms": again, "best ms": min(checks[1:])}])
    show("Memory", [{"RSS MB": figures["rss"], "peak MB": figures["peak"]}])
    print("\nTargets")
    for name, spread in totals.items():
        p50, slowest = spread["p50 ms"], spread["slowest question's best ms"]
        said = f"{name}: p50 {p50:.0f} ms, slowest question's best {slowest:.0f} ms, both < {RECALL_MS:.0f} ms"
        verdict(said, max(p50, slowest) < RECALL_MS)
    verdict(f"check of the unchanged tree: p50 {again:.0f} ms < {RECHECK_MS:.0f} ms", again < RECHECK_MS)
    verdict(f"memory: {figures['rss']:.0f} MB < {RSS_MB:.0f} MB", figures["rss"] < RSS_MB)


def _one(kind: str, taken: Sequence[tuple[float, float]]) -> dict[str, float]:
    ms = [wall for wall, _ in taken]
    cpu = statistics.median(cpu for _, cpu in taken)
    return {f"{kind} best ms": min(ms), f"{kind} p50": statistics.median(ms), f"{kind} CPU": cpu}


def _all(taken: Taken) -> dict[str, float]:
    every = sorted(ms for one in taken.values() for ms, _ in one)
    return {
        "p50 ms": statistics.median(every),
        "p95 ms": statistics.quantiles(every, n=20)[18],
        "slowest question's best ms": max(min(ms for ms, _ in one) for one in taken.values()),
        "CPU p50 ms": statistics.median(cpu for one in taken.values() for _, cpu in one),
    }


def main() -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--quick", action="store_true", help="2,000 files, 2 rounds")
    parser.add_argument("--keep", type=Path, help="folder of tree and index, kept for another run")
    options = parser.parse_args()
    with ExitStack() as ending:
        folder = options.keep or Path(ending.enter_context(tempfile.TemporaryDirectory()))
        measure(folder, 2_000 if options.quick else options.files, 2 if options.quick else 5)


if __name__ == "__main__":
    main()
