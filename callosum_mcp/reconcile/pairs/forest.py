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
from typing import Any, cast

FILE = "forest.json"
WORD = "word "
"""Start of the names of features that count the hits with a word: ``word now``."""


Node = tuple[int, float, "Node | float", "Node | float"]
"""Position of a feature, the greatest value that goes left, then left and right: a node, or what a leaf adds."""


@dataclass(frozen=True, slots=True)
class Forest:
    """Trees whose leaves add up to the log-odds of a contradiction.

    Attributes:
        features: Names of the features that the nodes look at.
        words: The position of each word.
        trees: The root of each tree, or what a tree without nodes adds.
    """

    features: tuple[str, ...]
    words: Mapping[str, int]
    trees: tuple[Node | float, ...]

    def probability(self, values: Mapping[str, float], words: Sequence[frozenset[str]]) -> float:
        """The probability, from 0 to 1, that two hits contradict each other.

        Args:
            values: Their features by name.
            words: The words of each of the two.
        """
        row = [float(values.get(name, 0.0)) for name in self.features]
        for word in chain(*words):
            if (at := self.words.get(word)) is not None:
                row[at] += 1.0
        odds = 0.0
        for root in self.trees:
            node = root
            while isinstance(node, tuple):
                feature, limit, left, right = node
                node = left if row[feature] <= limit else right
            odds += node
        return 1.0 / (1.0 + math.exp(-odds))


def parsed(text: str) -> Forest:
    """A forest from JSON: ``{features: [name], trees: [node]}``.

    A node is ``[position of its feature, limit, left, right]`` or, a leaf, a number.
    """
    said: Any = json.loads(text)
    features: tuple[str, ...] = tuple(said["features"])
    return Forest(
        features,
        {name.removeprefix(WORD): at for at, name in enumerate(features) if name.startswith(WORD)},
        tuple(_node(node) for node in said["trees"]),
    )


def _node(said: Any) -> Node | float:
    if not isinstance(said, list):
        return float(said)
    feature, limit, left, right = cast("list[Any]", said)
    return int(feature), float(limit), _node(left), _node(right)


@lru_cache(maxsize=1)
def shipped() -> Forest:
    """The forest of this release."""
    return parsed(files("callosum_mcp.reconcile.pairs").joinpath(FILE).read_text("utf-8"))
