"""How a serving process ends, in this one: what would have ended it is written down instead."""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from collections.abc import Generator
from typing import IO, Any, cast

import pytest

from callosum_mcp.cli import ending
from callosum_mcp.cli.ending import Ending, drained, not_held_up
from callosum_mcp.surface import wire as wires
from callosum_mcp.surface.wire import Wire

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX pipes and signals")
WAIT_S = 10.0


class Left:
    """The codes with which the process would have ended."""

    def __init__(self) -> None:
        self.codes: list[int] = []
        self.news = threading.Event()

    def __call__(self, code: int) -> None:
        self.codes.append(code)
        self.news.set()


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> Left:
    noted = Left()
    monkeypatch.setattr(ending, "leave", noted)
    return noted


class Client:
    """The other ends of a wire."""

    def __init__(self) -> None:
        (stdin, to), (out, stdout) = os.pipe(), os.pipe()
        self.to, self.out = os.fdopen(to, "wb"), os.fdopen(out, "rb")
        self.wire = Wire(os.fdopen(stdin, "rb"), os.fdopen(stdout, "wb"))

    def close(self) -> None:
        for stream in (self.to, self.out, self.wire.reading, self.wire.writing):
            stream.close()


@pytest.fixture
def client() -> Generator[Client]:
    made = Client()
    yield made
    made.close()


def test_a_client_that_stops_reading_ends_it(client: Client, left: Left) -> None:
    with Ending(client.wire):
        client.out.close()
        assert left.news.wait(WAIT_S)
    assert left.codes == [0]


def test_a_client_that_says_no_more_leaves_it_a_moment(
    client: Client, left: Left, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ending, "AFTER_THE_CLIENT_S", 0.01)
    with Ending(client.wire) as watched:
        client.to.close()
        watched.soon()
        assert left.news.wait(WAIT_S)
    assert left.codes == [0]


def test_an_end_in_time_calls_the_last_moment_off(client: Client, left: Left) -> None:
    with Ending(client.wire) as watched:
        watched.soon()
    assert left.codes == []


@pytest.mark.parametrize("poll", [True, False])
def test_another_parent_means_that_its_own_has_died(
    client: Client, left: Left, monkeypatch: pytest.MonkeyPatch, poll: bool
) -> None:
    if not poll:
        monkeypatch.delattr(select, "poll")
    monkeypatch.setattr(ending, "_WATCH_S", 0.01)
    parents = iter([7])
    monkeypatch.setattr(os, "getppid", lambda: next(parents, 1))
    with Ending(client.wire):
        assert left.news.wait(WAIT_S)
    assert left.codes == [0]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_at_once_and_afterwards_means_what_it_did(client: Client, left: Left, number: int) -> None:
    before = signal.getsignal(number)
    with Ending(client.wire):
        signal.raise_signal(number)
        assert left.codes == [128 + number]
    assert signal.getsignal(number) is before


def test_in_another_thread_signals_stay_what_they_are(client: Client, left: Left) -> None:
    before = signal.getsignal(signal.SIGTERM)

    def run() -> None:
        with Ending(client.wire):
            assert signal.getsignal(signal.SIGTERM) is before
            not_held_up(3)

    other = threading.Thread(target=run)
    other.start()
    other.join()
    assert left.codes == []


def test_a_thread_that_is_still_at_work_is_not_waited_for(left: Left, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ending, "_THREADS_S", 0.01)
    go = threading.Event()
    worker = threading.Thread(target=go.wait)
    worker.start()
    not_held_up(3)
    go.set()
    worker.join()
    assert left.codes == [3]


def test_the_first_signal_drains_and_the_second_does_not_wait(left: Left, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ending, "AFTER_A_SIGNAL_S", 86_400.0)
    heard: list[int] = []
    handle = drained(lambda number, frame: heard.append(number))
    handle(signal.SIGTERM, None)
    assert (heard, left.codes) == ([signal.SIGTERM], [])
    handle(signal.SIGINT, None)
    assert left.codes == [130]


def test_draining_has_an_end(left: Left, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ending, "AFTER_A_SIGNAL_S", 0.01)
    drained(lambda number, frame: None)(signal.SIGTERM, None)
    assert left.news.wait(WAIT_S)
    assert left.codes == [143]


class Odd:
    """A stream that somebody put in place of a standard one, without a descriptor."""

    buffer: Any = cast("IO[bytes]", None)


def test_streams_that_somebody_replaced_are_used_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Odd())
    monkeypatch.setattr(sys, "stdout", Odd())
    taken = wires.take()
    assert taken is not None and taken.reading is Odd.buffer


def test_without_a_stdout_there_is_nothing_to_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert wires.take() is None
