"""Foreign errors become one of ours each, with words a person can act on and without what only the engine may know."""

from __future__ import annotations

import anyio
import httpx2
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, INTERNAL_ERROR, METHOD_NOT_FOUND, PARSE_ERROR, REQUEST_TIMEOUT
from pydantic import BaseModel, ValidationError

from callosum_mcp.adapters.engine.failures import FOREIGN, again, closed, of_status, store_error, telling
from callosum_mcp.adapters.engine.reach import Reach
from callosum_mcp.errors import (
    StoreAuthFailed,
    StoreBadReply,
    StoreError,
    StoreFailed,
    StoreRateLimited,
    StoreRefused,
    StoreTimeout,
)

REACH = Reach(type="http", url="http://h/mcp", headers={"authorization": "Bearer t0ken-of-ours"})
REQUEST = httpx2.Request("GET", "http://h/sse")


class Strict(BaseModel):
    number: int


def invalid() -> ValidationError:
    try:
        Strict.model_validate({"number": "t0ken-of-ours"})
    except ValidationError as fault:
        return fault
    raise AssertionError("never")


def answered(status: int, **headers: str) -> httpx2.HTTPStatusError:
    response = httpx2.Response(status, headers=headers, request=REQUEST)
    return httpx2.HTTPStatusError("no", request=REQUEST, response=response)


CASES: list[tuple[BaseException, int | None, type[StoreError], str]] = [
    (
        MCPError(-32602, "bad\n t0ken-of-ours"),
        None,
        StoreBadReply,
        "does not understand our call: bad ***; do the preset and its args fit this version?",
    ),
    (MCPError(-32000, "Unauthorized"), None, StoreAuthFailed, "wants a valid token, its words: Unauthorized; "),
    (MCPError(-32000, "bad\n t0ken-of-ours"), None, StoreFailed, "says: bad *** (JSON-RPC error -32000)"),
    (MCPError(-32000, ""), None, StoreFailed, "says: nothing (JSON-RPC error -32000)"),
    (MCPError(-32000, "Unauthorized"), 401, StoreAuthFailed, "refused our token (401)"),
    (MCPError(INTERNAL_ERROR, "Server returned an error response"), 503, StoreFailed, "answered 503"),
    (MCPError(INTERNAL_ERROR, "boom"), 500, StoreFailed, "says: boom (JSON-RPC error -32603)"),
    (MCPError(METHOD_NOT_FOUND, "Not Found"), None, StoreBadReply, "has no MCP server at its url (404)"),
    (MCPError(METHOD_NOT_FOUND, "Not Found"), 404, StoreBadReply, "has no MCP server at its url (404)"),
    (
        MCPError(-32600, "Redirect to http://x not followed; use"),
        308,
        StoreBadReply,
        "redirects (308) to another place",
    ),
    (MCPError(CONNECTION_CLOSED, "Connection closed"), None, StoreFailed, "the connection closed before the answer"),
    (
        MCPError(CONNECTION_CLOSED, "SSE stream failed: too big"),
        None,
        StoreBadReply,
        "its reply was not read: SSE stream",
    ),
    (MCPError(REQUEST_TIMEOUT, "x"), None, StoreTimeout, "did not answer the handshake in time"),
    (MCPError(PARSE_ERROR, "what"), None, StoreBadReply, "its reply cannot be read: what"),
    (answered(403), None, StoreAuthFailed, "refused our token (403)"),
    (answered(429, **{"retry-after": "7"}), None, StoreRateLimited, "asks us to slow down (429)"),
    (answered(405), None, StoreBadReply, "has no MCP server at its url (405)"),
    (answered(502), None, StoreFailed, "answered 502"),
    (httpx2.SSEError("event is too large"), None, StoreBadReply, "its reply was not read: event is too large"),
    (httpx2.StreamError("it is larger"), None, StoreBadReply, "its reply was not read: it is larger"),
    (httpx2.ConnectError("refused"), None, StoreRefused, "no connection: nothing listens at its address"),
    (httpx2.ReadError("x"), None, StoreFailed, "the connection broke before the answer was complete"),
    (invalid(), None, StoreBadReply, "its reply is not what MCP promises: number: Input should be a valid integer"),
    (TimeoutError(), None, StoreTimeout, "the connection timed out"),
    (PermissionError(13, "Permission denied"), None, StoreRefused, "cannot be reached: [Errno 13] Permission denied"),
    (
        RuntimeError("Unsupported version t0ken-of-ours"),
        None,
        StoreBadReply,
        "does not speak MCP as we know it: Unsupp",
    ),
    (httpx2.InvalidURL("bad port"), None, StoreBadReply, "does not speak MCP as we know it: bad port"),
    (anyio.EndOfStream(), None, StoreFailed, "the connection closed before the answer was complete"),
    (StoreRefused("as it was", retry_after_s=3), None, StoreRefused, "as it was"),
]


@pytest.mark.parametrize(("fault", "status", "kind", "said"), CASES, ids=[f"{c[0]!r:.40}-{c[1]}" for c in CASES])
def test_each_error_is_one_of_ours(fault: BaseException, status: int | None, kind: type[StoreError], said: str) -> None:
    error = store_error(fault, REACH, status)
    assert type(error) is kind and str(error).startswith(said)
    assert "t0ken" not in str(error) and "\n" not in str(error)


def test_a_header_that_cannot_be_written_is_said_to_be_wrong() -> None:
    with pytest.raises(UnicodeEncodeError) as failed:
        "\u2713".encode("ascii")
    assert str(store_error(failed.value, REACH)).startswith("its token or one of its headers holds characters")


def test_of_a_group_the_fault_that_says_most_is_told() -> None:
    ended, refused = MCPError(CONNECTION_CLOSED, "Connection closed"), httpx2.ConnectError("refused")
    group = ExceptionGroup("a", [ended, ExceptionGroup("b", [refused])])
    assert telling(group) is refused and isinstance(group, FOREIGN)
    assert telling(ExceptionGroup("a", [ended])) is ended
    ours = StoreBadReply("ours")
    assert telling(ExceptionGroup("a", [refused, ours])) is ours


def test_only_the_sdks_own_words_mean_that_the_connection_ended() -> None:
    assert closed(MCPError(CONNECTION_CLOSED, "Connection closed"))
    assert closed(MCPError(CONNECTION_CLOSED, "SSE stream ended without a response"))
    assert closed(httpx2.RemoteProtocolError("x"))
    assert not closed(MCPError(CONNECTION_CLOSED, "Bad Request: index is locked"))


def test_a_failure_told_to_another_caller_is_a_new_one() -> None:
    first = StoreRateLimited("slow", retry_after_s=4)
    second = again(first)
    assert second is not first and (type(second), str(second), second.retry_after_s) == (StoreRateLimited, "slow", 4)


def test_every_error_that_httpx2_knows_is_caught() -> None:
    known = [value for value in vars(httpx2).values() if isinstance(value, type) and issubclass(value, Exception)]
    assert known and [error for error in known if not issubclass(error, FOREIGN)] == [httpx2.CookieConflict]
    assert isinstance(of_status(307), StoreBadReply)
