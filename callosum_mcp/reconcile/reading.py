"""A text, read: its sentences with their values and everything around them that no query changes.

Above: `claims`. Below: `extract`, `sentences`, `scoping`. Pure. A text reads the same whatever is asked, and the
same memories answer many questions, so readings are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from callosum_mcp.reconcile.extract import Found, extracted
from callosum_mcp.reconcile.extract.base import arrived
from callosum_mcp.reconcile.lexicon.markers import VERBS
from callosum_mcp.reconcile.lexicon.scopes import COMPONENTS
from callosum_mcp.reconcile.scoping import Scopes, scopes_of
from callosum_mcp.reconcile.sentences import Sentence, sentences
from callosum_mcp.reconcile.tokens import Token, tokenise, unknown
from callosum_mcp.reconcile.values import Value

_LEFT_OUT = frozenset({"question", "plan", "condition", "exception", "example"})
_MANY_KINDS = frozenset({"choice", "port", "open", "version"})
_SUBJECT_WORDS = 8
_WINDOW = 4
_SIGNS = frozenset({"=", "→"})
_ON_DAY = frozenset("on am le el il w dnia em no in im den the".split())
_SINCE = frozenset("since seit depuis desde od dal dalla から以来 from ab".split())
_KEPT = 1_024  # texts; about 10 KB each


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


@dataclass(frozen=True, slots=True)
class Said:
    """One asserted value with its surroundings (see `claims.Claim` for the fields)."""

    value: Value
    near: frozenset[str]
    beside: frozenset[str]
    key: frozenset[str]
    scopes: Scopes
    arrived: bool
    at: int


@dataclass(frozen=True, slots=True)
class Reading:
    """One sentence, read.

    Attributes:
        said: The values it asserts.
        wide: Concepts, members and stems of the sentence.
        subject: The unknown words before the verb or the sign.
        scopes: The scopes it names.
        changed: It says that something changed.
        example: It announces an example.
        names: What it names.
    """

    said: tuple[Said, ...]
    wide: frozenset[str]
    subject: frozenset[str]
    scopes: Scopes
    changed: bool
    example: bool
    names: Names


@lru_cache(maxsize=_KEPT)
def readings(text: str) -> tuple[Reading, ...]:
    """The sentences of a text, read."""
    return tuple(_reading(sentence) for sentence in sentences(text))


@dataclass(frozen=True, slots=True)
class Label:
    """Title, project, key and place of a hit, read."""

    names: Names
    words: frozenset[str]
    scopes: Scopes
    draft: bool


_DRAFTS = frozenset({"proposal", "draft", "rfc"})


@lru_cache(maxsize=_KEPT)
def label(title: str, project: str, key: str, place: str) -> Label:
    """Reads what stands around the text of a hit; only the words people chose can name a scope."""
    chosen = tokenise(" ; ".join((title, project, key)))
    tokens = [*chosen, *tokenise(place.replace("/", " / "))]
    draft = any(token.marked("example") or token.low in _DRAFTS for token in tokenise(title))
    return Label(names_of(tokens), frozenset(words_of(tokens)), scopes_of(chosen), draft)


def _reading(sentence: Sentence) -> Reading:
    tokens = sentence.tokens
    said = () if sentence.meant in _LEFT_OUT else tuple(_said(sentence))
    return Reading(
        said=said,
        wide=frozenset(words_of(tokens)),
        subject=_subject(tokens),
        scopes=scopes_of(tokens),
        changed=sentence.changed,
        example=sentence.meant == "example",
        names=names_of(tokens),
    )


def _said(sentence: Sentence) -> list[Said]:
    tokens, clauses = sentence.tokens, sentence.clauses
    events = {clause for token, clause in zip(tokens, clauses, strict=True) if token.senses and token.marked("event")}
    found: list[Said] = []
    around: dict[int, tuple[frozenset[str], Scopes, bool]] = {}
    for item in extracted(sentence):
        clause = clauses[item.at]
        if clause not in around:
            members = sentence.clause(item.at)
            around[clause] = (
                frozenset(words_of(members)),
                scopes_of(members),
                any(token.marked("many") for token in members if token.senses),
            )
        near, scopes, many = around[clause]
        if _asserted(sentence, item, events, many):
            near = _next_to(sentence, item.at) if item.value.slot.startswith("number") else near
            beside, key = _beside(tokens, item.at), _key(tokens, item.at)
            found.append(Said(item.value, near, beside, key, scopes, arrived(sentence, item.at), item.at))
    return found


def _asserted(sentence: Sentence, found: Found, events: set[int], many: bool) -> bool:
    """Whether a value is said to hold now: not in the past, not the date of an event, not one of several."""
    kind, clause = found.value.slot.split(":")[0], sentence.clauses[found.at]
    if clause in sentence.past or (kind == "when" and events) or (many and kind in _MANY_KINDS):
        return False
    return kind != "state" or not (clause in events or _dated(sentence.clause(found.at)))


def _dated(members: Sequence[Token]) -> bool:
    """Whether a clause dates what it reports (``failed on 12 November``) and does not say ``since``."""
    for at, token in enumerate(members):
        if (token.kind in ("iso", "dmy", "cjkdate") or token.named("month")) and any(
            near.low in _ON_DAY for near in members[max(0, at - 2) : at]
        ):
            return not any(near.low in _SINCE or near.marked("change") for near in members)
    return False


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
        if following.gap in ("-", " ", "_") and following.low in COMPONENTS:
            return following
        if following.gap == "-" and gap != "_" and unknown(following):
            return following
    if at and gap in ("-", "_") and (unknown(tokens[at - 1]) or tokens[at - 1].marked("dismiss")):
        return tokens[at - 1]
    return None


def _subject(tokens: Sequence[Token]) -> frozenset[str]:
    """The unknown words before the first verb or sign."""
    found: set[str] = set()
    for at, token in enumerate(tokens[:_SUBJECT_WORDS]):
        if at and (
            token.low in VERBS
            or token.low == "="
            or any(sign in token.gap for sign in ":=→|([,")
            or token.gap.startswith(")-[")
        ):
            break
        if token.kind == "word" and unknown(token):
            found.add(token.stem)
    return frozenset(found)


def _beside(tokens: Sequence[Token], at: int) -> frozenset[str]:
    """The words right before a value (a sign between them does not count.

    A name joined by ``_`` counts whole) and right after it.
    """
    low = at - 1
    while low > 0 and (tokens[low].low in _SIGNS or tokens[low].light):
        low -= 1
    near = [tokens[i] for i in (low, at + 1, at + 2) if 0 <= i < len(tokens)]
    while low > 0 and tokens[low].gap in ("_", "-", "."):
        low -= 1
        near.append(tokens[low])
    return frozenset(token.stem or token.low for token in near if not token.light)


def _key(tokens: Sequence[Token], at: int) -> frozenset[str]:
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


def _next_to(sentence: Sentence, at: int) -> frozenset[str]:
    """The words next to a number: those of its key, or a few on both sides in its clause."""
    tokens, clauses = sentence.tokens, sentence.clauses
    low = at
    if at > 1 and tokens[at - 1].low == "=":
        low = at - 2
        while low and tokens[low].gap in ("_", "-", "."):
            low -= 1
        return frozenset(words_of(tokens[low : at + 1]))
    while low and at - low < _WINDOW and clauses[low - 1] == clauses[at]:
        low -= 1
    high = at + 1
    while high < len(tokens) and high - at <= _WINDOW and clauses[high] == clauses[at]:
        high += 1
    return frozenset(words_of(tokens[low:high]))
