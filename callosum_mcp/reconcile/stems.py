"""Crude stems for nine languages: enough to see that ``agenta`` is ``agent`` and ``uploads`` is ``upload``.

Above: `tokens`, `lexicon`. Below: nothing. Pure, cached.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

_SPECIAL = str.maketrans({"ß": "ss", "ł": "l", "ø": "o", "æ": "ae", "œ": "oe"})
_SUFFIXES: tuple[str, ...] = tuple(
    "ingen ungen ing ie ed er em en ami ach owi ą ę a e i o u y".split()  # the longer ones first
)
_PLURALS = ("s",)
_SHORTEST = 4  # a stem of fewer letters says too little


@lru_cache(maxsize=16_384)
def plain(word: str) -> str:
    """A lower-case word without accents."""
    if word.isascii():
        return word
    decomposed = unicodedata.normalize("NFD", word.translate(_SPECIAL))
    return unicodedata.normalize("NFC", "".join(c for c in decomposed if not "\u0300" <= c <= "\u036f"))


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """The stem of a lower-case word."""
    bare = plain(word)
    if not bare.isalpha():
        return bare
    for suffixes in (_PLURALS, _SUFFIXES):
        bare = _without(bare, suffixes)
    return bare


def _without(bare: str, suffixes: tuple[str, ...]) -> str:
    for suffix in suffixes:
        if bare.endswith(suffix) and len(bare) - len(suffix) >= _SHORTEST:
            return _undoubled(bare[: -len(suffix)])
    return bare


def _undoubled(bare: str) -> str:
    """``runn`` (of ``running``) is ``run``; a short stem and a double vowel stay."""
    return bare[:-1] if len(bare) > _SHORTEST and bare[-1] == bare[-2] and bare[-1] not in "aeiousl" else bare
