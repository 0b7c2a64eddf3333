"""How long reconciliation takes: 100 hits of ten stores about one service, half of them in conflict.

    python bench/reconcile.py [HITS]

Prints median, best and worst of the runs for a question about a state and for one about an attribute that no list
knows: over hits that were read before, which is what a store's memories are to a running server, and over texts that
nobody has read yet.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Iterator

from callosum_mcp.models.values import Hit, Tier
from callosum_mcp.reconcile import Ranked, Reconciliation, reconcile

_NOW = 1_795_910_400.0
_DAY_S = 86_400.0
_RUNS = 40
_QUERIES = ("is ferrystone running", "retry budget of ferrystone")
_TIERS: tuple[Tier, ...] = ("live-infra", "recent-file", "agent-memory", "older-note")
_TEXTS = (
    "ferrystone-{n} is up and running on host larch-{m}; it forwards the nightly batch to the archive.",
    "ferrystone.service: inactive (dead) since 2026-11-{d:02d}, exit code {m}",
    "(ferrystone)-[LISTENS_ON]->(70{d:02d}/tcp)",
    "In production ferrystone stores its jobs in Postgres 16.{m}, and staging still uses MySQL 8.",
    "Should we move ferrystone to port 90{d:02d}? Ask Odile before the meeting on {d} December.",
    "Der Dienst ferrystone läuft seit Umbau {n} mit Version 3.{m}.{d}.",
    "ferrystone/settings.py: TIMEOUT_SECONDS = {d}  # was {m} until build {n}",
    "Le service ferrystone est arrêté depuis le {d} novembre, ticket {n}.",
    "Ferrystone retries at most {m} times, waits {d} seconds in between and then gives up ({n}).",
    "ferrystone の状態: 停止中 ({n})",
)


def world(count: int, run: int) -> list[Ranked]:
    """Hits with texts of their own."""
    return [Ranked(hit=_hit(i, run), store_rank=i // 10 + 1) for i in range(count)]


def _hit(i: int, run: int) -> Hit:
    text = _TEXTS[i % len(_TEXTS)].format(n=run * 1000 + i, m=i % 7 + 1, d=i % 28 + 1)
    return Hit(
        store=f"store-{i % 10}",
        id=f"hit-{i}",
        text=text,
        title=f"Note {i}",
        tier=_TIERS[i % len(_TIERS)],
        last_seen=_NOW - (i % 60) * _DAY_S,
        confidence=0.9,
    )


def timings(count: int, runs: int, query: str, *, fresh: bool) -> Iterator[tuple[float, Reconciliation]]:
    """Milliseconds and result of each run; the first, which fills the caches, is not counted."""
    for run in range(runs + 1):
        hits = world(count, run if fresh else 0)
        start = time.perf_counter()
        found = reconcile(hits, now=_NOW, query=query)
        if run:
            yield (time.perf_counter() - start) * 1e3, found


def report(count: int, query: str, *, fresh: bool) -> float:
    """Prints one line; gives the median."""
    results = list(timings(count, _RUNS, query, fresh=fresh))
    times = [ms for ms, _ in results]
    median = statistics.median(times)
    print(
        f"{query}: {count} hits, {'new' if fresh else 'known'} texts, {len(results[-1][1].conflicts)} conflict: "
        f"median {median:.1f} ms, best {min(times):.1f} ms, worst {max(times):.1f} ms"
    )
    return median


def main(arguments: list[str]) -> int:
    """Prints the figures; exit status 1 if the median over known texts misses 20 ms for 100 hits."""
    count = int(arguments[0]) if arguments else 100
    for query in _QUERIES:
        report(count, query, fresh=True)
    return int(max(report(count, query, fresh=False) for query in _QUERIES) > 20 * count / 100)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
