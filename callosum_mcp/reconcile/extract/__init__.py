"""Values out of sentences: one module a kind of value.

Above: `claims`. Below: `sentences`, `values`, `lexicon`. Pure. Every extractor takes a sentence and yields `Found`
values with the position of the token that carries them.
"""

from __future__ import annotations

from collections.abc import Iterator

from callosum_mcp.reconcile.extract.base import Found
from callosum_mcp.reconcile.extract.choices import choices
from callosum_mcp.reconcile.extract.moments import moments
from callosum_mcp.reconcile.extract.names import names
from callosum_mcp.reconcile.extract.numbers import numbers
from callosum_mcp.reconcile.extract.patterns import patterns
from callosum_mcp.reconcile.extract.phrases import phrases
from callosum_mcp.reconcile.extract.places import phones, places, streets
from callosum_mcp.reconcile.extract.progress import progress
from callosum_mcp.reconcile.extract.states import states
from callosum_mcp.reconcile.sentences import Sentence

__all__ = ["Found", "extracted"]


def extracted(sentence: Sentence, closed: bool = False) -> Iterator[Found]:
    """Every value of a sentence, or only those of a known kind."""
    taken: set[int] = set()
    yield from places(sentence, taken)
    yield from streets(sentence, taken)
    yield from phones(sentence, taken)
    yield from moments(sentence, taken)
    yield from numbers(sentence, taken)
    yield from states(sentence)
    yield from choices(sentence)
    yield from progress(sentence)
    yield from names(sentence)
    yield from patterns(sentence)
    if not closed:
        yield from phrases(sentence)
