"""Text to vector without a model: deterministic, tiny, lexical.

Each word (lower-cased, lightly stemmed) and each pair of neighbours is hashed into a signed bucket (feature hashing,
Weinberger et al. 2009, 10.1145/1553374.1553516) and the vector is scaled to length one. The same text gives the same
vector on every machine. Good enough for a real server to rank sensibly; useless for measuring retrieval quality.
Standard library only: `launch_memory.py` imports it inside the peers' environment.
"""

import hashlib
import itertools
import math
import re
from collections.abc import Iterator

DIMENSIONS = 384  # as many as the model the server would otherwise download

_WORD = re.compile(r"[^\W_]+")
_STOP = frozenset(
    "a an and are as at be by for from has have in is it its of on or that the this to was were what when where which "
    "who why will with".split()
)
_PAIR_WEIGHT = 0.5  # word order is a hint, not a vote of its own


def embed(text: str) -> list[float]:
    vector = [0.0] * DIMENSIONS
    for feature, weight in _features(text):
        digest = int.from_bytes(hashlib.blake2b(feature.encode(), digest_size=8).digest(), "big")
        vector[digest % DIMENSIONS] += weight if (digest >> 40) & 1 else -weight
    length = math.sqrt(sum(x * x for x in vector))
    if length == 0.0:  # no content word at all: still a unit vector, because cosine distance to zero is undefined
        return [1.0, *vector[1:]]
    return [x / length for x in vector]


def _features(text: str) -> Iterator[tuple[str, float]]:
    words = [_stem(word) for word in _WORD.findall(text.lower()) if word not in _STOP]
    yield from ((word, 1.0) for word in words)
    yield from ((f"{a} {b}", _PAIR_WEIGHT) for a, b in itertools.pairwise(words))


def _stem(word: str) -> str:
    for suffix in ("ing", "ed", "es", "s"):
        if word.endswith(suffix) and len(word) > len(suffix) + 3:
            return word.removesuffix(suffix)
    return word
