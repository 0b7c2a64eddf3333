"""Contrast: whether two hits give an attribute that no list knows different values.

Above: `align`. Below: `claims`, `question`, `wording`. Pure. The focus of the query names the attribute. An assigned
value (``driver: journald``) is compared with another assigned one, or with a phrase of a sentence about the same
attribute; they differ if neither hit knows the other's value. A hit that says goodbye to a value (``ported from X to
Y``) contradicts whoever still asserts it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from callosum_mcp.reconcile.claims import Claim, Statement
from callosum_mcp.reconcile.lexicon import SLOTS_OF, senses_of
from callosum_mcp.reconcile.question import Question
from callosum_mcp.reconcile.spoken import MENTION, members, mentions, said, same_value
from callosum_mcp.reconcile.stems import stem
from callosum_mcp.reconcile.values import Relation
from callosum_mcp.reconcile.wording import named_in, same_word

_GENERIC = frozenset("name id type kind value number setting size".split())
_NOTHING = frozenset[str]()
_PLACES = frozenset("provider host room home region url path".split())
_OPEN_SLOTS = frozenset({"open", "place", "host", "room", "choice", "*"})
TWIN_WORDS = frozenset("with in at on by via through mit bei im auf in en chez dans avec w na z em no na con".split())
PLACING = frozenset(
    """
    in on at under behind beside inside below above near im am auf unter hinter neben bei dans sur sous chez derrière en
    bajo sobre junto nel nella sul sulla sotto dietro w na pod za em no debaixo
    """.split()
)
"""Words that say where something is."""
_NUMERIC = re.compile(r"v?\d[\d.,]*")


class Aim(NamedTuple):
    """The attribute of a query in the words that some hit knows; None of it if another way of reading is better.

    Attributes:
        heads: Stems any of which names it.
        words: All stems of its name.
        plural: It asks for several.
    """

    heads: frozenset[str]
    words: frozenset[str]
    plural: bool = False


NO_AIM = Aim(frozenset(), frozenset())


def aim_of(statements: Sequence[Statement], question: Question) -> Aim:
    """What to look for: the head of the focus, or if no hit has it, the other words of the attribute."""
    focus = question.focus
    openers = Counter(word for one in statements for word in one.openers)
    subjects = {word for word, times in openers.items() if times > 1}.union(*(one.home for one in statements))
    words = focus.words - subjects or focus.words
    known = frozenset(word for word in words if any(named_in(word, frozenset(one.words)) for one in statements))
    if not known and not any(f"a:{name}" in one.words for name in focus.concepts for one in statements):
        return NO_AIM
    return Aim(focus.heads & known or known or focus.heads - subjects, known, focus.plural)


def open_ended(question: Question) -> bool:
    """Whether any word may answer: the attribute is on no list, or has names and choices for values."""
    if not question.focus.heads or not question.focus.concepts:
        return bool(question.focus.heads)
    return "open" in question.slots or all(slot in _OPEN_SLOTS or slot.startswith("choice") for slot in question.slots)


def relevant(claim: Claim, statement: Statement, question: Question, aim: Aim) -> bool:
    """Whether an assigned value or a phrase is given to the attribute the query asks for, if it asks for one."""
    if not said(claim, question) or aim.plural or (claim.value.slot == "loose" and _of_another_kind(claim, question)):
        return False
    if question.place and _places(claim, question):
        return True
    if not aim.heads:
        return claim.value.slot == "open" and not question.slots and _label_beyond(claim, question) != frozenset()
    if claim.value.slot == "open":
        words = claim.label | frozenset(map(str, claim.value.data)) | (statement.context if claim.keyed else _NOTHING)
        return _names(words, aim.words | aim.heads, question)
    if claim.arrived:
        return not _PLACES.isdisjoint(question.focus.concepts) or _names(
            frozenset(statement.words), aim.words | aim.heads, question
        )
    strictly = any(head in claim.near or any(same_word(head, word) for word in claim.near) for head in aim.heads)
    return strictly or (_names(claim.near, aim.heads, question) and not question.slots)


def _of_another_kind(claim: Claim, question: Question) -> bool:
    """Whether a phrase is a member of a class that is not asked for (``on Debian 12``, where a host is)."""
    asked = question.slots - {"open"}
    if not asked or claim.arrived or "choice" in asked or "*" in asked:
        return False
    kinds = {
        sense.name
        for word in claim.value.text.lower().split()[:1]
        for sense in senses_of(word)
        if sense.role == "choice"
    }
    return bool(kinds) and not any(question.admits(f"choice:{kind}") for kind in kinds)


def _places(claim: Claim, question: Question) -> bool:
    """Whether a value is a place of what the query names: ``is in the attic``, ``STANDS_IN → attic``."""
    if claim.value.slot == "open":
        return not claim.label.isdisjoint(_STANDING)
    named = any(stem in claim.wide for anchor in question.anchors for stem in anchor.stems)
    placing = PLACING | _TOWARDS if not question.stems.isdisjoint(_SENDING) else PLACING
    return named and not claim.label.isdisjoint(placing) and claim.wide.isdisjoint(_FOR_NOW)


_TOWARDS = frozenset("to into onto nach zu zum zur vers à au al para do".split())
_SENDING = frozenset(
    map(stem, "go goes going end land sent send shipped uploaded written copied pushed delivered posted stored gehen "
              "landen geschickt vont envoyés van enviados vanno inviati".split())
)  # fmt: skip
_FOR_NOW = frozenset(
    map(
        stem,
        """
        week weekend today tonight tomorrow woche heute semaine semana settimana spent visited holidays trip vacation
        conference urlaub reise vacances voyage vacaciones viaje vacanza viaggio férias viagem wakacje podróż
        """.split(),
    )
)
_STANDING = frozenset(
    map(stem, "stands stand lives located location kept stored sits hangs lies placed parked found".split())
)


def _names(words: frozenset[str], wanted: frozenset[str], question: Question) -> bool:
    return any(named_in(one, words) for one in wanted) or _concept_in(words, question)


def _concept_in(words: frozenset[str], question: Question) -> bool:
    """Whether words name a concept of the query that no list gives values to, or one that takes any."""
    return any(
        topic in words
        for topic in question.topics
        if topic.startswith("a:") and "open" in SLOTS_OF.get(topic[2:], "open")
    ) or ("a:address" in question.topics and "a:home" in words)


def best(claims: Sequence[Claim], question: Question) -> tuple[Claim, ...]:
    """The claims of one hit that speak most directly of the attribute: assigned ones, else the nearest phrases."""
    ranked = [(_rank(claim, question), claim) for claim in claims]
    top = max(rank for rank, _ in ranked)
    return tuple(claim for rank, claim in ranked if rank == top)


def _rank(claim: Claim, question: Question) -> int:
    focus = question.focus
    beside = any(named_in(head, claim.beside) for head in focus.heads)
    named = sum(named_in(word, claim.label | claim.near) for word in focus.words | focus.rest)
    return 8 * (claim.value.slot == "open") + 8 * claim.arrived + 3 * beside + named


def contrasted(a: Claim, b: Claim, sides: tuple[Statement, Statement], question: Question) -> Relation:
    """How two such values relate, one of them assigned or arrived at."""
    if not (question.place and _places(a, question) and _places(b, question)) and not _meet(a, b, sides, question):
        return "unsure"
    mine, theirs = said(a, question), said(b, question)
    if not mine or not theirs or _digits(mine) != _digits(theirs) or _other_attribute(a, b, sides, question):
        return "unsure"
    if not (mine.isdisjoint(sides[1].gone) and theirs.isdisjoint(sides[0].gone)):
        return "differ"
    if not members(a).isdisjoint(members(b)) or any(same_value(word, other) for word in mine for other in theirs):
        return "agree"
    return "unsure" if mentions(sides[1], mine, b) or mentions(sides[0], theirs, a) else "differ"


def _meet(a: Claim, b: Claim, sides: tuple[Statement, Statement], question: Question) -> bool:
    """Whether the two are given to one attribute: under one label, at one word, or in the same turn of phrase."""
    if {a.value.slot, b.value.slot} == {"loose"} and not (a.arrived or b.arrived or _twins(a, b, question)):
        return False
    named = _headed(sides, question) or _one_label(a, b, question)
    return named and _share_a_head(a, b, sides, question)


def _share_a_head(a: Claim, b: Claim, sides: tuple[Statement, Statement], question: Question) -> bool:
    """Whether a phrase and what it is compared with stand at the same word, where any word may name the attribute."""
    if len(question.focus.heads) < _PAIR or a.arrived or b.arrived or "loose" not in (a.value.slot, b.value.slot):
        return True
    mine, theirs = (
        claim.label | claim.near | (side.context if claim.keyed else _NOTHING)
        for claim, side in zip((a, b), sides, strict=True)
    )
    return any(named_in(head, mine) and named_in(head, theirs) for head in question.focus.heads)


_PAIR = 2


def _headed(sides: tuple[Statement, Statement], question: Question) -> bool:
    """Whether some hit names a word of the attribute."""
    words = question.focus.words | question.focus.heads
    return any(named_in(word, frozenset(side.words)) for word in words for side in sides) or any(
        f"a:{name}" in side.words for name in question.focus.concepts for side in sides
    )


def _twins(a: Claim, b: Claim, question: Question) -> bool:
    """Whether two phrases stand in the same place: behind the same small word, or written as codes."""
    same = a.label & b.label & TWIN_WORDS or (_code(a) and _code(b))
    heads = question.focus.heads
    return bool(same) and any(named_in(head, a.near) and named_in(head, b.near) for head in heads)


def _code(claim: Claim) -> bool:
    return any(not str(word).isalpha() for word in claim.value.data)


def _label_beyond(claim: Claim, question: Question) -> frozenset[str]:
    """The words of a label that are not the query's."""
    return frozenset(
        word for word in claim.label if ":" not in word and len(word) > 2 and not named_in(word, question.stems)
    )


def shared_label(a: Claim, b: Claim, question: Question) -> int:
    """How many words two labels share, other than those of the query."""
    theirs = _label_beyond(b, question)
    return sum(named_in(word, theirs) for word in _label_beyond(a, question))


def _one_label(a: Claim, b: Claim, question: Question) -> bool:
    """Whether one label says all that the other says."""
    mine, theirs = _label_beyond(a, question), _label_beyond(b, question)
    return all(named_in(word, theirs) for word in mine) or all(named_in(word, mine) for word in theirs)


def _other_attribute(a: Claim, b: Claim, sides: tuple[Statement, Statement], question: Question) -> bool:
    """Whether one of two labels has another word where the other has a word of the query (storage, log driver)."""
    return _replaced(a, b, sides[0], question) or _replaced(b, a, sides[1], question)


def _replaced(claim: Claim, other: Claim, statement: Statement, question: Question) -> bool:
    around = claim.label | claim.wide | statement.context
    if claim.value.slot != "open":
        return False
    missing = [
        word
        for word in question.focus.words - _GENERIC
        if named_in(word, other.label | other.near)
        and not (named_in(word, around) or (len(word) > MENTION and word in statement.squeezed))
    ]
    asked = question.stems | question.topics
    return bool(missing) and any(
        ":" not in word and len(word) > 2 and not named_in(word, asked) and not named_in(word, other.label | other.near)
        for word in claim.label
    )


def _digits(words: frozenset[str]) -> bool:
    return all(_NUMERIC.fullmatch(word) is not None for word in words)
