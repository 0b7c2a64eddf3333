"""What stands around a value: its label, the words beside it, the names and subjects of its sentence.

Above: `reading`. Below: `sentences`, `tokens`. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from callosum_mcp.reconcile.lexicon.markers import VERBS
from callosum_mcp.reconcile.lexicon.scopes import COMPONENTS
from callosum_mcp.reconcile.sentences import Sentence
from callosum_mcp.reconcile.tokens import Token, unknown

_FILE = ("/", ".")
_SUBJECT_WORDS = 8
_WINDOW = 4
_LABEL_WORDS = 6
_SIGNS = frozenset({"=", "→"})


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
        if not token.light:
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


def front_of(tokens: Sequence[Token]) -> Sequence[Token]:
    """What stands before the first verb or sign."""
    for at, token in enumerate(tokens[:_SUBJECT_WORDS]):
        if at and (
            token.low in VERBS
            or token.low == "="
            or any(sign in token.gap for sign in ":=→|([,")
            or token.gap.startswith(")-[")
        ):
            return tokens[:at]
    return tokens[:_SUBJECT_WORDS]


def subject_of(front: Sequence[Token]) -> frozenset[str]:
    """The unknown words of a front."""
    return frozenset(
        token.stem
        for at, token in enumerate(front)
        if token.kind == "word"
        and unknown(token)
        and token.gap != "/"
        and not _in_a_path(front, at)
        and not _acted(front, at)
    )


_PAST = frozenset("put set took got made brought gave went ran built cut let had kept sent".split())
_ADVERBS = frozenset("back away again over down up out off".split())


def _acted(front: Sequence[Token], at: int) -> bool:
    """Whether a word is the verb of a sentence without a subject (``Put it back …``), or goes with it."""
    first = front[0].low
    acted = first in _PAST or first.endswith("ed")
    return acted and (not at or front[at].low in _ADVERBS)


def _in_a_path(front: Sequence[Token], at: int) -> bool:
    """Whether a word is a folder or a file, which a slash or an ending follows."""
    following = front[at + 1] if at + 1 < len(front) else None
    return following is not None and following.gap in _FILE


def lead_of(front: Sequence[Token], tokens: Sequence[Token]) -> frozenset[tuple[str, ...]]:
    """The words of a front that could name something: stem, and concepts if it has any.

    Parts of a path are none, and without a verb or a sign nobody knows where the front ends.
    """
    if len(front) == min(len(tokens), _SUBJECT_WORDS):
        return frozenset()
    return frozenset(
        (token.stem, *token.ids)
        for at, (token, following) in enumerate(zip(front, tokens[1:], strict=False))
        if token.kind == "word"
        and not _acted(front, at)
        and token.gap not in _FILE
        and (following.gap not in _FILE or following.light)
        and (unknown(token) or _known_name(token, token is front[-1]))
    )


def _known_name(token: Token, last: bool) -> bool:
    """Whether a known word names something: an attribute, or as the last word before the verb anything."""
    return bool(token.senses) and (
        all(sense.role == "attr" for sense in token.senses) or (last and token.senses[0].role == "choice")
    )


_OF = frozenset("on of in for at from behind inside von auf im in am für de du des d del della di do da na w".split())
_ARTICLES = frozenset("the our a die der das dem la le el il".split())


def holders_of(front: Sequence[Token], tokens: Sequence[Token]) -> frozenset[tuple[str, str]]:
    """Unknown words at the start that are of something else, with that (``the JVM on larch``)."""
    found: set[tuple[str, str]] = set()
    for at, token in enumerate(front):
        rest = [near for near in tokens[at + 1 : at + 4] if near.low not in _ARTICLES]
        if _acted(front, at):
            continue
        if (
            len(rest) > 1
            and rest[0].low in _OF
            and rest[0].gap == " "
            and token.kind == "word"
            and (unknown(token) or token.named("choice"))
        ):
            found.add((token.stem, rest[1].stem or rest[1].low))
    return frozenset(found)


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


def beside(tokens: Sequence[Token], at: int) -> frozenset[str]:
    """The words right before a value and right after it.

    A sign between them does not count, a name joined by ``_`` counts whole, and a comma ends it.
    """
    low = at - 1
    while low > 0 and (tokens[low].low in _SIGNS or tokens[low].light):
        low -= 1
    near = [tokens[low]] if low >= 0 else []
    for following in tokens[at + 1 : at + 3]:
        if not _STOPS.isdisjoint(following.gap):
            break
        near.append(following)
    while low > 0 and tokens[low].gap in ("_", "-", "."):
        low -= 1
        near.append(tokens[low])
    return frozenset(token.stem or token.low for token in near if not token.light)


_STOPS = frozenset(",;|，、")
_BOUNDS = frozenset(",;|{}()，、")


def _bounds(gap: str) -> bool:
    return not _BOUNDS.isdisjoint(gap) or (gap[:1] == ":" and len(gap) > 1)


def label_of(tokens: Sequence[Token], at: int) -> frozenset[str]:
    """The words that a sign assigns a value to: up to six, back to the next mark or the start."""
    low = at - 1
    while low > 0 and tokens[low].low in _SIGNS:
        low -= 1
    high = low + 1
    while low > 0 and high - low < _LABEL_WORDS and not _bounds(tokens[low].gap):
        low -= 1
    return frozenset(words_of(tokens[max(low, 0) : high]))


def key_of(tokens: Sequence[Token], at: int) -> frozenset[str]:
    """The unknown words of a joined name that a value belongs to; empty if it belongs to a single word."""
    low = at - 1
    while low > 0 and tokens[low].low in _SIGNS:
        low -= 1
    chain = [tokens[low]] if low >= 0 else []
    while low > 0 and tokens[low].gap in ("_", "-", "."):
        low -= 1
        chain.append(tokens[low])
    return (
        frozenset(token.stem for token in chain if token.kind == "word" and not token.senses and not token.light)
        if len(chain) > 1
        else frozenset()
    )


def next_to(sentence: Sentence, at: int) -> frozenset[str]:
    """The words next to a number: those of its key, or a few on both sides in its clause."""
    tokens, clauses = sentence.tokens, sentence.clauses
    low = at
    if at > 1 and tokens[at - 1].low == "=":
        low = at - 2
        while low and tokens[low].gap in ("_", "-", "."):
            low -= 1
        return frozenset(words_of(tokens[low : at + 1]))
    if _alone(tokens, at):
        return frozenset(words_of(tokens))
    while low and at - low < _WINDOW and clauses[low - 1] == clauses[at]:
        low -= 1
    high = at + 1
    while high < len(tokens) and high - at <= _WINDOW and clauses[high] == clauses[at]:
        high += 1
    return frozenset(words_of(tokens[low:high]))


def _alone(tokens: Sequence[Token], at: int) -> bool:
    """Whether a number stands for a noun before it: ``there are five in the coop``."""
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    ends = following is None or (following.light and following.gap == " ")
    return ends and at > 0 and tokens[at - 1].low in _ARE


_ARE = frozenset("are is sind ist sont est son es sono è są jest são é".split())
