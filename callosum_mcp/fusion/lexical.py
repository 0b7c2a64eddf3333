"""How well a text answers a question, by its words alone, on one scale for every store.

Above: `pooled`. Below: text helpers. Pure. BM25 with statistics from the pooled hits of all stores, so that a term is
rare or common for this question and these answers, whatever each store's own statistics are. Source: Robertson,
Zaragoza, "The probabilistic relevance framework: BM25 and beyond", FnTIR 3(4), 2009, doi 10.1561/1500000019.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from math import log

from callosum_mcp.text import STOPWORDS, UNSPACED, WORD, words

K1 = 1.2
"""BM25's saturation of repeated terms; the paper's usual value."""

B = 0.4
"""BM25's length normalisation; below the usual 0.75, since stores return passages that were cut to a length already."""

IDF_FLOOR = 0.5
"""Added to every term's rarity: in a pool of some hundred hits about one question the plain figure is too sharp."""

MAX_CHARS = 2_000
"""Characters of a text that are looked at: more cost time and have not helped."""

ECHO = 0.6
"""A short text that shares this part of all its words with the question is the question again, not an answer."""

SHORT_QUESTION = 3
"""Up to so many content words, one word more may be all of the answer: "hermes port" and "hermes port = 8443"."""

PROXIMITY = 0.8
"""Weight of two neighbouring words of the question standing close together, in units of the rarer one's rarity.

A plain form of the term-proximity score of Rasolofo, Savoy, ECIR 2003, doi 10.1007/3-540-36618-0_15.
"""

NEAR_CHARS = 48
"""How far apart, in characters, two words are still close: about eight words of English."""

_WORD_TAIL = re.compile(WORD)
_ACCENTS = re.compile("[\u0300-\u036f]+")


Places = dict[str, list[int]]
"""Where each term of the question begins in one text."""


def text_scores(query: str, texts: Sequence[str]) -> list[float]:
    """BM25 of the query on each text, with neighbourhood, 0 where nothing matches or the text only echoes the query."""
    folded = [fold(text[:MAX_CHARS]) for text in texts]
    asked = query_terms(query)
    places = _places(asked, folded)
    _drop_echoes(query, asked, folded, places)
    rarity = _rarity(asked, places)
    lengths = [text.count(" ") + 1 for text in folded]
    mean = sum(lengths) / len(lengths) if lengths else 1.0
    pairs = [(a, b) for a, b in pairwise(asked) if a != b]
    return [
        _bm25(found, length / mean, rarity) + _closeness(pairs, found, rarity) if found else 0.0
        for found, length in zip(places, lengths, strict=True)
    ]


def fold(text: str) -> str:
    """Lower case without accents; a Korean syllable or a Japanese sound mark, which is no accent, stays whole."""
    low = text.lower()
    if low.isascii():
        return low
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFKD", low)))


def query_terms(query: str) -> Counter[str]:
    """The terms of a question in order, with how often each stands in it.

    Stems of its content words, then the bigrams of what is written without spaces.
    """
    low = fold(query)
    runs: list[str] = UNSPACED.findall(low)
    found = words(UNSPACED.sub(" ", low) if runs else low)
    meaning = [word for word in found if word not in STOPWORDS and len(word) > 1] or found
    return Counter([*(stem(word) for word in meaning), *(pair for run in runs for pair in bigrams(run))])


def bigrams(run: str) -> list[str]:
    """Overlapping pairs of a run of characters; a run of one is itself."""
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """A light English stem: plural and the endings -ing, -ed, -edly, -ly; other words and scripts stay as they are."""
    if len(word) <= 3 or not word.isascii():
        return word
    base = _without_suffix(_singular(word))
    if len(base) > 4 and base.endswith("e"):
        base = base[:-1]
    return f"{base[:-1]}i" if len(base) > 3 and base.endswith("y") else base


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("es") and len(word) > 4 and word[-3] in "sxzh":
        return word[:-2]
    return word[:-1] if word.endswith("s") and word[-2] not in "su" else word


def _without_suffix(word: str) -> str:
    for suffix, least in (("ing", 3), ("edly", 4), ("ed", 3), ("ly", 4)):
        left = len(word) - len(suffix)
        if left >= least and word.endswith(suffix):
            base = word[:left]
            doubled = left > 3 and base[-1] == base[-2] and base[-1] not in "lsz"
            return base[:-1] if doubled else base
    return word


def _places(asked: Iterable[str], texts: Sequence[str]) -> list[Places]:
    """Every term's places in every text; a plain substring test leaves out most texts before any word is looked at."""
    places: list[Places] = [{} for _ in texts]
    for term in asked:
        head = term[:-1] if len(term) > 3 and term[-1] in "iy" else term
        whole = UNSPACED.search(term) is None
        for text, found in zip(texts, places, strict=True):
            if head in text:
                begins = _words_at(term, head, text) if whole else _all_at(term, text)
                if begins:
                    found[term] = begins
    return places


def _words_at(term: str, head: str, text: str) -> list[int]:
    """Where words of this stem begin. `str.find` passes over a text some ten times faster than a pattern would."""
    begins: list[int] = []
    at = text.find(head)
    while at >= 0:
        match = _WORD_TAIL.match(text, at)
        end = match.end() if match else at + len(head)
        if at == 0 or not text[at - 1].isalnum():
            word = text[at:end]
            if word == term or stem(word) == term:
                begins.append(at)
        at = text.find(head, end)
    return begins


def _all_at(term: str, text: str) -> list[int]:
    begins: list[int] = []
    at = text.find(term)
    while at >= 0:
        begins.append(at)
        at = text.find(term, at + len(term))
    return begins


def _drop_echoes(query: str, asked: Iterable[str], texts: Sequence[str], places: list[Places]) -> None:
    """Take the terms out of texts that are the question again. Few hold so many of its terms that they need a look."""
    wanted = set(asked)
    longest = _longest_echo(query)
    for index, text in enumerate(texts):
        if len(text) <= longest and len(places[index]) >= max(ECHO * len(wanted), 1) and _is_again(text, wanted):
            places[index] = {}


def echoes(query: str, texts: Sequence[str]) -> list[bool]:
    """Which texts are the question again; they score 0."""
    wanted = set(query_terms(query))
    longest = _longest_echo(query)
    return [len(text) <= longest and _is_again(fold(text), wanted) for text in texts]


def _longest_echo(query: str) -> int:
    return 3 * len(query) + 60


def _is_again(text: str, wanted: set[str]) -> bool:
    said = set(query_terms(text))
    shared = len(wanted & said)
    return 0 < shared >= ECHO * len(wanted | said) and not _answers(text, wanted, said)


def _answers(text: str, asked: set[str], said: set[str]) -> bool:
    """Whether a text that is nearly the question adds an answer to it: a number, or any word to a short question."""
    added = said - asked
    if any(sign.isdigit() for word in added for sign in word):
        return True
    return bool(added) and len(asked) <= SHORT_QUESTION and not text.rstrip().endswith(("?", "？"))


def _rarity(asked: Counter[str], places: Sequence[Places]) -> dict[str, float]:
    """Each term's weight: how often it is asked for, times how few of the pooled texts have it."""
    holding = Counter(term for found in places for term in found)
    total = len(places)
    return {
        term: times * (IDF_FLOOR + log(1 + (total - holding[term] + 0.5) / (holding[term] + 0.5)))
        for term, times in asked.items()
    }


def _bm25(found: Places, relative_length: float, rarity: dict[str, float]) -> float:
    norm = K1 * (1 - B + B * relative_length)
    return sum(rarity[term] * len(begins) * (K1 + 1) / (len(begins) + norm) for term, begins in found.items())


def _closeness(pairs: Sequence[tuple[str, str]], found: Places, rarity: dict[str, float]) -> float:
    return sum(
        PROXIMITY * min(rarity[a], rarity[b])
        for a, b in pairs
        if a in found and b in found and _close(found[a], found[b])
    )


def _close(ours: Sequence[int], theirs: Sequence[int]) -> bool:
    return any(abs(a - b) <= NEAR_CHARS for a in ours for b in theirs)
