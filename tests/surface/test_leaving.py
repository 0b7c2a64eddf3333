"""What a caller that hangs up leaves behind, at the seam of ASGI: over real connections see tests/faults."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import anyio
import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from callosum_mcp.surface.leaving import EndsWithCaller, TellsOfLeaving

GONE: Message = {"type": "http.disconnect"}
POST: Scope = {"type": "http", "method": "POST", "headers": [(b"mcp-session-id", b"s"), (b"content-length", b"99")]}


def part(body: bytes, *, more: bool = False) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


class Line:
    """A connection: what comes over it, in order, and then nothing until `gone` is set."""

    def __init__(self, *messages: Message) -> None:
        self._messages = list(messages)
        self.gone = anyio.Event()
        self.sent: list[Message] = []

    async def receive(self) -> Message:
        if not self._messages:
            await self.gone.wait()
            return GONE
        return self._messages.pop(0)

    async def send(self, message: Message) -> None:
        self.sent.append(message)

    async def ask(self, app: ASGIApp, scope: Scope = POST) -> None:
        with anyio.fail_after(10):
            await app(scope, self.receive, self.send)


class Work:
    """An application that reads a body, works until told, and answers."""

    def __init__(self, *, reads: bool = True) -> None:
        self._reads = reads
        self.began, self.done = anyio.Event(), anyio.Event()
        self.body = b""
        self.ended = ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.ended = "cancelled"
        while self._reads:
            message = await receive()
            self.body += message.get("body", b"")
            if not message.get("more_body", False):
                break
        self.began.set()
        await self.done.wait()
        await send({"type": "http.response.body", "body": b"answer"})
        self.ended = "answered"


@pytest.mark.promise("1e")
@pytest.mark.parametrize("reads", [True, False])
async def test_work_ends_when_its_caller_goes(reads: bool) -> None:
    work, line = Work(reads=reads), Line(part(b"{}"))
    async with anyio.create_task_group() as group:
        group.start_soon(line.ask, EndsWithCaller(work))
        await work.began.wait()
        line.gone.set()
    assert (work.ended, line.sent) == ("cancelled", [])


async def test_an_answer_reaches_a_caller_that_stays_and_a_body_in_parts_is_whole() -> None:
    work, line = Work(), Line(part(b"{", more=True), part(b'"a":', more=True), part(b"1}"))
    work.done.set()
    await line.ask(EndsWithCaller(work))
    assert (work.body, work.ended) == (b'{"a":1}', "answered")
    assert line.sent == [{"type": "http.response.body", "body": b"answer"}]


async def test_a_caller_that_goes_within_its_body_is_not_worked_for() -> None:
    work, line = Work(), Line(part(b"{", more=True), GONE)
    line.gone.set()
    await line.ask(EndsWithCaller(work))
    assert work.ended == "cancelled"


async def test_a_caller_that_had_gone_already_is_not_worked_for_at_all() -> None:
    work, line = Work(), Line(GONE)
    await line.ask(EndsWithCaller(work))
    assert work.ended == ""


async def test_an_application_that_asks_for_more_than_there_is_waits_for_the_caller_to_go() -> None:
    async def asks_twice(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        reading.set()
        await receive()
        raise AssertionError("there is no more")

    reading, line = anyio.Event(), Line(part(b"{}"))
    async with anyio.create_task_group() as group:
        group.start_soon(line.ask, EndsWithCaller(asks_twice))
        await reading.wait()
        line.gone.set()


class Listens:
    """As the SDK's: takes a message, then listens for the caller to go."""

    def __init__(self, *, answers: bool = False) -> None:
        self._answers = answers
        self.bodies: list[Any] = []
        self.lengths: list[bytes] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.bodies.append((await receive())["body"])
        self.lengths += [value for name, value in scope["headers"] if name == b"content-length"]
        if self._answers:
            await send({"type": "http.response.body", "body": b"answer", "more_body": False})
        await receive()
        await send({"type": "http.response.start", "status": 202})


CALL = json.dumps({"jsonrpc": "2.0", "id": "seven", "method": "tools/call"}).encode()


@pytest.mark.promise("1e")
async def test_a_session_is_told_that_its_caller_has_gone() -> None:
    app, line = Listens(), Line(part(CALL), GONE)
    await line.ask(TellsOfLeaving(app))
    told = json.loads(app.bodies[1])
    assert (told["method"], told["params"]["requestId"]) == ("notifications/cancelled", "seven")
    assert app.lengths == [b"99", str(len(app.bodies[1])).encode()]
    assert [message["type"] for message in line.sent] == ["http.response.start"], "what it says to that reaches nobody"


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b'{"id": null}', b'{"method": "notifications/initialized"}', b"[" * 10**5]
)
async def test_only_a_call_can_be_cancelled(body: bytes) -> None:
    app = Listens()
    await Line(part(body), GONE).ask(TellsOfLeaving(app))
    assert app.bodies == [body]


OTHER: Sequence[Scope] = [
    {"type": "http", "method": "POST", "headers": []},
    {"type": "http", "method": "GET", "headers": POST["headers"]},
]


@pytest.mark.parametrize("scope", OTHER)
async def test_what_is_no_call_in_a_session_passes_as_it_is(scope: Scope) -> None:
    app = Listens()
    await Line(part(CALL), GONE).ask(TellsOfLeaving(app), scope)
    assert app.bodies == [CALL]


async def test_a_call_that_was_answered_is_not_cancelled() -> None:
    app = Listens(answers=True)
    await Line(part(CALL), GONE).ask(TellsOfLeaving(app))
    assert app.bodies == [CALL]
