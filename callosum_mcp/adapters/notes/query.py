"""Words for FTS5: the form in which a text is indexed, and the terms that a question asks for.

Above: the database. Below: text. Pure. FTS5's own tokeniser splits at punctuation and stems English, but keeps a run of
Chinese, Japanese or Korean as one word; so both sides spell such runs out as characters and overlapping pairs.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from itertools import pairwise

from callosum_mcp.text import cjk_runs, content_words, words

_MAX_TERMS = 64  # a pasted page as a question must not make the match slow; its first words say what it is about


def index_form(text: str) -> str:
    """A text as it is indexed: compatibility forms folded, each CJK run as its characters and pairs."""
    return text if text.isascii() else _respelled(text, _characters_and_pairs)


def match_terms(question: str) -> tuple[str, ...]:
    """The FTS5 terms of a question, to be joined by OR; none if it has no word at all.

    Nothing of the question is taken as syntax: each term is quoted, and made of letters and digits alone.
    Joined pieces (``10.0.0.5``, ``a-b``) are also asked as a phrase, which ranks the exact spelling first.
    """
    spelled = _respelled(question, _pairs)
    terms = dict.fromkeys([*_phrases(spelled), *content_words(spelled)])
    return tuple(f'"{term}"' for term in list(terms)[:_MAX_TERMS])


def _phrases(text: str) -> list[str]:
    pieces = (words(piece) for piece in text.split())
    return [" ".join(piece) for piece in pieces if len(piece) > 1]


def _respelled(text: str, spell: Callable[[str], list[str]]) -> str:
    folded = unicodedata.normalize("NFKC", text)
    pieces: list[str] = []
    end = 0
    for run in cjk_runs(folded):
        start = folded.index(run, end)
        pieces += [folded[end:start], " ", " ".join(spell(run)), " "]
        end = start + len(run)
    return "".join([*pieces, folded[end:]])


def _pairs(run: str) -> list[str]:
    return [first + second for first, second in pairwise(run)] or [run]


def _characters_and_pairs(run: str) -> list[str]:
    return [*run, *(first + second for first, second in pairwise(run))]
