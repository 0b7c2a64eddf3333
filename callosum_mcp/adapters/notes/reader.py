"""What the adapter does in its worker threads: search, fetch and probe, as plain functions.

Above: the adapter. Below: the index and the chunker. Importing this module loads SQLite and pathspec.
"""

from __future__ import annotations

import os
import time
from dataclasses import replace

from callosum_mcp.adapters.notes.chunk import Chunk, Passage, decode, passage_at
from callosum_mcp.adapters.notes.database import Row
from callosum_mcp.adapters.notes.hits import Source, hit_id, make_hit, parse_hit_id
from callosum_mcp.adapters.notes.index import Check, Index, Progress
from callosum_mcp.adapters.notes.options import NotesOptions
from callosum_mcp.adapters.notes.query import match_terms
from callosum_mcp.models.values import Hit, ProbeReport, StoreQuery, StoreReply, StoreSpec
from callosum_mcp.text import clean, clip

_TEXT_LIMIT = 6_000  # characters of a hit: only a line longer than several chunks exceeds it
_PASSAGE_LIMIT = 16_000  # characters of a fetched section: some 4,000 tokens


class NotesReader:
    """One opened `notes` store."""

    def __init__(self, spec: StoreSpec, options: NotesOptions, on_progress: Progress) -> None:
        self._spec = spec
        self._options = options
        self._index = Index(options, on_progress)

    def search(self, query: StoreQuery, most: int) -> StoreReply:
        """The best chunks for a query, at most `most`.

        Raises:
            StoreFailed: If a folder or the index cannot be read.
        """
        check = self._index.settle()
        terms = match_terms(query.text) if not query.types or "note" in query.types else ()
        rows = self._index.find(terms, query, min(query.limit, most)) if terms else []
        now_s = time.time()
        return StoreReply(hits=tuple(self._hit(row, now_s) for row in rows), remark=self._remark(check))

    def fetch(self, text: str) -> Hit | None:
        """The section at a hit id; None if the store does not hold it.

        Raises:
            StoreFailed: If a folder cannot be read.
        """
        self._index.scanner.check_roots()
        place = parse_hit_id(text)
        found = None if place is None else self._index.scanner.find(place[0])
        if place is None or found is None:
            return None
        path, line = place
        real, state = found
        try:
            with open(real, "rb") as file:
                content = decode(file.read(self._options.max_file_bytes))
        except OSError:
            return None
        passage = passage_at(content or "", os.path.splitext(path)[1].lower(), line, _PASSAGE_LIMIT)
        return None if passage is None else self._passage_hit(path, state.st_mtime_ns, passage)

    def probe(self) -> ProbeReport:
        """What is indexed so far, from folders that can be read.

        Raises:
            StoreFailed: If a folder or the index cannot be read.
        """
        self._index.scanner.check_roots()
        check = self._index.refresh()
        totals = self._index.totals()
        left_out = f"{check.too_large:,} larger than max_file_bytes left out" if check.too_large else None
        counts = f"notes: {totals.files:,} files, {totals.chunks:,} sections indexed"
        detail = "; ".join(part for part in (counts, left_out, self._remark(check)) if part)
        return ProbeReport(detail=detail, entries=totals.chunks, last_ingest=check.ended or totals.indexed)

    def wait(self) -> None:
        """Wait for the end of a check of the folders, however it ends."""
        self._index.refresh().done.wait()

    def close(self) -> None:
        """Stop indexing and close the files."""
        self._index.close()

    def _remark(self, check: Check) -> str | None:
        limit = f"only the first {self._options.max_files:,} files are indexed (max_files)" if check.full else None
        return "; ".join(part for part in (_progress(check), limit, self._index.remark) if part) or None

    def _hit(self, row: Row, now_s: float) -> Hit:
        source = Source(
            path=row.path,
            uri=self._index.scanner.uri(row.path),
            topics=row.topics,
            mtime_s=row.mtime_ns / 1e9,
            dates=row.dates,
        )
        return make_hit(self._spec, source, row.chunk, now_s=now_s, limit=_TEXT_LIMIT)

    def _passage_hit(self, path: str, mtime_ns: int, passage: Passage) -> Hit:
        source = Source(
            path=path,
            uri=self._index.scanner.uri(path),
            topics=passage.front.topics,
            mtime_s=mtime_ns / 1e9,
            dates=dict(passage.front.dates),
        )
        hit = make_hit(self._spec, source, passage.chunk, now_s=time.time(), limit=_PASSAGE_LIMIT)
        around = {
            "lines": [passage.first_line, passage.last_line],
            "before": _neighbour(path, passage.before),
            "after": _neighbour(path, passage.after),
        }
        text = clip(clean(passage.text), _PASSAGE_LIMIT)
        return replace(hit, text=text, metadata={**hit.metadata, **around})


def _neighbour(path: str, chunk: Chunk | None) -> dict[str, str] | None:
    return None if chunk is None else {"id": hit_id(path, chunk.line), "title": clean(chunk.title)}


def _progress(check: Check) -> str | None:
    if check.busy:
        return "another process is updating the index"
    if check.done.is_set() or (check.background and check.total is None):
        return None
    if check.total is None:
        return "still looking through the folders"
    return f"still indexing: {check.indexed:,} of {check.total:,} files"
