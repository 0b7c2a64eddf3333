"""Fitting an answer into its budget: seats for stores, a cap per hit, then as many hits as fit.

Above: the federation's shape step. Below: models and text. Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from callosum_mcp.models.values import FusedHit

CHARS_PER_TOKEN = 4
"""The usual rough measure of English text in the tokenisers of today's models."""


def seated(fused: Sequence[FusedHit], seats: int, min_per_store: int) -> list[FusedHit]:
    """The hits that get a seat, in fused order.

    Every store keeps its first `min_per_store` hits as long as there are seats; they are taken from the tail of the
    list, so that the head stays what fusion said. A memory of several stores counts for each of them.
    """
    if min_per_store <= 0 or len(fused) <= seats:
        return list(fused[:seats])
    taken: Counter[str] = Counter()
    reserved: list[int] = []
    for index, item in enumerate(fused):
        stores = {item.hit.store, *(address.partition(":")[0] for address, _ in item.sources)}
        if len(reserved) < seats and any(taken[store] < min_per_store for store in stores):
            taken.update(stores)
            reserved.append(index)
    kept = set(reserved)
    for index in range(len(fused)):
        if len(kept) >= seats:
            break
        kept.add(index)
    return [fused[index] for index in sorted(kept)]
