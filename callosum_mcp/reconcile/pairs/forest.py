"""The forest: how likely it is that two hits contradict each other, from their features.

Above: `weighing`. Below: `features`. Pure. Gradient-boosted trees over the features of a pair and over the words that
stand in its texts, trained by ``bench/train_pairs.py`` on hand-written cases; the same numbers on every machine.
Source: J. H. Friedman, "Greedy function approximation: a gradient boosting machine", Annals of Statistics 29 (2001).
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import chain
from typing import Any, cast

FILE = "forest.json.gz"
WORD = "word "
"""Start of the names of features that count the hits with a word: ``word now``."""


Node = tuple[int, float, "Node | float", "Node | float"]
"""Position of a feature, the greatest value that goes left, then left and right: a node, or what a leaf adds."""


@dataclass(frozen=True, slots=True)
class Forest:
    """Trees whose leaves add up to the log-odds of a contradiction.

    Attributes:
        features: Names of the features that the nodes look at.
        places: The position of each feature that is no word.
        words: The position of each word.
        trees: The root of each tree, or what a tree without nodes adds.
    """

    features: tuple[str, ...]
    places: Mapping[str, int]
    words: Mapping[str, int]
    trees: tuple[Node | float, ...]

    def probability(self, values: Mapping[str, float], words: Sequence[frozenset[str]]) -> float:
        """The probability, from 0 to 1, that two hits contradict each other.

        Args:
            values: Their features by name.
            words: The words of each of the two.
        """
        row = [0.0] * len(self.features)
        for name, value in values.items():
            if (at := self.places.get(name)) is not None:
                row[at] = float(value)
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
        {name: at for at, name in enumerate(features) if not name.startswith(WORD)},
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
    packed = files("callosum_mcp.reconcile.pairs").joinpath(FILE).read_bytes()
    return parsed(gzip.decompress(packed).decode())
