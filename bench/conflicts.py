"""Conflict detection on a labelled file: precision, recall, winners, kinds, false alarms.

    python bench/conflicts.py FILE

FILE has one JSON object a line: ``{id, query, now, hits: [{store, kind, tier, id, title?, text, key?, project?, value?,
last_seen, confidence}], conflicts: [{members, winner, losers, kind, about}]}``. What is measured is the shipped
`reconcile`; `detect` here only turns a case into hits and back, so that another scorer can call it (with this folder on
the path: ``conflicts:detect``).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from callosum_mcp.models.values import Hit, Tier
from callosum_mcp.reconcile import Ranked, reconcile
from callosum_mcp.text import epoch_seconds

Case = Mapping[str, Any]
Found = dict[str, Any]


def hit_of(row: Mapping[str, Any]) -> Hit:
    """One row of a case as a hit."""
    known = {name: row[name] for name in ("key", "project", "value") if name in row}
    return Hit(
        store=str(row["store"]),
        id=str(row["id"]),
        text=str(row["text"]),
        title=row.get("title"),
        type=str(row["kind"]),
        tier=cast("Tier", row["tier"]),
        last_seen=epoch_seconds(row["last_seen"]),
        confidence=row["confidence"],
        metadata=known,
    )


def world_of(case: Case) -> tuple[list[Ranked], float]:
    """The hits of a case, each first in its store, and its time in Unix seconds."""
    now = epoch_seconds(case["now"])
    if now is None:
        raise SystemExit(f"case {case['id']}: `now` is no time")
    return [Ranked(hit=hit_of(row)) for row in case["hits"]], now


def detect(case: Case) -> list[Found]:
    """The conflicts of a case as the labelled file writes them."""
    hits, now = world_of(case)
    native = {ranked.hit.address: ranked.hit.id for ranked in hits}
    found = reconcile(hits, now=now, query=str(case["query"]))
    return [
        {
            "members": [native[address] for address in conflict.members],
            "winner": native[conflict.winner],
            "losers": [native[address] for address in conflict.losers],
            "kind": conflict.kind,
            "claim": conflict.claim,
            "reason": conflict.reason,
        }
        for conflict in found.conflicts
    ]


@dataclass(slots=True)
class Score:
    """Counts over a file."""

    hit: int = 0
    missed: int = 0
    false: int = 0
    winners: int = 0
    kinds: int = 0
    alarms: int = 0
    clean: int = 0
    wrong: list[str] = field(default_factory=list[str])

    @property
    def precision(self) -> float:
        return self.hit / (self.hit + self.false) if self.hit + self.false else 0.0

    @property
    def recall(self) -> float:
        return self.hit / (self.hit + self.missed) if self.hit + self.missed else 0.0

    def line(self) -> str:
        """The scorer's last line."""
        both = self.precision + self.recall
        f1 = 2 * self.precision * self.recall / both if both else 0.0
        return (
            f"precision {self.precision:.3f}  recall {self.recall:.3f}  F1 {f1:.3f}  winner {self.winners}/{self.hit}  "
            f"kind {self.kinds}/{self.hit}  false alarms {self.alarms}/{self.clean}"
        )


def matches(found: Found, label: Mapping[str, Any]) -> bool:
    """Whether a found conflict is the labelled one: it has a labelled loser and a hit of the winner's side."""
    members, losers = set(found["members"]), set(label["losers"])
    return bool(members & losers) and bool(members & (set(label["members"]) - losers))


def count(case: Case, score: Score) -> None:
    """Adds one case to the counts."""
    labels, found = list(case["conflicts"]), detect(case)
    score.clean += not labels
    score.alarms += bool(found) and not labels
    for label in labels:
        match = next((item for item in found if matches(item, label)), None)
        if match is None:
            score.missed += 1
            score.wrong.append(f"missed  {case['id']}: {label['about']}")
            continue
        found.remove(match)
        right_kind = match["kind"] == label["kind"]
        score.hit += 1
        score.winners += match["winner"] in set(label["members"]) - set(label["losers"])
        score.kinds += right_kind
        if match["winner"] not in set(label["members"]) - set(label["losers"]):
            score.wrong.append(f"winner  {case['id']}: {label['about']}: {match['winner']}")
        if not right_kind:
            score.wrong.append(f"kind    {case['id']}: {label['about']} is {label['kind']}")
    for extra in found:
        score.false += 1
        score.wrong.append(f"false   {case['id']}: {extra['claim']} {extra['members']} ({extra['reason']})")


def measure(path: Path) -> Score:
    """Scores a file."""
    score = Score()
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip():
            count(json.loads(line), score)
    return score


def main(arguments: list[str]) -> int:
    """Prints what went wrong and the scorer's line."""
    if len(arguments) != 1:
        print("usage: python bench/conflicts.py FILE", file=sys.stderr)
        return 2
    score = measure(Path(arguments[0]))
    print("\n".join(score.wrong))
    print(score.line())
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
