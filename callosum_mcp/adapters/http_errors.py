"""What a status or a broken exchange of HTTP means for a store: each becomes one `StoreError`.

Above: `http`. Below: httpx2's error tree and ours. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

import httpx2

from callosum_mcp.errors import (
    StoreAuthFailed,
    StoreBadReply,
    StoreError,
    StoreFailed,
    StoreRateLimited,
    StoreRefused,
    StoreTimeout,
)
from callosum_mcp.text import finite, one_line


def failure(status: int, body: bytes) -> StoreError:
    """The error of an HTTP status, with the store's own words where it gives some."""
    said = _said(body)
    if status in (401, 403):
        return StoreAuthFailed(f"refused our token ({status}); set token, token_env or token_keyring of this store")
    if 300 <= status < 400 or status < 200 or status == 204:
        return StoreBadReply(f"answered {status} without a result")
    if status in (400, 404, 405, 415, 422):
        return StoreBadReply(f"does not understand our request ({status}{said}); is the type of this store right?")
    return StoreFailed(f"answered {status}{said}")


def _said(body: bytes) -> str:
    try:
        value: object = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    words = _words(value)
    return f": {one_line(', '.join(words), 160)}" if words else ""


_WORDS = ("error", "reason", "detail", "message")
_WRAPPERS = ("error", "status", "errors", "root")  # what products put around such words


def _words(value: object, depth: int = 4) -> list[str]:
    """The sentences in an error's body; of a list, those of its first element."""
    if isinstance(value, list):
        return _words(cast("list[object]", value)[0], depth - 1) if value and depth else []
    if not isinstance(value, dict):
        return []
    members = cast("dict[str, object]", value)
    said = [word for key in _WORDS if isinstance(word := members.get(key), str)]
    inside = (_words(members[key], depth - 1) for key in _WRAPPERS if key in members and depth)
    return said or next(filter(None, inside), list[str]())


def rate_limited(headers: Mapping[str, str]) -> StoreRateLimited:
    """The failure of a 429, with the seconds the store asks for, at most an hour."""
    after = finite(headers.get("retry-after"))
    seconds = None if after is None else min(max(after, 0.0), 3_600.0)
    return StoreRateLimited("asks us to slow down (429)", retry_after_s=seconds)


def unreachable(fault: httpx2.HTTPError) -> StoreError:
    """The error of a failed exchange; the only place where httpx2's tree becomes ours."""
    if isinstance(fault, httpx2.TimeoutException):
        return StoreTimeout("the connection timed out")
    if isinstance(fault, httpx2.ConnectError):
        return StoreRefused(_connect_detail(fault))
    if isinstance(fault, httpx2.UnsupportedProtocol):
        return StoreFailed("its url must start with http:// or https://")
    if isinstance(fault, httpx2.LocalProtocolError):
        return StoreFailed("its token or one of its headers holds characters that HTTP cannot carry")
    if isinstance(fault, httpx2.ProxyError):
        return StoreRefused("the proxy did not connect; check HTTP_PROXY and NO_PROXY")
    if isinstance(fault, httpx2.DecodingError):
        return StoreBadReply("reply cannot be decompressed")
    return StoreFailed("the connection broke before the answer was complete")


def _connect_detail(fault: httpx2.ConnectError) -> str:
    text = str(fault).lower()
    if "certificate" in text or "ssl" in text or "tls" in text:
        return "TLS failed: its certificate is not trusted here, or it does not speak https"
    if "name or service" in text or "getaddrinfo" in text or "nodename" in text:
        return "its host name is unknown"
    return "no connection: nothing listens at its address"
