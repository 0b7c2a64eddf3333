"""The forest: how likely it is that two hits contradict each other, from their features.

Above: `weighing`. Below: `features`. Pure. Gradient-boosted trees over the features of a pair and over the words that
stand in its texts, trained by ``bench/train_pairs.py`` on hand-written cases; the same numbers on every machine.
Source: J. H. Friedman, "Greedy function approximation: a gradient boosting machine", Annals of Statistics 29 (2001).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import chain
from typing import Any

FILE = "forest.json"
WORD = "word "
"""Start of the names of features that count the hits with a word: ``word now``."""


@dataclass(frozen=True, slots=True)
class Tree:
    """One tree, its nodes and leaves numbered from 0; the root is node 0.

    Attributes:
        features: For each node the position of its feature.
        limits: For each node the greatest value that goes left.
        left: Where it goes then: a node, or ``-1 - leaf``.
        right: Where it goes otherwise.
        leaves: What each leaf adds to the log-odds.
    """

    features: tuple[int, ...]
    limits: tuple[float, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]
    leaves: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Forest:
    """Trees whose leaves add up to the log-odds of a contradiction.

    Attributes:
        features: Names of the features that the nodes look at.
        words: The position of each word.
        trees: The trees.
    """

    features: tuple[str, ...]
    words: Mapping[str, int]
    trees: tuple[Tree, ...]

    def probability(self, values: Mapping[str, float], words: Sequence[frozenset[str]]) -> float:
        """The probability, from 0 to 1, that two hits contradict each other.

        Args:
            values: Their features by name.
            words: The words of each of the two.
        """
        row = [0.0 if name.startswith(WORD) else float(values[name]) for name in self.features]
        for word in chain(*words):
            if (at := self.words.get(word)) is not None:
                row[at] += 1.0
        odds = 0.0
        for tree in self.trees:
            at = 0 if tree.features else -1
            while at >= 0:
                at = tree.left[at] if row[tree.features[at]] <= tree.limits[at] else tree.right[at]
            odds += tree.leaves[-1 - at]
        return 1.0 / (1.0 + math.exp(-odds))


def parsed(text: str) -> Forest:
    """A forest from JSON: ``{features: [name], trees: [[features, limits, left, right, leaves]]}``."""
    said: Any = json.loads(text)
    features: tuple[str, ...] = tuple(said["features"])
    return Forest(
        features,
        {name.removeprefix(WORD): at for at, name in enumerate(features) if name.startswith(WORD)},
        tuple(Tree(*(tuple(column) for column in columns)) for columns in said["trees"]),
    )


@lru_cache(maxsize=1)
def shipped() -> Forest:
    """The forest of this release."""
    return parsed(files("callosum_mcp.reconcile.pairs").joinpath(FILE).read_text("utf-8"))
