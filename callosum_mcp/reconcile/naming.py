"""What a text names: its words and concepts, names that are parts of longer ones, people, its first name.

Above: `reading`, `around`. Below: `tokens`. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from callosum_mcp.reconcile.lexicon.markers import LIGHT
from callosum_mcp.reconcile.lexicon.scopes import COMPONENTS
from callosum_mcp.reconcile.tokens import Token, tokenise, unknown


@dataclass(frozen=True, slots=True)
class Names:
    """What a text names.

    Attributes:
        words: Concepts, members and stems of everything.
        lone: Stems that name something by themselves.
        partial: Stems that are part of a longer name, with the stem and the concepts of what makes it longer.
    """

    words: frozenset[str]
    lone: frozenset[str]
    partial: tuple[tuple[str, frozenset[str]], ...]


def words_of(tokens: Sequence[Token]) -> list[str]:
    """Concepts, members and stems of tokens, function words left out."""
    found: list[str] = []
    for token in tokens:
        if token.ids:
            found.extend(token.ids)
        if token.low not in LIGHT:
            found.append(token.stem or token.low)
    return found


def names_of(tokens: Sequence[Token]) -> Names:
    """What tokens name, the parts of longer names kept apart."""
    words: set[str] = set()
    lone: set[str] = set()
    partial: list[tuple[str, frozenset[str]]] = []
    for at, token in enumerate(tokens):
        words.update(token.ids)
        stem = token.stem or token.low
        words.add(stem)
        longer = _longer(tokens, at)
        if longer is None:
            lone.add(stem)
        else:
            partial.append((stem, frozenset((longer.stem, *longer.ids))))
    return Names(frozenset(words), frozenset(lone), tuple(partial))


def _longer(tokens: Sequence[Token], at: int) -> Token | None:
    """The word that makes a token part of a longer name (``mailer`` in ``mailer-proxy``, ``mailer UI``).

    None if nothing does.
    """
    gap = tokens[at].gap
    if at + 1 < len(tokens):
        following = tokens[at + 1]
        if following.gap in ("-", " ", "_") and following.low in COMPONENTS and not _class_name(tokens[at], following):
            return following
        if (
            following.gap == "-"
            and gap != "_"
            and len(following.low) > 1
            and (unknown(following) or _a_part(following))
        ):
            return following
    if at and gap in ("-", "_") and (unknown(tokens[at - 1]) or tokens[at - 1].marked("dismiss")):
        return tokens[at - 1]
    return None


_SORTS = frozenset("client worker agent importer exporter collector scheduler".split())


def _class_name(first: Token, second: Token) -> bool:
    """Whether two words are pieces of a class (``ExportClient``), which belongs to what its first word names."""
    return second.gap == "_" and second.low in _SORTS and first.text[0].isupper() and second.text[0].isupper()


def _a_part(token: Token) -> bool:
    """Whether a known word that a hyphen joins to a name makes it another name: an attribute's (``egret-sync``)."""
    return token.kind == "word" and bool(token.senses) and all(sense.role == "attr" for sense in token.senses)


def opener_of(tokens: Sequence[Token]) -> frozenset[str]:
    """The stem of the first word that names something, and of what is joined to it."""
    for at, token in enumerate(tokens):
        if token.kind in ("word", "cjk") and not token.light:
            joined = [token]
            while at + 1 < len(tokens) and tokens[at + 1].gap in ("-", "_"):
                at += 1
                joined.append(tokens[at])
            return frozenset(near.stem or near.low for near in joined)
    return frozenset()


def full_names(tokens: Sequence[Token]) -> frozenset[tuple[str, str]]:
    """Pairs of capitalised unknown words that stand together; ``Brink, Ada`` is turned round.

    A number that a hyphen joins to a name tells it from its siblings as a family name does (``larch-01``), and so does
    what stands after it in brackets or behind ``from`` (with ``@``).
    """
    found: set[tuple[str, str]] = set()
    for at, (first, second) in enumerate(pairwise(tokens)):
        if first.kind != "word":
            continue
        if second.kind == "num":
            if second.gap in ("-", ""):
                found.add((first.low, second.low.lstrip("0")))
        elif second.kind == "word" and (pair := _told_apart(first, second, tokens[at + 2 : at + 3])):
            found.add(pair)
    return frozenset(found)


def _told_apart(first: Token, second: Token, third: Sequence[Token]) -> tuple[str, str] | None:
    """A first name and what tells it from others of that name."""
    if second.gap == " (" and unknown(first):
        return "@" + first.low, second.stem
    if not first.text[0].isupper():
        return None
    if second.low in _FROM and third and unknown(first):
        return "@" + first.low, third[0].stem
    if not second.text[0].isupper() or not unknown(second):
        return None
    if second.gap == " ":
        return first.low, second.low
    return (second.low, first.low) if second.gap == ", " and unknown(first) else None


_FROM = frozenset("from aus".split())


_BRACKETS = re.compile(r"(?<=\w )\([^()]*\)")


@lru_cache(maxsize=1_024)
def in_brackets(text: str) -> frozenset[str]:
    """The words that stand behind a word in brackets, and nowhere else in a text."""
    inside = _BRACKETS.findall(text) if "(" in text else []
    if not inside:
        return frozenset()
    return frozenset(words_of(tokenise(" ; ".join(inside)))) - frozenset(words_of(tokenise(_BRACKETS.sub(" ", text))))
