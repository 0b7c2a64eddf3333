"""Words that a sign holds together are one word.

Above: the extractors of words. Below: `tokens`. Pure.
"""

from __future__ import annotations

from callosum_mcp.reconcile.tokens import Token

JOINTS = ("-", "_", ".", "/")


def joined(tokens: list[Token]) -> tuple[str, ...]:
    """The words of a value; what a hyphen, an underscore or a dot holds together is one word."""
    found: list[str] = []
    for i, token in enumerate(tokens):
        if i and (token.gap in JOINTS or (token.gap == "" and token.low.isascii())):
            found[-1] = _whole(found[-1], tokens[i - 1]) + token.gap + token.low
        else:
            found.append(token.stem or token.low)
    return tuple(found)


def _whole(word: str, last: Token) -> str:
    """A word that goes on: not its stem."""
    return last.low if word == last.stem else word


def joined_words(tokens: list[Token]) -> list[tuple[str, int]]:
    """Every word with the position of its last piece; what a hyphen, an underscore or a dot joins is one."""
    found: list[tuple[str, int]] = []
    for at, token in enumerate(tokens):
        if at and (token.gap in JOINTS or (token.gap == "" and token.low.isascii())):
            found[-1] = (_whole(found[-1][0], tokens[at - 1]) + token.gap + token.low, at)
        else:
            found.append((token.stem or token.low, at))
    return found
