"""The same memory found twice: in two stores, or twice in one.

Above: `fuse`. Below: text helpers. Pure. Two hits are one memory if their texts are the same after Unicode
normalisation, case and white space, if one says as a whole what the other does (a fact whose value is a sentence), or
if they carry the same URI or declared id and their texts do not contradict each other. Texts that differ in a number,
a version, a path, a name or a negation stay two.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from callosum_mcp.models.values import Hit
from callosum_mcp.text import normalised, words

_PEEK = 96  # characters looked at before a text is normalised as a whole
_HEAD = 32  # normalised characters that must agree before the rest is compared
_SENTENCE_WORDS = 4  # a fact's value shorter than this says nothing without its key
_SIGNS = re.compile(r"[\w./:@#-]*\d[\w./:@#-]*|[\w.-]*[/\\][\w./\\-]+")
_NEGATIONS = frozenset("no not never none without cannot can't don't doesn't isn't aren't wasn't won't didn't".split())

SIMILAR = 0.8
"""Share of common words from which two texts count as nearly the same."""


def groups(hits: Sequence[Hit]) -> list[int]:
    """For each hit the number of its memory; hits of one memory share the number, which is that of the first."""
    parents = list(range(len(hits)))

    def root(index: int) -> int:
        while parents[index] != index:
            index = parents[index]
        return index

    for first, second in _same(hits):
        low, high = sorted((root(first), root(second)))
        parents[high] = low
    return [root(index) for index in range(len(hits))]


def _same(hits: Sequence[Hit]) -> Iterable[tuple[int, int]]:
    yield from _same_text(hits)
    yield from _same_declared(hits)


def _same_text(hits: Sequence[Hit]) -> Iterable[tuple[int, int]]:
    """Pairs of equal texts. Most texts differ in their first characters, so few are normalised as a whole."""
    buckets: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    for index, hit in enumerate(hits):
        for wording in wordings(hit):
            buckets[normalised(wording[:_PEEK])[:_HEAD]].append((index, wording))
    for bucket in buckets.values():
        if len(bucket) < 2:
            continue
        seen: dict[str, int] = {}
        for index, wording in bucket:
            first = seen.setdefault(plain(wording), index)
            if first != index:
                yield first, index


def wordings(hit: Hit) -> list[str]:
    """The texts that say all of a hit: its text, and a fact's value where that is a sentence."""
    value = hit.metadata.get("value")
    if hit.type == "fact" and isinstance(value, str) and len(value.split()) >= _SENTENCE_WORDS:
        return [hit.text, value]
    return [hit.text]


def plain(text: str) -> str:
    """A text for comparing: normalised, without a full stop at its end."""
    return normalised(text).rstrip(" .")


def _same_declared(hits: Sequence[Hit]) -> Iterable[tuple[int, int]]:
    seen: dict[str, int] = {}
    for index, hit in enumerate(hits):
        for key in _declared(hit):
            first = seen.setdefault(key, index)
            if first != index and compatible(hits[first].text, hit.text):
                yield first, index


def _declared(hit: Hit) -> list[str]:
    canonical = hit.metadata.get("canonical_id")
    return [key for key in (hit.uri, canonical if isinstance(canonical, str) else None) if key]


def compatible(first: str, second: str) -> bool:
    """Whether two texts of one address may be one memory: one holds the other, or they agree in every sign."""
    ours, theirs = plain(first), plain(second)
    return ours in theirs or theirs in ours or signs(ours) == signs(theirs)


def signs(text: str) -> frozenset[str]:
    """What may not differ within one memory: numbers, versions, paths, names with digits, negations."""
    low = text.lower()
    return frozenset(_SIGNS.findall(low)) | _NEGATIONS.intersection(low.replace("’", "'").split())


def similar(first: Hit, second: Hit) -> bool:
    """Whether two memories say nearly the same: most words in common, every number and negation alike."""
    ours, theirs = set(words(first.text)), set(words(second.text))
    if not ours or not theirs or min(len(ours), len(theirs)) < SIMILAR * max(len(ours), len(theirs)):
        return False
    return len(ours & theirs) >= SIMILAR * len(ours | theirs) and signs(first.text) == signs(second.text)
