"""What stands around a value: its label, the words beside it, the names and subjects of its sentence.

Above: `reading`. Below: `sentences`, `tokens`. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from callosum_mcp.reconcile.lexicon.markers import VERBS
from callosum_mcp.reconcile.naming import words_of
from callosum_mcp.reconcile.sentences import Sentence
from callosum_mcp.reconcile.tokens import Token, unknown

_FILE = ("/", ".")
_SUBJECT_WORDS = 8
_WINDOW = 4
_LABEL_WORDS = 6
_SIGNS = frozenset({"=", "→"})


def front_of(tokens: Sequence[Token]) -> Sequence[Token]:
    """What stands before the first verb or sign."""
    for at, token in enumerate(tokens[:_SUBJECT_WORDS]):
        if at and (
            (token.low in VERBS and not (at + 1 < len(tokens) and tokens[at + 1].low == "of"))  # ``reports of larch``
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
    return (front[0].low in _PAST or acted(front[0])) and (not at or front[at].low in _ADVERBS)


def acted(token: Token) -> bool:
    """Whether the first word of a sentence is a verb of the past (``Swapped it at noon``)."""
    return token.low.endswith("ed") and not token.named("day")


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
        and (following.gap not in _FILE or (following.light and following.gap != "/"))
        and (unknown(token) or _known_name(token, token is front[-1]))
    )


def _known_name(token: Token, last: bool) -> bool:
    """Whether a known word names something: an attribute, or as the last word before the verb anything."""
    return bool(token.senses) and (
        all(sense.role == "attr" or sense.name == "side" for sense in token.senses)
        or (last and token.senses[0].role == "choice")
    )


_OF = frozenset("on of in for at from behind inside von auf im in am für de du des d del della di do da na w".split())
_ARTICLES = frozenset("the our a die der das dem la le el il".split())


def holders_of(front: Sequence[Token], tokens: Sequence[Token]) -> frozenset[tuple[str, str]]:
    """Unknown words at the start that are of something else, with that (``the JVM on larch``)."""
    found: set[tuple[str, str]] = set()
    for at, token in enumerate(front):
        rest = [near for near in tokens[at + 1 : at + 4] if near.low not in _ARTICLES]
        if token.owns and len(rest) > 1 and rest[0].gap == " " and unknown(rest[0]) and rest[1].low in VERBS:
            found.add((rest[0].stem, token.stem))  # ``Ada's sister``
            continue
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
        frozenset(token.stem for token in chain if token.kind == "word" and _tells(token) and not token.light)
        if len(chain) > 1
        else frozenset()
    )


def _tells(token: Token) -> bool:
    """Whether a word of a joined name tells it from its siblings: an unknown one, or a phase (``connect_timeout``)."""
    return not token.senses or token.named("scope", "phase") is not None


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
