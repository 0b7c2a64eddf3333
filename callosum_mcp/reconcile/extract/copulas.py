"""Names that a copula gives to an attribute: ``the broker is Fennel``, ``Fennel is the broker of …``.

Above: `phrases`. Below: `base`, `joints`. Pure. Only words written as names count: ``the broker is slow`` says
nothing of which it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from callosum_mcp.reconcile.extract.base import Found
from callosum_mcp.reconcile.extract.joints import JOINTS, joined
from callosum_mcp.reconcile.sentences import Sentence
from callosum_mcp.reconcile.tokens import Token, unknown
from callosum_mcp.reconcile.values import Value

_IS = frozenset("is ist est es è jest é".split())
_THE = frozenset("the der die das le la el il lo o a l".split())
_REACH = 6
_WORDS = 4


def copulas(sentence: Sentence, taken: set[int]) -> Iterator[Found]:
    """Every name on either side of a copula, with what stands on the other."""
    tokens, clauses = sentence.tokens, sentence.clauses
    for at in range(1, len(tokens) - 1):
        if tokens[at].low in _IS and clauses[at - 1] == clauses[at] == clauses[at + 1]:
            yield from _behind(sentence, at, taken)
            yield from _ahead(sentence, at, taken)


def _behind(sentence: Sentence, at: int, taken: set[int]) -> Iterator[Found]:
    """``the default branch is Fennel``: the name ends the clause."""
    tokens, clauses = sentence.tokens, sentence.clauses
    first = at + 1 + (tokens[at + 1].low in _THE)
    end = first
    while end < len(tokens) and clauses[end] == clauses[at] and end - first < _WORDS:
        end += 1
    words = tokens[first:end]
    ends = end == len(tokens) or clauses[end] != clauses[at]
    low = at
    while low > 0 and clauses[low - 1] == clauses[at] and at - low < _REACH:
        low -= 1
    if ends and words and low < at and all(_namelike(token, i) for i, token in enumerate(words)):
        if first not in taken and any(token.senses or unknown(token) for token in tokens[low:at]):
            taken.update(range(first, end))
            yield Found(Value("open", joined(words), _text(words)), first, end, (low, at))


def _ahead(sentence: Sentence, at: int, taken: set[int]) -> Iterator[Found]:
    """``Fennel is the loom's broker``: the name starts the clause."""
    tokens, clauses = sentence.tokens, sentence.clauses
    low = at - 1
    while low > 0 and clauses[low - 1] == clauses[at] and ":" not in tokens[low].gap:
        low -= 1
    words = tokens[low:at]
    if not 0 < len(words) <= _WORDS or low in taken or not all(_namelike(token, i) for i, token in enumerate(words)):
        return
    end = at + 1
    while end < len(tokens) and clauses[end] == clauses[at] and end - at <= _REACH:
        end += 1
    rest = tokens[at + 1 : end]
    if rest[0].low in _THE or any(token.owns for token in rest[:3]):
        taken.update(range(low, at))
        yield Found(Value("open", joined(words), _text(words)), low, at, (at + 1, end))


def _namelike(token: Token, at: int) -> bool:
    """Whether a word is written as a name, and is neither a small word nor a state, a day or a number."""
    if token.kind not in ("word", "num", "ver") or (token.light and token.gap not in JOINTS):
        return False
    if any(sense.role not in ("choice", "unit", "per") for sense in token.senses):
        return False
    if at and (token.gap in JOINTS or token.kind != "word"):
        return True
    return token.kind == "word" and (token.text[0].isupper() or any(map(str.isdigit, token.text)))


def _text(words: list[Token]) -> str:
    return " ".join(token.text for token in words)
