"""Whether two words say the same: forms of one word, abbreviations, cognates.

Above: `subject`, `contrast`, `align`. Below: nothing. Pure, cached: few pairs of words are asked for again and again.
"""

from __future__ import annotations

from functools import lru_cache

_ENDINGS = frozenset(
    """
    al als ing ation ations ion ions ment ments ed e er ers or ors ly ung ungen ieren iert at ates ated ous ance
    able ic is es
    """.split()
) | {""}
_COMMON = 5  # letters two forms of a word share at least
_COGNATE = 6  # letters two languages' forms of a word share at least (temperatura, Temperatur)
_COGNATE_SHARE = 0.65  # of the longer one
_ABBREVIATED = 4  # letters of an abbreviation at most
_CUT = 3  # letters an abbreviation saves at least
_VOWELS = frozenset("aeiouy")


@lru_cache(maxsize=16_384)
def same_word(a: str, b: str) -> bool:
    """Whether two stems are forms of one word."""
    if a[:_COMMON] != b[:_COMMON] or min(len(a), len(b)) < _COMMON or a[0].isdigit():
        return False  # two long numbers are two
    shared = _shared(a, b)
    if a[shared:] in _ENDINGS and b[shared:] in _ENDINGS:
        return True
    return shared >= _COGNATE and shared >= _COGNATE_SHARE * max(len(a), len(b))


@lru_cache(maxsize=16_384)
def alike(a: str, b: str) -> bool:
    """Whether two stems are the same word, forms of it, one the other's abbreviation (``cfg``) or part (``fsync``)."""
    if a == b or same_word(a, b) or _short_for(a, b) or _short_for(b, a) or _folded(a) == _folded(b):
        return True
    short, long = sorted((a, b), key=len)
    return len(short) >= _COMMON and len(long) >= len(short) + _CUT and long.startswith(short) | long.endswith(short)


def _folded(word: str) -> str:
    """A German word without the e of a spelled-out umlaut (``muehle``)."""
    return word.replace("ae", "a").replace("oe", "o").replace("ue", "u")


def named_in(word: str, words: frozenset[str]) -> bool:
    """Whether a word, or another form of it, is among others."""
    if word in words:
        return True
    first = word[:1]
    if len(word) < _COMMON:  # too short to be a part of another
        return any(other[:1] == first and alike(word, other) for other in words)
    for other in words:
        if (other[:1] == first or other.endswith(word) or word.endswith(other)) and alike(word, other):
            return True
    return False


def _shared(a: str, b: str) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def abbreviated(word: str, others: frozenset[str]) -> bool:
    """Whether the short form of a long word is among others (``mics`` for ``microphone``)."""
    return len(word) >= _LONG and any(len(other) > _CUT - 1 and _short_for(other, word) for other in others)


_LONG = 8


def _short_for(short: str, long: str) -> bool:
    """``temp`` for ``temperatur``, ``cfg`` for ``config``: a beginning, or letters in order without a vowel."""
    short = short.removesuffix("s") if len(short) == _ABBREVIATED else short  # mics
    if not 1 < len(short) <= _ABBREVIATED or len(long) < len(short) + _CUT or short[0] != long[0]:
        return False
    return long.startswith(short) or (_VOWELS.isdisjoint(short) and _in_order(short, long))


def _in_order(short: str, long: str) -> bool:
    letters = iter(long)
    return all(letter in letters for letter in short)
