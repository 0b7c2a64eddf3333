"""SerenLoci over HTTP: keyed facts, each with a project, a key, a value and why.

Above: the fan-out. Below: `JsonHttp`. Reads ``POST /search``, ``GET /fact``, ``GET /fact/history``,
``GET /fact/citations`` and ``GET /counts``; never another path, never a write.

A fact's address is ``project/key``, which outlives its versions; a version that was replaced adds ``@`` and its id.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

import anyio

from callosum_mcp.adapters import options as opt
from callosum_mcp.adapters.base import Adapter
from callosum_mcp.adapters.http import HttpRequest, JsonHttp
from callosum_mcp.adapters.parsing import MAX_ROWS, as_object, parsed, rows, strings_of, text_of
from callosum_mcp.errors import StoreError
from callosum_mcp.models.values import Hit, ProbeReport, StoreQuery, StoreReply, StoreSpec
from callosum_mcp.text import content_words, epoch_seconds, finite, words

_CAP = 500
_ALL_WORDS_UP_TO = 3  # the server wants every word of a query this short; longer ones match any word
_WORDS_ALONE = 3  # at most this many words are asked one by one
_DATES_AT_ONCE = 8
_DATES_KEPT = 10_000
_HYPHEN = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])")
_HYPHENATED = re.compile(r"(?<![^\W\d_])[^\W\d_]{2,}(?:-[^\W\d_]{2,})+")
_STATE_WORDS = frozenset(
    "active alive broken dead disabled down enabled inactive live offline online paused ready running started stopped "
    "state status up working".split()
)
"""A question with one of these asks for a state, which facts keep under a key called status or state."""


class SerenLoci(Adapter):
    """A SerenLoci server."""

    options: ClassVar[frozenset[str]] = frozenset(
        {"search_path", "project", "include_fundamentals", "include_superseded", "widen"}
    )
    replicas = True
    clean: ClassVar[bool] = True
    max_results: ClassVar[int] = _CAP

    def __init__(self, spec: StoreSpec) -> None:
        super().__init__(spec)
        self._path = opt.path(spec.options, "search_path", "/search")
        self._project = opt.string(spec.options, "project", "")
        self._fundamentals = opt.flag(spec.options, "include_fundamentals", True)
        self._superseded = opt.flag(spec.options, "include_superseded", False)
        self._widen = opt.flag(spec.options, "widen", True)
        self._http = JsonHttp(spec)
        self._dates: dict[str, float] = {}

    async def search(self, query: StoreQuery) -> StoreReply:
        """Facts for a query; a short question that finds nothing is asked again with fewer words."""
        if query.types and "fact" not in query.types:
            return StoreReply(hits=())
        found = await self._search_once(asked(query.text) if self._widen else query.text, query)
        if found.hits or not self._widen:
            return found
        for attempt in wider(query.text):
            found = await self._search_once(attempt, query)
            if found.hits:
                return replace(found, remark=found.remark or f"asked with fewer words: {attempt}")
        return found

    async def complete(self, hits: Sequence[Hit]) -> list[Hit]:
        """The same facts with their dates, which a search leaves out; a fact whose date fails keeps none."""
        done = [self._remembered(hit) for hit in hits]
        limiter = anyio.CapacityLimiter(_DATES_AT_ONCE)

        async def date(index: int) -> None:
            async with limiter:
                done[index] = self._keep(await self._dated(done[index]))

        async with anyio.create_task_group() as group:
            for index, hit in enumerate(done):
                if hit.last_seen is None:
                    group.start_soon(date, index)
        return done

    async def fetch(self, hit_id: str) -> Hit | None:
        """One fact with its history and what it rests on."""
        project, key, version = split_address(hit_id)
        history = await self._history(project, key) if key else []
        wanted = next((fact for fact in history if _is_version(fact, version)), None)
        if wanted is None:
            return None
        citations = await self._http.ask_or_none(_fact_request("/fact/citations", project, key))
        around: dict[str, object] = {
            "history": [dict(fact.metadata, value=fact.text) for fact in history if fact is not wanted]
        }
        if isinstance(citations, dict):
            around |= {k: citations[k] for k in ("rests_on", "rested_on_by", "recheck") if citations.get(k)}  # pyright: ignore[reportUnknownMemberType]
        return replace(wanted, metadata={**wanted.metadata, **around})

    async def probe(self) -> ProbeReport:
        """How many facts and projects it holds."""
        counts = as_object(await self._http.ask(HttpRequest(method="GET", path="/counts")))
        live, projects = finite(counts.get("live")), finite(counts.get("projects"))
        known = (
            "" if live is None else f": {live:.0f} facts" + ("" if projects is None else f", {projects:.0f} projects")
        )
        return ProbeReport(detail=f"SerenLoci{known}", entries=None if live is None else int(live))

    def usage(self) -> dict[str, int]:
        """Requests and kept connections."""
        return self._http.usage()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _search_once(self, text: str, query: StoreQuery) -> StoreReply:
        superseded = query.include_superseded or self._superseded
        request = search_request(text, query.limit, self._project, self._fundamentals, superseded, path=self._path)
        found = parse_search(await self._http.ask(request), self.spec.name, query.text, query.limit)
        return replace(found, hits=found.hits[: query.limit])

    def _remembered(self, hit: Hit) -> Hit:
        """A version of a fact never changes its date, so it is asked for once."""
        if hit.last_seen is not None:
            return hit
        return replace(hit, last_seen=self._dates.get(hit.native_id))

    def _keep(self, hit: Hit) -> Hit:
        if hit.last_seen is not None and hit.native_id:
            if len(self._dates) >= _DATES_KEPT:
                self._dates.clear()
            self._dates[hit.native_id] = hit.last_seen
        return hit

    async def _dated(self, hit: Hit) -> Hit:
        project, key, version = split_address(hit.id)
        try:
            if version:
                facts = await self._history(project, key)
                return next((replace(hit, last_seen=f.last_seen) for f in facts if _is_version(f, version)), hit)
            reply = await self._http.ask_or_none(_fact_request("/fact", project, key))
            return hit if reply is None else replace(hit, last_seen=epoch_seconds(as_object(reply).get("created_at")))
        except StoreError:
            return hit

    async def _history(self, project: str, key: str) -> list[Hit]:
        reply = await self._http.ask_or_none(_fact_request("/fact/history", project, key))
        if reply is None:
            return []
        return list(parsed(rows(reply, "history"), lambda row: parse_row(row, self.spec.name)).hits)


def _fact_request(path: str, project: str, key: str) -> HttpRequest:
    return HttpRequest(method="GET", path=path, params={"project": project, "key": key})


def _is_version(fact: Hit, version: str) -> bool:
    return fact.native_id == version if version else not fact.superseded


def address(project: str, key: str, native_id: str, live: bool) -> str:
    """The address of a fact: ``project/key``, with ``@id`` for a version that was replaced.

    A slash in the name of a project is written ``%2F``, so that the first slash always ends it.
    """
    place = f"{project.replace('%', '%25').replace('/', '%2F')}/{key}"
    return place if live else f"{place}@{native_id}"


def split_address(hit_id: str) -> tuple[str, str, str]:
    """An address as (project, key, id of a replaced version or "")."""
    place, _, rest = hit_id.partition("/")
    project = place.replace("%2F", "/").replace("%25", "%")
    key, at, version = rest.rpartition("@")
    is_version = bool(at) and len(version) == 32 and all(c in "0123456789abcdef" for c in version)
    return (project, key, version) if is_version else (project, rest, "")


def wider(text: str) -> list[str]:
    """The attempts after a short query found nothing, each wider than the one before.

    First the content words (with the usual keys of a state, if the question asks for one), repeated until the query is
    long enough that any word may match; then the words one by one, which also brings a project's facts when a word
    names a project.
    """
    closed = _HYPHEN.sub("", text)
    found = words(text)
    meaning = list(dict.fromkeys([*compounds(text), *content_words(text)]))
    if not meaning:
        return []
    if not _STATE_WORDS.isdisjoint(words(closed)):
        meaning += [word for word in ("status", "state") if word not in meaning]
    attempts = list(meaning[:_WORDS_ALONE])
    if len(found) <= _ALL_WORDS_UP_TO:
        repeats = -(-(_ALL_WORDS_UP_TO + 1) // len(meaning))
        attempts.insert(0, " ".join(meaning * repeats))
    return [attempt for attempt in dict.fromkeys(attempts) if attempt != text.lower()]


def compounds(text: str) -> list[str]:
    """The hyphenated words of a text written as one ("stand-up" as "standup"), which is how keys spell them."""
    return [_HYPHEN.sub("", word).lower() for word in _HYPHENATED.findall(text)]


def asked(text: str) -> str:
    """What the server is asked: a question of which any word may match, with its hyphenated words also as one."""
    joined = compounds(text)
    return " ".join([text, *joined]) if joined and len(words(text)) > _ALL_WORDS_UP_TO else text


def search_request(
    text: str, limit: int, project: str, fundamentals: bool, superseded: bool, *, path: str = "/search"
) -> HttpRequest:
    """The search request."""
    body: dict[str, object] = {
        "query": text,
        "n_results": max(1, min(limit, _CAP)),
        "include_fundamentals": fundamentals,
        "include_superseded": superseded,
    }
    if project:
        body["project"] = project
    return HttpRequest(method="POST", path=path, json=body)


def parse_search(reply: object, store: str, query: str = "", limit: int = MAX_ROWS) -> StoreReply:
    """Facts of a ``/search`` reply, in the server's order."""
    return parsed(rows(reply, "hits", limit), lambda row: parse_row(row, store, query))


def parse_row(row: Mapping[str, object], store: str, query: str = "") -> Hit | None:
    """One fact out of a row of any of the server's replies; None without a key or a value."""
    key, value, native = text_of(row, "key"), text_of(row, "value"), text_of(row, "id")
    if key is None or value is None or native is None:
        return None
    project, why = text_of(row, "project") or "*", text_of(row, "why")
    superseded_at = epoch_seconds(row.get("superseded_at"))
    live = row.get("live") is not False and superseded_at is None
    return Hit(
        store=store,
        id=address(project, key, native, live),
        native_id=native,
        text=sentence(project, key, value, why),
        title=key if project == "*" else f"{project} {key}",
        path=f"{project}/{key}",
        type="fact",
        topics=() if project == "*" else (project.lower(),),
        last_seen=epoch_seconds(row.get("created_at")),
        relevance=_share(row.get("score")),
        exact=live and (row.get("match_kind") == "exact" or key == query),
        live=live,
        superseded_at=superseded_at,
        superseded_by=text_of(row, "superseded_by"),
        metadata=_metadata(row, project, key, value, why),
    )


def _share(score: object) -> float | None:
    """A score the server promises between 0 and 1; anything else says nothing."""
    number = finite(score)
    return number if number is not None and 0 <= number <= 1 else None


def sentence(project: str, key: str, value: str, why: str | None) -> str:
    """A fact as text: its project, key, value and why. ``*`` is the scope of facts that hold everywhere."""
    head = f"{key} = {value}" if project == "*" else f"{project} {key} = {value}"
    return f"{head} (because {why})" if why else head


def _metadata(row: Mapping[str, object], project: str, key: str, value: str, why: str | None) -> dict[str, object]:
    kept: dict[str, object] = {"project": project, "key": key, "value": value}
    if why:
        kept["why"] = why
    for name in ("why_changed", "match_kind", "source"):
        said = text_of(row, name)
        if said:
            kept[name] = said
    recheck = strings_of(row, "recheck")
    if recheck:
        kept["recheck"] = list(recheck)
    for name in ("score", "raw_distance"):
        number = finite(row.get(name))
        if number is not None:
            kept[f"store_{name}" if name == "score" else name] = number
    return kept
