"""Asking a PostgreSQL table: what it looks like, the three ways of putting a question, rows as hits.

Above: the adapter. Below: `database`, `statements`.
"""

from __future__ import annotations

from collections.abc import Mapping

from callosum_mcp.adapters.parsing import parsed, text_of
from callosum_mcp.adapters.postgres import statements as sql
from callosum_mcp.adapters.postgres.database import Access, Database, Row, is_no_id
from callosum_mcp.adapters.postgres.statements import Statement
from callosum_mcp.adapters.postgres.table import Described, Shape, check
from callosum_mcp.errors import StoreError, StoreFailed
from callosum_mcp.models.requests import nearest
from callosum_mcp.models.values import Hit, ProbeReport, StoreQuery, StoreReply, StoreSpec
from callosum_mcp.text import epoch_seconds, finite

SMALL_ROWS = 200_000
"""Rows up to which a table is read from end to end for a question that no index answers."""

_STATEMENT_S = 30.0


class Reader:
    """Reads one table.

    Args:
        spec: The store.
        shape: The table, as its options name it.
        widen: Ask again with less where a question finds nothing.
    """

    def __init__(self, spec: StoreSpec, shape: Shape, *, widen: bool) -> None:
        self._store = spec.name
        self._shape = shape
        self._widen = widen
        password = "" if spec.token is None else spec.token.get_secret_value()
        self._database = Database(
            Access(url=spec.url, password=password, timeout_s=spec.timeout_s or _STATEMENT_S),
        )
        self._known: Described | None = None

    async def search(self, query: StoreQuery) -> StoreReply:
        """Rows for a question, best first; the remark says if it was asked with less.

        Raises:
            StoreError: If the database gave no usable answer.
        """
        found = await self._described()
        reply = await self._hits(sql.whole_question(self._shape, found, query))
        if reply.hits or not self._widen:
            return reply
        return await self._wider(found, query)

    async def fetch(self, hit_id: str) -> Hit | None:
        """The row of an id; None if there is none, or if it is no value of the id column's type.

        Raises:
            StoreError: If the database gave no usable answer.
        """
        found = await self._described()
        try:
            rows = await self._rows(sql.one_row(self._shape, found, hit_id.replace("\0", "")))
        except StoreError as fault:
            if is_no_id(fault):
                return None
            raise
        return parse_row(rows[0], self._store, self._shape.name) if rows else None

    async def probe(self) -> ProbeReport:
        """Rows and newest time, where a look is cheap.

        Raises:
            StoreError: If the table, a column or the language is not there, or the database is not.
        """
        self._known = None
        found = await self._described()
        row = (await self._rows(sql.readiness(self._shape, found, small=_is_small(found))))[0]
        counted = finite(row["counted"])
        entries = found.estimate if counted is None else int(counted)
        exact = counted is not None and sql.counted_to_the_end(int(counted))
        about = "" if exact else "about " if counted is None else "at least "
        return ProbeReport(
            detail=f"PostgreSQL: {about}{entries:,} rows in {self._shape.name}",
            entries=entries,
            last_ingest=epoch_seconds(row["newest"]),
        )

    def usage(self) -> dict[str, int]:
        """Statements, and how many of them went over a kept connection."""
        return {"requests": self._database.sent, "reused": self._database.reused}

    async def aclose(self) -> None:
        """Close the connections."""
        await self._database.aclose()

    async def _wider(self, found: Described, query: StoreQuery) -> StoreReply:
        words = sql.any_word(self._shape, found, query)
        reply = await self._hits(words, "asked with any of its words")
        if reply.hits:
            return reply
        if not _is_small(found):
            return StoreReply(hits=(), remark=f"not searched for parts of words: more than {SMALL_ROWS:,} rows")
        return await self._hits(sql.substrings(self._shape, found, query), "asked for parts of words")

    async def _hits(self, statement: Statement | None, remark: str | None = None) -> StoreReply:
        rows = [] if statement is None else await self._rows(statement)
        reply = parsed(rows, lambda row: parse_row(row, self._store, self._shape.name))
        remarks = [said for said in (remark if reply.hits else None, reply.remark) if said]
        return StoreReply(hits=reply.hits, remark="; ".join(remarks) or None)

    async def _described(self) -> Described:
        if self._known is None:
            rows = await self._rows(sql.describe(self._shape))
            if not rows:
                raise StoreFailed(await self._no_such_table())
            estimate = finite(rows[0]["estimate"])
            found = Described(
                types={str(row["name"]): str(row["type"]) for row in rows},
                estimate=int(estimate) if estimate is not None and estimate > 0 else None,
            )
            check(self._shape, found)
            self._known = found
        return self._known

    async def _no_such_table(self) -> str:
        names = [str(row["name"]) for row in await self._rows(sql.tables())]
        near = nearest(self._shape.name, names) if names else "this role sees none"
        return f"there is no table {self._shape.name} (option table); {near}"

    async def _rows(self, statement: Statement) -> list[Row]:
        try:
            return await self._database.rows(statement)
        except StoreError:
            self._known = None  # the table may have been changed
            raise


def _is_small(found: Described) -> bool:
    return found.estimate is None or found.estimate <= SMALL_ROWS


def parse_row(row: Mapping[str, object], store: str, table: str) -> Hit | None:
    """One hit out of a row; None without an id or a text."""
    hit_id, text = text_of(row, "id"), text_of(row, "text")
    if hit_id is None or text is None:
        return None
    return Hit(
        store=store,
        id=hit_id,
        text=text,
        title=text_of(row, "title"),
        path=text_of(row, "path") or f"{table}/{hit_id}",
        last_seen=epoch_seconds(row.get("seen")),
    )
