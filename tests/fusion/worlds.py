"""Generated lists of stores: texts that overlap between stores, weights, relevances."""

from __future__ import annotations

from hypothesis import strategies as st

from callosum_mcp.fusion import RankedList, fuse
from callosum_mcp.models.knobs import FusionMode
from callosum_mcp.models.values import FusedHit, Hit

QUERY = "which port does hermes use"
MODES: list[FusionMode] = ["pooled", "rrf", "rrf_pct", "percentile"]
TEXTS = [
    "Hermes listens on port 8443 of the edge host",
    "the port of Apollo is 22",
    "Apollo was moved to the new rack in spring",
    "Hermes, hermes and once more Hermes",
    "nothing of this is asked for",
    "a long note about backups, ports and cables: " + "tape " * 40,
    "Hermes uses it",
    QUERY,
]
modes = st.sampled_from(MODES)
weights = st.sampled_from([0.0, 0.1, 0.5, 1.0, 1.5, 3.0, 100.0])
constants = st.integers(1, 10_000)


def ranked(store: str, *texts: str, weight: float = 1.0) -> RankedList:
    """A list whose hits are named by their place, from 1."""
    hits = tuple(Hit(store=store, id=str(n), text=text) for n, text in enumerate(texts, start=1))
    return RankedList(store=store, hits=hits, weight=weight)


@st.composite
def lists(draw: st.DrawFn, *, disjoint: bool = False) -> list[RankedList]:
    """Up to five stores; unless `disjoint`, some of their texts are the same."""
    made: list[RankedList] = []
    for name in draw(st.lists(st.sampled_from("abcdef"), unique=True, max_size=5)):
        texts = draw(st.lists(st.sampled_from(TEXTS), unique=disjoint, max_size=6))
        own = [f"{text} {name}" for text in texts] if disjoint else texts
        one = ranked(name, *own, weight=draw(weights))
        relevances = draw(st.lists(st.none() | st.floats(0, 1), min_size=len(texts), max_size=len(texts)))
        hits = tuple(
            Hit(store=name, id=hit.id, text=hit.text, relevance=relevance, metadata={"store_score": relevance})
            for hit, relevance in zip(one.hits, relevances, strict=True)
        )
        made.append(RankedList(store=name, hits=hits, weight=one.weight))
    return made


def fused(mode: FusionMode, given: list[RankedList], *, k: int = 60, query: str = QUERY) -> list[FusedHit]:
    """The lists merged in one mode."""
    return fuse(mode, given, query=query, k=k, pool_weight=0.5)


def ids(items: list[FusedHit]) -> list[str]:
    """The addresses of the shown copies."""
    return [item.hit.address for item in items]
