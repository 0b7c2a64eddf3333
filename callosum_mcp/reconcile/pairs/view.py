"""Views: what of a hit is weighed when two hits are compared as wholes.

Above: `features`. Below: `claims`, `reading`, `wording`. Pure. A view is of one hit in the light of one query; it is
kept, as the hit's reading is, so that comparing it with many others costs little.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from callosum_mcp.models.values import Hit
from callosum_mcp.reconcile.claims import Statement, Words, statement_of, words_of_hit
from callosum_mcp.reconcile.lexicon import senses_of
from callosum_mcp.reconcile.lexicon.markers import LIGHT, VERBS
from callosum_mcp.reconcile.naming import words_of
from callosum_mcp.reconcile.question import Question, understand
from callosum_mcp.reconcile.reading import Reading, readings
from callosum_mcp.reconcile.subject import covered
from callosum_mcp.reconcile.texts import meta, texts
from callosum_mcp.reconcile.tokens import tokenise
from callosum_mcp.reconcile.values import Moment, Value
from callosum_mcp.reconcile.wording import named_in

_WORD = re.compile(r"[^\W\d_]+|[?!=→]|->")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_CODE = re.compile(r"[=(){}\[\]_]|->")
_GRAM = 3
_PLAIN_UNITS = frozenset({"number:bytes", "number:time", "number:percent", "number:count"})
_ONES = frozenset("a an one ein eine einen un une uno una um uma".split())
_NEAR, _CLAUSE, _SENTENCE, _HIT = 0.4, 0.3, 0.2, 0.1
_NOBODY = frozenset[str]()
_DENIED = 3  # words a negation reaches
_JOINED = frozenset({" ", "-", "_", ".", ""})


@dataclass(frozen=True, slots=True)
class Candidate:
    """A value that may answer the query.

    Attributes:
        value: The value.
        keyed: It is the value of a key.
        changed: Its sentence says that something changed.
        kind: Its kind: ``number:bytes``, ``version``, ``date``, ``choice``, ``open`` …
        share: How much of the query stands around it, from 0 to 1.
        asked: The query asks for its slot.
        words: The words around it that are neither its own nor the query's.
        own: It is made of words of the query.
    """

    value: Value
    keyed: bool
    changed: bool
    kind: str
    share: float
    asked: bool
    words: frozenset[str]
    own: bool


@dataclass(frozen=True, slots=True)
class View:
    """What of one hit is weighed.

    Attributes:
        statement: The hit, read; it knows no store.
        share: How many of the query's words it has, from 0 to 1.
        told: How many of them its best sentence has, with title and key.
        named: How many names of the query's subject it has; -1 if the query names none.
        topics: How many concepts of the query it has; -1 if the query has none.
        told_topics: How many of them its best sentence has.
        headed: Whether that sentence has the word of the attribute; -1 if the query has none.
        best: That sentence; None of an empty text.
        rest: Its words that are not the query's.
        all_rest: The hit's words that are not the query's.
        numbers: All numbers, normalised, without the query's.
        digits: Numbers as written.
        told_digits: Those of its best sentence.
        grams: Runs of three letters.
        capitals: Words with a capital.
        names: Words that no list knows.
        words: Its words as written, without the query's.
        value: The words of its keyed value, without the query's.
        beside: For each word of the query that it has, the words that stand right before and right behind it.
        denied: Words behind a negation.
        candidates: The values that may answer.
        sentences: How many sentences it has.
        tokens: How many words and numbers.
        denials: How many sentences have a negation.
        shapes: What it looks like (`SHAPES`).
        keyed: It is a keyed fact.
        code: It looks like code or a setting.
    """

    statement: Statement
    share: float
    told: float
    named: float
    topics: float
    told_topics: float
    headed: int
    best: Reading | None
    rest: frozenset[str]
    all_rest: frozenset[str]
    numbers: frozenset[str]
    digits: frozenset[str]
    told_digits: frozenset[str]
    grams: frozenset[str]
    capitals: frozenset[str]
    names: frozenset[str]
    words: frozenset[str]
    value: frozenset[str]
    beside: Mapping[str, tuple[frozenset[str], frozenset[str]]]
    denied: frozenset[str]
    candidates: tuple[Candidate, ...]
    sentences: int
    tokens: int
    denials: int
    shapes: frozenset[str]
    keyed: bool
    code: bool

    @property
    def near(self) -> float:
        """How much of the query it has, in all and in its best sentence: from 0 to 2."""
        return self.share + self.told


def view(hit: Hit, question: Question) -> View:
    """What of a hit is weighed in the light of a query."""
    return _view(words_of_hit(hit), question.text)


@lru_cache(maxsize=1_024)
def _view(said: Words, query: str) -> View:
    question = understand(query)
    statement = statement_of(said, query)
    hit = statement.hit
    value = meta(hit, "value")
    told = readings(hit.text, question.closed)
    asked = _asked_words(question.stems)
    best, share, topics = _best(told, statement, question, asked)
    words = frozenset(statement.words)
    around = (best.wide | statement.context) if best else statement.context
    heads = question.focus.heads
    text = f"{hit.text} {value}"
    parts = _parts(text)
    asked_parts = _parts(query)
    return View(
        statement=statement,
        share=_share(asked, words),
        told=share,
        named=_named(statement, question),
        topics=len(question.topics & words) / len(question.topics) if question.topics else -1.0,
        told_topics=topics,
        headed=int(any(named_in(head, around) for head in heads)) if heads else -1,
        best=best,
        rest=_without(best.wide, question) if best else _NOBODY,
        all_rest=_without(words, question),
        numbers=parts.numbers - asked_parts.numbers,
        digits=parts.digits,
        told_digits=frozenset(word for word in best.wide if word[0].isdigit()) if best else _NOBODY,
        grams=parts.grams,
        capitals=parts.capitals - question.stems,
        names=frozenset(
            word for word in _without(statement.lone, question) if len(word) >= _GRAM and not senses_of(word)
        ),
        words=(parts.words | _parts(f"{hit.title or ''} {meta(hit, 'key')}").words) - asked_parts.words,
        value=_without(words_of(tokenise(value)[:-1]), question) if value else _NOBODY,
        beside=_beside(parts.order, question),
        denied=parts.denied - question.stems,
        candidates=tuple(_candidates(statement, question, asked)),
        sentences=len(told),
        tokens=parts.tokens,
        denials=sum("negation" in reading.marks for reading in told),
        shapes=_shapes(hit.title or "", hit.text),
        keyed=bool(value),
        code=_CODE.search(hit.text) is not None,
    )


@lru_cache(maxsize=256)
def _asked_words(stems: frozenset[str]) -> tuple[str, ...]:
    """The words of a query that could name something."""
    return tuple(sorted(word for word in stems if len(word) > 1 and word not in LIGHT))


_LOOKS = {
    "triple": re.compile(r"\)-\[.*\]->\("),
    "file": re.compile(r"[\w/.-]+\.\w{1,8}:"),
    "assignment": re.compile(r"\w\s?[=:]\s?\S"),
    "prose": re.compile(r".*[.!?]\s*$", re.DOTALL),
    "small": re.compile(r"[^\W\d_A-Z]"),
    "list": re.compile(r".*(?:,[^,]+){2}|.*\n", re.DOTALL),
    "brackets": re.compile(r".*\(", re.DOTALL),
    "table": re.compile(r".*\|", re.DOTALL),
    "I": re.compile(r".*\b(?:I|we|We|our|Our|us|my|wir|Wir|nous|Nous)\b", re.DOTALL),
}
SHAPES = ("titled", *_LOOKS)
"""What a text may look like: a triple of a graph, a file and its line, prose, a memo in small letters …"""


@lru_cache(maxsize=1_024)
def _shapes(title: str, text: str) -> frozenset[str]:
    found = {name for name, pattern in _LOOKS.items() if (pattern.search if name == "triple" else pattern.match)(text)}
    return frozenset(found | {"titled"} if title else found)


def _best(
    told: tuple[Reading, ...], statement: Statement, question: Question, asked: tuple[str, ...]
) -> tuple[Reading | None, float, float]:
    """The sentence that has the most of the query, with its shares of words and concepts."""
    best: tuple[float, float, float, Reading] | None = None
    for reading in told:
        share = _share(asked, reading.wide | statement.context)
        topics = len(question.topics & reading.wide) / max(1, len(question.topics))
        if best is None or share + topics > best[0]:
            best = (share + topics, share, topics, reading)
    return (best[3], best[1], best[2]) if best else (None, 0.0, 0.0)


def _share(asked: tuple[str, ...], words: frozenset[str]) -> float:
    return sum(named_in(word, words) for word in asked) / max(1, len(asked))


def _named(statement: Statement, question: Question) -> float:
    names = question.anchors
    return sum(covered(anchor, statement) for anchor in names) / len(names) if names else -1.0


def _without(words: Iterable[str], question: Question) -> frozenset[str]:
    """Plain words that are not the query's."""
    return frozenset(word for word in words if ":" not in word and len(word) > 1 and not named_in(word, question.stems))


def _candidates(statement: Statement, question: Question, asked: tuple[str, ...]) -> Iterable[Candidate]:
    """Every value that the hit asserts, whether the query's words admit its kind or not."""
    total = len(asked) + len(question.topics)
    whole = _HIT * _reach(asked, question, frozenset(statement.words), total)
    hit = statement.hit
    for text, keyed in texts(hit, meta(hit, "key"), meta(hit, "value")):
        context = statement.context if keyed else _NOBODY
        for reading in readings(text, question.closed):
            sentence = _SENTENCE * _reach(asked, question, reading.wide | statement.context, total)
            for said in reading.said:
                own = frozenset(said.value.text.lower().split())
                near = _NEAR * _reach(asked, question, said.beside | said.label | context, total)
                clause = _CLAUSE * _reach(asked, question, said.near | context, total)
                yield Candidate(
                    value=said.value,
                    keyed=keyed,
                    changed=reading.changed,
                    kind=_kind_of(said.value),
                    share=near + clause + sentence + whole,
                    asked=said.value.slot in question.slots,
                    words=frozenset(word for word in said.near | said.beside if ":" not in word) - question.stems - own,
                    own=bool(own) and all(named_in(word, question.stems) for word in own),
                )


def _reach(asked: tuple[str, ...], question: Question, words: frozenset[str], total: int) -> float:
    return (sum(named_in(word, words) for word in asked) + len(question.topics & words)) / max(1, total)


def _kind_of(value: Value) -> str:
    """The kind of a value, coarser than its slot."""
    slot = value.slot
    family = slot.split(":")[0]
    if family == "number":
        return slot if slot in _PLAIN_UNITS else "number:money" if ":money" in slot else "number:other"
    if family == "when":
        moment = value.data[0]
        return _kind_of_moment(moment) if isinstance(moment, Moment) else "date"
    return "ip" if family == "ip6" else family


def _kind_of_moment(moment: Moment) -> str:
    if moment.day is not None or moment.year is not None:
        return "date"
    return "time" if moment.minute is not None else "weekday" if moment.weekdays else "rhythm"


_Beside = Mapping[str, tuple[frozenset[str], frozenset[str]]]


def _beside(order: tuple[tuple[str, str], ...], question: Question) -> _Beside:
    """What tells the harbour's tender from the school's: the neighbours of the query's words."""
    found: dict[str, tuple[set[str], set[str]]] = {}
    for at, (word, gap) in enumerate(order):
        if word not in question.stems or word in LIGHT:
            continue
        before, behind = found.setdefault(word, (set(), set()))
        if at and gap in _JOINED and _tells(order[at - 1][0], question):
            before.add(order[at - 1][0])
        if at + 1 < len(order) and order[at + 1][1] in _JOINED and _tells(order[at + 1][0], question):
            behind.add(order[at + 1][0])
    return {word: (frozenset(before), frozenset(behind)) for word, (before, behind) in found.items()}


def _tells(word: str, question: Question) -> bool:
    return word.isalpha() and len(word) > 1 and word not in LIGHT and word not in VERBS and word not in question.stems


@dataclass(frozen=True, slots=True)
class _Parts:
    numbers: frozenset[str]
    digits: frozenset[str]
    grams: frozenset[str]
    capitals: frozenset[str]
    words: frozenset[str]
    order: tuple[tuple[str, str], ...]
    denied: frozenset[str]
    tokens: int


@lru_cache(maxsize=1_024)
def _parts(text: str) -> _Parts:
    """What of a text no query changes."""
    tokens = tokenise(text)[:-1]
    numbers: set[str] = set()
    for token in tokens:
        if token.kind in ("num", "ver", "ip", "time"):
            numbers.add(token.low.lstrip("v").replace(",", "."))
        elif token.low not in _ONES and (number := token.named("number")) is not None:
            numbers.add(number)
    flat = "".join(char if char.isalnum() else " " for char in text.lower())
    return _Parts(
        frozenset(numbers),
        frozenset(_NUMBER.findall(text)),
        frozenset(flat[at : at + _GRAM] for at in range(len(flat) - _GRAM + 1)),
        frozenset(
            token.low for token in tokens if token.kind == "word" and token.text[:1].isupper() and not token.light
        ),
        frozenset(_WORD.findall(text.lower())),
        tuple((token.stem or token.low, token.gap) for token in tokens),
        frozenset(
            near.stem or near.low
            for at, token in enumerate(tokens)
            if token.marked("negation")
            for near in tokens[at + 1 : at + 1 + _DENIED]
            if not near.light
        ),
        len(tokens),
    )
