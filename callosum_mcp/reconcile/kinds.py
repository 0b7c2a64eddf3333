"""The kind of a conflict, its reason and its label.

Above: `reconciliation`. Below: `align`. Pure. The first rule that fits decides the kind: a date is unknown, the
winner is not the newer, its text tells of a change, the readings are hours apart, the attribute runs through values
by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from callosum_mcp.models.values import Hit
from callosum_mcp.reconcile.align import Answer
from callosum_mcp.reconcile.authority import age_days
from callosum_mcp.reconcile.question import Question
from callosum_mcp.reconcile.tiers import DEFAULT_TIER
from callosum_mcp.reconcile.topic import DIMENSIONS

_DAY_S = 86_400.0
_RUNNING = (
    "state:on",
    "state:health",
    "state:done",
    "state:seal",
    "state:open",
    "state:lock",
    "state:present",
    "state:full",
    "state:available",
    "state:paid",
    "version",
)
_SET = frozenset(
    """
    a:limit a:size a:timeout a:ttl a:retention a:retry a:interval a:threshold a:coverage a:price a:budget
    a:length a:batch a:pool a:rate a:vlan a:phone a:merge a:ssid
    """.split()
)
_STALE_DAYS = 14.0
_TIER_ORDER = ("live-infra", "recent-file", "agent-memory", "older-note")


def kind_of(
    winner: Answer, losers: Sequence[Hit], question: Question
) -> Literal["temporal_update", "genuine_conflict"]:
    """``temporal_update`` if the newer replaces the older."""
    changed = winner.statement.changed or any(claim.changed for claim in winner.claims)
    return kind_by(winner.statement.hit, losers, changed=changed, runs=_runs_by_itself(winner, question))


def kind_by(
    winner: Hit, losers: Sequence[Hit], *, changed: bool, runs: bool
) -> Literal["temporal_update", "genuine_conflict"]:
    """The kind by the first rule that fits.

    Args:
        winner: The hit that wins.
        losers: Those it contradicts.
        changed: The winner says that something changed.
        runs: The attribute runs through its values by itself.
    """
    seen = winner.last_seen
    others = [hit.last_seen for hit in losers]
    if seen is None or any(other is None or seen <= other for other in others):
        return "genuine_conflict"
    if changed:
        return "temporal_update"
    if any(other is not None and seen - other < _DAY_S for other in others):
        return "genuine_conflict"
    return "temporal_update" if runs else "genuine_conflict"


def _runs_by_itself(answer: Answer, question: Question) -> bool:
    """Whether the attribute changes without anybody choosing: versions, states, what is installed or counted."""
    if answer.slot.startswith("number"):
        asked = question.topics & DIMENSIONS
        attributes = asked or frozenset(topic for claim in answer.claims for topic in claim.wide)
        installed = {"a:size"} if attributes & {"a:disk", "a:memory"} else set[str]()
        return answer.slot in ("number:count", "number:bytes") and not (attributes & _SET) - installed
    if answer.slot == "open":
        return any("a:version" in claim.label for claim in answer.claims)
    return answer.slot in _RUNNING


def reason_of(winner: Hit, losers: Sequence[Hit], now: float) -> str:
    """Why the winner won, in words: the age of what lost, the tiers, the confidence."""
    loser = losers[0]
    parts: list[str] = []
    mine, theirs = age_days(winner, now), age_days(loser, now)
    kind = _noun(loser)
    if theirs is None:
        parts.append(f"age of the {kind} unknown")
    elif mine is not None and theirs > mine:
        parts.append(f"{kind} stale {theirs:.0f} d" if theirs >= _STALE_DAYS else f"older by {_span(theirs - mine)}")
    better, worse = winner.tier or DEFAULT_TIER, loser.tier or DEFAULT_TIER
    if _TIER_ORDER.index(better) < _TIER_ORDER.index(worse):
        parts.append(f"{better.replace('-', ' ')} beats {worse.replace('-', ' ')}")
    if _sure(winner) > _sure(loser) and not parts:
        parts.append(f"confidence {_sure(winner):.2g} against {_sure(loser):.2g}")
    return ", ".join(parts) or "higher authority"


def _noun(hit: Hit) -> str:
    return {"live-infra": "reading", "recent-file": "file", "agent-memory": "memory", "older-note": "note"}[
        hit.tier or DEFAULT_TIER
    ]


def _span(days: float) -> str:
    return f"{days:.0f} d" if days >= 1 else f"{days * 24:.0f} h"


def _sure(hit: Hit) -> float:
    return 1.0 if hit.confidence is None else hit.confidence


_SLOT_NAMES = {
    "state": "status", "number": "amount", "when": "time", "person": "owner", "open": "value", "ip": "address",
    "ip6": "address", "fqdn": "host name", "url": "link", "mail": "mail address",
}  # fmt: skip


def label_of(answer: Answer, question: Question) -> str:
    """A short name for the claim: the subject of the query and the attribute."""
    subject = " ".join(anchor.joined for anchor in question.anchors if anchor.joined in answer.statement.squeezed)
    kind, _, name = answer.slot.partition(":")
    attribute = next((topic[2:] for topic in sorted(question.topics) if topic.startswith("a:")), "")
    if not attribute or kind in ("state", "version"):
        attribute = name.replace("_", " ") if kind == "choice" else _SLOT_NAMES.get(kind, kind)
    hit = answer.statement.hit
    return f"{subject or hit.metadata.get('project') or hit.title or hit.store} {attribute.replace('_', ' ')}"
