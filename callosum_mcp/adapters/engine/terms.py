"""What a question becomes for engines that match substrings: its content words, its names of code, its longest word.

Above: `asking`. Below: text. Pure. Words keep their spelling, since names of code differ by case. What is written
without spaces is cut at the small words of its language, and what is still long into pairs of characters.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from callosum_mcp.adapters.engine.preset import Query
from callosum_mcp.text import STOPWORDS, UNSPACED, WORD

_TOKEN = re.compile(rf"(?<!_)_*{WORD}(?:(?:(?:::|[./’'\\-])_*|_+){WORD})*_*")
_POSSESSIVE = re.compile(r"['’]s$")
_CODE = re.compile(r"[^\W_]_|_[^\W_]|[a-z0-9][A-Z]|[A-Z]{2}[a-z]|\w(?:\.|/|::|\\)\w")
_CODE_SPAN = re.compile(r"`([^`\s]{2,120})`")
_PARTS = re.compile(r"\.|/|::|\\")
_SMALL_WORDS = re.compile(
    "为什么|為什麼|什么|什麼|怎么|怎麼|哪里|哪裡|多少|是否|如何|现在|現在|[的了吗嗎呢吧么麼是和與与及被把很哪谁誰]"
)
_SCRIPTS = re.compile("[\u3005\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+|[\u30a0-\u30ff]+|[\uac00-\ud7af]+")
_KOREAN_ENDING = re.compile("(?<=[\uac00-\ud7af]{2})[은는이가을를의에로와과도]$")
_LONG: Final = 4  # characters of Chinese that may still be one word


def terms(text: str, query: Query) -> list[str]:
    """The terms of a question in the preset's mode, the most telling first; all of it where it has none."""
    if query.mode == "verbatim":
        return [text]
    found = (_names(text) if query.mode == "identifiers" else []) or _content(text)
    if query.mode == "longest_term":
        found = sorted(found, key=len, reverse=True)[:1]
    return found[: query.max_terms] or [text.strip()]


def _names(text: str) -> list[str]:
    """What looks like a name in code, in order; after a name with several parts its last part."""
    named: list[str] = [*_CODE_SPAN.findall(text), *(token for token in _tokens(text) if _CODE.search(token))]
    return list(dict.fromkeys(part for name in named for part in (name, _PARTS.split(name)[-1]) if part))


def _content(text: str) -> list[str]:
    """The content words as they are written, each once whatever its case, names and long words first."""
    tokens = _tokens(UNSPACED.sub(" ", text))
    meaning = [token for token in tokens if token.lower() not in STOPWORDS and len(token) > 1]
    pieces = [piece for run in UNSPACED.findall(text) for piece in _pieces(run)]
    spelled: dict[str, str] = {}
    for token in [*meaning, *pieces] or tokens:
        spelled.setdefault(token.lower(), token)
    first = tokens[0] if tokens else ""
    return sorted(spelled.values(), key=lambda token: _vagueness(token, first))


def _tokens(text: str) -> list[str]:
    return [_POSSESSIVE.sub("", token) for token in _TOKEN.findall(text)]


def _vagueness(token: str, first: str) -> tuple[bool, int]:
    """What sorts names before other words, and long words before short ones."""
    named = any(sign.isdigit() for sign in token) or _CODE.search(token) or (token[:1].isupper() and token != first)
    return not named, -len(token)


def _pieces(run: str) -> list[str]:
    """The words of a run of characters without spaces, as far as they show without a dictionary."""
    found: list[str] = [piece for part in _SMALL_WORDS.split(run) for piece in _SCRIPTS.findall(part)]
    cut = [short for piece in found for short in _shortened(piece)]
    return [piece for piece in cut if len(piece) > 1] or cut or [run]


def _shortened(piece: str) -> list[str]:
    if "\uac00" <= piece[0] <= "\ud7af":
        return [_KOREAN_ENDING.sub("", piece)]
    whole = len(piece) <= _LONG or "\u30a0" <= piece[0] <= "\u30ff"
    return [piece] if whole else [first + second for first, second in pairwise(piece)]
