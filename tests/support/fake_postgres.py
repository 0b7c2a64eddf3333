"""A PostgreSQL server that answers by a function: enough of its protocol for a client that only selects.

Above: tests. Below: sockets. It speaks version 3.0 of the protocol, in text format; a real server is in `tests/peers`.
"""

from __future__ import annotations

import socketserver
import struct
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

Row = Mapping[str, object]

_TEXT, _FLOAT, _INT = 25, 701, 20
_SSL, _GSS = 80_877_103, 80_877_104
_JOIN_S = 20.0


@dataclass(frozen=True)
class Refusal:
    """An error instead of rows: its code and what it says."""

    code: str
    said: str


HANG_UP = "hang up"
"""An answer: the connection is closed instead."""

Answer = Sequence[Row] | Refusal | str
Answers = Callable[[str, tuple[str | None, ...]], Answer]


@dataclass
class FakePostgres:
    """What it says and what it was asked.

    Attributes:
        answers: Rows for a statement and its parameters.
        password: Asked for, unless it is None.
        refusal: Sent instead of letting anybody in.
        gate: Waited for before every answer.
        asked: Set by a statement.
        statements: Everything it was asked, as (text, parameters).
        startups: What each connection said of itself.
    """

    answers: Answers = lambda text, values: []
    password: str | None = None
    refusal: Refusal | None = None
    gate: threading.Event = field(default_factory=threading.Event)
    asked: threading.Event = field(default_factory=threading.Event)
    statements: list[tuple[str, tuple[str | None, ...]]] = field(default_factory=list[Any])
    startups: list[dict[str, str]] = field(default_factory=list[Any])
    port: int = 0

    @property
    def url(self) -> str:
        return f"postgresql://reader@127.0.0.1:{self.port}/memories"


@contextmanager
def serving(fake: FakePostgres) -> Generator[FakePostgres]:
    """It, on a free port of this machine."""
    fake.gate.set()
    handler = type("Handler", (_Handler,), {"fake": fake})
    with _Server(("127.0.0.1", 0), handler) as server:
        fake.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield fake
        finally:
            fake.gate.set()
            server.shutdown()
            thread.join(_JOIN_S)


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    block_on_close = False  # a client that hung up may have left a thread at its socket


class _GoneError(Exception):
    """The client closed the connection."""


class _Handler(socketserver.StreamRequestHandler):
    fake: FakePostgres

    def handle(self) -> None:
        try:
            if self._let_in():
                self._serve()
        except (_GoneError, ConnectionError):
            return

    def _read(self, size: int) -> bytes:
        data = self.rfile.read(size)
        if len(data) < size:
            raise _GoneError
        return data

    def _let_in(self) -> bool:
        while True:
            (size,) = struct.unpack("!i", self._read(4))
            body = self._read(size - 4)
            (code,) = struct.unpack("!i", body[:4])
            if code not in (_SSL, _GSS):
                break
            self.wfile.write(b"N")
        parts = body[4:].split(b"\0")
        self.fake.startups.append({parts[at].decode(): parts[at + 1].decode() for at in range(0, len(parts) - 2, 2)})
        if self.fake.refusal is not None:
            self._send(b"E", _error(self.fake.refusal, "FATAL"))
            return False
        if self.fake.password is not None:
            self._send(b"R", struct.pack("!i", 3))
            kind, given = self._message()
            if kind != b"p" or given.rstrip(b"\0").decode() != self.fake.password:
                self._send(b"E", _error(Refusal("28P01", 'password authentication failed for user "reader"'), "FATAL"))
                return False
        self._send(b"R", struct.pack("!i", 0))
        for name, value in (("server_version", "15.0"), ("client_encoding", "UTF8"), ("integer_datetimes", "on")):
            self._send(b"S", f"{name}\0{value}\0".encode())
        self._send(b"Z", b"I")
        return True

    def _serve(self) -> None:
        text, values = "", ()
        while True:
            kind, body = self._message()
            if kind == b"Q":
                self._answer(body.rstrip(b"\0").decode(), (), simple=True)
                self._send(b"Z", b"I")
            elif kind == b"P":
                text = body.split(b"\0")[1].decode()
                self._send(b"1", b"")
            elif kind == b"B":
                values = _bound(body)
                self._send(b"2", b"")
            elif kind == b"E":
                self._answer(text, values, simple=False)
            elif kind == b"S":
                self._send(b"Z", b"I")
            elif kind == b"X":
                raise _GoneError

    def _answer(self, text: str, values: tuple[str | None, ...], *, simple: bool) -> None:
        del simple
        self.fake.statements.append((text, values))
        self.fake.asked.set()
        self.fake.gate.wait(_JOIN_S)
        answer = self.fake.answers(text, values)
        if isinstance(answer, Refusal):
            self._send(b"E", _error(answer, "ERROR"))
            return
        if isinstance(answer, str):
            raise _GoneError
        names = list(answer[0]) if answer else ["id"]
        kinds = [_kind([row[name] for row in answer]) for name in names]
        columns = b"".join(
            name.encode() + b"\0" + struct.pack("!ihihih", 0, 0, kind, -1, -1, 0)
            for name, kind in zip(names, kinds, strict=True)
        )
        self._send(b"T", struct.pack("!h", len(names)) + columns)
        for row in answer:
            self._send(b"D", struct.pack("!h", len(names)) + b"".join(_field(row[name]) for name in names))
        self._send(b"C", f"SELECT {len(answer)}\0".encode())

    def _message(self) -> tuple[bytes, bytes]:
        kind = self._read(1)
        (size,) = struct.unpack("!i", self._read(4))
        return kind, self._read(size - 4)

    def _send(self, kind: bytes, body: bytes) -> None:
        self.wfile.write(kind + struct.pack("!i", len(body) + 4) + body)


def _kind(values: Sequence[object]) -> int:
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, int) for value in known):
        return _INT
    return _FLOAT if known and all(isinstance(value, float) for value in known) else _TEXT


def _field(value: object) -> bytes:
    if value is None:
        return struct.pack("!i", -1)
    data = str(value).encode()
    return struct.pack("!i", len(data)) + data


def _bound(body: bytes) -> tuple[str | None, ...]:
    rest = body.split(b"\0", 2)[2]
    (formats,) = struct.unpack("!h", rest[:2])
    codes = struct.unpack(f"!{formats}h", rest[2 : 2 + 2 * formats])
    at = 2 + 2 * formats
    (count,) = struct.unpack("!h", rest[at : at + 2])
    at += 2
    values: list[str | None] = []
    for index in range(count):
        (size,) = struct.unpack("!i", rest[at : at + 4])
        raw = rest[at + 4 : at + 4 + max(size, 0)]
        binary = bool(codes[index] if len(codes) == count else codes[0] if codes else 0)
        values.append(None if size < 0 else str(_number(raw)) if binary else raw.decode())
        at += 4 + max(size, 0)
    return tuple(values)


def _number(raw: bytes) -> float | int:
    return struct.unpack("!d", raw)[0] if len(raw) == 8 else int.from_bytes(raw, "big", signed=True)


def _error(refusal: Refusal, severity: str) -> bytes:
    fields = (("S", severity), ("V", severity), ("C", refusal.code), ("M", refusal.said))
    return b"".join(f"{name}{value}\0".encode() for name, value in fields) + b"\0"
