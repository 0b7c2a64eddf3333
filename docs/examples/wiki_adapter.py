"""The store type `wiki`: a made-up HTTP service, ``GET /find?q=…&max=…`` and ``GET /page?id=…``."""

from collections.abc import Mapping
from typing import ClassVar

from callosum_mcp.adapters.base import Adapter
from callosum_mcp.adapters.http import HttpRequest, JsonHttp
from callosum_mcp.adapters.options import string
from callosum_mcp.adapters.parsing import as_object, parsed, rows, strings_of, text_of
from callosum_mcp.models.values import Hit, ProbeReport, StoreQuery, StoreReply, StoreSpec
from callosum_mcp.text import epoch_seconds


class Wiki(Adapter):
    """One wiki; `url` is its base URL."""

    options: ClassVar[frozenset[str]] = frozenset({"space"})
    max_results: ClassVar[int] = 100

    def __init__(self, spec: StoreSpec) -> None:
        super().__init__(spec)
        self._space = string(spec.options, "space", "")
        self._http = JsonHttp(spec)

    async def search(self, query: StoreQuery) -> StoreReply:
        """Pages for a query, in the wiki's order."""
        return parse_found(await self._http.ask(find_request(query, self._space)), self.spec.name)

    async def fetch(self, hit_id: str) -> Hit | None:
        """One page in full."""
        reply = await self._http.ask_or_none(HttpRequest(method="GET", path="/page", params={"id": hit_id}))
        return None if reply is None else parse_page(as_object(reply), self.spec.name)

    async def probe(self) -> ProbeReport:
        """Whether a search for one page succeeds."""
        await self.search(StoreQuery(text="home", limit=1))
        return ProbeReport(detail="wiki: answers")

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()


def find_request(query: StoreQuery, space: str) -> HttpRequest:
    """The request for a query; pure."""
    params = {"q": query.text, "max": str(query.limit)}
    return HttpRequest(method="GET", path="/find", params={**params, "space": space} if space else params)


def parse_found(reply: object, store: str) -> StoreReply:
    """The hits of a reply; pure. A page that cannot be read is counted, the others stay."""
    return parsed(rows(reply, "pages"), lambda row: parse_page(row, store))


def parse_page(row: Mapping[str, object], store: str) -> Hit | None:
    """One page; None if it has no id or no text."""
    page_id, text = text_of(row, "id"), text_of(row, "body")
    if page_id is None or text is None:
        return None
    return Hit(
        store=store,
        id=page_id,
        text=text,
        title=text_of(row, "title"),
        type="page",
        topics=tuple(label.lower() for label in strings_of(row, "labels")),
        last_seen=epoch_seconds(row.get("updated")),
    )
