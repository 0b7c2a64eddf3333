"""How far something is: ``120 of 340``, ``291 / 340``, ``all scanned``.

Above: `extract`. Below: `base`. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator

from callosum_mcp.reconcile.extract.base import Found
from callosum_mcp.reconcile.sentences import Sentence
from callosum_mcp.reconcile.tokens import Token
from callosum_mcp.reconcile.values import Quantity, Value

_OF = frozenset("of von de di z sur".split())
_THE = frozenset("the den der all alle insgesamt its our les los las i gli".split())
_ALL = frozenset("all fully completely entirely everything vollständig komplett alles".split())
_LEAST = 4  # a whole of fewer parts is a date, a page or a rating


def progress(sentence: Sentence) -> Iterator[Found]:
    """Shares of a whole, as percents and as not done; and what is all done."""
    tokens = sentence.tokens
    for at, token in enumerate(tokens):
        whole = _whole(tokens, at) if token.kind == "num" else 0
        if whole:
            part = int(token.text)
            yield Found(Value("number:percent", (_percent(part, whole),), f"{part} of {whole}"), at)
            yield Found(Value("state:done", ("done", part == whole), f"{part} of {whole}"), at)
        elif token.low in _ALL and _finished(sentence, at + 1):
            yield Found(Value("state:done", ("done", True), f"{token.text} {tokens[at + 1].text}"), at)


def _percent(part: int, whole: int) -> Quantity:
    return Quantity(100.0 * part / whole, 100.0 * part / whole)


def _whole(tokens: list[Token], at: int) -> int:
    """The number that the one here is a part of; 0 if there is none."""
    rest = tokens[at + 1 : at + 4]
    if rest and rest[0].gap.strip() == "/" and rest[0].kind == "num":
        return _larger(tokens[at], rest[0])
    if len(rest) < 2 or rest[0].low not in _OF:
        return 0
    return _larger(tokens[at], rest[2] if rest[1].low in _THE and len(rest) > 2 else rest[1])


def _larger(part: Token, whole: Token) -> int:
    if not (part.text.isdigit() and whole.text.isdigit()):
        return 0
    return int(whole.text) if int(part.text) <= int(whole.text) and int(whole.text) >= _LEAST else 0


def _finished(sentence: Sentence, at: int) -> bool:
    """Whether a participle ends the clause here: ``all scanned``."""
    tokens, clauses = sentence.tokens, sentence.clauses
    if at >= len(tokens) or not tokens[at].low.endswith("ed") or clauses[at] != clauses[at - 1]:
        return False
    return at + 1 == len(tokens) or clauses[at + 1] != clauses[at]
