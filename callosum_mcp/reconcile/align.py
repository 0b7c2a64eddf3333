"""Alignment: whether a claim answers the query, and whether two claims speak of the same attribute of the same
subject.

Above: `reconciliation`. Below: `claims`, `question`, `values`. Pure. In doubt two claims are not aligned: a
conflict that is none costs more trust than one that is missed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from callosum_mcp.reconcile.claims import Claim, Statement
from callosum_mcp.reconcile.lexicon import SLOTS_OF
from callosum_mcp.reconcile.question import Anchor, Question
from callosum_mcp.reconcile.scoping import Scopes, clash, matters
from callosum_mcp.reconcile.subject import covered, same_word
from callosum_mcp.reconcile.topic import DIMENSIONS, VAGUE, on_topic, roles_of, stems_of
from callosum_mcp.reconcile.values import Relation, Value, relation

_TYPED = frozenset("port version ip ip6 fqdn mail path room person host choice state url".split())
_KEYED_BONUS, _ARRIVED_BONUS, _NEAR, _WIDE, _CONTEXT = 2.0, 2.0, 3.0, 1.0, 0.5


@dataclass(frozen=True, slots=True)
class Answer:
    """What one hit says in one slot: its best claims there."""

    statement: Statement
    slot: str
    claims: tuple[Claim, ...]


def answers(statements: Sequence[Statement], question: Question) -> list[Answer]:
    """What each hit answers to the query, slot by slot."""
    known = [anchor for anchor in question.anchors if any(covered(anchor, statement) for statement in statements)]
    topics = _subject_topics(statements, question)
    home = frozenset(
        word
        for statement in statements
        if all(covered(anchor, statement) for anchor in known)
        for claim in statement.claims
        for word in claim.subject
    )
    found: list[Answer] = []
    for statement in statements:
        missing = [anchor for anchor in known if not covered(anchor, statement)]
        slots: dict[str, list[Claim]] = {}
        for claim in statement.claims:
            if _answers(claim, statement, question, missing, len(known), topics, home):
                slots.setdefault(_family(claim.value.slot, question), []).append(claim)
        for slot, claims in slots.items():
            found.append(Answer(statement, slot, _best(claims, statement, question)))
    return found


def _family(slot: str, question: Question) -> str:
    """The slot in which claims meet: all ports, and everybody who may have the role that is asked for."""
    if slot.startswith("person") and roles_of(question):
        return "person"
    return "port" if slot.startswith("port") else slot


def _subject_topics(statements: Sequence[Statement], question: Question) -> frozenset[str]:
    """Concepts of the query that fill no slot of their own (``backup``, ``certificate``) or name a product.

    Parts of its subject.
    """
    wanted = {topic for topic in question.topics if topic.startswith("c:") or topic[2:] not in SLOTS_OF}
    return frozenset(topic for topic in wanted if any(topic in statement.words for statement in statements))


def _answers(
    claim: Claim,
    statement: Statement,
    question: Question,
    missing: list[Anchor],
    known: int,
    topics: frozenset[str],
    home: frozenset[str],
) -> bool:
    slot = claim.value.slot
    named = _beside(claim, question) and slot.startswith(("number", "ip", "when"))
    if (
        not (question.admits(slot) or named)
        or _is_the_subject(claim.value, question)
        or (slot == "open" and "open" not in question.slots)
        or (question.many and slot.startswith(("port", "ip", "host", "person", "when")))
    ):
        return False
    if _out_of_scope(claim, question.scopes) or not (named or on_topic(claim, statement, question)):
        return False
    explicit = named or _explicit(claim, question)
    if slot == "version" and not _of_product(claim, question):
        return False
    if any(anchor.stems[0] in statement.words for anchor in missing if len(anchor.stems) == 1):
        return False  # it names something whose name only contains the subject's
    lost = len(missing) + sum(topic not in statement.words and not slot.startswith("choice") for topic in topics)
    if not lost or (lost * 3 <= known + len(topics) and not claim.subject):
        return True
    return explicit and claim.subject <= home and (lost < known + len(topics) or lost == 1)


def _beside(claim: Claim, question: Question) -> bool:
    """Whether a word of the query that nobody knows stands right beside the value.

    The attribute has no entry, but a name.
    """
    return any(stem == other or same_word(stem, other) for stem in stems_of(question) for other in claim.beside)


def _is_the_subject(value: Value, question: Question) -> bool:
    """Whether a name is only what the query asks about."""
    return value.slot in ("fqdn", "host", "open") and bool(value.text) and value.text.lower() in question.text.lower()


def _of_product(claim: Claim, question: Question) -> bool:
    """Whether a version is one of the product the query names, if it names one."""
    product = claim.value.data[2]
    named = {topic[2:].split(">")[0] for topic in question.topics if topic.startswith("c:")}
    return not product or not named or product in named


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
        + _KEYED_BONUS * claim.keyed
        + _ARRIVED_BONUS * claim.arrived
        - (1.0 if claim.subject else 0.0)
    )


def compare(a: Answer, b: Answer, question: Question) -> Relation:
    """How two answers in one slot relate: they differ only if no value of one can stand beside a value of the other."""
    said = a.statement.scopes, b.statement.scopes
    verdicts = {_claims_relate(mine, theirs, question, said) for mine in a.claims for theirs in b.claims}
    if verdicts == {"differ"}:
        return "differ"
    return "agree" if "agree" in verdicts else "unsure"


def _claims_relate(a: Claim, b: Claim, question: Question, said: tuple[Scopes, Scopes]) -> Relation:
    if clash(a.scopes, b.scopes, a.value.slot, question.scopes, said) or _attributes_clash(a, b, question):
        return "unsure"
    return (
        relation(_plain(a.value, question), _plain(b.value, question))
        if _comparable(a.value.slot, b.value.slot)
        else "unsure"
    )


def _comparable(a: str, b: str) -> bool:
    return a == b or (a.startswith("person") and b.startswith("person")) or ("port" in (a, b) and a[:4] == b[:4])


def _plain(value: Value, question: Question) -> Value:
    """A version of the product the query names is a version, and nothing more."""
    if value.slot == "version":
        operator, numbers, product = value.data
        asked = any(topic.split(">")[0] == f"c:{product}" or topic == f"a:{product}" for topic in question.topics)
        return Value("version", (operator, numbers, "" if asked else product), value.text)
    return value


_EVENTS = frozenset(
    """
    a:expiry a:launch a:deadline a:birthday a:meeting a:start a:party a:holiday a:kickoff a:review_event
    a:signed a:retro
    """.split()
)


_MONEY = frozenset({"a:price", "a:budget"})
_NONE = frozenset[str]()


_DOTTED = re.compile(r"v?\d+\.\d")


def _other_release(a: Claim, b: Claim) -> bool:
    """Whether the two sentences speak of different versions (the launch of 2.0 and that of 2.1)."""
    mine, theirs = ({word for word in claim.wide if _DOTTED.match(word)} for claim in (a, b))
    return a.value.slot == "when" and bool(mine and theirs) and mine.isdisjoint(theirs)


def _attributes_clash(a: Claim, b: Claim, question: Question) -> bool:
    """Whether two dates, or two numbers, belong to different things (kick-off and delivery, timeout and retries)."""
    kind = a.value.slot.split(":")[0]
    names = (
        _MONEY
        if a.value.slot.startswith("number:money")
        else _EVENTS
        if kind == "when"
        else DIMENSIONS
        if kind == "number"
        else _NONE
    )
    if kind in ("when", "number") and _other_release(a, b):
        return True
    if kind == "number" and a.key and b.key and a.key.isdisjoint(b.key):
        return True
    mine, theirs = (a.wide & names) - VAGUE, (b.wide & names) - VAGUE
    if mine and theirs:
        return mine.isdisjoint(theirs)
    if kind == "when" and "when" not in question.slots:
        return not mine or not theirs
    return kind == "number" and not question.topics and not a.near & b.near
