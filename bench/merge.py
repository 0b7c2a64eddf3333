"""How long the merge takes: eight stores, fifty hits each, 1,450 characters of real text each.

    python bench/merge.py [--stores 8] [--hits 50] [--chars 1450]

The texts are SciFact's abstracts (`data/scifact`), strung together to the length that is asked for; every hit's text is
its own. Prints the wall time of `ordered`, which is all that a recall does between the stores' replies and its list.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import time
from itertools import cycle
from typing import Any

from quality import SAMPLE

from callosum_mcp.federation.order import ordered
from callosum_mcp.fusion import RankedList
from callosum_mcp.models.knobs import Knobs
from callosum_mcp.models.values import Hit

_RUNS = 60


def main() -> None:
    """Measure and print one line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stores", type=int, default=8)
    parser.add_argument("--hits", type=int, default=50)
    parser.add_argument("--chars", type=int, default=1_450)
    options = parser.parse_args()
    pool: dict[str, Any] = json.loads(gzip.decompress(next(iter(sorted(SAMPLE.glob("*.json.gz")))).read_bytes()))
    lists = filled(list(pool["text"].values()), options.stores, options.hits, options.chars)
    query = str(pool["queries"][0]["query"])
    times = [timed(query, lists) for _ in range(_RUNS)]
    shape = f"{options.stores} stores x {options.hits} hits x {options.chars} characters"
    print(f"{shape}: p50 {statistics.median(times):.1f} ms, best {min(times):.1f}, worst {max(times):.1f}")


def filled(texts: list[str], stores: int, hits: int, chars: int) -> list[RankedList]:
    """Lists of hits whose texts have that length; no two are the same."""
    told = cycle(texts)
    return [
        RankedList(store=f"store-{at}", hits=tuple(_hit(f"store-{at}", n, _long(told, chars)) for n in range(hits)))
        for at in range(stores)
    ]


def _hit(store: str, number: int, text: str) -> Hit:
    return Hit(store=store, id=str(number), text=text)


def _long(texts: cycle[str], chars: int) -> str:
    whole = ""
    while len(whole) < chars:
        whole += f"{next(texts)} "
    return whole[:chars]


def timed(query: str, lists: list[RankedList]) -> float:
    """Milliseconds of one merge."""
    began = time.perf_counter()
    ordered(lists, query, Knobs())
    return (time.perf_counter() - began) * 1e3


if __name__ == "__main__":
    main()
