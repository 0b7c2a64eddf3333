"""A SerenMemory or SerenLoci that finds what the fault server's modes say: the routes of the fake, other rows.

Above: the wires. Below: `modes` and the fake server of the adapters' tests.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from support.fake_seren import FAULTS, Asked, FakeSeren, Kind, Reply, of

from .modes import RETRY_AFTER_S, Row, Setting, found, half

_WHEN = 1_795_727_200.0
_NAMES = {"401": "401", "500": "500", "not-a-list": "no_hits_field", "huge": "huge"}
"""Modes that the fake knows, by its own names."""


class FaultySeren(FakeSeren):
    """One store.

    Args:
        kind: Which of the two servers it is.
        name: The store's name.
    """

    def __init__(self, kind: Kind, name: str) -> None:
        super().__init__(kind)
        self._name = name
        self._now = Setting()
        self._headers: dict[str, str] = {}

    def reply(self, asked: Asked, setting: Setting) -> Reply:
        """The reply to one request."""
        mode = setting.mode
        if mode == "redirect":
            return Reply(status=307, headers={"location": setting.url})
        if mode == "404-session":
            return of({"detail": "Not Found"}, 404)
        if mode == "429":
            return Reply(status=429, headers={"retry-after": str(RETRY_AFTER_S)})
        fault = FAULTS.get(_NAMES.get(mode, ""))
        self._now, self._headers = setting, dict(asked.headers)
        reply = fault(self, asked) if fault is not None else None
        if reply is not None:
            return reply
        reply = self.answer(asked)
        return Reply(status=reply.status, headers=reply.headers, body=half(reply.body)) if mode == "bad-json" else reply

    def _found(self, body: Row) -> list[Row]:
        return found(self._name, str(body["query"]), self._now, self._headers)

    def _memory_search(self, body: Row) -> Reply:
        return of({"query": body["query"], "hits": [_episode(row) for row in self._found(body)]})

    def _loci_search(self, body: Row) -> Row:
        return {"query": body["query"], "hits": [_fact(row) for row in self._found(body)], "finder": "lexical"}

    def _versions(self, asked: Asked) -> list[Any]:
        fact = {"project": asked.params.get("project"), "key": asked.params.get("key"), "value": "as it stands"}
        return [{**fact, "id": "0" * 32, "why": "", "created_at": _WHEN, "superseded_at": None}]


def _episode(row: Row) -> Row:
    meta = {"topic": "faults", "ts": _WHEN}
    distance = row["score"]
    kept = {"id": row["id"], "content": row["text"], "tier": "short", "topic": "faults", "metadata": meta}
    return {**kept, "score": distance, "raw_distance": distance}


def _fact(row: Row) -> Row:
    return {
        "id": hashlib.md5(row["id"].encode()).hexdigest(),
        "project": "faults",
        "key": row["id"],
        "value": row["text"],
        "why": "",
        "source": "user",
        "score": row["score"],
        "match_kind": "lexical",
        "live": True,
        "superseded_at": None,
        "recheck": None,
    }


def encoded(value: object) -> Reply:
    """A JSON reply."""
    return Reply(body=json.dumps(value).encode(), headers={"content-type": "application/json"})
