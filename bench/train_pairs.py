"""Trains the forest that says how likely it is that two hits contradict each other.

    pip install 'lightgbm>=4.6,<5' 'wordfreq>=3.1,<4'
    python bench/train_pairs.py FILE… [--write] [--words 60]

Every FILE is a ``.jsonl`` or ``.jsonl.gz`` of labelled cases (see `conflicts`). Prints the average precision over
pairs that the forest reaches on each file when it has been trained on the others (six folds), and with ``--write``
trains it on all of them and writes ``callosum_mcp/reconcile/pairs/forest.json.gz``. The same files give the same
forest.

What the package ships was trained on ``bench/data/conflicts/*.jsonl.gz``; the cases under
``bench/data/conflicts/unseen`` were never trained on.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from conflicts import world_of

from callosum_mcp.reconcile.lexicon import senses_of
from callosum_mcp.reconcile.pairs.forest import FILE, WORD
from callosum_mcp.reconcile.reconciliation import weighed

_FOLDS = 6
_DIGITS = 5
_TREES = {
    "objective": "binary",
    "extra_trees": True,  # cuts at random places: fewer ways to learn a case by heart
    "learning_rate": 0.08,
    "num_leaves": 63,
    "min_child_samples": 25,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "lambda_l2": 0.5,
    "seed": 0,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,
    "verbose": -1,
}
_ROUNDS = 400
_WEIGHTS = {"plain.jsonl.gz": 3.0, "plain-2.jsonl.gz": 2.0, "plain-3.jsonl.gz": 2.0}
"""Short texts that the rules are tested with, and short cases: few, and everybody would agree on them."""


@dataclass(frozen=True)
class Row:
    """A pair of hits of a labelled case: its features, its words, and whether the two contradict each other."""

    values: Mapping[str, float]
    words: Sequence[frozenset[str]]
    opposed: bool
    weight: float = 1.0


def rows_of(path: Path) -> Iterator[Row]:
    """The pairs of every case of a file."""
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    for line in filter(str.strip, raw.decode("utf-8").splitlines()):
        case = json.loads(line)
        hits, now = world_of(case)
        opposed = {
            frozenset((member, loser))
            for conflict in case["conflicts"]
            for loser in conflict["losers"]
            for member in set(conflict["members"]) - set(conflict["losers"])
        }
        beaten = [frozenset(conflict["losers"]) for conflict in case["conflicts"]]
        native = {ranked.hit.address: ranked.hit.id for ranked in hits}
        for pair in weighed(hits, now=now, query=str(case["query"])):
            ids = frozenset(native[address] for address in pair.pair)
            if ids in opposed or not any(ids <= losers for losers in beaten):  # of two losers no label says anything
                yield Row(pair.values, pair.words, ids in opposed, _WEIGHTS.get(path.name, 1.0))


def words_of(rows: Sequence[Row], least: int) -> list[str]:
    """The words that stand in that many pairs and are not only of the cases' own world, as names of features."""
    counts = Counter(word for row in rows for word in row.words[0] | row.words[1])
    return [WORD + word for word, count in sorted(counts.items()) if count >= least and common(word)]


_LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "pl", "nl", "sv")
_COMMON = 4.0  # on Zipf's scale: ten in a million words


def common(word: str) -> bool:
    """Whether a word says something anywhere: one of the lists, or a common one; no name of an invented host."""
    if word.startswith(("topic ", "slot ")):
        return True
    bare = word.removeprefix("ask ")
    frequency: Any = import_module("wordfreq").zipf_frequency
    return bool(senses_of(bare)) or not bare.isalpha() or any(frequency(bare, name) >= _COMMON for name in _LANGUAGES)


def vector(row: Row, names: Sequence[str]) -> list[float]:
    """The features of a row in the order of their names."""
    return [_value(row, name) for name in names]


def _value(row: Row, name: str) -> float:
    if name.startswith(WORD):
        return float(sum(name.removeprefix(WORD) in side for side in row.words))
    return float(row.values[name])


def trained(rows: Sequence[Row], least: int) -> tuple[Any, list[str]]:
    """A booster and the names of its features."""
    lightgbm: Any = import_module("lightgbm")
    numpy: Any = import_module("numpy")
    names = [*sorted(rows[0].values), *words_of(rows, least)]
    table = numpy.array([vector(row, names) for row in rows])
    labels = numpy.array([float(row.opposed) for row in rows])
    weights = numpy.array([row.weight for row in rows])
    return lightgbm.train(_TREES, lightgbm.Dataset(table, labels, weight=weights), num_boost_round=_ROUNDS), names


def average_precision(labels: Sequence[bool], odds: Sequence[float]) -> float:
    """Mean of the precision at each true pair, best first."""
    ranked = [label for _, label in sorted(zip(odds, labels, strict=True), key=lambda pair: -pair[0])]
    seen = 0
    total = 0.0
    for at, label in enumerate(ranked, start=1):
        if label:
            seen += 1
            total += seen / at
    return total / max(1, seen)


def crossed(files: Mapping[str, Sequence[Row]], least: int) -> None:
    """Prints what each file gets from a forest trained on others."""
    numpy: Any = import_module("numpy")
    names = sorted(files)
    found: list[float] = []
    for fold in range(_FOLDS):
        held = names[fold::_FOLDS]
        booster, features = trained([row for name in names if name not in held for row in files[name]], least)
        for name in held:
            odds = booster.predict(numpy.array([vector(row, features) for row in files[name]]))
            found.append(average_precision([row.opposed for row in files[name]], list(odds)))
            print(f"{name:24s} {len(files[name]):5d} pairs  average precision {found[-1]:.3f}", flush=True)
    print(f"mean {sum(found) / max(1, len(found)):.3f}")


def dumped(booster: Any, names: Sequence[str]) -> str:
    """A booster as the package reads it, with only the features that its trees look at."""
    trees = [_node(tree["tree_structure"]) for tree in booster.dump_model()["tree_info"]]
    used = sorted(set[int]().union(*map(_looked_at, trees)))
    place = {feature: at for at, feature in enumerate(used)}
    said = {"features": [names[feature] for feature in used], "trees": [_placed(tree, place) for tree in trees]}
    return json.dumps(said, ensure_ascii=False, separators=(",", ":")) + "\n"


def _node(node: Mapping[str, Any]) -> Any:
    if "leaf_value" in node:
        return float(f"{node['leaf_value']:.{_DIGITS}g}")
    limit = float(f"{node['threshold']:.{_DIGITS + 3}g}")
    return [node["split_feature"], limit, _node(node["left_child"]), _node(node["right_child"])]


def _looked_at(node: Any) -> set[int]:
    if not isinstance(node, list):
        return set()
    feature, _, left, right = cast("list[Any]", node)
    return {int(feature)} | _looked_at(left) | _looked_at(right)


def _placed(node: Any, place: Mapping[int, int]) -> Any:
    if not isinstance(node, list):
        return node
    feature, limit, left, right = cast("list[Any]", node)
    return [place[feature], limit, _placed(left, place), _placed(right, place)]


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true", help="train on all files and write the package's forest")
    parser.add_argument("--words", type=int, default=60, help="pairs a word must stand in to count as a feature")
    options = parser.parse_args()
    files = {path.name: list(rows_of(path)) for path in options.files}
    if not options.write:
        crossed(files, options.words)
        return
    booster, names = trained([row for name in sorted(files) for row in files[name]], options.words)
    place = Path(__file__).parent.parent / "callosum_mcp" / "reconcile" / "pairs" / FILE
    place.write_bytes(gzip.compress(dumped(booster, names).encode(), mtime=0))
    print(f"{place}: {place.stat().st_size} bytes")


if __name__ == "__main__":
    main()
