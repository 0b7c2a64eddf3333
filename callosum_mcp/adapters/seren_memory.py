"""SerenMemory over HTTP: episodes in three tiers (short, near, long).

Above: the fan-out. Below: `JsonHttp`. Reads ``POST /search``, ``POST /by_topic``, ``GET /memory/{id}``,
``GET /long/{id}/satellites`` and ``GET /``; never another path, never a write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar
from urllib.parse import quote

from callosum_mcp.adapters import options as opt
from callosum_mcp.adapters.base import Adapter
from callosum_mcp.adapters.http import HttpRequest, JsonHttp
from callosum_mcp.adapters.parsing import MAX_ROWS, as_object, mapping_of, parsed, rows, text_of
from callosum_mcp.errors import StoreBadReply
from callosum_mcp.models.values import Hit, ProbeReport, StoreQuery, StoreReply, StoreSpec
from callosum_mcp.text import epoch_seconds, finite

TIERS = ("short", "near", "long")
_CAP = 50  # n_results above this is a 422 on the server


class SerenMemory(Adapter):
    """A SerenMemory server."""

    options: ClassVar[frozenset[str]] = frozenset(
        {"search_path", "topic_search_path", "include_short", "include_near", "include_long", "include_superseded"}
        | {"with_surroundings"}
    )
    replicas = True
    clean: ClassVar[bool] = True
    max_results: ClassVar[int] = _CAP
    topical: ClassVar[bool] = True

    def __init__(self, spec: StoreSpec) -> None:
        super().__init__(spec)
        self._search_path = opt.path(spec.options, "search_path", "/search")
        self._topic_path = opt.path(spec.options, "topic_search_path", "/by_topic")
        self._tiers = frozenset(t for t in TIERS if opt.flag(spec.options, f"include_{t}", True))
        self._superseded = opt.flag(spec.options, "include_superseded", False)
        self._surroundings = opt.flag(spec.options, "with_surroundings", True)
        self._http = JsonHttp(spec)

    async def search(self, query: StoreQuery) -> StoreReply:
        """Hits by meaning; with a topic filter also those that carry the topic."""
        tiers = wanted_tiers(query, self._tiers)
        if not tiers:
            return StoreReply(hits=())
        path, wide = self._search_path, query.include_superseded or self._superseded
        reply = await self._http.ask(search_request(query, tiers, wide, path=path, surroundings=self._surroundings))
        found = parse_search(reply, self.spec.name, query.limit)
        if query.topics:
            found = await self._with_topics(query, found, tiers)
        elif not found.hits:
            await self._check_not_empty(tiers)
        kept = [hit for hit in found.hits if hit.superseded or not _is_satellite(hit)]
        return replace(found, hits=tuple(kept[: query.limit]))

    async def by_topic(self, topics: Sequence[str], limit: int, exclude: Sequence[str] = ()) -> StoreReply:
        """Memories that carry one of the topics as a tag, most shared topics first."""
        request = topic_request(topics, limit, self._tiers, exclude, path=self._topic_path)
        return parse_topics(await self._http.ask(request), self.spec.name)

    async def fetch(self, hit_id: str) -> Hit | None:
        """One memory; a long-term core with its episodes and what it superseded."""
        if hit_id in (".", ".."):  # a URL reads these as another page
            return None
        reply = await self._http.ask_or_none(HttpRequest(method="GET", path=f"/memory/{quote(hit_id, safe='')}"))
        if reply is None:
            return None
        hit = parse_row(as_object(reply), self.spec.name)
        if hit is None:
            raise StoreBadReply("memory has no text")
        return await self._with_satellites(hit) if hit.type == "long" else hit

    async def probe(self) -> ProbeReport:
        """Counts per tier, from the server's root page."""
        counts = parse_counts(await self._http.ask(HttpRequest(method="GET", path="/")))
        said = ", ".join(f"{counts[tier]} {tier}" for tier in TIERS if tier in counts)
        return ProbeReport(detail=f"SerenMemory: {said or 'no counts'}", entries=sum(counts.values()))

    def usage(self) -> dict[str, int]:
        """Requests and kept connections."""
        return self._http.usage()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _check_not_empty(self, tiers: frozenset[str]) -> None:
        """Vector search always returns something, so nothing out of tiers that hold memories is a fault.

        The near tier may hold nothing but completed entries, which no search returns.
        """
        counts = parse_counts(await self._http.ask(HttpRequest(method="GET", path="/")))
        held = sum(counts.get(tier, 0) for tier in tiers - {"near"})
        if held:
            raise StoreBadReply(
                f"found nothing although it holds {held} memories: its embedding model is probably missing"
            )

    async def _with_topics(self, query: StoreQuery, found: StoreReply, tiers: frozenset[str]) -> StoreReply:
        request = topic_request(sorted(query.topics), min(query.limit, _CAP), tiers, (), path=self._topic_path)
        tagged = parse_topics(await self._http.ask(request), self.spec.name)
        near = [hit for hit in found.hits if not query.topics.isdisjoint(hit.topics)]
        seen = {hit.id for hit in near}
        more = [hit for hit in tagged.hits if hit.id not in seen]
        return StoreReply(hits=(*near, *more), remark=found.remark or tagged.remark)

    async def _with_satellites(self, hit: Hit) -> Hit:
        request = HttpRequest(method="GET", path=f"/long/{quote(hit.id, safe='')}/satellites")
        reply = await self._http.ask_or_none(request)
        if reply is None:
            return hit
        around = as_object(reply)
        extra = {key: around[key] for key in ("satellites", "supersedes") if around.get(key)}
        return replace(hit, metadata={**hit.metadata, **extra})


def wanted_tiers(query: StoreQuery, configured: frozenset[str]) -> frozenset[str]:
    """The tiers to search: the configured ones, narrowed by the call's types."""
    return configured & query.types if query.types else configured


def search_request(
    query: StoreQuery, tiers: frozenset[str], superseded: bool, *, path: str = "/search", surroundings: bool = True
) -> HttpRequest:
    """The search request; a superseded core is only returned together with satellites."""
    body: dict[str, object] = {
        "query": query.text,
        "n_results": max(1, min(query.limit, _CAP)),
        **{f"include_{tier}": tier in tiers for tier in TIERS},
        "include_superseded": superseded,
        "with_surroundings": surroundings,
    }
    if superseded:
        body["include_satellites"] = True
    return HttpRequest(method="POST", path=path, json=body)


def topic_request(
    topics: Sequence[str], limit: int, tiers: frozenset[str], exclude: Sequence[str], *, path: str = "/by_topic"
) -> HttpRequest:
    """The request for memories by tag."""
    body: dict[str, object] = {
        "topics": list(topics),
        "n_results": max(1, min(limit, _CAP)),
        **{f"include_{tier}": tier in tiers for tier in TIERS},
        "exclude_ids": list(exclude),
    }
    return HttpRequest(method="POST", path=path, json=body)


def _is_satellite(hit: Hit) -> bool:
    """An episode behind a core: it only comes along because superseded cores cannot be had without."""
    return hit.metadata.get("kind") == "satellite"


def parse_search(reply: object, store: str, limit: int = MAX_ROWS) -> StoreReply:
    """Hits of a ``/search`` reply, in the server's order, which weighs distance by tier and evidence."""
    return parsed(rows(reply, "hits", limit), lambda row: parse_row(row, store))


def parse_topics(reply: object, store: str) -> StoreReply:
    """Hits of a ``/by_topic`` reply: most shared topics first, then newest."""
    return parsed(rows(reply, "hits"), lambda row: parse_row(row, store))


def parse_row(row: Mapping[str, object], store: str) -> Hit | None:
    """One memory out of a row of any of the server's replies; None if it has no id or no text."""
    identity, text = text_of(row, "id"), text_of(row, "content")
    if identity is None or text is None:
        return None
    meta, around = mapping_of(row, "metadata"), mapping_of(row, "surroundings")
    distance = finite(row.get("raw_distance"))
    superseded_by = text_of(meta, "superseded_by") or text_of(around, "superseded_by")
    return Hit(
        store=store,
        id=identity,
        text=text,
        type=text_of(row, "tier"),
        topics=_topics(text_of(row, "topic") or text_of(meta, "topic")),
        last_seen=_last_seen(meta),
        relevance=None if distance is None else 1.0 / (1.0 + max(distance, 0.0)),
        live=superseded_by is None,
        superseded_by=superseded_by,
        metadata=_metadata(row, meta, around),
    )


def _topics(joined: str | None) -> tuple[str, ...]:
    parts = (part.strip().lower() for part in (joined or "").split(","))
    return tuple(dict.fromkeys(part for part in parts if part))


def _last_seen(meta: Mapping[str, object]) -> float | None:
    for key in ("last_confirmed", "ts", "created_at"):
        moment = epoch_seconds(meta.get(key))
        if moment is not None:
            return moment
    return None


def _metadata(row: Mapping[str, object], meta: Mapping[str, object], around: Mapping[str, object]) -> dict[str, object]:
    kept = {key: value for key, value in meta.items() if value is not None and key != "topic"}
    for key in ("score", "raw_distance", "matched_topics", "overlap"):
        if row.get(key) is not None:
            kept[f"store_{key}" if key == "score" else key] = row[key]
    if around:
        kept["surroundings"] = dict(around)
    matched = mapping_of(row, "matched_via")
    if matched:
        kept["matched_via"] = dict(matched)
    return kept


def parse_counts(reply: object) -> dict[str, int]:
    """Memories per tier out of the root page."""
    tiers = mapping_of(as_object(reply), "tiers")
    return {tier: int(count) for tier in TIERS if (count := finite(tiers.get(tier))) is not None}
