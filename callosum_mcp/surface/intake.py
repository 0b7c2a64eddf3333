"""What a request may carry: JSON in UTF-8, of a bounded size, sent in a bounded time.

Above: the HTTP application. Below: the routes, MCP, SSE and REST alike. The body is read here, before any route sees
it, so that the bound holds whether or not a length was declared.
"""

from __future__ import annotations

import anyio
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY = 2**20
"""Bytes of a body; the longest question is a small part of it."""

_BODY_S = 30.0
_JSON = b"application/json"
_CHARSETS = ("utf-8", "utf8", "us-ascii")


class Intake:
    """Refuses a body that no route could use."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the refusal, or hand the request on with its body whole."""
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        refusal = _wrong_type(headers.get(b"content-type")) or _declared_too_large(headers.get(b"content-length"))
        if refusal is None:
            body = await _body(receive)
            if body is None:
                return  # the caller has gone
            if isinstance(body, bytes):
                await self._app({**scope, "headers": _plain(scope["headers"])}, _replayed(body, receive), send)
                return
            refusal = body
        refusal.headers["connection"] = "close"  # what is left of the body is not read
        await refusal(scope, receive, send)


async def _body(receive: Receive) -> bytes | Response | None:
    """The whole body; the refusal of one too large or too slow; None if the caller goes before its end."""
    body = bytearray()
    with anyio.move_on_after(_BODY_S):
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            body += message.get("body", b"")
            if len(body) > MAX_BODY:
                return _too_large()
            if not message.get("more_body", False):
                return bytes(body)
    return _no(408, f"the body did not come within {_BODY_S:g} s")


def _replayed(body: bytes, receive: Receive) -> Receive:
    ahead: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return ahead.pop() if ahead else await receive()

    return replay


def _wrong_type(given: bytes | None) -> Response | None:
    """The refusal of a body that says it is not JSON; one that says nothing is taken for it."""
    if given is None:
        return None
    kind, *parameters = given.decode("latin-1").lower().split(";")
    if not (kind.strip() == "application/json" or (kind.startswith("application/") and kind.strip().endswith("+json"))):
        return _no(415, f"content-type: must be application/json (got {kind.strip()!r})")
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "charset" and value.strip().strip('"') not in _CHARSETS:
            return _no(415, f"content-type: charset must be utf-8 (got {value.strip()!r})")
    return None


def _declared_too_large(length: bytes | None) -> Response | None:
    return _too_large() if length is not None and length.isdigit() and int(length[:20]) > MAX_BODY else None


def _too_large() -> Response:
    return _no(413, f"the body must be at most {MAX_BODY} bytes")


def _plain(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers with the type as every route knows it."""
    return [(name, _JSON if name == b"content-type" else value) for name, value in headers]


def _no(status: int, text: str) -> Response:
    return JSONResponse({"detail": text}, status_code=status)
