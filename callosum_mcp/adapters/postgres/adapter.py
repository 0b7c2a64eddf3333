"""PostgreSQL full text: the store type ``postgres``.

Above: the fan-out. Below: `reading`, loaded with psycopg at the first question, since a program without such a store
needs neither.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar
from urllib.parse import urlsplit

from callosum_mcp.adapters import options as opt
from callosum_mcp.adapters.base import Adapter
from callosum_mcp.adapters.postgres.table import DEFAULTS, Shape
from callosum_mcp.errors import StoreFailed
from callosum_mcp.models.values import Hit, ProbeReport, StoreQuery, StoreReply, StoreSpec

if TYPE_CHECKING:
    from callosum_mcp.adapters.postgres.reading import Reader

_SCHEMES = ("postgresql", "postgres")
_NO_DRIVER = "needs the package psycopg: pip install 'callosum-mcp[postgres]'"


class Postgres(Adapter):
    """A table or view of a PostgreSQL database, read only."""

    options: ClassVar[frozenset[str]] = frozenset({*DEFAULTS, "widen"})
    clean: ClassVar[bool] = True
    max_results: ClassVar[int] = 200

    def __init__(self, spec: StoreSpec) -> None:
        super().__init__(spec)
        place = urlsplit(spec.url)
        if place.scheme not in _SCHEMES:
            raise ValueError("url: must be postgresql://user@host:port/database")
        if place.netloc.count("@") > 1:  # libpq would take the rest of the password for the host, and show it
            raise ValueError("url: write an @ in the password as %40")
        self._shape = Shape.of(spec.options)
        self._widen = opt.flag(spec.options, "widen", True)
        self._reader: Reader | None = None

    async def search(self, query: StoreQuery) -> StoreReply:
        """Rows with all the words of a question; if there are none, with any of them, then those that hold one."""
        return await self._opened().search(query)

    async def fetch(self, hit_id: str) -> Hit | None:
        """One row with all of its text."""
        return await self._opened().fetch(hit_id)

    async def probe(self) -> ProbeReport:
        """Whether table, columns and language are there, and about how many rows."""
        return await self._opened().probe()

    def usage(self) -> dict[str, int] | None:
        """Statements, and how many of them went over a kept connection."""
        return None if self._reader is None else self._reader.usage()

    async def aclose(self) -> None:
        """Close the connections."""
        if self._reader is not None:
            await self._reader.aclose()

    def _opened(self) -> Reader:
        if self._reader is None:
            try:
                from callosum_mcp.adapters.postgres.reading import Reader
            except ImportError as fault:
                raise StoreFailed(_NO_DRIVER) from fault
            self._reader = Reader(self.spec, self._shape, widen=self._widen)
        return self._reader
