"""Features: two hits compared as wholes, as numbers.

Above: `forest`. Below: `view`. Pure, and the same for either order of the two. How many other hits there are does not
count, only what share of them is nearer to the query: a few in a case that somebody wrote, many in a recall.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from callosum_mcp.reconcile.pairs.view import SHAPES, Candidate, View
from callosum_mcp.reconcile.question import Question
from callosum_mcp.reconcile.values import relation
from callosum_mcp.reconcile.wording import named_in

KINDS = (
    "number:bytes", "number:time", "number:money", "number:percent", "number:count", "number:other", "version", "date",
    "time", "weekday", "rhythm", "state", "choice", "person", "host", "ip", "port", "path", "url", "mail", "fqdn",
    "room", "open", "loose",
)  # fmt: skip
"""Kinds of values that are compared with their like."""

_MEANT = ("question", "plan", "condition", "exception", "example", "will")
_MARKS = (
    "plan", "will", "hypo", "example", "past", "exception", "only", "change", "negation", "approx", "many", "event",
    "removed", "dismiss", "into", "hypo_start",
)  # fmt: skip
_WORDS = ("open", "loose")
_MET, _SHARED_WORD, _ASKED = 0.05, 0.05, 0.1


class Rules(NamedTuple):
    """What the rules say of two hits.

    Attributes:
        conflict: They are on two sides of a conflict.
        slots: How many slots both answer in.
        differ: In how many of these they differ.
        agree: In how many they agree.
        answers: In how many slots the one and the other answer.
    """

    conflict: bool
    slots: int
    differ: int
    agree: int
    answers: tuple[int, int]


def features(a: View, b: View, question: Question, rules: Rules, nearest: float, nearer: float) -> dict[str, float]:
    """The features of two hits by name.

    Args:
        a: One hit.
        b: The other.
        question: The query.
        rules: What the rules say of them.
        nearest: How much of the query the hit has that has the most (see `View.near`), from 0 to 2.
        nearer: The share of all hits that have more of the query than the lesser of the two, from 0 to 1.
    """
    a, b = sorted((a, b), key=_order)
    found: dict[str, float] = {
        "asked": len(question.stems),
        "slots": len(question.slots),
        "topics": len(question.topics),
        "names": len(question.anchors),
        "nearer": nearer,
        "place": question.place,
        "many": question.many,
        "closed": question.closed,
        "rule": rules.conflict,
        "both_answer": rules.slots,
        "answers_differ": rules.differ,
        "answers_agree": rules.agree,
    }
    _ends(found, "answers", *rules.answers)
    _ends(found, "near", *(one.near / nearest if nearest else 1.0 for one in (a, b)))
    _shares(found, a, b)
    _meanings(found, a, b)
    _words(found, a, b)
    _numbers(found, a, b)
    _scopes(found, a, b)
    _values(found, a, b)
    for shape in SHAPES:
        found[f"shape:{shape}"] = (shape in a.shapes) + (shape in b.shapes)
    return found


def _order(view: View) -> tuple[str, str, str]:
    """So that it does not matter which of two hits is named first."""
    hit = view.statement.hit
    return hit.text, hit.title or "", hit.id


def _ends(found: dict[str, float], name: str, a: float, b: float) -> None:
    found[f"{name}:min"], found[f"{name}:max"] = (a, b) if a <= b else (b, a)


def _shares(found: dict[str, float], a: View, b: View) -> None:
    _ends(found, "share", a.share, b.share)
    _ends(found, "told", a.told, b.told)
    _ends(found, "named", a.named, b.named)
    _ends(found, "topic", a.topics, b.topics)
    _ends(found, "told_topic", a.told_topics, b.told_topics)
    _ends(found, "headed", a.headed, b.headed)
    _ends(found, "tokens", a.tokens, b.tokens)
    _ends(found, "sentences", a.sentences, b.sentences)
    _ends(found, "claims", len(a.candidates), len(b.candidates))


def _meanings(found: dict[str, float], a: View, b: View) -> None:
    for kind in _MEANT:
        found[f"meant:{kind}"] = sum(view.best is not None and view.best.meant == kind for view in (a, b))
    for mark in _MARKS:
        found[f"mark:{mark}"] = sum(view.best is not None and mark in view.best.marks for view in (a, b))
    found["unsaid"] = sum(view.best is not None and not view.best.asserted for view in (a, b))
    found["past"] = sum(view.best.past for view in (a, b) if view.best is not None)
    found["changed"] = sum(view.best.changed for view in (a, b) if view.best is not None)
    found["keyed"] = a.keyed + b.keyed
    found["code"] = a.code + b.code
    found["denied"] = (a.denials > 0) + (b.denials > 0)
    found["one_denied"] = (a.denials > 0) != (b.denials > 0)


def _words(found: dict[str, float], a: View, b: View) -> None:
    found["rest_shared"] = sum(named_in(word, b.rest) for word in a.rest)
    shared = sum(named_in(word, b.all_rest) for word in a.all_rest)
    found["all_rest_shared"] = shared
    found["overlap"] = shared / max(1, len(a.all_rest | b.all_rest))
    _ends(found, "rest", len(a.rest), len(b.rest))
    _ends(found, "all_rest", len(a.all_rest), len(b.all_rest))
    found["grams"] = _cosine(a.grams, b.grams)
    found["capitals_apart"] = len(a.capitals ^ b.capitals)
    found["capitals_shared"] = len(a.capitals & b.capitals)
    found["names_apart"] = min(len(a.names - b.names), len(b.names - a.names))
    found["names_shared"] = len(a.names & b.names)
    found["mentioned"] = max(_mentioned(a, b), _mentioned(b, a))
    gone = a.statement.gone, b.statement.gone
    found["gone"] = bool(gone[0]) + bool(gone[1])
    found["gone_said"] = (not gone[0].isdisjoint(b.statement.words)) + (not gone[1].isdisjoint(a.statement.words))

    before = behind = one = 0
    for word in a.beside.keys() & b.beside.keys():
        for side, (mine, theirs) in enumerate(zip(a.beside[word], b.beside[word], strict=True)):
            if mine and theirs:
                apart = mine.isdisjoint(theirs)
                before, behind = before + (apart and not side), behind + (apart and bool(side))
            else:
                one += bool(mine) != bool(theirs)
    found["before_apart"], found["behind_apart"], found["beside_one"] = before, behind, one
    found["denied_said"] = (not a.denied.isdisjoint(b.rest)) + (not b.denied.isdisjoint(a.rest))


def _cosine(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / math.sqrt(len(a) * len(b)) if a and b else 0.0


def _mentioned(a: View, b: View) -> float:
    """How many words of a keyed value the other hit has, from 0 to 1; -1 if there is none."""
    if not a.value:
        return -1.0
    words = frozenset(b.statement.words)
    return sum(named_in(word, words) for word in a.value) / len(a.value)


def _numbers(found: dict[str, float], a: View, b: View) -> None:
    found["digits_shared"] = len(a.digits & b.digits)
    both = bool(a.digits) and bool(b.digits)
    found["digits_both"] = both
    found["told_digits_both"] = bool(a.told_digits) and bool(b.told_digits)
    found["told_digits_shared"] = len(a.told_digits & b.told_digits)
    mine, theirs = a.numbers, b.numbers
    both = bool(mine) and bool(theirs)
    found["numbers_both"] = both
    found["numbers_apart"] = both and mine.isdisjoint(theirs)
    found["numbers_shared"] = len(mine & theirs)
    found["one_number"] = (len(mine) == 1) + (len(theirs) == 1)
    found["one_number_each_apart"] = len(mine) == 1 == len(theirs) and mine != theirs
    found["numbers_within"] = both and (mine <= theirs or theirs <= mine)
    found["numbers_scaled"] = both and mine.isdisjoint(theirs) and _scaled(mine, theirs)


_SCALES = frozenset(
    {7.0, 12.0, 24.0, 60.0, 100.0, 1e3, 3.6e3, 6e4, 8.64e4, 6.048e5, 1e6, 3.6e6, 8.64e7, 6.048e8, 1e9, 2.0**10}
    | {2.0**20, 2.0**30}
)
_MANY_NUMBERS = 6


def _scaled(mine: frozenset[str], theirs: frozenset[str]) -> bool:
    """Whether a number is another one in a common unit (604800 seconds, 7 days)."""
    if len(mine) > _MANY_NUMBERS or len(theirs) > _MANY_NUMBERS:
        return False
    ours, others = ([float(text) for text in side if text.replace(".", "", 1).isdigit()] for side in (mine, theirs))
    return any(x and y and max(x, y) / min(x, y) in _SCALES for x in ours for y in others)


def _scopes(found: dict[str, float], a: View, b: View) -> None:
    mine, theirs = a.statement.scopes, b.statement.scopes
    apart = one = 0
    for name in mine.keys() | theirs.keys():
        x, y = mine.get(name), theirs.get(name)
        if x and y:
            apart += x.isdisjoint(y)
        else:
            one += 1
    found["scopes_apart"], found["scope_of_one"] = apart, one
    sources = a.statement.source, b.statement.source
    found["sources_apart"] = sources[0] != "" != sources[1] != sources[0]


class _Pair(NamedTuple):
    weight: float
    a: Candidate
    b: Candidate


_NO_WEIGHT = -1.0


def _values(found: dict[str, float], a: View, b: View) -> None:
    """For each kind of value how near the query two that differ stand, and two that agree."""
    best = _best_pairs(a.candidates, b.candidates)
    for kind in KINDS:
        differ, agree = _weight(best, kind, "differ"), _weight(best, kind, "agree")
        found[f"differ:{kind}"], found[f"agree:{kind}"] = differ, agree
        found[f"balance:{kind}"] = differ - agree
    hard = [kind for kind in KINDS if kind not in _WORDS]
    differ, agree = _top(best, hard, "differ"), _top(best, hard, "agree")
    found["differ"], found["agree"] = _of(differ), _of(agree)
    found["balance"] = _of(differ) - _of(agree)
    asked = {key: pair for key, pair in best.items() if pair.a.asked and pair.b.asked}
    for_asked, against = _top(asked, KINDS, "differ"), _top(asked, KINDS, "agree")
    found["differ:asked"], found["agree:asked"] = _of(for_asked), _of(against)
    found["balance:asked"] = _of(for_asked) - _of(against)
    found["differ:words"] = len(differ.a.words & differ.b.words) if differ else 0
    found["differ:keyed"] = differ.a.keyed + differ.b.keyed if differ else 0
    found["differ:changed"] = differ.a.changed + differ.b.changed if differ else 0
    found["differ:only"] = (_alone(differ.a, a) + _alone(differ.b, b)) if differ else 0


def _alone(candidate: Candidate, view: View) -> bool:
    """Whether a hit has one value of this slot only."""
    slot = candidate.value.slot
    return sum(other.value.slot == slot for other in view.candidates) == 1


_Best = dict[tuple[str, str], _Pair]


def _best_pairs(mine: Sequence[Candidate], theirs: Sequence[Candidate]) -> _Best:
    best: _Best = {}
    for x in mine:
        for y in theirs:
            kind = _meet(x, y)
            if not kind or x.own or y.own:
                continue
            weight = _MET + min(x.share, y.share) + _ASKED * (x.asked and y.asked)
            verdicts = [verdict for verdict in ("differ", "agree") if _lighter(best.get((kind, verdict)), weight)]
            verdict = _related(x, y, kind) if verdicts else "unsure"
            if verdict in verdicts:
                best[kind, verdict] = _Pair(weight, x, y)
    return {
        key: pair._replace(weight=pair.weight + _SHARED_WORD * len(pair.a.words & pair.b.words))
        for key, pair in best.items()
    }


def _lighter(pair: _Pair | None, weight: float) -> bool:
    return pair is None or pair.weight < weight


def _meet(x: Candidate, y: Candidate) -> str:
    """The kind in which two values meet; empty if they do not."""
    if x.kind in _WORDS and y.kind in _WORDS:
        return "open" if "open" in (x.kind, y.kind) else "loose"
    if x.value.slot == y.value.slot or (x.kind == y.kind and x.kind in _LOOSELY):
        return x.kind if x.kind in KINDS else ""
    return ""


_LOOSELY = frozenset({"person", "host"})
"""Kinds whose slots differ by who the person is, or by what is on the host."""


def _related(x: Candidate, y: Candidate, kind: str) -> str:
    if kind not in _WORDS:
        return relation(x.value, y.value)
    theirs = frozenset(map(str, y.value.data))
    if any(named_in(str(word), theirs) for word in x.value.data):
        return "agree"
    return "agree" if _initials(x, y) or _initials(y, x) else "differ"


def _initials(short: Candidate, long: Candidate) -> bool:
    """Whether one value has the first letters of the other (``CTO``, ``Chief Technology Officer``)."""
    words = long.value.text.lower().split()
    return len(words) > 1 and short.value.text.lower() == "".join(word[0] for word in words)


def _weight(best: _Best, kind: str, verdict: str) -> float:
    return _of(best.get((kind, verdict)))


def _of(pair: _Pair | None) -> float:
    return pair.weight if pair is not None else 0.0


def _top(best: _Best, kinds: Iterable[str], verdict: str) -> _Pair | None:
    pairs = [best[kind, verdict] for kind in kinds if (kind, verdict) in best]
    return max(pairs, key=lambda pair: pair.weight, default=None)
