"""Write the corpus to a real SerenLoci and a real SerenMemory through their HTTP APIs."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx2

from .corpus import Draft, Near, Operation, load
from .server import Server

_DAY_S = 86_400.0


@dataclass(frozen=True, kw_only=True)
class Seeded:
    """What landed. The servers choose the ids of facts and cores; shorts and nears keep the corpus' own ids."""

    at: float
    """Moment of seeding in unix seconds; a row's time is this minus its `days_ago`. Facts date from seeding."""
    facts: int
    """Live facts in Loci."""
    memories: int
    """Memories in the three live tiers (short, near, long)."""
    tiers: Mapping[str, int]
    """Rows by tier as Memory counts them: short, near, long, pruned, drafts, briefs."""
    cores: Mapping[str, str]
    """Long-term id by the name of its operation (`core-yellow`) or `promoted-` and the id of the short."""

    def memory_id(self, name: str) -> str:
        """The native id of a memory that a label of the corpus names."""
        return self.cores.get(name, name)


def seed(memory: Server, loci: Server) -> Seeded:
    """Fill both servers; they must be empty. Takes about two seconds."""
    at = time.time()
    with loci.client() as client:
        facts = _Writer(loci, client).facts()
    with memory.client() as client:
        writer = _Writer(memory, client)
        writer.shorts(at)
        writer.nears(at)
        cores = writer.drafts() | writer.promotions()
    tiers: dict[str, int] = memory.get("/")["tiers"]
    living = sum(tiers[tier] for tier in ("short", "near", "long"))
    return Seeded(at=at, facts=facts, memories=living, tiers=tiers, cores=cores)


class _Writer:
    """Writes to one server over one kept connection; any refusal is a LabError."""

    def __init__(self, server: Server, client: httpx2.Client) -> None:
        self._server = server
        self._client = client

    def facts(self) -> int:
        corpus = load()
        for fact in corpus.facts:
            self._post("/fact", _fields(fact, "project", "key", "value", "why"))
        for cite in corpus.citations:
            self._post("/fact/cite", _fields(cite, "project", "key", "on_project", "on_key", "why"))
        for edit in corpus.edits:
            self._post("/fact", _fields(edit, "project", "key", "value", "why", "why_changed"))
        for gone in corpus.retirements:
            params = _fields(gone, "project", "key", "why_changed")
            self._server.checked(self._client.delete("/fact", params=params))
        return self._server.get("/counts")["live"]

    def shorts(self, at: float) -> None:
        for row in load().shorts:
            self._post("/short", _fields(row, "id", "topic", "content") | {"ts": at - row.days_ago * _DAY_S})

    def nears(self, at: float) -> None:
        for row in load().nears:
            self._post("/near", _near(row, at))
            if row.completed:
                self._post(f"/near/{row.id}/complete")

    def drafts(self) -> dict[str, str]:
        cores: dict[str, str] = {}
        for draft in load().drafts:
            operations = [_operation(step, cores) for step in draft.operations]
            created = self._post("/drafts", {"summary": draft.summary, "operations": operations})
            cores |= self._review(created["id"], draft)
        return cores

    def promotions(self) -> dict[str, str]:
        return {
            f"promoted-{short}": self._post(f"/short/{short}/promote")["long_term_id"] for short in load().promotions
        }

    def _review(self, draft_id: str, draft: Draft) -> dict[str, str]:
        decisions = [_decision(i, step) for i, step in enumerate(draft.operations) if step.verdict is not None]
        if not decisions:
            return {}
        results = self._post(f"/drafts/{draft_id}/review", {"decisions": decisions})["results"]
        return {draft.operations[int(r["op"])].name: r["long_term_id"] for r in results if r.get("long_term_id")}

    def _post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        return self._server.checked(self._client.post(path, json=body))


def _near(row: Near, at: float) -> dict[str, Any]:
    due = None if row.due_in_days is None else str(at + row.due_in_days * _DAY_S)
    return _fields(row, "id", "topic", "intent") | {
        "trigger_type": row.trigger,
        "trigger_value": due or row.event,
        "created_at": at - row.days_ago * _DAY_S,
    }


def _operation(step: Operation, cores: Mapping[str, str]) -> dict[str, Any]:
    body = _fields(step, "kind", "topic", "content", "evidence_count", "contradicts")
    body["source_short_ids"] = list(step.sources)
    if step.target is not None:
        body["target_core_id"] = cores[step.target]
    return {name: value for name, value in body.items() if value is not None}


def _decision(index: int, step: Operation) -> dict[str, Any]:
    body = {"op": index} | _fields(step, "verdict", "critique")
    return {name: value for name, value in body.items() if value is not None}


def _fields(row: object, *names: str) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names}
