"""The connections of a ``postgres`` store, and what the errors of the database mean.

Above: the adapter. Below: psycopg. Every connection is read-only by its own default and ends a statement that takes
longer than the store may; a few of them are kept. A connection whose call failed or was cancelled is closed, since
nobody knows what is still under way on it.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

import anyio
import psycopg
from psycopg import AsyncConnection, errors
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row

from callosum_mcp.adapters.postgres.statements import Statement
from callosum_mcp.errors import StoreAuthFailed, StoreError, StoreFailed, StoreRateLimited, StoreRefused, StoreTimeout
from callosum_mcp.text import one_line

_CONNECTIONS = 4
_CONNECT_S = 10
_MESSAGE_CHARS = 160
_WRONG_LOGIN = (
    "authentication failed",
    "no password supplied",
    "no pg_hba.conf entry",
    "permission denied for database",
    "is not permitted to log in",
)
_TOO_MANY = ("too many clients", "too many connections", "remaining connection slots")
_NO_RESOURCES = "53"  # the class of errors that a less busy server would not have
_BEFORE_REASON = re.compile(r".*(?:FATAL|failed): +", re.DOTALL)

Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Access:
    """Where a database is and how it is entered.

    Attributes:
        url: ``postgresql://user@host:port/database``.
        password: The password, where it does not stand in the URL; "" for none.
        timeout_s: Seconds after which the database itself ends a statement.
    """

    url: str = field(repr=False)
    password: str = field(default="", repr=False)
    timeout_s: float = 30.0


class Database:
    """Runs statements on a few kept connections.

    Args:
        access: Where the database is.
    """

    def __init__(self, access: Access) -> None:
        self._access = access
        self._idle: list[AsyncConnection[Any]] = []
        self._room = anyio.CapacityLimiter(_CONNECTIONS)
        self.sent = 0
        self.reused = 0

    async def rows(self, statement: Statement) -> list[Row]:
        """The rows of a statement; asked again once if a kept connection turns out to be gone.

        Raises:
            StoreError: If the database cannot be reached or refuses the statement.
        """
        async with self._room:
            while self._idle:
                kept = self._idle.pop()
                try:
                    rows = await self._on(kept, statement)
                except _GoneError:
                    continue
                self.reused += 1
                return rows
            try:
                return await self._on(await self._connect(), statement)
            except _GoneError as gone:
                raise StoreRefused(f"{self._place()} closed the connection") from gone

    async def aclose(self) -> None:
        """Close the connections that nobody uses."""
        while self._idle:
            await self._idle.pop().close()

    async def _on(self, connection: AsyncConnection[Any], statement: Statement) -> list[Row]:
        async with self._closed_unless_well(connection):
            try:
                cursor = connection.cursor(row_factory=dict_row)
                await cursor.execute(statement.text, statement.values)
                rows = await cursor.fetchall()
            except psycopg.Error as error:
                if connection.closed or isinstance(error, errors.AdminShutdown | errors.CrashShutdown):
                    raise _GoneError from error
                raise fault(error) from error
        self.sent += 1
        self._idle.append(connection)
        return rows

    @asynccontextmanager
    async def _closed_unless_well(self, connection: AsyncConnection[Any]) -> AsyncGenerator[None]:
        try:
            yield
        except BaseException:
            with anyio.CancelScope(shield=True):  # closes a socket; waits for nothing
                await connection.close()
            raise

    async def _connect(self) -> AsyncConnection[Any]:
        try:
            return await AsyncConnection.connect(
                self._access.url,
                autocommit=True,  # one statement is one transaction, and each of them is read-only
                prepare_threshold=None,  # a pooler between us and the database need not know of prepared statements
                **self._parameters(),
            )
        except psycopg.Error as error:
            raise self._not_connected(error) from error

    def _parameters(self) -> dict[str, Any]:
        given = conninfo_to_dict(self._access.url)
        wanted = f"-c default_transaction_read_only=on -c statement_timeout={int(self._access.timeout_s * 1_000)}"
        parameters: dict[str, Any] = {
            "options": f"{given.get('options') or ''} {wanted} -c TimeZone=UTC".strip(),
            "application_name": given.get("application_name") or "callosum-mcp",
            "connect_timeout": given.get("connect_timeout") or _CONNECT_S,
            "client_encoding": "utf-8",
        }
        if self._access.password:
            parameters["password"] = self._access.password
        return parameters

    def _place(self) -> str:
        parts = urlsplit(self._access.url)
        return (parts.netloc.rpartition("@")[2] or "the database") + unquote(parts.path)

    def _not_connected(self, error: psycopg.Error) -> StoreError:
        """Why no connection came about. The database says it in words alone, which it may say in another language."""
        said, place = _reason(error), self._place()
        if any(words in said for words in _WRONG_LOGIN) or _wants_password(error):
            return StoreAuthFailed(f"{place} refused the login: {said}")
        if any(words in said for words in _TOO_MANY):
            return StoreRateLimited(f"{place}: {said}")
        if isinstance(error, errors.ConnectionTimeout):
            return StoreTimeout(f"{place} took too long to connect")
        if isinstance(error, psycopg.OperationalError) and not said.endswith("does not exist"):
            return StoreRefused(f"no connection to {place}: {said}")
        return StoreFailed(f"{place}: {said}")


class _GoneError(Exception):
    """The connection broke."""


def _reason(error: psycopg.Error) -> str:
    """The last of what libpq says, which begins with the host and the port."""
    said = _BEFORE_REASON.sub("", str(error)).partition("\n")[0]
    return one_line(said, _MESSAGE_CHARS)


def _wants_password(error: psycopg.Error) -> bool:
    return error.pgconn is not None and error.pgconn.needs_password


def fault(error: psycopg.Error) -> StoreError:
    """What an error of the database means for the store."""
    said = one_line(error.diag.message_primary or str(error), _MESSAGE_CHARS)
    if isinstance(error, errors.QueryCanceled):
        return StoreTimeout(f"the database ended the query: {said}; an index would help, see docs/stores.md")
    if isinstance(error, errors.InsufficientPrivilege):
        return StoreAuthFailed(said)
    if isinstance(error, errors.UndefinedTable | errors.UndefinedColumn):
        return StoreFailed(f"{said}; it was there when the store was first asked")
    if isinstance(error, errors.UndefinedObject):
        return StoreFailed(f"{said} (option language)")
    if (error.sqlstate or "").startswith(_NO_RESOURCES):
        return StoreRateLimited(said)
    return StoreFailed(said)


def is_no_id(error: StoreError) -> bool:
    """Whether a statement failed because a text is no value of the id column's type."""
    return isinstance(error.__cause__, psycopg.DataError)
