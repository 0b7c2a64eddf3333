"""Topic: whether the attribute of a claim is the one the query asks for.

Above: `align`. Below: `claims`, `question`, `lexicon`. Pure.
"""

from __future__ import annotations

from callosum_mcp.reconcile.claims import Claim, Statement
from callosum_mcp.reconcile.lexicon import SLOTS_OF, fits
from callosum_mcp.reconcile.question import Question
from callosum_mcp.reconcile.wording import named_in

DIMENSIONS = frozenset(
    "a:limit a:size a:timeout a:ttl a:retention a:retry a:interval a:rate a:threshold a:coverage a:replicas a:seats "
    "a:users a:nodes a:workers a:price a:budget a:length a:memory a:disk a:cpu a:batch a:pool a:vlan a:phone".split()
)
"""Attributes whose values are numbers."""

UNMISTAKABLE = frozenset({"number:bits", "number:temp", "number:freq", "number:power", "number:dpi", "number:sound"})
"""Dimensions of which a thing has one: the unit alone tells the attribute."""

VAGUE = frozenset({"a:length", "a:size", "a:limit"})
"""Attributes that leave open what is measured."""

_GENERIC = frozenset("a:interval a:time a:date a:day a:schedule a:limit a:size a:length a:name a:mode".split())
_KIN = (
    frozenset("a:url a:path a:address a:domain a:host a:port".split()),
    frozenset({"a:version", "a:release"}),
)


def roles_of(question: Question) -> frozenset[str]:
    """The roles a query asks for."""
    return frozenset(topic for topic in question.topics if "person" in SLOTS_OF.get(topic[2:], ()))


def on_topic(claim: Claim, statement: Statement, question: Question) -> bool:
    """Whether the attribute the claim is about is one the query asks for."""
    wanted = {topic for topic in question.topics if topic.startswith("a:") and topic[2:] in SLOTS_OF}
    kind = claim.value.slot.split(":")[0]
    if kind == "number":
        return _number_on_topic(claim, question, wanted) or _says_topic(claim, statement, wanted)
    if kind == "open":
        named = bool(wanted & _GENERIC) and not claim.near.isdisjoint(stems_of(question))
        return named or _says_topic(claim, statement, wanted)
    if kind == "person":
        return _person_on_topic(claim, statement, question, wanted)
    return not _competes(claim, wanted)


def stems_of(question: Question) -> set[str]:
    """The stems of the names in a query."""
    return {stem for anchor in question.anchors for stem in anchor.stems}


def _says_topic(claim: Claim, statement: Statement, wanted: set[str]) -> bool:
    """A number or a name says nothing of its attribute by itself: its sentence must name it, or its key."""
    if not wanted or wanted & (claim.near | claim.wide):
        return True
    return claim.keyed and bool(wanted & statement.context)


def _number_on_topic(claim: Claim, question: Question, wanted: set[str]) -> bool:
    """Whether a number's unit, or the words next to it, answer for an attribute that is not named."""
    slot = claim.value.slot
    if slot.startswith("number:money") and ("number:money" in question.slots or "a:rate" in wanted):
        return True
    if slot == "number:percent" and "a:status" in wanted:
        return True
    if slot in question.slots and slot in UNMISTAKABLE:
        return True
    measured = {topic for topic in wanted if any(slot.startswith("number") for slot in SLOTS_OF[topic[2:]])}
    if (
        measured
        and measured <= VAGUE
        and (slot == "number:time" or not claim.wide.isdisjoint(stems_of(question) | question.focus.rest))
    ):
        return True
    return slot in question.slots and not (claim.near & DIMENSIONS)


def _person_on_topic(claim: Claim, statement: Statement, question: Question, wanted: set[str]) -> bool:
    """Whether somebody has the role that is asked for; without a role, whether the sentence names the topic."""
    roles, role = roles_of(question), claim.value.slot.split(":")[1]
    if role != "any":
        return not roles or "a:" + role in roles
    handed = claim.arrived and claim.changed
    named = roles or wanted
    heads = question.focus.heads or stems_of(question)  # ``who prunes …``, ``who is the accountant``
    done = not roles and any(named_in(head, claim.wide) for head in heads)
    return (handed or done or bool(named & (claim.wide | statement.context))) and question.stems.isdisjoint(
        str(name) for name in claim.value.data
    )


def _competes(claim: Claim, wanted: set[str]) -> bool:
    """Whether the clause gives its value to another attribute (the cache, where the database is asked for)."""
    wanted = wanted - _GENERIC
    if not wanted or wanted & claim.near or any(wanted & kin and claim.near & kin for kin in _KIN):
        return False
    others = {topic for topic in claim.near - _GENERIC if topic.startswith("a:") and topic != "a:status"}
    return any(_may_be(topic, claim.value.slot) for topic in others) and any(
        fits(topic[2:], claim.value.slot) for topic in wanted
    )


_CODE_TOOLS = frozenset({"a:linter", "a:formatter"})
_CODE_SLOTS = frozenset({"choice:linter", "choice:formatter"})


def _may_be(topic: str, slot: str) -> bool:
    """Whether a value in this slot may be one of the concept; some tools lint and format."""
    return fits(topic[2:], slot) or (topic in _CODE_TOOLS and slot in _CODE_SLOTS)


def of_nothing_else(claim: Claim) -> bool:
    """Whether a claim gives its value to nothing but the subject: a key's, one arrived at, or of no subject."""
    return claim.keyed or claim.arrived or not claim.lead or bool(claim.subject)


def of_another(claim: Claim, question: Question) -> bool:
    """Whether a clause gives its version to a product, or a kind of software, that the query does not name."""
    kinds = {
        word
        for word in claim.near
        if word.startswith("c:") or any(slot.startswith("choice") for slot in SLOTS_OF.get(word[2:], ()))
    }
    return bool(kinds) and kinds.isdisjoint(question.topics)
