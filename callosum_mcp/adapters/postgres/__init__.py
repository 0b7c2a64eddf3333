"""PostgreSQL full text as a store: one table or view, read only.

Above: the fan-out. Below: psycopg 3 (extra ``postgres``), imported when a store is first asked.
"""

from __future__ import annotations

from callosum_mcp.adapters.postgres.adapter import Postgres

__all__ = ["Postgres"]
