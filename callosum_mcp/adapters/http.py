"""HTTP to one store: JSON out of bounded replies, every failure a `StoreError`.

Above: the HTTP adapters. Below: `place`, where the connections are, and `replicas` for a store with several `urls`.
"""

from __future__ import annotations

import json
from dataclasses import replace

import httpx2

from callosum_mcp.adapters.http_errors import failure
from callosum_mcp.adapters.place import MAX_REPLY_BYTES, HttpRequest, Place, too_large
from callosum_mcp.adapters.replicas import Replicas
from callosum_mcp.errors import StoreBadReply
from callosum_mcp.models.values import StoreSpec
from callosum_mcp.text import one_line

__all__ = ["MAX_REPLY_BYTES", "HttpRequest", "JsonHttp", "decode", "not_json", "too_large"]


class JsonHttp:
    """Asks one store for JSON.

    Args:
        spec: The store; its token and headers go to this store alone.
        transport: Replaces the network, for tests.
    """

    def __init__(self, spec: StoreSpec, *, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        self._spec = spec
        places = [Place(replace(spec, url=url, urls=()), transport) for url in (spec.url, *spec.urls)]
        self._ends = Replicas(places) if spec.urls else places[0]

    async def ask(self, request: HttpRequest) -> object:
        """The JSON body of a successful answer.

        Raises:
            StoreError: For anything else.
        """
        status, body = await self._ends.exchange(request)
        return self._read(status, body)

    async def ask_or_none(self, request: HttpRequest) -> object:
        """As `ask`, but None where the store says that it holds no such thing (404)."""
        status, body = await self._ends.exchange(request)
        return None if status == 404 else self._read(status, body)

    async def exchange(self, request: HttpRequest) -> tuple[int, bytes]:
        """Status and body of an answer, for callers that read failures themselves.

        Raises:
            StoreError: If there is no answer, or one that redirects or asks to slow down.
        """
        return await self._ends.exchange(request)

    def usage(self) -> dict[str, int]:
        """Requests answered, how many of them on a connection that was open already, and what replicas were asked."""
        return self._ends.usage()

    async def aclose(self) -> None:
        """Close every connection of this store."""
        await self._ends.aclose()

    def _read(self, status: int, body: bytes) -> object:
        if status != 200:
            raise failure(status, _without_token(body, self._spec))
        try:
            return decode(body)
        except StoreBadReply:
            raise not_json(_without_token(body[:400], self._spec)) from None


def _without_token(body: bytes, spec: StoreSpec) -> bytes:
    """A body that goes into an error, in case the store's own words repeat our token."""
    token = spec.token.get_secret_value() if spec.token is not None else ""
    return body.replace(token.encode(), b"***") if token else body


def decode(body: bytes) -> object:
    """JSON out of a body; NaN and infinity are accepted here and made None where numbers are read.

    Raises:
        StoreBadReply: If the body is not JSON.
    """
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise not_json(body) from None


def not_json(body: bytes) -> StoreBadReply:
    """The failure of a body that is not JSON, with its beginning."""
    start = one_line(body[:200].decode("utf-8", "replace"), 60)
    kind = "HTML (is a proxy or a login page in front of it?)" if start.startswith("<") else f"not JSON: {start!r}"
    return StoreBadReply(f"reply is {kind}")
