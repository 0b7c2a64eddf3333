"""The fault server: many stores in one process, each on a port of its own, and a port that says how they behave.

    python -m faults.server memory:a loci:b engine:c engine:d …

Above: `running`, which starts it. Below: `wires`. Prints one line of JSON with the control port and the stores' URLs,
then serves until it is ended. A child (`stdio_engine`) is a store of kind ``engine`` too, and asks the control port,
which takes JSON by POST: ``/set`` (store, mode, ms, url, only), ``/setting`` and ``/note`` for children, ``/wait``
(store, what, since, timeout_s) for an event, ``/events`` (store, since), ``/now``, ``/counts``.
"""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Coroutine
from typing import Any

from support.fake_seren import Asked, Talk

from .modes import MODES, Row, Setting
from .seren import encoded
from .wires import Place, Reader, Wire

_KEPT = 20_000
_LONGEST_WAIT_S = 60.0
Served = Callable[[Reader, asyncio.StreamWriter], Coroutine[Any, Any, None]]


class Log:
    """What happened, in order; `at` is in seconds of a clock that all processes of this machine share."""

    def __init__(self) -> None:
        self._events: deque[Row] = deque(maxlen=_KEPT)
        self.next = 0
        self._news = asyncio.Event()
        self.counts: Counter[str] = Counter()

    def add(self, store: str, what: str, **more: Any) -> None:
        """Take one thing down."""
        event = {"n": self.next, "at": time.monotonic(), "store": store, "what": what, **more}
        self._events.append(event)
        self.next += 1
        self.counts[f"{store} {what}"] += 1
        self._news.set()
        self._news = asyncio.Event()

    def since(self, number: int, store: str, what: str = "") -> list[Row]:
        """The events of a store from a number on."""
        return [
            event
            for event in self._events
            if event["n"] >= number and event["store"] == store and what in ("", event["what"])
        ]

    async def wait(self, number: int, store: str, what: str, timeout_s: float) -> Row | None:
        """The first such event, waited for; None if there is none in time."""
        try:
            async with asyncio.timeout(min(timeout_s, _LONGEST_WAIT_S)):
                while not (found := self.since(number, store, what)):
                    await self._news.wait()
                return found[0]
        except TimeoutError:
            return None


class Port:
    """A port of loopback that may refuse; it is never lost to anybody else meanwhile."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self._holder = _bound(0)
        self.number: int = self._holder.getsockname()[1]
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()

    async def listen(self) -> None:
        """Accept connections."""
        if self._server is None:
            loop = asyncio.get_running_loop()

            def protocol() -> asyncio.StreamReaderProtocol:
                reader = Reader()
                return asyncio.StreamReaderProtocol(reader, lambda _, writer: self._connected(reader, writer))

            self._server = await loop.create_server(protocol, sock=_bound(self.number), backlog=1_024)

    def refuse(self) -> None:
        """Accept none any more, and break those that are open."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for writer in self._writers:
            writer.transport.abort()

    def _connected(self, reader: Reader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: Reader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            await self._served(reader, writer)
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass  # the client went away, which is its right
        finally:
            self._writers.discard(writer)
            writer.close()


def _bound(port: int) -> socket.socket:
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # asyncio sets TCP_NODELAY if named
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    bound.bind(("127.0.0.1", port))
    return bound


class Server:
    """All of it.

    Args:
        stores: Kind of each store by its name.
    """

    def __init__(self, stores: dict[str, str]) -> None:
        self._log = Log()
        self._places = {name: self._place(name, kind) for name, kind in stores.items()}
        self._ports = {name: Port(self._to(place)) for name, place in self._places.items()}
        self._control = Port(self._controlled)

    async def run(self) -> None:
        """Serve until SIGTERM or SIGINT."""
        done, loop = asyncio.Event(), asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, done.set)
        for port in (self._control, *self._ports.values()):
            await port.listen()
        urls = {name: f"http://127.0.0.1:{port.number}" for name, port in self._ports.items()}
        sys.stdout.write(json.dumps({"control": f"http://127.0.0.1:{self._control.number}", "stores": urls}) + "\n")
        sys.stdout.flush()
        await done.wait()

    def _place(self, name: str, kind: str) -> Place:
        def note(what: str, **more: Any) -> None:
            self._log.add(name, what, **more)

        return Place(name=name, kind=kind, note=note)

    def _to(self, place: Place) -> Served:
        async def served(reader: Reader, writer: asyncio.StreamWriter) -> None:
            place.note("connected")
            await Wire(place, reader, writer).serve()

        return served

    async def _controlled(self, reader: Reader, writer: asyncio.StreamWriter) -> None:
        talk = Talk(reader, writer)
        while True:
            asked = await talk.read()
            await talk.write(encoded(await self._told(asked)))

    async def _told(self, asked: Asked) -> object:
        given: Row = asked.body or {}
        store = str(given.get("store", ""))
        match asked.path:
            case "/set":
                return await self._set(given)
            case "/setting":
                return vars(self._places[store].setting)
            case "/note":
                self._log.add(**given)
                return {}
            case "/wait":
                return await self._log.wait(given["since"], store, given["what"], given["timeout_s"])
            case "/now":
                return {"since": self._log.next}
            case "/events":
                return self._log.since(given["since"], store)
            case _:
                return dict(self._log.counts)

    async def _set(self, given: Row) -> Row:
        """Stores behave otherwise from now on; the answer is the number of the next event."""
        wanted = {name: value for name, value in given.items() if name not in ("store", "n")}
        setting = Setting(**wanted)
        assert setting.mode in MODES, setting.mode
        named = given["store"]
        for name in self._places if named == "*" else [named]:
            self._places[name].behave(setting)
            if setting.mode == "refuse":
                self._ports[name].refuse()
            else:
                await self._ports[name].listen()
        self._log.add(str(named), "set", mode=setting.mode)
        return {"since": self._log.next}


if __name__ == "__main__":
    pairs = [argument.partition(":") for argument in sys.argv[1:]]
    asyncio.run(Server({name: kind for kind, _, name in pairs}).run())
