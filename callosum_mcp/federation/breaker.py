"""Whether a store that keeps failing is asked: a circuit breaker per store, after Nygard, "Release It!" (2007), ch. 5.

Above: the fan-out. Below: models. It knows no network and no clock but the one it is given. Closed, every call goes
through. It opens after `IN_A_ROW` failures in a row, or when half of at least `AT_LEAST` calls of the last minute
failed; then nobody asks until the wait is over, and of those who come then one alone does. Its success closes the
breaker, its failure doubles the wait, up to a minute: never for good, but for a store that refuses our token, which is
asked again when the token changes or a probe by hand gets an answer.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Literal

from callosum_mcp.models.values import StoreStatus

IN_A_ROW = 5
"""Failures one after the other that open it."""

AT_LEAST = 10
"""Calls in `WINDOW_S` of which half must have failed to open it."""

WINDOW_S = 60.0
FIRST_WAIT_S = 2.0
LONGEST_WAIT_S = 60.0
LONGEST_ASKED_FOR_S = 3_600.0
"""The longest time that a store may ask us to stay away (429 with Retry-After)."""

BLAMED_FROM_S = 1.0
"""A store that had less time than this, and less than its own, is not blamed for not answering in it."""

Circuit = Literal["closed", "open", "half_open"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """Why a store is not asked now.

    Attributes:
        last: The failure that opened the breaker.
        failures: Failures in a row until then.
        retry_after_s: Seconds until it is asked again; None if only a new token helps.
    """

    last: StoreStatus
    failures: int
    retry_after_s: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Pass:
    """Leave to ask a store.

    Attributes:
        trying: It is the one that finds out whether the store is well again.
    """

    trying: bool = False


_FREE = Pass()
_TRYING = Pass(trying=True)


class Breaker:
    """The breaker of one store.

    Args:
        clock: Gives seconds that never run backwards.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._recent: deque[tuple[float, bool]] = deque(maxlen=1_000)
        self._failures = 0
        self._wait_s = FIRST_WAIT_S
        self._last: StoreStatus | None = None
        self._opens_at = 0.0
        self._trying = False

    @property
    def circuit(self) -> Circuit:
        """``open`` while nobody asks, ``half_open`` when one may try."""
        if self._last is None:
            return "closed"
        return "open" if self._clock() < self._opens_at else "half_open"

    def admit(self) -> Pass | Refusal:
        """Leave to ask the store now, or why not; who is let through in the half-open state is the one who tries."""
        if self._last is None:
            return _FREE
        left_s = self._opens_at - self._clock()
        if left_s <= 0 and not self._trying:
            self._trying = True
            return _TRYING
        after_s = None if left_s == inf else max(left_s, 0.1)
        return Refusal(last=self._last, failures=self._failures, retry_after_s=after_s)

    def record(self, status: StoreStatus, leave: Pass = _FREE) -> None:
        """Count what a store that was asked did.

        Args:
            status: What it did.
            leave: What `admit` gave; only the one who tries can lengthen the wait.
        """
        failed = status.status != "up"
        self._recent.append((self._clock(), failed))
        self.let_go(leave)
        if not failed:
            self._close()
        elif self._last is None:
            self._failures += 1
            if self._has_to_open(status):
                self._open(status, FIRST_WAIT_S)
        elif leave.trying:
            self._failures += 1
            self._open(status, min(2 * self._wait_s, LONGEST_WAIT_S))

    def let_go(self, leave: Pass) -> None:
        """The one who tried has ended, with or without an answer: another may try."""
        if leave.trying:
            self._trying = False

    def _has_to_open(self, status: StoreStatus) -> bool:
        at_once = status.reason in ("auth_failed", "rate_limited")
        return at_once or self._failures >= IN_A_ROW or self._half_failed()

    def _open(self, status: StoreStatus, wait_s: float) -> None:
        self._last, self._wait_s = status, wait_s
        self._opens_at = self._clock() + _stays_away_s(status, wait_s)

    def _close(self) -> None:
        if self._last is not None:
            self._recent.clear()
        self._last, self._failures, self._wait_s = None, 0, FIRST_WAIT_S

    def _half_failed(self) -> bool:
        since = self._clock() - WINDOW_S
        recent = [failed for at, failed in self._recent if at >= since]
        return len(recent) >= AT_LEAST and 2 * sum(recent) >= len(recent)


def _stays_away_s(status: StoreStatus, wait_s: float) -> float:
    if status.reason == "auth_failed":
        return inf
    if status.reason == "rate_limited" and status.retry_after_s is not None:
        return min(max(status.retry_after_s, 0.0), LONGEST_ASKED_FOR_S)
    return wait_s


def blamed(status: StoreStatus, own_s: float) -> bool:
    """Whether a failure is the store's.

    Args:
        status: What the store did.
        own_s: Seconds the store has by its own settings.
    """
    return status.reason != "timeout" or (status.ms or 0.0) >= 1_000 * min(own_s, BLAMED_FROM_S) * 0.99


def refused(name: str, refusal: Refusal, *, optional: bool) -> StoreStatus:
    """The status of a store that is not asked."""
    last = refusal.last
    if optional and last.reason == "refused":
        return StoreStatus(
            engine=name,
            status="skipped",
            reason="refused",
            detail="not running (default store)",
            retry_after_s=refusal.retry_after_s,
        )
    return StoreStatus(
        engine=name,
        status="skipped",
        reason=last.reason if last.reason in ("auth_failed", "rate_limited") else "circuit_open",
        detail=_said(refusal),
        retry_after_s=None if refusal.retry_after_s is None else round(refusal.retry_after_s, 1),
    )


def _said(refusal: Refusal) -> str:
    last, after_s = refusal.last, refusal.retry_after_s
    if after_s is None:
        return f"not asked until its token changes, or a probe of list_stores is answered: {last.detail}"
    if last.reason == "rate_limited":
        return f"not asked for {after_s:.0f} s, as it wished: {last.detail}"
    times = f"{refusal.failures} failures in a row" if refusal.failures > 1 else "its last failure"
    return f"not asked for {after_s:.0f} s after {times}: {last.reason}: {last.detail}"
