"""A caller that hangs up: what it asked for ends, and with it every request to a store.

Above: the HTTP application. Below: ASGI. Two wrappers, since HTTP has two ways to ask. A REST route and a stateless MCP
request do their work inside the request, which can be cancelled (the SDK does so for its own). A call in a session of
the 2025 era is carried out by the session's task: it is cancelled as the protocol has it, by a message. That era's text
would rather have such a call go on, for clients that resume a stream; none can be resumed here, so nobody could ever
read the answer.
"""

from __future__ import annotations

import json
from typing import Any, cast

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_SESSION = b"mcp-session-id"
_LENGTH = b"content-length"


class EndsWithCaller:
    """Cancels the application when the caller has gone before the answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        ahead = [await receive()]  # so that a route which reads no body is watched too
        if ahead[0]["type"] == "http.disconnect":
            return
        whole = anyio.Event()
        if not ahead[0].get("more_body", False):
            whole.set()

        async def hear() -> Message:
            if not ahead and whole.is_set():
                await anyio.sleep_forever()  # until the caller goes, or the answer is sent
            message = ahead.pop() if ahead else await receive()
            if not message.get("more_body", False):
                whole.set()
            return message

        async def watch() -> None:
            await whole.wait()
            await receive()  # after the whole body there is nothing but its going
            group.cancel_scope.cancel()

        async with anyio.create_task_group() as group:
            group.start_soon(watch)
            await self._app(scope, hear, send)
            group.cancel_scope.cancel()


class TellsOfLeaving:
    """Sends ``notifications/cancelled`` into the session of a caller that has gone before the answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or scope["method"] != "POST" or not _in_session(scope):
            await self._app(scope, receive, send)
            return
        asked = _Asked(receive, send)
        await self._app(scope, asked.receive, asked.send)
        identity = _call_in(asked.body) if asked.left else None
        if identity is not None:
            await self._cancel(scope, identity)

    async def _cancel(self, scope: Scope, identity: str | int) -> None:
        params = {"requestId": identity, "reason": "the client has gone"}
        body = json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).encode()
        headers = [(name, value) for name, value in scope["headers"] if name != _LENGTH]
        again: Scope = {**scope, "headers": [*headers, (_LENGTH, str(len(body)).encode())]}
        parts: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> Message:
            return parts.pop() if parts else {"type": "http.disconnect"}

        await self._app(again, receive, _ignored)


class _Asked:
    """One request as it passes by."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._body: list[bytes] = []
        self._answered = False
        self._gone = False

    @property
    def body(self) -> bytes:
        """What has been read of its body."""
        return b"".join(self._body)

    @property
    def left(self) -> bool:
        """Whether the caller has gone without its answer."""
        return self._gone and not self._answered

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.disconnect":
            self._gone = True
        else:
            self._body.append(message.get("body", b""))
        return message

    async def send(self, message: Message) -> None:
        last = message["type"] == "http.response.body" and not message.get("more_body", False)
        self._answered = self._answered or last
        await self._send(message)


def _in_session(scope: Scope) -> bool:
    return any(name == _SESSION for name, _ in scope["headers"])


def _call_in(body: bytes) -> str | int | None:
    """The id of the request that a body holds; None if it holds none."""
    try:
        message: object = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict):
        return None
    identity: object = cast("dict[str, Any]", message).get("id")
    return identity if isinstance(identity, str | int) else None


async def _ignored(message: Message) -> None:
    return
