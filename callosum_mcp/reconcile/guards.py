"""Guards: signs that two values belong to different things, whatever their slot.

Above: `align`. Below: `claims`, `question`, `wording`. Pure. A hit that lacks a word of the query and names
something else in its place, that speaks of a part (``the JVM on larch``), of somebody else of the same first name, or
counts something else, is not contradicted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from callosum_mcp.reconcile.claims import Claim, Statement
from callosum_mcp.reconcile.lexicon import fits, senses_of
from callosum_mcp.reconcile.lexicon.scopes import SCOPE_KEYS, SCOPES
from callosum_mcp.reconcile.question import Anchor, Question
from callosum_mcp.reconcile.stems import stem
from callosum_mcp.reconcile.subject import covered
from callosum_mcp.reconcile.texts import meta
from callosum_mcp.reconcile.tokens import Token, tokenise, unknown
from callosum_mcp.reconcile.topic import UNMISTAKABLE, VAGUE
from callosum_mcp.reconcile.wording import named_in

Sides = tuple[Statement, Statement]


def apart(a: Claim, b: Claim, sides: Sides, question: Question) -> bool:
    """Whether two claims speak of different things."""
    mine, theirs = sides
    return (
        _replaces(a, mine, theirs, question)
        or _replaces(b, theirs, mine, question)
        or _of_a_part(a, theirs, question)
        or _of_a_part(b, mine, question)
        or _namesakes(mine, theirs, question)
        or _strangers(mine, theirs, question)
        or (not a.value.slot.startswith("person") and _other_people(mine, theirs, question))
        or _other_year(a, b)
        or _each_its_own(mine, theirs, question)
        or _on_two_machines(mine, theirs, question)
        or (mine.source != "" != theirs.source != mine.source)
        or _other_desk(a, mine, theirs, question)
        or _other_desk(b, theirs, mine, question)
        or _named_otherwise(a, theirs)
        or _named_otherwise(b, mine)
        or (a.value.slot != "version" and _other_edition(mine, theirs, question))
        or (a.value.slot == "open" and _is_date(a, mine) != _is_date(b, theirs))
        or _bound_and_count(a, b, question)
        or (a.value.slot.startswith("number") and not _measured_alike(a, b, sides, question))
    )


def _replaces(claim: Claim, own: Statement, other: Statement, question: Question) -> bool:
    """Whether a hit lacks a word of the query that the other has, and its sentence starts with a name instead."""
    topics = {topic for topic in question.topics if topic.startswith("a:") and not fits(topic[2:], claim.value.slot)}
    focus = question.focus
    named = bool(focus.rest) and any(named_in(head, claim.beside) for head in focus.heads)
    asked = [anchor for anchor in question.anchors if not (named and focus.words.issuperset(anchor.stems))]
    known = question.stems | other.words
    missing = any(
        covered(anchor, other) and not (_has(anchor, own) and not _aside(anchor, own, known)) for anchor in asked
    ) or any(topic in other.words and topic not in own.words for topic in topics)
    value = frozenset(map(str, claim.value.data)) if claim.value.slot != "path" else frozenset[str]()
    return missing and any(
        question.topics.isdisjoint(concepts) and not named_in(word, value) and _new(word, other, question)
        for word, *concepts in claim.lead | _key_words(own)
    )


def _aside(anchor: Anchor, statement: Statement, known: frozenset[str]) -> bool:
    """Whether a hit names an anchor only in brackets that tell its subject from it (``the annex (small hall)``)."""
    return statement.aside.issuperset(anchor.stems) and not statement.aside <= known


def _key_words(statement: Statement) -> frozenset[tuple[str, ...]]:
    """The words of a key that no list knows: what tells ``oven.path`` from ``mill.path``."""
    key = meta(statement.hit, "key")
    return frozenset((token.stem,) for token in tokenise(key) if unknown(token) or _only_a_state(token)) if key else _NO


_NO = frozenset[tuple[str, ...]]()


def _only_a_state(token: Token) -> bool:
    """Whether a word of a key is the name of a state and nothing else (``archive``)."""
    return bool(token.senses) and all(sense.role == "state" for sense in token.senses)


def _has(anchor: Anchor, statement: Statement) -> bool:
    known = frozenset(statement.words)
    return (
        covered(anchor, statement)
        or anchor.joined in statement.squeezed
        or all(named_in(stem, known) for stem in anchor.stems)
    )


def _new(word: str, other: Statement, question: Question) -> bool:
    return not named_in(word, question.stems | frozenset(other.words)) and word not in other.squeezed


def _of_a_part(claim: Claim, other: Statement, question: Question) -> bool:
    """Whether a sentence speaks of something else on, of or in the subject."""
    software = claim.value.slot.startswith(("number", "version"))
    return any(
        whole in question.stems and _new(part, other, question) and (software or not senses_of(part))
        for part, whole in claim.holders
    )


def _other_year(a: Claim, b: Claim) -> bool:
    """Whether two sentences name different years, and neither is a date nor tells of a change."""
    if a.value.slot == "when" or a.changed or b.changed:
        return False
    return bool(a.years and b.years) and a.years.isdisjoint(b.years)


_DIMENSIONS = frozenset(SCOPES) | frozenset(map(stem, SCOPE_KEYS))


_ON = frozenset("on auf sur su na em".split())


def _on_two_machines(mine: Statement, theirs: Statement, question: Question) -> bool:
    """Whether the hits speak of two machines, and the query of none."""
    if question.anchors or question.place or any(slot.startswith("host") for slot in question.slots):
        return False
    ours, others = _machines(mine), _machines(theirs)
    return bool(ours and others) and ours.isdisjoint(theirs.words) and others.isdisjoint(mine.words)


def _machines(statement: Statement) -> frozenset[str]:
    """The project of a keyed fact, and what stands behind ``on``."""
    keyed = any(claim.keyed for claim in statement.claims)
    return (statement.home if keyed else frozenset[str]()) | frozenset(
        str(claim.value.data[0])
        for claim in statement.claims
        if claim.value.slot == "loose" and claim.label & _ON and len(claim.value.data) == 1
    )


def _each_its_own(mine: Statement, theirs: Statement, question: Question) -> bool:
    """Whether the query names two people or things, and each hit speaks of one of them."""
    names = [anchor for anchor in question.anchors if anchor.joined.capitalize() in question.text.split()]
    ours, others = ({anchor for anchor in names if _has(anchor, side)} for side in (mine, theirs))
    return bool(ours and others) and ours.isdisjoint(others)


def _named_otherwise(claim: Claim, other: Statement) -> bool:
    """Whether a claim names its scope (``flag[house=elm]``) and the other hit has another name for the like of it."""
    return any(
        name not in _DIMENSIONS and name in other.words and values.isdisjoint(other.words)
        for name, values in claim.scopes.items()
    )


_NUMBERED = re.compile(r"([^\W\d_]{3,})[ -]v?(\d{1,3}(?:\.\d+)*)(?![\w:/%-]|[.,]\d)")


def _other_edition(mine: Statement, theirs: Statement, question: Question) -> bool:
    """Whether the query asks about one of a series (``phase 2``), and one hit names only others (``phase 1``)."""
    asked = _editions(question.text)
    for side in (mine, theirs) if asked else ():
        told = _editions(f"{side.hit.title or ''} ; {side.hit.text}")
        if any(name in told and told[name].isdisjoint(numbers) for name, numbers in asked.items()):
            return True
    return False


@lru_cache(maxsize=1_024)
def _editions(text: str) -> Mapping[str, frozenset[str]]:
    """The numbers right after each name."""
    found: dict[str, frozenset[str]] = {}
    for name, number in _NUMBERED.findall(text.lower()):
        if all(sense.role == "scope" for sense in senses_of(name)):  # a month or ``port 80`` has its number for a value
            found[name] = found.get(name, frozenset()) | {number}
    return found


def _is_date(claim: Claim, statement: Statement) -> bool:
    """Whether an open value is a date, a weekday or a time, which no other word contradicts."""
    return any(other.value.slot == "when" and other.at == claim.at for other in statement.claims)


def _bound_and_count(a: Claim, b: Claim, question: Question) -> bool:
    """Whether one number is a limit and the other none, and the query asks for no number."""
    if question.slots or a.value.slot != "number:count":
        return False
    return ("bound" in a.scopes) != ("bound" in b.scopes)


def _attribute(word: str) -> bool:
    return any(sense.role == "attr" for sense in senses_of(word))


_GENERIC = frozenset(
    """
    tool tools software program programm solution werkzeug outil logiciel herramienta programa strumento narzędzie
    program ferramenta ツール ソフト
    """.split()
)
"""Words that name no subject: ``helpdesk tool``."""
_TOO_SHORT = 3  # letters of a word that names nothing by itself


def _strangers(mine: Statement, theirs: Statement, question: Question) -> bool:
    """Whether neither hit names anything of the subject, nor do they share another name."""
    if all(anchor.joined in _GENERIC for anchor in question.anchors) or any(
        _has(anchor, side) for anchor in question.anchors for side in (mine, theirs)
    ):
        return False
    if _of_somebody_else(mine, theirs, question) or _of_somebody_else(theirs, mine, question):
        return True
    asked = question.focus.words | question.focus.rest
    if any(word in mine.words and word in theirs.words and not _attribute(word) for word in asked):
        return False
    shared = (mine.lone | mine.home) & (theirs.lone | theirs.home)
    return not any(len(word) > _TOO_SHORT and word not in question.stems and not senses_of(word) for word in shared)


def _of_somebody_else(own: Statement, other: Statement, question: Question) -> bool:
    """``Crash reports of larch``, where the query names another subject, and so does neither hit."""
    return any(
        part in question.stems and not senses_of(whole) and _new(whole, other, question)
        for claim in own.claims
        for part, whole in claim.holders
    )


def _other_desk(claim: Claim, own: Statement, other: Statement, question: Question) -> bool:
    """Whether a mailbox is one of a desk that its hit names and neither the query nor the other hit does."""
    if claim.value.slot != "mail":
        return False
    desk = stem(str(claim.value.data[0]).partition("@")[0])
    return desk in own.lone and _new(desk, other, question)


def _namesakes(mine: Statement, theirs: Statement, question: Question) -> bool:
    """Whether the hits name people of one first name and different family names (``Ada Brink``, ``Ada Brinks``)."""
    if not mine.people or not theirs.people:
        return False
    words = {anchor.joined for anchor in question.anchors} | question.stems
    for word in {first for first, _ in mine.people} & {first for first, _ in theirs.people}:
        if word.removeprefix("@") in words or (word in mine.openers and word in theirs.openers):
            a, b = ({family for first, family in side.people if first == word} for side in (mine, theirs))
            if a.isdisjoint(b):
                return True
    return False


def _other_people(mine: Statement, theirs: Statement, question: Question) -> bool:
    """Whether the query names nobody, and the hits start with the names of different people."""
    if question.anchors:
        return False
    ours, others = ({first for first, _ in side.people} & side.openers for side in (mine, theirs))
    return bool(ours and others) and ours.isdisjoint(theirs.words) and others.isdisjoint(mine.words)


def _measured_alike(a: Claim, b: Claim, sides: Sides, question: Question) -> bool:
    """Whether two numbers measure the same: an attribute of the query, or words that both stand next to."""
    asked = {topic for topic in question.topics if topic.startswith("a:")} - VAGUE
    if asked & a.near and asked & b.near:
        return True
    if a.value.slot in UNMISTAKABLE or (
        a.value.slot != "number:count" and any(slot.startswith("number") for slot in question.slots)
    ):
        return True
    subject = question.focus.rest | sides[0].home | sides[1].home
    if not question.focus.rest:
        subject |= sides[0].openers | sides[1].openers
    if "number" in question.slots:
        subject -= question.focus.heads  # ``how many hens``: what is counted
    mine, theirs = _owners(a, subject), _owners(b, subject)
    if _shared(mine, theirs):
        return True
    words = question.focus.words - subject
    return _shared(mine & words, b.wide) or _shared(theirs & words, a.wide)


def _owners(claim: Claim, subject: frozenset[str]) -> frozenset[str]:
    """The words next to a number, without those of the subject."""
    return frozenset(word for word in claim.near | claim.beside | claim.key if not named_in(word, subject))


def _shared(words: frozenset[str], others: frozenset[str]) -> bool:
    return any(":" not in word and len(word) > 1 and not word[0].isdigit() and named_in(word, others) for word in words)
