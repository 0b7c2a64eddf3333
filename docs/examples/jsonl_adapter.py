"""The store type `jsonl`: a file with one memory per line, ``{"id": "7", "text": "…", "seen": "2026-11-29"}``."""

from anyio import Path

from callosum_mcp.adapters.base import Adapter
from callosum_mcp.adapters.http import decode
from callosum_mcp.adapters.parsing import as_object, text_of
from callosum_mcp.errors import StoreBadReply, StoreFailed
from callosum_mcp.models.values import Hit, ProbeReport, StoreQuery, StoreReply
from callosum_mcp.text import content_words, epoch_seconds, words


class JsonLines(Adapter):
    async def search(self, query: StoreQuery) -> StoreReply:
        wanted = set(content_words(query.text))
        shared = [(len(wanted & set(words(hit.text))), hit) for hit in await self._hits()]
        best = sorted((pair for pair in shared if pair[0]), key=lambda pair: -pair[0])
        return StoreReply(hits=tuple(hit for _, hit in best[: query.limit]))

    async def fetch(self, hit_id: str) -> Hit | None:
        return next((hit for hit in await self._hits() if hit.id == hit_id), None)

    async def probe(self) -> ProbeReport:
        count = len(await self._hits())
        return ProbeReport(detail=f"{count} lines", entries=count)

    async def _hits(self) -> list[Hit]:
        try:
            data = await (await Path(self.spec.url).expanduser()).read_bytes()
        except OSError as fault:
            raise StoreFailed(f"the file cannot be read: {fault.strerror}") from fault
        return [parse_line(line, self.spec.name) for line in data.splitlines() if line.strip()]


def parse_line(line: bytes, store: str) -> Hit:
    row = as_object(decode(line), "a line")
    hit_id, text = text_of(row, "id"), text_of(row, "text")
    if hit_id is None or text is None:
        raise StoreBadReply("a line has no id or no text")
    return Hit(store=store, id=hit_id, text=text, last_seen=epoch_seconds(row.get("seen")))
