"""Weighing: how likely it is that two hits contradict each other, taken as wholes.

Above: `reconciliation`. Below: `view`, `features`, `forest`, `align`. Pure. The rules know some kinds of values very
well and others not at all; here what they say is one feature among many. Only the hits nearest to the query are
compared with each other, and the strongest of those that the rules set against each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from callosum_mcp.reconcile.align import Answer, compare
from callosum_mcp.reconcile.claims import Statement
from callosum_mcp.reconcile.pairs import forest
from callosum_mcp.reconcile.pairs.features import Rules, features
from callosum_mcp.reconcile.pairs.view import view
from callosum_mcp.reconcile.question import Question
from callosum_mcp.reconcile.verdicts import Conflict

NEAREST = 6
"""Hits that are compared with each other, at most: 15 pairs."""

Pair = frozenset[str]
"""The addresses of two hits."""

_LETTERS = re.compile(r"[^\W\d_]+")


class Weighed(NamedTuple):
    """Two hits, as the forest sees them.

    Attributes:
        pair: Their addresses.
        values: Their features by name.
        words: The words of each, with what the query asks for.
    """

    pair: Pair
    values: Mapping[str, float]
    words: tuple[frozenset[str], frozenset[str]]


def weigh(
    statements: Sequence[Statement], found: Sequence[Answer], conflicts: Sequence[Conflict], question: Question
) -> Mapping[Pair, float]:
    """The probability of a contradiction, from 0 to 1, for each pair of hits that is looked at.

    Args:
        statements: The hits, read.
        found: What they answer by the rules.
        conflicts: The conflicts that the rules found.
        question: The query; without a word in it nothing is weighed.
    """
    trees = forest.shipped()
    return {
        weighed.pair: trees.probability(weighed.values, weighed.words)
        for weighed in rows(statements, found, conflicts, question)
    }


def rows(
    statements: Sequence[Statement], found: Sequence[Answer], conflicts: Sequence[Conflict], question: Question
) -> Iterator[Weighed]:
    """The pairs that are looked at, in the order of their addresses, with their features."""
    if not question.stems:
        return
    opposed = {frozenset((conflict.winner, loser)) for conflict in conflicts for loser in conflict.losers[:NEAREST]}
    near = {one.hit.address: _nearness(one, question) for one in statements if not one.draft}
    first = sorted(near, key=lambda address: (-near[address], address))[:NEAREST]
    wanted = {frozenset(pair) for pair in combinations(first, 2)} | opposed
    named = frozenset[str]().union(*wanted)
    hits = {one.hit.address: one.hit for one in statements if one.hit.address in named}
    views = {address: view(hit, question) for address, hit in hits.items()}
    answers: dict[str, dict[str, Answer]] = {}
    for answer in found:
        answers.setdefault(answer.statement.hit.address, {})[answer.slot] = answer
    asked = _asked(question)
    nearest = max((one.near for one in views.values()), default=0.0)
    for a, b in sorted(tuple(sorted(pair)) for pair in wanted):
        if hits[a].store == hits[b].store:
            continue
        mine, theirs, pair = views[a], views[b], frozenset((a, b))
        rules = _rules(answers.get(a, {}), answers.get(b, {}), question, pair in opposed)
        least = min(mine.near, theirs.near)
        nearer = sum(one.near > least for one in views.values()) / len(near)
        values = features(mine, theirs, question, rules, nearest, nearer)
        yield Weighed(pair, values, (mine.words | asked, theirs.words | asked))


def _nearness(statement: Statement, question: Question) -> int:
    """How many words and concepts of the query a hit has, as written."""
    return len(question.stems & statement.words) + len(question.topics & statement.words)


def _asked(question: Question) -> frozenset[str]:
    """What of a query the forest knows as words: its concepts, the slots of their values, and its own words."""
    return frozenset(
        (
            *(f"topic {topic}" for topic in question.topics),
            *(f"slot {slot}" for slot in question.slots),
            *(f"ask {word}" for word in _LETTERS.findall(question.text.lower())),
        )
    )


def _rules(mine: Mapping[str, Answer], theirs: Mapping[str, Answer], question: Question, opposed: bool) -> Rules:
    shared = sorted(mine.keys() & theirs.keys())
    verdicts = [compare(mine[slot], theirs[slot], question) for slot in shared]
    return Rules(
        opposed,
        len(shared),
        verdicts.count("differ"),
        verdicts.count("agree"),
        (len(mine), len(theirs)),
    )
