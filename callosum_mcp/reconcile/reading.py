"""A text, read: its sentences with their values and everything around them that no query changes.

Above: `claims`. Below: `extract`, `sentences`, `scoping`. Pure. A text reads the same whatever is asked, and the
same memories answer many questions, so readings are kept.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from callosum_mcp.reconcile.around import (
    acted,
    beside,
    front_of,
    holders_of,
    key_of,
    label_of,
    lead_of,
    next_to,
    subject_of,
)
from callosum_mcp.reconcile.extract import Found, extracted
from callosum_mcp.reconcile.extract.base import arrived, dismissed, gone
from callosum_mcp.reconcile.extract.phrases import ARTICLES
from callosum_mcp.reconcile.lexicon.markers import NOT_IN_FORCE, VERBS
from callosum_mcp.reconcile.naming import Names, full_names, names_of, opener_of, words_of
from callosum_mcp.reconcile.scoping import Scopes, scopes_of
from callosum_mcp.reconcile.sentences import Sentence, sentences
from callosum_mcp.reconcile.tables import spelled_out
from callosum_mcp.reconcile.tokens import Token, tokenise, unknown
from callosum_mcp.reconcile.values import Value

_LEFT_OUT = frozenset({"question", "plan", "condition", "exception", "example"})
_MANY_KINDS = frozenset({"choice", "port", "open", "loose", "version"})
_NONE = frozenset[str]()
_ON_DAY = frozenset("on am le el il w dnia em no in im den the".split())
_SINCE = frozenset(
    "since seit depuis desde od dal dalla から以来 from ab after nach après después dopo po depois".split()
)
_CONDITION = re.compile(r"\s(?:[<>]=?|[!=]=)\s*$")
_YEAR = re.compile(r"(?:19|20)\d\d")
_KEPT = 1_024  # texts; about 10 KB each


@dataclass(frozen=True, slots=True)
class Said:
    """One asserted value with its surroundings (see `claims.Claim` for the fields).

    Attributes:
        inner: Dimensions of scopes that are named by the value itself, and so narrow nothing.
    """

    value: Value
    near: frozenset[str]
    beside: frozenset[str]
    key: frozenset[str]
    label: frozenset[str]
    scopes: Scopes
    inner: frozenset[str]
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
        names: What it names.
        gone: Words it says goodbye to, or speaks of in the past.
        lead: Words that could name something before the verb or the sign, each with its concepts.
        holders: Unknown words there that are of something else, with that (``the JVM on larch``).
        years: The years it names.
        opener: The word it starts with.
        people: First and family names of people, in the order they are called.
        meant: How it is meant (see `Sentence`).
        marks: Kinds of the marks in it.
        past: How many of its clauses speak of the past, from 0 to 1.
    """

    said: tuple[Said, ...]
    wide: frozenset[str]
    subject: frozenset[str]
    scopes: Scopes
    changed: bool
    names: Names
    gone: frozenset[str]
    lead: frozenset[tuple[str, ...]]
    holders: frozenset[tuple[str, str]]
    years: frozenset[str]
    opener: frozenset[str]
    people: frozenset[tuple[str, str]]
    meant: str
    marks: frozenset[str]
    past: float

    @property
    def asserted(self) -> bool:
        """Whether it asserts something at all."""
        return self.meant not in _LEFT_OUT

    @property
    def example(self) -> bool:
        """Whether it announces an example."""
        return self.meant == "example"


@lru_cache(maxsize=_KEPT)
def readings(text: str, closed: bool = False) -> tuple[Reading, ...]:
    """The sentences of a text, read; for a closed question without the words that no list knows."""
    return tuple(_reading(sentence, closed) for sentence in sentences(spelled_out(text)))


@dataclass(frozen=True, slots=True)
class Label:
    """Title, project, key and place of a hit, read."""

    names: Names
    words: frozenset[str]
    project: frozenset[str]
    opener: frozenset[str]
    scopes: Scopes
    draft: bool


_DRAFTS = NOT_IN_FORCE | frozenset("proposal rfc abgelehnt verworfen rejeté rechazado".split())


@lru_cache(maxsize=_KEPT)
def label(title: str, project: str, key: str, place: str) -> Label:
    """Reads what stands around the text of a hit; only the words people chose can name a scope."""
    chosen = tokenise(" ; ".join((title, project, key)))
    tokens = [*chosen, *tokenise(place.replace("/", " / "))]
    draft = any(token.marked("example") or token.low in _DRAFTS for token in tokenise(title))
    home = frozenset(words_of(tokenise(project)[:-1]))
    named = frozenset(words_of(tokens))
    return Label(names_of(tokens), named, home, opener_of(tokenise(title)), scopes_of(chosen), draft)


def _reading(sentence: Sentence, closed: bool) -> Reading:
    tokens = sentence.tokens
    front = front_of(tokens)
    left = gone(sentence)
    said = () if sentence.meant in _LEFT_OUT else tuple(_said(sentence, left, closed))
    return Reading(
        said=said,
        wide=frozenset(words_of(tokens)),
        subject=subject_of(front),
        scopes=scopes_of(tokens),
        changed=sentence.changed,
        names=names_of(tokens),
        gone=left,
        lead=lead_of(front, tokens),
        holders=holders_of(front, tokens),
        years=frozenset(token.text for token in tokens if token.kind == "num" and _YEAR.fullmatch(token.text)),
        opener=opener_of(tokens),
        people=full_names(tokens),
        meant=sentence.meant,
        marks=sentence.marks,
        past=len(sentence.past) / (sentence.clauses[-1] + 1),
    )


def _said(sentence: Sentence, left: frozenset[str], closed: bool) -> list[Said]:
    tokens, clauses = sentence.tokens, sentence.clauses
    events = {clauses[at] for at, token in enumerate(tokens) if token.senses and _happens(tokens, at)}
    found: list[Said] = []
    around: dict[int, tuple[frozenset[str], Scopes, bool]] = {}
    for item in extracted(sentence, closed):
        clause = clauses[item.at]
        if clause not in around:
            members = sentence.clause(item.at) + _bound_after(sentence, clause)
            around[clause] = (
                frozenset(words_of(members)),
                scopes_of(members),
                any(token.marked("many") for token in members if token.senses),
            )
        near, scopes, many = around[clause]
        if _asserted(sentence, item, events, many) and not (
            item.value.slot in ("open", "loose") and left.issuperset(map(str, item.value.data))
        ):
            near = next_to(sentence, item.at) if item.value.slot.startswith("number") else near
            near_by, key = beside(tokens, item.at), key_of(tokens, item.at)
            label = _led_by(tokens, item)
            if item.value.slot.startswith("number") and _CONDITION.search(tokens[item.at].gap):
                scopes = {**scopes, "measure": frozenset({"!alarm"})}  # ``temp > 80``
            inner = _inner(sentence, item, scopes)
            found.append(
                Said(item.value, near, near_by, key, label, scopes, inner, arrived(sentence, item.at), item.at)
            )
    return found


def _bound_after(sentence: Sentence, clause: int) -> list[Token]:
    """The next clause, if it only says that this one names a bound (``two stay alive, at a minimum``)."""
    following = [token for token, other in zip(sentence.tokens, sentence.clauses, strict=True) if other == clause + 1]
    bounds = any(token.named("scope", "bound") for token in following)
    return following if bounds and all(token.light or token.senses for token in following) else []


def _happens(tokens: Sequence[Token], at: int) -> bool:
    """Whether a word tells of an event, and not of what holds ``since the outage``."""
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    if following is not None and following.gap == " " and unknown(following) and not tokens[at].low.endswith("ed"):
        return False  # ``crash dumps``
    return tokens[at].marked("event") and not any(near.low in _SINCE for near in tokens[max(0, at - 3) : at])


def _led_by(tokens: Sequence[Token], found: Found) -> frozenset[str]:
    """The label of an assigned value, and for a phrase the word that introduces it."""
    if found.named[1]:
        return frozenset(words_of(tokens[slice(*found.named)]))
    if found.value.slot == "open":
        return label_of(tokens, found.at)
    if found.value.slot != "loose":
        return _NONE
    if _fronted(tokens, found):
        return _NONE
    before = [token for token in tokens[max(0, found.at - 2) : found.at] if token.low not in ARTICLES]
    return frozenset({before[-1].low}) if before else _NONE


def _fronted(tokens: Sequence[Token], found: Found) -> bool:
    """``On the Mac boxes the share is …``: where the sentence holds, and not where its subject is."""
    ahead = [token for token in tokens[: found.at] if token.low not in ARTICLES]
    if len(ahead) != 1 or found.end >= len(tokens) or tokens[found.end].low in VERBS:
        return False
    named = tokens[found.end].low in ARTICLES or unknown(tokens[found.end])
    return named and any(token.low in VERBS for token in tokens[found.end + 1 :])


def _inner(sentence: Sentence, found: Found, scopes: Scopes) -> frozenset[str]:
    """The dimensions of scopes that a phrase names by itself (``user = ops``, ``driver: test``)."""
    if not found.end:
        return _NONE
    own = scopes_of(sentence.tokens[found.at : found.end])
    return frozenset(name for name, values in own.items() if scopes.get(name, values) <= values) | {
        name for name, values in scopes.items() if values <= frozenset(map(str, found.value.data))
    }


def _asserted(sentence: Sentence, found: Found, events: set[int], many: bool) -> bool:
    """Whether a value is said to hold now: not in the past, not the date of an event, not one of several."""
    kind, clause = found.value.slot.split(":")[0], sentence.clauses[found.at]
    if kind in ("state", "open", "loose") and _entry_of_a_log(sentence.tokens):
        return False
    if kind == "when" and acted(sentence.tokens[0]) and not arrived(sentence, found.at):
        return False  # ``Swapped it at noon``
    if kind == "number" and _replaced(sentence, found.at):
        return False
    if kind in ("choice", "open", "loose") and _told(sentence):
        return False
    if kind == "path" and dismissed(sentence, found.at):
        return False
    if clause in sentence.past or (kind in ("when", "open", "loose") and events) or (many and kind in _MANY_KINDS):
        return False
    return kind != "state" or not (clause in events or _dated(sentence.clause(found.at)))


def _replaced(sentence: Sentence, at: int) -> bool:
    """``Two belts were replaced``: how many of them it happened to."""
    tokens, clauses = sentence.tokens, sentence.clauses
    rest = [near for near in range(at + 1, len(tokens)) if clauses[near] == clauses[at]]
    verb = next((near for near in rest if tokens[near].low in _WERE), None)
    return verb is not None and any(tokens[near].marked("change") for near in rest if verb < near <= verb + _NEXT)


_WERE, _NEXT = frozenset("was were wurde wurden".split()), 2


def _told(sentence: Sentence) -> bool:
    """``Ada helped Bo set up X``: somebody did something once, and nothing changed."""
    tokens = sentence.tokens
    return (
        len(tokens) > _NEXT
        and not sentence.changed
        and tokens[1].low.endswith("ed")
        and not tokens[1].senses
        and tokens[1].gap == " " == tokens[_NEXT].gap
        and tokens[0].text[0].isupper()
        and tokens[_NEXT].text[:1].isupper()
    )


def _entry_of_a_log(tokens: Sequence[Token]) -> bool:
    """``3 May: it was …``: a day, without a time, and a colon; what follows happened then."""
    month = next((at for at, token in enumerate(tokens[:2]) if token.named("month")), None)
    if month is None or len(tokens) < month + 3:
        return False
    day = tokens[1 - month] if tokens[1 - month].kind == "num" else None
    return day is not None and tokens[2].gap.startswith(":")


def _dated(members: Sequence[Token]) -> bool:
    """Whether a clause dates what it reports (``failed on 12 November``) and does not say ``since``."""
    for at, token in enumerate(members):
        if (token.kind in ("iso", "dmy", "cjkdate") or token.named("month")) and any(
            near.low in _ON_DAY for near in members[max(0, at - 2) : at]
        ):
            return not any(near.low in _SINCE or near.marked("change") for near in members)
    return False
