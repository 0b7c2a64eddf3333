"""Several questions to one engine at the same time, as one.

Above: the adapter and its engines. Below: errors.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import anyio

from callosum_mcp.errors import StoreError

T = TypeVar("T")


async def together(calls: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
    """The results of all calls, in their order.

    Raises:
        StoreError: That of the first call that failed: an answer that lacks a part would pass for a whole one.
    """
    results = await each(calls)
    for result in results:
        if isinstance(result, StoreError):
            raise result
    return [result for result in results if not isinstance(result, StoreError)]


async def each(calls: Sequence[Callable[[], Awaitable[T]]]) -> list[T | StoreError]:
    """For each call its result or its failure, in their order."""
    slots: dict[int, T | StoreError] = {}

    async def fill(at: int, call: Callable[[], Awaitable[T]]) -> None:
        try:
            slots[at] = await call()
        except StoreError as fault:
            slots[at] = fault

    if len(calls) == 1:
        await fill(0, calls[0])
        return [slots[0]]
    async with anyio.create_task_group() as group:
        for at, call in enumerate(calls):
            group.start_soon(fill, at, call)
    return [slots[at] for at in range(len(calls))]
