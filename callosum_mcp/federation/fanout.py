"""Asking many stores at once: one deadline for the call, one per store, every failure a status.

Above: the federation. Below: store set and adapters. The clock here is above every transport: connecting, the
handshake, the request and a dripping body all count. This module holds the program's only ``except Exception``
but for that around the libraries in `embedding.model`, which raise plain ones.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import anyio

from callosum_mcp.adapters.base import Adapter
from callosum_mcp.errors import StoreError
from callosum_mcp.federation.breaker import Pass, Refusal, blamed, refused
from callosum_mcp.federation.stores import Store
from callosum_mcp.models.secrets import redacted
from callosum_mcp.models.values import StoreStatus
from callosum_mcp.text import one_line

T = TypeVar("T")
OnStatus = Callable[[StoreStatus], Awaitable[None]]
"""Called once per store as it answers or fails."""

_HELD_UP = 0.1
"""The most of a store's time that loading other stores' adapters may use up, in a process's first call."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome(Generic[T]):
    """What one store gave: a value where it is up, and its status in any case."""

    store: Store
    status: StoreStatus
    value: T | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Clock:
    """The time of one call.

    Attributes:
        deadline: Moment on anyio's clock after which nobody is waited for.
        store_timeout_s: Seconds for a store without a ``timeout_s`` of its own.
        soft_deadline: Moment after which nobody is waited for once somebody answered; None waits for all.
        by_hand: A person asks how the stores are: those that are left alone are asked too.
    """

    deadline: float
    store_timeout_s: float
    soft_deadline: float | None = None
    by_hand: bool = False

    def own_s(self, store: Store) -> float:
        """Seconds a store has by its own settings."""
        return store.spec.timeout_s or self.store_timeout_s


async def fan_out(
    stores: Sequence[Store],
    call: Callable[[Adapter], Awaitable[T]],
    clock: Clock,
    on_status: OnStatus | None = None,
) -> list[Outcome[T]]:
    """Ask all stores at once; outcomes in the order of `stores`, whatever the order of the answers.

    Args:
        stores: The stores to ask.
        call: What to ask an adapter.
        clock: How long.
        on_status: Told of each status as it comes.
    """
    slots: list[Outcome[T] | None] = [None] * len(stores)
    began = anyio.current_time()
    answered = anyio.Event()
    left = len(stores)

    async def fill(index: int, store: Store) -> None:
        nonlocal left
        outcome = slots[index] = await ask(store, call, clock, began)
        if on_status is not None:
            await on_status(outcome.status)
        left -= 1
        if outcome.value is not None:
            answered.set()
        if not left and clock.soft_deadline is not None:
            group.cancel_scope.cancel()

    async def stop_waiting(moment: float) -> None:
        await anyio.sleep_until(moment)
        await answered.wait()
        group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        for index, store in enumerate(stores):
            group.start_soon(fill, index, store)
        if clock.soft_deadline is not None and stores:
            group.start_soon(stop_waiting, clock.soft_deadline)
    return [slot or _straggler(store, began) for slot, store in zip(slots, stores, strict=True)]


def _straggler(store: Store, began: float) -> Outcome[Any]:
    took_s = anyio.current_time() - began
    detail = f"not waited for: others had answered, and {took_s:.1f} s (soft_deadline_s) were over"
    status = StoreStatus(engine=store.spec.name, status="down", reason="timeout", detail=detail, ms=took_s * 1_000)
    return Outcome(store=store, status=status)


async def ask(
    store: Store, call: Callable[[Adapter], Awaitable[T]], clock: Clock, began: float | None = None
) -> Outcome[T]:
    """Ask one store within its own time and the call's, unless its breaker is open; raises nothing but cancellation.

    Args:
        store: The store.
        call: What to ask its adapter.
        clock: How long.
        began: Moment from which its time counts, where that was before now: loading another store's adapter may have
            held this one up.
    """
    breaker = store.connection.breaker
    leave = Pass() if clock.by_hand else breaker.admit()
    if isinstance(leave, Refusal):
        return Outcome(store=store, status=refused(store.spec.name, leave, optional=store.spec.optional))
    try:
        outcome = await _asked(store, call, clock, began)
    except BaseException:
        breaker.let_go(leave)
        raise
    if blamed(outcome.status, clock.own_s(store)):
        breaker.record(outcome.status, leave)
    else:
        breaker.let_go(leave)
    return outcome


async def _asked(
    store: Store, call: Callable[[Adapter], Awaitable[T]], clock: Clock, began: float | None
) -> Outcome[T]:
    now, allowed_s = anyio.current_time(), clock.own_s(store)
    started = now if began is None else max(began, now - _HELD_UP * allowed_s)
    value: T | None = None
    fault: StoreError | None = None
    with anyio.CancelScope(deadline=min(started + allowed_s, clock.deadline)) as scope:
        try:
            async with store.connection.adapter() as adapter:
                value = store.connection.mask.value(await call(adapter))
        except StoreError as error:
            fault = error
        except Exception as error:
            _log.exception("store %s: its adapter failed", store.spec.name)
            fault = StoreError(f"bug in its adapter: {type(error).__name__}; the log has the trace")
    took_s = anyio.current_time() - started
    waited = store.connection.waiting() if scope.cancelled_caught else None
    status = _status(store, fault, took_s, timed_out=scope.cancelled_caught, waited=waited)
    return Outcome(store=store, status=status, value=value if status.status == "up" else None)


def _status(
    store: Store, fault: StoreError | None, took_s: float, *, timed_out: bool, waited: str | None
) -> StoreStatus:
    name, ms, told = store.spec.name, took_s * 1_000, store.connection.told
    if timed_out:
        detail = f"no answer within {took_s:.1f} s" + (f": {told.text(waited)}" if waited else "")
        return StoreStatus(engine=name, status="down", reason="timeout", detail=detail, ms=ms)
    if fault is None:
        return StoreStatus(engine=name, status="up", ms=ms)
    if store.spec.optional and fault.reason == "refused":
        return StoreStatus(engine=name, status="skipped", reason="refused", detail="not running (default store)", ms=ms)
    return StoreStatus(
        engine=name,
        status="down",
        reason=fault.reason,
        detail=one_line(redacted(told.text(str(fault))), 240),
        ms=ms,
        retry_after_s=fault.retry_after_s,
    )
