"""Alignment: whether two answers speak of the same attribute of the same subject, and contradict each other.

Above: `reconciliation`, the answers. Below: `answering`, `contrast`, `guards`, `scoping`, `values`. Pure. In doubt two
claims are not aligned: a conflict that is none costs more trust than one that is missed.
"""

from __future__ import annotations

import re

from callosum_mcp.reconcile import contrast, guards, superseding
from callosum_mcp.reconcile.answering import Answer, answers
from callosum_mcp.reconcile.claims import Claim, Statement
from callosum_mcp.reconcile.question import Question
from callosum_mcp.reconcile.scoping import Scopes, clash
from callosum_mcp.reconcile.spoken import OPEN
from callosum_mcp.reconcile.stems import stem
from callosum_mcp.reconcile.topic import DIMENSIONS, VAGUE
from callosum_mcp.reconcile.values import Moment, Relation, Value, relation
from callosum_mcp.reconcile.wording import named_in

__all__ = ["Answer", "answers", "compare"]


def compare(a: Answer, b: Answer, question: Question) -> Relation:
    """How two answers in one slot relate: they differ only if no value of one can stand beside a value of the other."""
    said = a.statement.scopes, b.statement.scopes
    sides = a.statement, b.statement
    if a.slot == "gone":
        return "differ" if superseding.gave_way(a.claims[0], b.claims[0], sides, question) else "unsure"
    pairs = [(mine, theirs) for mine in a.claims for theirs in b.claims]
    if a.slot == "open" or a.slot.startswith("number"):
        pairs = _same_label(pairs, question)
    verdicts = {_claims_relate(mine, theirs, question, said, sides) for mine, theirs in pairs}
    if verdicts == {"differ"}:
        return "differ"
    return "agree" if "agree" in verdicts else "unsure"


def _same_label(pairs: list[tuple[Claim, Claim]], question: Question) -> list[tuple[Claim, Claim]]:
    """The pairs whose labels, or for numbers the words next to them, share the most."""
    shared = [contrast.shared_label(a, b, question) if a.value.slot in OPEN else len(a.near & b.near) for a, b in pairs]
    return [pair for pair, count in zip(pairs, shared, strict=True) if count == max(shared)]


def _claims_relate(
    a: Claim, b: Claim, question: Question, said: tuple[Scopes, Scopes], sides: tuple[Statement, Statement]
) -> Relation:
    if clash(a.scopes, b.scopes, a.value.slot, question.scopes, said) or _attributes_clash(a, b, question):
        return "unsure"
    if a.value.slot in OPEN:
        verdict = contrast.contrasted(a, b, sides, question)
    elif _comparable(a.value.slot, b.value.slot):
        verdict = relation(_plain(a.value, question), _plain(b.value, question))
    else:
        return "unsure"
    return "unsure" if verdict == "differ" and guards.apart(a, b, sides, question) else verdict


def _comparable(a: str, b: str) -> bool:
    return a == b or (a.startswith("person") and b.startswith("person")) or ("port" in (a, b) and a[:4] == b[:4])


def _plain(value: Value, question: Question) -> Value:
    """A version of the product the query names is a version, and nothing more."""
    if value.slot == "version":
        operator, numbers, product = value.data
        asked = any(topic.split(">")[0] == f"c:{product}" or topic == f"a:{product}" for topic in question.topics)
        return Value("version", (operator, numbers, "" if asked else product), value.text)
    return value


def _focused(a: Claim, b: Claim, question: Question) -> bool:
    """Whether both clauses name the attribute of the query, which no list knows."""
    words = question.focus.words if a.value.slot.startswith("number") else question.focus.heads
    shared = [word for word in words if named_in(word, a.near) and named_in(word, b.near)]
    if a.value.slot == "when" and not question.slots and _nearly_all(a, b, question):
        return True
    return bool(shared) and (bool(question.focus.rest) or len(shared) == len(question.focus.heads) > 1)


def _nearly_all(a: Claim, b: Claim, question: Question) -> bool:
    """Whether both sentences name the words of the query, but for one of three."""
    asked = question.focus.words | question.focus.rest
    both = [word for word in asked if named_in(word, a.wide) and named_in(word, b.wide)]
    return len(both) >= _PAIR and len(asked) - len(both) <= len(asked) // 3


_PAIR = 2
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
    if a.value.slot != "when":
        return False
    mine, theirs = ({word for word in claim.wide if _DOTTED.match(word)} for claim in (a, b))
    return bool(mine and theirs) and mine.isdisjoint(theirs)


def _other_days(a: Claim, b: Claim) -> bool:
    """Whether hours hold on different days (weekdays, Saturdays)."""
    mine, theirs = a.value.data[0], b.value.data[0]
    if not isinstance(mine, Moment) or not isinstance(theirs, Moment):
        return False
    return mine.weekdays.isdisjoint(theirs.weekdays) and bool(
        mine.weekdays or theirs.weekdays or "week" in a.scopes or "week" in b.scopes
    )


_CHECKS = frozenset(map(stem, "tested test verified checked rehearsed getestet geprüft testé testée vérifié".split()))


def _checks(claim: Claim, question: Question) -> bool:
    """Whether a clause tells when something is tried out (``the backup is tested yearly``), which nobody asks."""
    return not claim.near.isdisjoint(_CHECKS - question.stems)


_MONTH, _ONE_APPOINTMENT = 31, 10  # days


def _day_of_year(moment: Moment) -> int:
    return (moment.year or 0) * 12 * _MONTH * bool(moment.year) + (moment.month or 0) * _MONTH + (moment.day or 0)


def _two_days(a: Claim, b: Claim) -> bool:
    """Whether both name a day of the year and neither tells of a change: two events, where no date is asked for."""
    mine, theirs = a.value.data[0], b.value.data[0]
    if not isinstance(mine, Moment) or not isinstance(theirs, Moment):
        return False
    if mine.day is None or theirs.day is None or a.changed or b.changed:
        return False
    return abs(_day_of_year(mine) - _day_of_year(theirs)) > _ONE_APPOINTMENT


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
    if kind == "when" and _checks(a, question) != _checks(b, question):
        return True
    if kind == "when" and "a:hours" in question.topics and _other_days(a, b):
        return True
    if kind == "number" and a.key and b.key and a.key.isdisjoint(b.key):
        return True
    mine, theirs = (a.wide & names) - VAGUE, (b.wide & names) - VAGUE
    if mine and theirs:
        return mine.isdisjoint(theirs) and not (kind == "number" and _focused(a, b, question))
    if kind == "when" and "when" not in question.slots:
        if _two_days(a, b):
            return True
        return (not mine or not theirs) and not _focused(a, b, question)
    return kind == "number" and not question.topics and not a.near & b.near
