"""Vectors of texts that were embedded before, the latest used: memory stores return the same texts again and again.

Above: the embedder. Below: nothing. Safe between threads. Nothing of a text is kept but its hash.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from hashlib import blake2b

MAX_ENTRIES = 10_000
"""Texts: a hundred answers of a hundred candidates."""

MAX_BYTES = 16_000_000
"""Bytes of vectors; one of 384 numbers takes 1,536."""


class VectorCache:
    """Vectors by text, bounded in number and size; what was not used for longest goes first.

    Args:
        max_entries: The most vectors.
        max_bytes: The most bytes of them.
    """

    def __init__(self, max_entries: int = MAX_ENTRIES, max_bytes: int = MAX_BYTES) -> None:
        self._max_entries, self._max_bytes = max_entries, max_bytes
        self._vectors: OrderedDict[bytes, bytes] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._vectors)

    def known(self, texts: Iterable[str]) -> dict[str, bytes]:
        """The vectors of those texts that have one; they are then the latest used."""
        keys = [(text, _key(text)) for text in texts]
        with self._lock:
            found = {text: self._vectors[key] for text, key in keys if key in self._vectors}
            for text, key in keys:
                if text in found:
                    self._vectors.move_to_end(key)
            return found

    def put(self, vectors: Iterable[tuple[str, bytes]]) -> None:
        """Keep vectors of texts."""
        keyed = [(_key(text), vector) for text, vector in vectors]
        with self._lock:
            for key, vector in keyed:
                self._bytes += len(vector) - len(self._vectors.pop(key, b""))
                self._vectors[key] = vector
            while len(self._vectors) > self._max_entries or self._bytes > self._max_bytes:
                self._bytes -= len(self._vectors.popitem(last=False)[1])


def _key(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
