"""Reconciliation: the hits of one query, scored, and the claims in which they contradict each other.

Above: the federation, `ask`, bench. Below: `authority`, `claims`, `align`, `kinds`. Pure, deterministic, and the
same for any order of the hits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from callosum_mcp.models.values import Tier
from callosum_mcp.reconcile import authority
from callosum_mcp.reconcile.align import Answer, answers, compare
from callosum_mcp.reconcile.claims import read
from callosum_mcp.reconcile.kinds import kind_of, label_of, reason_of
from callosum_mcp.reconcile.pairs.settling import Court, Ruling, settled
from callosum_mcp.reconcile.pairs.weighing import Weighed, rows, weigh
from callosum_mcp.reconcile.question import understand
from callosum_mcp.reconcile.verdicts import Conflict, RankedHit, Reconciliation


def reconcile(
    hits: Sequence[RankedHit],
    *,
    now: float,
    query: str = "",
    half_life_days: float = authority.HALF_LIFE_DAYS,
    k: int = authority.K,
    weights: Mapping[Tier, float] = authority.WEIGHTS,
) -> Reconciliation:
    """Scores hits and finds their conflicts.

    Args:
        hits: The hits with their ranks, in any order; superseded ones assert nothing.
        now: Unix seconds.
        query: The question they answer; it says which subject and attribute are meant.
        half_life_days: Time constant of recency, in days.
        k: The k of relevance.
        weights: w_authority by tier.
    """
    scores = _scores(hits, now, half_life_days, k, weights)
    court = Court(understand(query), scores, now)
    ruling = _ruling(hits, court)
    return Reconciliation(conflicts=settled(ruling, weigh(*ruling, court.question), court), scores=scores)


def weighed(hits: Sequence[RankedHit], *, now: float, query: str) -> Iterator[Weighed]:
    """The pairs of hits that are weighed, with their features: what the forest is trained on."""
    scores = _scores(hits, now, authority.HALF_LIFE_DAYS, authority.K, authority.WEIGHTS)
    court = Court(understand(query), scores, now)
    return rows(*_ruling(hits, court), court.question)


def _scores(
    hits: Sequence[RankedHit], now: float, half_life_days: float, k: int, weights: Mapping[Tier, float]
) -> dict[str, float]:
    """The authority of each hit by address; of several copies the best counts."""
    scores: dict[str, float] = {}
    for ranked in hits:
        score = authority.score(
            ranked.hit, ranked.store_rank, now=now, half_life_days=half_life_days, k=k, weights=weights
        )
        scores[ranked.hit.address] = max(score, scores.get(ranked.hit.address, 0.0))
    return scores


def _ruling(hits: Sequence[RankedHit], court: Court) -> Ruling:
    live = {ranked.hit.address: ranked.hit for ranked in sorted(hits, key=_whole) if not ranked.hit.superseded}
    statements = [read(hit, court.question) for _, hit in sorted(live.items())]
    found = answers(statements, court.question)
    return Ruling(statements, found, _conflicts(found, court))


def _whole(ranked: RankedHit) -> tuple[str, int, str]:
    """Orders copies of one address, so that which of them is read does not depend on the order they came in."""
    return ranked.hit.address, -ranked.store_rank, ranked.hit.text


def _conflicts(found: list[Answer], court: Court) -> tuple[Conflict, ...]:
    slots: dict[str, list[Answer]] = {}
    for answer in found:
        slots.setdefault(answer.slot, []).append(answer)
    conflicts: list[Conflict] = []
    settled: list[_Settled] = []
    for slot in sorted(slots, key=_strongest_first):
        conflict = _trial(slots[slot], court)
        if conflict is None:
            continue
        sides = frozenset((conflict.winner, *conflict.losers))
        now = _Settled(slot, conflict.winner, sides, frozenset(conflict.members), _texts(slots[slot], conflict.winner))
        if not any(_same(now, before) for before in settled):
            conflicts.append(conflict)
        settled.append(now)
    return tuple(conflicts)


class _Settled(NamedTuple):
    """A conflict that was found: its slot, its winner, who is on its two sides, and the winner's values as written."""

    slot: str
    winner: str
    sides: frozenset[str]
    members: frozenset[str]
    texts: frozenset[str]


def _texts(found: list[Answer], winner: str) -> frozenset[str]:
    return frozenset(
        claim.value.text for answer in found if answer.statement.hit.address == winner for claim in answer.claims
    )


_COUNTED = ("number", "version", "state", "when")


def _same(now: _Settled, before: _Settled) -> bool:
    """Whether a conflict of the same hits is the one that was found before, seen another way."""
    if now.slot == "gone" and now.winner == before.winner and not before.slot.startswith(_COUNTED):
        return True
    if now.slot in ("open", "gone") and now.sides <= before.members:
        return True
    if not (now.sides <= before.sides or before.sides <= now.sides):
        return False
    if {now.slot.split(":")[0], before.slot} == {"number", "version"}:
        return not now.texts.isdisjoint(before.texts)
    return not _separate(now.slot, before.slot)


_SLOT_ORDER = (
    "state",
    "version",
    "choice",
    "person",
    "host",
    "port",
    "ip",
    "when",
    "number",
    "room",
    "path",
    "mail",
    "fqdn",
    "url",
    "open",
    "gone",
)


def _strongest_first(slot: str) -> tuple[int, str]:
    kind = slot.split(":")[0]
    return (_SLOT_ORDER.index(kind) if kind in _SLOT_ORDER else len(_SLOT_ORDER)), slot


_ADDRESSES = frozenset({"fqdn", "url"})
_VIEWS = (
    {"ip", "ip6", "fqdn", "url", "port", "host", "mail", "path"},
    {"number", "when", "version"},
    {"state"},
    {"choice"},
    {"person"},
    {"room"},
)
"""Slots of one set are views of one value: a link, its host and its port."""


def _separate(slot: str, other: str) -> bool:
    """Whether a further conflict of the same hits is one of its own.

    A state and a version are, two views of one value are not.
    """
    kinds = {name.split(":")[0] for name in (slot, other)}
    if "choice" in kinds and kinds & _ADDRESSES:
        return False  # a service and the place it is reached at
    return kinds.isdisjoint({"open", "gone"}) and not any(kinds <= views for views in _VIEWS)


def _trial(candidates: list[Answer], court: Court) -> Conflict | None:
    """The conflict in one slot: the strongest hit that somebody contradicts, and everybody it is compared with."""
    ranked = sorted(
        candidates, key=lambda answer: (-court.scores[answer.statement.hit.address], answer.statement.hit.address)
    )
    for at, winner in enumerate(ranked):
        losers = [answer for answer in ranked[at + 1 :] if _contradict(winner, answer, court)]
        if losers:  # the stronger ones have not contradicted it
            return _verdict(winner, losers, [answer for answer in ranked if answer is not winner], court)
    return None


def _contradict(a: Answer, b: Answer, court: Court) -> bool:
    if a.slot == "open" and (a.typed & b.typed):
        return False  # both answer in a slot of the question, which is where they are compared
    return a.statement.hit.store != b.statement.hit.store and compare(a, b, court.question) == "differ"


def _verdict(winner: Answer, losers: list[Answer], others: list[Answer], court: Court) -> Conflict:
    beaten = [answer.statement.hit for answer in losers]
    lost = {hit.address for hit in beaten}
    members = [
        answer.statement.hit.address
        for answer in (winner, *others)
        if answer is winner
        or answer.statement.hit.address in lost
        or compare(winner, answer, court.question) == "agree"
    ]
    return Conflict(
        claim=label_of(winner, court.question),
        winner=winner.statement.hit.address,
        losers=tuple(hit.address for hit in beaten),
        members=tuple(members),
        kind=kind_of(winner, beaten, court.question),
        reason=reason_of(winner.statement.hit, beaten, court.now),
    )
