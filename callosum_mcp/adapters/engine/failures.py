"""What goes wrong between us and an engine, as one `StoreError`: the only place where foreign errors become ours.

Above: the connection of an engine. Below: the error trees of the SDK, httpx2 and the system. Pure. What an engine's
*tool* says of itself is not here but in `reading`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import anyio
import httpx2
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, METHOD_NOT_FOUND, PARSE_ERROR, REQUEST_TIMEOUT
from pydantic import ValidationError

from callosum_mcp.adapters.engine.faults import protocol_error
from callosum_mcp.adapters.engine.reach import Reach
from callosum_mcp.adapters.http_errors import failure, rate_limited, unreachable
from callosum_mcp.errors import StoreBadReply, StoreError, StoreFailed, StoreRefused, StoreTimeout
from callosum_mcp.text import clean, one_line

FOREIGN = (
    httpx2.HTTPError,
    httpx2.StreamError,
    httpx2.InvalidURL,
    MCPError,
    ValidationError,
    OSError,
    RuntimeError,
    ValueError,
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
    anyio.EndOfStream,
    BaseExceptionGroup,
)
"""What connecting to an engine and asking it may raise; a `RuntimeError` is the SDK's, of a bad reply."""

_CLOSED = (httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.WriteError, httpx2.CloseError)
_TELLING = (401, 403, 429)  # whatever stands in the body
_MADE_UP = ("Server returned an error response", "Not Found", "Session terminated")  # by the SDK, out of a status
_ENDED = ("Connection closed", "SSE stream ended")
_SAID = 160


def leaves(fault: BaseException) -> Iterator[BaseException]:
    """The faults inside nested groups."""
    if isinstance(fault, BaseExceptionGroup):
        for inner in cast("BaseExceptionGroup[BaseException]", fault).exceptions:
            yield from leaves(inner)
    else:
        yield fault


def telling(fault: BaseException) -> BaseException:
    """The fault of a group that says most: one of ours, then anything but the mere end of a connection."""
    found = list(leaves(fault))
    ours = next((leaf for leaf in found if isinstance(leaf, StoreError)), None)
    return ours or next((leaf for leaf in found if not closed(leaf)), found[0])


def closed(fault: BaseException) -> bool:
    """Whether all that is known is that the other side closed the connection."""
    if isinstance(fault, MCPError):  # servers use the SDK's code for whatever goes wrong
        return fault.code == CONNECTION_CLOSED and fault.message.startswith(_ENDED)
    return isinstance(fault, (*_CLOSED, anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream))


def store_error(fault: BaseException, reach: Reach, status: int | None = None) -> StoreError:
    """The error of a store whose engine could not be asked.

    Args:
        fault: What was raised.
        reach: How the engine is reached; what only it may know is taken out of the text.
        status: The last HTTP status that was no success, if there was one.
    """
    fault = telling(fault)
    if isinstance(fault, StoreError):
        return again(fault)
    if isinstance(fault, MCPError):
        return _protocol(fault, reach, status)
    if isinstance(fault, httpx2.HTTPStatusError):
        return of_status(fault.response.status_code, fault.response.headers)
    if isinstance(fault, httpx2.SSEError | httpx2.StreamError):
        return StoreBadReply(f"its reply was not read: {one_line(str(fault), _SAID)}")
    if isinstance(fault, httpx2.HTTPError):
        return unreachable(fault)
    if isinstance(fault, ValidationError):
        return StoreBadReply(f"its reply is not what MCP promises: {_invalid(fault)}")
    return _plain(fault, reach)


def again(fault: StoreError) -> StoreError:
    """The same failure for another caller: a raised error holds the trace of the one it was raised for."""
    return type(fault)(str(fault), retry_after_s=fault.retry_after_s)


def of_status(status: int, headers: httpx2.Headers | None = None) -> StoreError:
    """The error of an HTTP status on the way to an MCP server."""
    if status == 429:
        return rate_limited(headers or {})
    if status in (301, 302, 303, 307, 308):
        return StoreBadReply(f"redirects ({status}) to another place; put the final URL in the config")
    if status in (404, 405, 406):
        return StoreBadReply(f"has no MCP server at its url ({status}); is the path right (/mcp, /sse)?")
    return failure(status, b"")


def _protocol(fault: MCPError, reach: Reach, status: int | None) -> StoreError:
    """An error that came as JSON-RPC, or that the SDK made of an HTTP status."""
    said = one_line(reach.hidden(clean(fault.message)), _SAID)
    if status is not None and (status in _TELLING or fault.message in _MADE_UP or "not followed" in fault.message):
        return of_status(status)
    if fault.code == METHOD_NOT_FOUND and fault.message == "Not Found":
        return of_status(404)
    if closed(fault):
        return StoreFailed("the connection closed before the answer was complete")
    if fault.code == REQUEST_TIMEOUT:
        return StoreTimeout("did not answer the handshake in time")
    if fault.code == CONNECTION_CLOSED and said.startswith("SSE stream failed"):
        return StoreBadReply(f"its reply was not read: {said}")
    if fault.code == PARSE_ERROR or "Unexpected content type" in fault.message:
        return StoreBadReply(f"its reply cannot be read: {said}; is the url that of an MCP server?")
    told = protocol_error(fault.code, said)
    if isinstance(told, StoreFailed):
        return StoreFailed(f"says: {said or 'nothing'} (JSON-RPC error {fault.code})")
    return told


def _invalid(fault: ValidationError) -> str:
    error = fault.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in error["loc"])
    return one_line(f"{place}: {error['msg']}" if place else error["msg"], _SAID)


def _plain(fault: BaseException, reach: Reach) -> StoreError:
    said = one_line(reach.hidden(str(fault)), _SAID)
    if isinstance(fault, TimeoutError):
        return StoreTimeout("the connection timed out")
    if isinstance(fault, UnicodeEncodeError):
        return StoreFailed("its token or one of its headers holds characters that HTTP cannot carry")
    if isinstance(fault, OSError):
        return StoreRefused(f"cannot be reached: {said}")
    if isinstance(fault, RuntimeError | ValueError | httpx2.InvalidURL):
        return StoreBadReply(f"does not speak MCP as we know it: {said}")
    return StoreFailed("the connection closed before the answer was complete")
