"""The same memory found twice: in two stores, or twice in one.

Above: `fuse`. Below: text helpers. Pure. Two hits are one memory if their texts are the same after Unicode
normalisation, case and white space, if a memory says as a whole what a fact's value does, or if they carry the same
URI or declared id and their texts do not contradict each other. Texts that differ in a number, a version, a path, a
name or a negation stay two.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from callosum_mcp.models.values import Hit
from callosum_mcp.text import STOPWORDS, WORD, normalised, words

_PEEK = 96  # characters looked at before a text is normalised as a whole
_HEAD = 32  # normalised characters that must agree before the rest is compared
_SENTENCE_WORDS = 4  # a fact's value shorter than this says nothing without its key
_CUT = ("…", "...")  # how stores mark a text they have shortened
_JOINED = re.compile(r"[\w./\\:@#-]+")
_SIGN = re.compile(r"[\d/\\]")  # searched in one piece at a time: a pattern for both would take quadratic time
_WORDS = re.compile(WORD)
_NEGATIONS = frozenset(
    "no not never none nor neither without cannot nicht nie nein kein keine keinen keiner ohne pas jamais aucun aucune "
    "sans nunca ningún ninguna sin jamás não nem sem mai senza nessun nessuna niet geen nooit inte ingen bez не нет "
    "ни без никогда".split()
)
_NEGATING = re.compile("[不没沒無无未非勿]|ない|ません|아니|않|없|n't\\b")

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
    buckets: defaultdict[str, list[int]] = defaultdict(list)
    for index, hit in enumerate(hits):
        for wording in filter(None, (hit.text, sentence_of(hit))):
            buckets[_head(wording)].append(index)
    for bucket in buckets.values():
        if len(bucket) > 1:
            yield from _same_in(hits, bucket)


def _head(text: str) -> str:
    """The first characters of a text as they are compared."""
    head = plain(text[:_PEEK])[:_HEAD]
    return head if len(head) == _HEAD or len(text) <= _PEEK else plain(text)[:_HEAD]


def _same_in(hits: Sequence[Hit], bucket: Iterable[int]) -> Iterable[tuple[int, int]]:
    """Pairs of equal texts, then memories with the one fact whose value they say; two keys are two memories."""
    seen: dict[str, int] = {}
    valued: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for index in dict.fromkeys(bucket):
        text = plain(hits[index].text)
        first = seen.setdefault(text, index)
        if first != index:
            yield first, index
        value = sentence_of(hits[index])
        if value is not None:
            valued[plain(value)].setdefault(text, index)
    for value, facts in valued.items():
        if value in seen and len(facts) == 1:
            yield seen[value], next(iter(facts.values()))


def sentence_of(hit: Hit) -> str | None:
    """A fact's value where that is a sentence, which says all of the fact without its key."""
    value = hit.metadata.get("value")
    if hit.type == "fact" and isinstance(value, str) and len(value.split()) >= _SENTENCE_WORDS:
        return value
    return None


def plain(text: str) -> str:
    """A text for comparing: normalised, without a full stop at its end."""
    return normalised(text).rstrip(" .。")


def _same_declared(hits: Sequence[Hit]) -> Iterable[tuple[int, int]]:
    """Pairs that carry the same URI or id, where a text agrees with all that were taken together before it."""
    seen: defaultdict[str, list[list[int]]] = defaultdict(list)
    for index, hit in enumerate(hits):
        for key in _declared(hit):
            together = next((them for them in seen[key] if _agree(hit, (hits[other] for other in them))), None)
            if together is None:
                seen[key].append([index])
            else:
                yield together[0], index
                together.append(index)


def _agree(hit: Hit, others: Iterable[Hit]) -> bool:
    return all(compatible(other.text, hit.text) for other in others)


def _declared(hit: Hit) -> list[str]:
    canonical = hit.metadata.get("canonical_id")
    return [key for key in (hit.uri, canonical if isinstance(canonical, str) else None) if key]


def compatible(first: str, second: str) -> bool:
    """Whether two texts of one address may be one memory: one is the other cut short, or no sign or name differs."""
    ours, theirs = plain(first), plain(second)
    if ours == theirs or _begins(ours, first, theirs) or _begins(theirs, second, ours):
        return True
    return signs(first) == signs(second) and _named(first, theirs) and _named(second, ours)


def _begins(ours: str, text: str, theirs: str) -> bool:
    """Whether a text that says it was cut is how the other one begins."""
    return text.rstrip().endswith(_CUT) and theirs.startswith(ours.rstrip(" .…"))


def _named(text: str, other: str) -> bool:
    """Whether every name of a text, which is any word with a capital, is a word of the other."""
    names = {word.lower() for word in _WORDS.findall(text) if word != word.lower()}
    return names - STOPWORDS <= set(_WORDS.findall(other))


def signs(text: str) -> frozenset[str]:
    """What may not differ within one memory: numbers, versions, paths, names with digits, negations."""
    low = text.lower().replace("’", "'")
    found = {piece.strip("./:-") for piece in _JOINED.findall(low) if _SIGN.search(piece)}
    return frozenset(found) | _NEGATIONS.intersection(words(low)) | frozenset(_NEGATING.findall(low))


@dataclass(frozen=True, kw_only=True, slots=True)
class Sketch:
    """What is compared of a text for being nearly the same."""

    words: frozenset[str]
    signs: frozenset[str]

    @classmethod
    def of(cls, hit: Hit) -> Sketch:
        """The sketch of a hit."""
        return cls(words=frozenset(words(hit.text)), signs=signs(hit.text))


def similar(first: Sketch, second: Sketch) -> bool:
    """Whether two memories say nearly the same: most words in common, every number and negation alike."""
    ours, theirs = first.words, second.words
    if not ours or not theirs or min(len(ours), len(theirs)) < SIMILAR * max(len(ours), len(theirs)):
        return False
    return first.signs == second.signs and len(ours & theirs) >= SIMILAR * len(ours | theirs)
