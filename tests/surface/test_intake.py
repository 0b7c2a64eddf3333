"""What a request may carry, on every route that takes a body: JSON, in UTF-8, of a bounded size, in a bounded time."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import anyio
import httpx2
import pytest
from starlette.types import Message, Receive, Scope, Send

from callosum_mcp.surface import intake
from callosum_mcp.surface.intake import MAX_BODY, Intake

from .world import Served, initialize

ROUTES = ["/search", "/recall", "/ask", "/fetch", "/stores", "/configure", "/mcp", "/mcp/", "/messages/?session_id=0"]
TOO_LARGE = f"the body must be at most {MAX_BODY} bytes"
ACCEPT = {"accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def http(server: Served) -> Iterator[httpx2.Client]:
    with server.client() as client:
        yield client


@pytest.mark.promise("5g")
@pytest.mark.parametrize("path", ROUTES)
def test_a_body_over_the_limit_is_413_whether_its_length_was_declared_or_not(http: httpx2.Client, path: str) -> None:
    content = b'{"query": "' + b"x" * MAX_BODY + b'"}'
    headers = {"content-type": "application/json", **ACCEPT}
    for body in (content, iter([content[: len(content) // 2], content[len(content) // 2 :]])):
        answer = http.post(path, content=body, headers=headers)
        assert (answer.status_code, answer.json()) == (413, {"detail": TOO_LARGE})


def test_a_length_that_is_declared_is_refused_before_anything_of_it_is_sent(server: Served) -> None:
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), 20) as raw:
        raw.sendall(b"POST /search HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99999999999\r\n\r\n")
        assert raw.recv(1000).startswith(b"HTTP/1.1 413 ")


@pytest.mark.promise("5g")
@pytest.mark.parametrize(
    "given",
    [
        "application/json",
        "application/json; charset=utf-8",
        'Application/JSON;charset="UTF-8"',
        "application/json ; charset=utf8; x=y",
        "application/vnd.api+json",
    ],
)
def test_json_is_taken_however_its_type_is_written(http: httpx2.Client, given: str) -> None:
    asked = http.post("/search", content=b'{"query": "Hermes"}', headers={"content-type": given})
    assert asked.status_code == 200
    opened = http.post("/mcp", json=initialize(), headers={"content-type": given, **ACCEPT})
    assert opened.status_code == 200 and "protocolVersion" in opened.text


def test_a_body_without_a_type_is_taken_for_json(http: httpx2.Client) -> None:
    assert http.post("/search", content=b'{"query": "Hermes"}').status_code == 200


@pytest.mark.promise("5g")
@pytest.mark.parametrize("path", ROUTES)
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("text/plain", "content-type: must be application/json (got 'text/plain')"),
        ("application/x-www-form-urlencoded", "must be application/json (got 'application/x-www-form-urlencoded')"),
        ("multipart/form-data; boundary=x", "must be application/json"),
        ("application/jsonp", "must be application/json"),
        ("", "must be application/json (got '')"),
        ("application/json; charset=latin-1", "content-type: charset must be utf-8 (got 'latin-1')"),
        ("application/json; charset=utf-16", "content-type: charset must be utf-8 (got 'utf-16')"),
    ],
)
def test_any_other_type_is_415_and_says_which_is_wanted(http: httpx2.Client, path: str, given: str, said: str) -> None:
    answer = http.post(path, content=b'{"query": "Hermes"}', headers={"content-type": given, **ACCEPT})
    assert answer.status_code == 415 and said in answer.json()["detail"]


def scope(**headers: str) -> Scope:
    return {"type": "http", "method": "POST", "headers": [(k.encode(), v.encode()) for k, v in headers.items()]}


class Caller:
    """The other side of one request."""

    def __init__(self, *parts: Message | None) -> None:
        self._parts = list(parts)
        self.answers: list[Message] = []
        self.seen: list[Message] = []

    async def receive(self) -> Message:
        part = self._parts.pop(0) if self._parts else None
        if part is None:
            await anyio.sleep_forever()
            raise AssertionError
        return part

    async def send(self, message: Message) -> None:
        self.answers.append(message)

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.seen += [await receive(), await receive()]


def part(body: bytes, *, more: bool = False) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


GONE: Message = {"type": "http.disconnect"}


async def test_a_body_that_does_not_come_is_408(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "_BODY_S", 0.05)
    caller = Caller(part(b"{", more=True), None)
    await Intake(caller.app)(scope(), caller.receive, caller.send)
    assert (caller.answers[0]["status"], caller.seen) == (408, [])
    assert b"did not come within 0.05 s" in caller.answers[1]["body"]


async def test_a_caller_that_goes_before_the_end_of_its_body_is_not_answered() -> None:
    caller = Caller(part(b"{", more=True), GONE)
    await Intake(caller.app)(scope(), caller.receive, caller.send)
    assert (caller.answers, caller.seen) == ([], [])


async def test_a_route_gets_the_body_whole_and_hears_that_the_caller_goes() -> None:
    caller = Caller(part(b'{"a"', more=True), part(b": 1}"), GONE)
    await Intake(caller.app)(scope(), caller.receive, caller.send)
    assert caller.seen == [part(b'{"a": 1}'), GONE]
