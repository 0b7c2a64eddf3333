"""Answering: which claims of each hit answer the query, slot by slot.

Above: `align`. Below: `claims`, `contrast`, `question`, `topic`. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from callosum_mcp.reconcile import contrast, superseding
from callosum_mcp.reconcile.claims import Claim, Statement
from callosum_mcp.reconcile.lexicon import SLOTS_OF
from callosum_mcp.reconcile.question import Anchor, Question
from callosum_mcp.reconcile.scoping import Scopes, matters
from callosum_mcp.reconcile.spoken import OPEN
from callosum_mcp.reconcile.subject import covered
from callosum_mcp.reconcile.topic import of_another, of_nothing_else, on_topic, roles_of, stems_of
from callosum_mcp.reconcile.values import Value
from callosum_mcp.reconcile.wording import named_in, same_word

_TYPED = frozenset("port version ip ip6 fqdn mail path room person host choice state url".split())
_KEYED_BONUS, _ARRIVED_BONUS, _NEAR, _WIDE, _BESIDE = 2.0, 2.0, 3.0, 1.0, 2.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What one hit says in one slot: its best claims there.

    Attributes:
        typed: For a word no list knows, the slots of the query that the hit fills too.
    """

    statement: Statement
    slot: str
    claims: tuple[Claim, ...]
    typed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Inquiry:
    """What is looked for in each hit.

    Attributes:
        known: The anchors of the query that some hit names.
        topics: Parts of its subject that lists know.
        home: Words that the sentences of hits about the whole subject start with.
        aim: The attribute, if no list knows it.
        spoken: How many hits name the attribute and the subject.
    """

    question: Question
    known: list[Anchor]
    topics: frozenset[str]
    home: frozenset[str]
    aim: contrast.Aim
    spoken: int


def answers(statements: Sequence[Statement], question: Question) -> list[Answer]:
    """What each hit answers to the query, slot by slot."""
    inquiry = _inquiry(statements, question)
    slots = [_slots(statement, inquiry, openly=False) for statement in statements]
    in_slots = sum(not question.slots.isdisjoint(found) for found in slots)
    if not question.closed and (contrast.open_ended(question) or in_slots < _PAIR):
        for statement, found in zip(statements, slots, strict=True):
            found.update(_slots(statement, inquiry, openly=True))
    if all(_typed(found, question) for found in slots if "open" in found):
        for found in slots:
            found.pop("open", None)  # all of them answer in slots of the question, which is where they are compared
    answered = [
        Answer(
            statement,
            slot,
            contrast.best(claims, question) if slot == "open" else _best(claims, statement, question),
            _typed(found, question),
        )
        for statement, found in zip(statements, slots, strict=True)
        for slot, claims in found.items()
    ]
    return answered if question.closed else answered + _superseding(statements, answered, inquiry)


_PAIR = 2  # hits that answer in a slot of the query: these are compared, and no words


def _inquiry(statements: Sequence[Statement], question: Question) -> _Inquiry:
    known = [anchor for anchor in question.anchors if any(_names(one, anchor, question) for one in statements)]
    return _Inquiry(
        question,
        known,
        _subject_topics(statements, question),
        frozenset(
            word
            for statement in statements
            if all(_names(statement, anchor, question) for anchor in known)
            for claim in statement.claims
            for word in claim.subject
        ),
        contrast.aim_of(statements, question),
        sum(all(_names(statement, anchor, question) for anchor in known) for statement in statements),
    )


def _slots(statement: Statement, inquiry: _Inquiry, *, openly: bool) -> dict[str, list[Claim]]:
    """The claims of a hit that answer, by slot: those of a known kind, or the others."""
    missing = [anchor for anchor in inquiry.known if not _names(statement, anchor, inquiry.question)]
    slots: dict[str, list[Claim]] = {}
    for claim in statement.claims:
        if (claim.value.slot in OPEN) == openly and (
            _answers_openly(claim, statement, inquiry, missing)
            if openly
            else _answers(claim, statement, inquiry, missing)
        ):
            slots.setdefault(_family(claim.value.slot, inquiry.question), []).append(claim)
    return slots


def _superseding(statements: Sequence[Statement], found: list[Answer], inquiry: _Inquiry) -> list[Answer]:
    """Answers of hits that do not name the attribute, since one says goodbye to what another asserts."""
    subject = [anchor for anchor in inquiry.known if not inquiry.aim.words.issuperset(anchor.stems)]
    about = [one for one in statements if all(_names(one, anchor, inquiry.question) for anchor in subject)]
    asked = inquiry.question.topics | inquiry.question.stems
    loosely = [one for one in statements if not asked.isdisjoint(one.words)] if len(about) < _PAIR else about
    about = loosely
    spoken = {id(answer.statement) for answer in found if answer.slot == "open"}
    added: dict[int, Answer] = {}
    for change in superseding.changes(about, inquiry.question):
        for old in about:
            if old is change.statement or {id(old), id(change.statement)} <= spoken:
                continue
            claim = superseding.still_asserted(change, old, inquiry.question)
            if claim is not None:
                added[id(change.statement)] = Answer(change.statement, "gone", (change.claim,))
                added[id(old)] = Answer(old, "gone", (claim,))
    return list(added.values())


def _typed(slots: Mapping[str, list[Claim]], question: Question) -> frozenset[str]:
    """The slots of the query that a hit fills, other than with what the query itself names."""
    return frozenset(
        slot
        for slot, claims in slots.items()
        if slot in question.slots
        and slot != "open"
        and not any(f"c:{claim.value.data[0]}" in question.topics for claim in claims)
    )


def _names(statement: Statement, anchor: Anchor, question: Question) -> bool:
    """Whether a hit names an anchor; a word of the attribute may be part of a longer name (``storageClassName``)."""
    return covered(anchor, statement) or (
        bool(question.focus.rest)
        and question.focus.words.issuperset(anchor.stems)
        and statement.words.issuperset(anchor.stems)
    )


def _family(slot: str, question: Question) -> str:
    """The slot in which claims meet: all ports, and everybody who may have the role that is asked for."""
    if slot.startswith("person") and roles_of(question):
        return "person"
    return "port" if slot.startswith("port") else "open" if slot in OPEN else slot


def _subject_topics(statements: Sequence[Statement], question: Question) -> frozenset[str]:
    """Concepts of the query that fill no slot of their own (``backup``, ``certificate``) or name a product.

    Parts of its subject.
    """
    wanted = {topic for topic in question.topics if topic.startswith("c:") or topic[2:] not in SLOTS_OF}
    return frozenset(topic for topic in wanted if any(topic in statement.words for statement in statements))


def _answers(claim: Claim, statement: Statement, inquiry: _Inquiry, missing: list[Anchor]) -> bool:
    question, slot = inquiry.question, claim.value.slot
    named = _beside(claim, question) and slot.startswith(("number", "ip", "when"))
    if (
        not (question.admits(slot) or named)
        or _is_the_subject(claim.value, question)
        or (question.many and slot.startswith(("port", "ip", "host", "person", "when", "choice")))
    ):
        return False
    if slot == _ZONE and not question.slots:
        return False  # a zone belongs to a time, if nobody asks for it
    if _out_of_scope(claim, question.scopes) or not (named or on_topic(claim, statement, question)):
        return False
    if slot == "version" and not _of_product(claim, statement, inquiry, missing):
        return False
    if any(anchor.stems[0] in statement.words for anchor in missing if len(anchor.stems) == 1):
        return False  # it names something whose name only contains the subject's
    return _about_the_subject(claim, statement, inquiry, missing, explicit=named or _explicit(claim, question))


_ZONE = "choice:timezone"
_INCIDENTAL = frozenset({"choice:timezone", "choice:human_language", "choice:currency", "choice:code_language"})
"""Classes whose members stand in sentences about something else."""


def _about_the_subject(
    claim: Claim, statement: Statement, inquiry: _Inquiry, missing: list[Anchor], *, explicit: bool
) -> bool:
    """Whether a hit names all of the subject, or nearly all, or the attribute and nothing else."""
    known, topics, focus = len(inquiry.known), inquiry.topics, inquiry.question.focus
    tells = claim.value.slot.startswith("choice") and claim.value.slot not in _INCIDENTAL
    if tells and focus.rest and len(missing) < known and inquiry.spoken < _PAIR:
        missing = [anchor for anchor in missing if not focus.words.issuperset(anchor.stems)]  # its class names it
    if explicit and focus.rest and _beside(claim, inquiry.question):
        missing = [anchor for anchor in missing if not focus.words.issuperset(anchor.stems)]
    choice = claim.value.slot.startswith("choice")
    asked = inquiry.question.topics
    if not known and not topics and claim.subject and asked and asked.isdisjoint(statement.words):
        return False  # of something else, and it does not name the attribute either
    lost = len(missing) + sum(topic not in statement.words and not choice for topic in topics)
    if not lost or (lost * 3 <= known + len(topics) and not claim.subject):
        return True
    return (
        explicit
        and claim.subject <= inquiry.home
        and (lost < known + len(topics) or (lost == 1 and of_nothing_else(claim)))
    )


def _answers_openly(claim: Claim, statement: Statement, inquiry: _Inquiry, missing: list[Anchor]) -> bool:
    """Whether a value that no list knows answers: its attribute is asked for, and only that has other names here."""
    question, known = inquiry.question, len(inquiry.known)
    if _out_of_scope(claim, question.scopes) or not contrast.relevant(claim, statement, question, inquiry.aim):
        return False
    unnamed = [anchor for anchor in missing if not inquiry.aim.words.issuperset(anchor.stems)]
    if unnamed and not (len(unnamed) == 1 and len(missing) == 1 and claim.value.slot == "open" and known > _MANY):
        return False
    rest = question.focus.rest
    return not missing or len(missing) < known or (bool(rest) and rest <= statement.words)


_MANY = 2  # names of a subject, of which a hit may leave out one


def _beside(claim: Claim, question: Question) -> bool:
    """Whether a word of the query that nobody knows stands right beside the value.

    The attribute has no entry, but a name.
    """
    words = stems_of(question)
    if claim.value.slot == "number:count":
        words = words | question.focus.words  # ``zone 3``: which of them it is
    return not words.isdisjoint(claim.beside) or any(same_word(stem, near) for stem in words for near in claim.beside)


def _is_the_subject(value: Value, question: Question) -> bool:
    """Whether a name is only what the query asks about."""
    return value.slot in ("fqdn", "host", "open") and bool(value.text) and value.text.lower() in question.text.lower()


def _of_product(claim: Claim, statement: Statement, inquiry: _Inquiry, missing: Sequence[Anchor]) -> bool:
    """Whether a version is one of the product the query names, if it names one."""
    product, question = claim.value.data[2], inquiry.question
    named = {topic[2:].split(">")[0] for topic in question.topics if topic.startswith("c:")}
    if not product and named:
        if of_another(claim, question):
            return False
        beside = any(named_in(word, claim.beside) for word in question.focus.words | question.focus.heads)
        whole = bool(inquiry.known) and not missing
        return (
            (claim.keyed and claim.key <= statement.home)
            or beside
            or whole
            or any(f"c:{name}" in statement.words for name in named)
        )
    return not named or product in named


def _out_of_scope(claim: Claim, wanted: Scopes) -> bool:
    return any(
        name in claim.scopes and claim.scopes[name].isdisjoint(values)
        for name, values in wanted.items()
        if matters(name, claim.value.slot)
    )


def _explicit(claim: Claim, question: Question) -> bool:
    """Whether the claim itself names the attribute, or its kind of value is the one asked for."""
    return bool(question.topics & claim.wide) or any(claim.value.slot == slot for slot in question.slots)


def _best(claims: list[Claim], statement: Statement, question: Question) -> tuple[Claim, ...]:
    scored = [(_closeness(claim, statement, question), claim) for claim in claims]
    top = max(score for score, _ in scored)
    return tuple(claim for score, claim in scored if score == top)


def _closeness(claim: Claim, statement: Statement, question: Question) -> float:
    """How near a claim stands to the words of the query."""
    wanted = question.topics | {stem for anchor in question.anchors for stem in anchor.stems}
    near, wide = len(wanted & claim.near), len(wanted & claim.wide)
    return (
        _NEAR * near
        + _WIDE * wide
        + _BESIDE * any(named_in(word, claim.beside) for word in question.focus.words)
        + _NEAR * any(named_in(word, claim.near) for word in question.focus.rest)
        + _KEYED_BONUS * claim.keyed
        + _ARRIVED_BONUS * claim.arrived
        - (1.0 if claim.subject else 0.0)
    )
