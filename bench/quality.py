"""Quality of the shipped merge on recorded ranked lists: does the right hit come first?

    python bench/quality.py [--pools DIR] [--settings WORD] [--hits 20] [--chars N] [--mode pooled] [--pool-weight 0.5]
                            [--embed [--embed-budget-ms 150]]

A pool is a ``*.json.gz`` of ``{setting, queries: [{id, query, lists: {store: [[doc, score], …]}, rel: {doc: gain},
reference: {name: [nDCG@10, R@5, R@10, MRR@10]}}], text: {doc: text}}``. Prints, per setting and as a macro mean, our
figures (row `yours`) beside the references stored with the pools, the difference to the peer and to the best known
merge with a 95 % bootstrap interval over queries, the milliseconds per query, and which rescalings of one store's
scores leave the first ten as they are. Without ``--pools`` it runs on a small part of SciFact that comes with it.
With ``--embed`` there are rows for the merge with the local embedder too, see `meaning`; that takes two minutes.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import random
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from callosum_mcp.fusion import RankedList, fuse
from callosum_mcp.models.knobs import FusionMode, Knobs
from callosum_mcp.models.values import Hit

if TYPE_CHECKING:
    from meaning import Meaning

NAMES = ("nDCG@10", "R@5", "R@10", "MRR@10")
SAMPLE = Path(__file__).parent / "data" / "scifact"
Rows = list[tuple[str, float]]
Pool = dict[str, Any]
Figures = dict[str, list[list[float]]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Merge:
    """The shipped merge with its settings."""

    mode: FusionMode
    pool_weight: float
    k: int = 60

    def ranked(self, query: str, stores: dict[str, Rows], text: dict[str, str], chars: int | None) -> list[str]:
        """Documents, best first."""
        lists = _lists(stores, text, chars)
        fused = fuse(self.mode, lists, query=query, k=self.k, pool_weight=self.pool_weight)
        return [item.hit.id for item in fused]


def _lists(stores: dict[str, Rows], text: dict[str, str], chars: int | None) -> list[RankedList]:
    return [
        RankedList(store=store, hits=tuple(_hit(store, doc, score, text[doc][:chars]) for doc, score in rows))
        for store, rows in stores.items()
    ]


def _hit(store: str, doc: str, score: float, text: str) -> Hit:
    return Hit(store=store, id=doc, text=text or doc, metadata={"score": score})


def metrics(ranked: list[str], rel: dict[str, int], depth: int = 10) -> list[float]:
    """nDCG@10, recall@5, recall@10 and MRR@10; a second copy of a document earns nothing."""
    firsts = ranked[:depth]
    seen: set[str] = set()
    gains: list[int] = []
    for doc in firsts:
        gains.append(0 if doc in seen else rel.get(doc, 0))
        seen.add(doc)
    found = [position for position, gain in enumerate(gains) if gain]
    ideal = sum(g / math.log2(i + 2) for i, g in enumerate(sorted(rel.values(), reverse=True)[:depth]))
    return [
        sum(gain / math.log2(i + 2) for i, gain in enumerate(gains)) / ideal,
        sum(position < 5 for position in found) / len(rel),
        len(found) / len(rel),
        1 / (found[0] + 1) if found else 0.0,
    ]


@dataclass(kw_only=True)
class Report:
    """What was measured."""

    table: dict[str, dict[str, list[float]]] = field(default_factory=dict[str, dict[str, list[float]]])
    versus: dict[str, list[tuple[str, str, float]]] = field(
        default_factory=lambda: defaultdict[str, list[tuple[str, str, float]]](list)
    )
    seconds: float = 0.0
    queries: int = 0
    invariant: str = "none"


def measure(path: Path, merge: Merge, meaning: Meaning | None, options: argparse.Namespace, report: Report) -> None:
    """Add one pool to the report and print its line."""
    pool = cast("Pool", json.loads(gzip.decompress(path.read_bytes())))
    figures: Figures = defaultdict(list)
    for query in pool["queries"]:
        stores = _stores(query, options.hits)
        began = time.perf_counter()
        ranked = merge.ranked(query["query"], stores, pool["text"], options.chars)
        report.seconds += time.perf_counter() - began
        report.queries += 1
        ours = metrics(ranked, query["rel"])
        figures["yours"].append(ours)
        for name, values in query["reference"].items():
            figures[name].append(values)
            if name in ("peer default", "best known"):
                report.versus[name].append((pool["setting"], query["id"], ours[0] - values[0]))
    if meaning:
        figures |= _by_meaning(meaning, pool, options)
    row = {name: [sum(column) / len(rows) for column in zip(*rows, strict=True)] for name, rows in figures.items()}
    report.table[pool["setting"]] = row
    against = "  ".join(f"{name} {row[name][0]:.3f}" for name in ("yours", "best known", "peer default") if name in row)
    print(f"{pool['setting']:34} n={len(pool['queries']):3}  {against}", flush=True)
    report.invariant = invariance(merge, pool, options.hits)


def _by_meaning(meaning: Meaning, pool: Pool, options: argparse.Namespace) -> Figures:
    asked = [(q["query"], _lists(_stores(q, options.hits), pool["text"], options.chars)) for q in pool["queries"]]
    return {
        name: [metrics(order, query["rel"]) for order, query in zip(orders, pool["queries"], strict=True)]
        for name, orders in meaning.rows(asked).items()
    }


def _stores(query: dict[str, Any], hits: int) -> dict[str, Rows]:
    return {store: [(doc, score) for doc, score in rows[:hits]] for store, rows in query["lists"].items()}


def invariance(merge: Merge, pool: Pool, hits: int) -> str:
    """The widest kind of rescaling of one store's scores that leaves the first ten as they are."""
    rng = random.Random(3)
    changes: dict[str, Callable[[float], float]] = {
        "monotone": lambda x: math.exp(min(x, 50.0)) ** 0.5,
        "affine": lambda x: 3.1 * x + 11,
        "scale": lambda x: 7.3 * x,
    }
    holds = dict.fromkeys(changes, True)
    for query in rng.sample(pool["queries"], min(12, len(pool["queries"]))):
        stores = _stores(query, hits)
        before = merge.ranked(query["query"], stores, pool["text"], None)[:10]
        name = rng.choice([store for store in stores if stores[store]])
        for kind, change in changes.items():
            changed = {**stores, name: [(doc, change(score)) for doc, score in stores[name]]}
            holds[kind] &= merge.ranked(query["query"], changed, pool["text"], None)[:10] == before
    return next((kind for kind, held in holds.items() if held), "none")


def interval(pairs: list[tuple[str, str, float]], rounds: int = 1_000) -> tuple[float, float, float]:
    """Macro mean over settings of a per-query difference with its 95 % interval; queries resampled in all at once."""
    rng = random.Random(1)
    rows: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for setting, query, difference in pairs:
        rows[setting].append((query, difference))
    queries = sorted({query for _, query, _ in pairs})
    samples = sorted(_macro(rows, rng.choices(queries, k=len(queries))) for _ in range(rounds))
    return _macro(rows, queries), samples[int(0.025 * rounds)], samples[int(0.975 * rounds)]


def _macro(rows: dict[str, list[tuple[str, float]]], drawn: list[str]) -> float:
    weight: dict[str, int] = defaultdict(int)
    for query in drawn:
        weight[query] += 1
    means: list[float] = []
    for pairs in rows.values():
        total = sum(weight[query] for query, _ in pairs)
        if total:
            means.append(sum(weight[query] * difference for query, difference in pairs) / total)
    return sum(means) / len(means)


def summary(report: Report) -> None:
    """Print the macro means and the differences; adversarial settings stand apart."""
    plain = [setting for setting in report.table if not setting.startswith("adv-")] or list(report.table)
    print("\nmacro mean".ljust(38) + "  ".join(f"{name:>8}" for name in NAMES))
    for name in sorted({name for setting in plain for name in report.table[setting]}):
        rows = [report.table[setting][name] for setting in plain if name in report.table[setting]]
        print(f"{name:36}  " + "  ".join(f"{sum(c) / len(rows):8.3f}" for c in zip(*rows, strict=True)))
    for name, pairs in report.versus.items():
        mean, low, high = interval([pair for pair in pairs if pair[0] in plain])
        print(f"yours - {name}: nDCG@10 {mean:+.3f} [{low:+.3f}, {high:+.3f}]")
    each = 1_000 * report.seconds / max(report.queries, 1)
    print(f"{each:.2f} ms per query; order unchanged under {report.invariant} rescaling of one store's scores")


def main() -> None:
    """Measure every pool and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pools", type=Path, default=SAMPLE)
    parser.add_argument("--settings", default="", help="only pools whose file name holds this word")
    parser.add_argument("--hits", type=int, default=20, help="hits of each store that are merged")
    parser.add_argument("--chars", type=int, help="characters of each text that are seen")
    parser.add_argument("--mode", default=Knobs().fusion_mode)
    parser.add_argument("--pool-weight", type=float, default=Knobs().pool_weight)
    parser.add_argument("--embed", action="store_true", help="with the local embedder too")
    parser.add_argument("--embed-budget-ms", type=int, default=Knobs().embed_budget_ms)
    options = parser.parse_args()
    merge = Merge(mode=options.mode, pool_weight=options.pool_weight)
    meaning = _meaning(options) if options.embed else None
    report = Report()
    for path in sorted(options.pools.glob("*.json.gz")):
        if options.settings in path.name:
            measure(path, merge, meaning, options, report)
    if not report.table:
        raise SystemExit(f"no pool (*.json.gz) in {options.pools}")
    summary(report)
    for name, told in meaning.told.items() if meaning else ():
        print(told.line(name))


def _meaning(options: argparse.Namespace) -> Meaning:
    from meaning import Meaning

    return Meaning(
        Knobs(fusion_mode=options.mode, pool_weight=options.pool_weight, embed_budget_ms=options.embed_budget_ms)
    )


if __name__ == "__main__":
    main()
