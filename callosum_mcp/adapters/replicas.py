"""A store in several places that hold the same: asked at one, and at the next where that one is not there or is slow.

Above: `http`. Below: `place`. A place that refuses or breaks the connection, or says that nobody is behind it (502,
503, 504), is passed over at once. One that takes longer than 95 of the store's last 100 requests is not waited for
alone: the next is asked too (a hedged request), the first good answer wins, and the other request is cancelled. All
requests here read, so that one sent twice does no harm but load; at most every tenth is. See Dean and Barroso, The Tail
at Scale, Communications of the ACM 56 (2), 2013, 10.1145/2408776.2408794.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass

import anyio
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectSendStream

from callosum_mcp.adapters.place import Answer, HttpRequest, Place, is_not_there
from callosum_mcp.errors import StoreError

SAMPLES, LEAST_SAMPLES = 100, 20
"""Times that the 95th percentile is taken of, and how many there must be before anything is called slow."""

HEDGED_SHARE, MOST_SAVED = 0.1, 10.0
"""The share of requests that may be hedged, and how many hedges a quiet time may save up."""

_GONE = frozenset({502, 503, 504})


@dataclass(frozen=True, kw_only=True, slots=True)
class _Tried:
    """What came of a request to one place: an answer or an error."""

    place: Place
    began: float
    answer: Answer | None = None
    error: StoreError | None = None

    @property
    def good(self) -> bool:
        """Whether nobody else need be asked."""
        return self.answer is not None and self.answer[0] not in _GONE

    @property
    def absent(self) -> bool:
        """Whether somebody else may do better: nobody is at this place."""
        return is_not_there(self.error) if self.error is not None else not self.good


class Pace:
    """How long a store takes, and how many requests may still be sent twice."""

    def __init__(self) -> None:
        self._times: deque[float] = deque(maxlen=SAMPLES)
        self._saved = 0.0

    def took(self, seconds: float) -> None:
        """A request was answered in this time, or given up after it."""
        self._times.append(seconds)

    def began(self) -> None:
        """A request begins; it earns its share of a hedge."""
        self._saved = min(MOST_SAVED, self._saved + HEDGED_SHARE)

    def slow_after_s(self) -> float | None:
        """Seconds after which a request is slow; None while nobody can say, or no further one may be sent."""
        if len(self._times) < LEAST_SAMPLES or self._saved < 1.0:
            return None
        return sorted(self._times)[-(-len(self._times) * 95 // 100) - 1]

    def hedged(self) -> bool:
        """Whether a request may be sent a second time now; it is then counted."""
        if self._saved < 1.0:
            return False
        self._saved -= 1.0
        return True


class Replicas:
    """Sends each request to one place, and to others where that is needed.

    Args:
        places: Where the store is; the first is asked first until it is not there.
    """

    def __init__(self, places: Sequence[Place]) -> None:
        self._places = tuple(places)
        self._first = 0
        self._pace = Pace()
        self._counts = Counter({"hedged": 0, "failovers": 0})

    async def exchange(self, request: HttpRequest) -> Answer:
        """The first good answer of a place, else what the last one said.

        Raises:
            StoreError: If no place gave an answer.
        """
        self._pace.began()
        first = self._first
        try:
            won = await self._race(request, deque(self._order()))
        except anyio.get_cancelled_exc_class():
            if self._first == first:  # the time was over: another place is asked first the next time
                self._first = (first + 1) % len(self._places)
            raise
        if won.good:
            self._first = self._places.index(won.place)
        if won.answer is not None:
            return won.answer
        assert won.error is not None
        raise won.error

    def usage(self) -> dict[str, int]:
        """Requests and kept connections of all places, and how often a further one was asked."""
        total = Counter(self._counts)
        for place in self._places:
            total.update(place.usage())
        return dict(total)

    async def aclose(self) -> None:
        """Close every connection."""
        for place in self._places:
            await place.aclose()

    def _order(self) -> Sequence[Place]:
        return (*self._places[self._first :], *self._places[: self._first])

    async def _race(self, request: HttpRequest, left: deque[Place]) -> _Tried:
        send, receive = anyio.create_memory_object_stream[_Tried](len(left))
        asked: dict[Place, float] = {}
        tried: _Tried | None = None

        def start(group: TaskGroup) -> None:
            place = left.popleft()
            asked[place] = anyio.current_time()
            group.start_soon(_try, place, request, send)

        async with anyio.create_task_group() as group, send, receive:
            start(group)
            while True:
                slow_after_s = self._pace.slow_after_s() if len(asked) == 1 and left else None
                with anyio.move_on_after(slow_after_s) as waiting:
                    tried = await receive.receive()
                    del asked[tried.place]
                    self._pace.took(anyio.current_time() - tried.began)
                    if tried.good or not (asked or (tried.absent and left)):
                        break
                    if tried.absent and left:
                        self._counts["failovers"] += 1
                        start(group)
                if waiting.cancelled_caught and self._pace.hedged():
                    self._counts["hedged"] += 1
                    start(group)
            for began in asked.values():  # who lost the race would have taken longer still
                self._pace.took(anyio.current_time() - began)
            group.cancel_scope.cancel()
        assert tried is not None
        return tried


async def _try(place: Place, request: HttpRequest, send: MemoryObjectSendStream[_Tried]) -> None:
    began = anyio.current_time()
    try:
        answer = await place.exchange(request)
    except StoreError as error:
        send.send_nowait(_Tried(place=place, began=began, error=error))
    else:
        send.send_nowait(_Tried(place=place, began=began, answer=answer))
