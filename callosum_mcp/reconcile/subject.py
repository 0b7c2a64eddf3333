"""Whether a hit names what the query names: as a word, run together, inflected, or as a compound of its words.

Above: `align`. Below: `claims`, `question`. Pure.
"""

from __future__ import annotations

from callosum_mcp.reconcile.claims import Statement
from callosum_mcp.reconcile.question import Anchor
from callosum_mcp.reconcile.wording import abbreviated, same_word

_COMPOUND_LETTERS = 3
_JOINT = 3  # letters that inflection and a joining s may add


def covered(anchor: Anchor, statement: Statement) -> bool:
    """Whether a hit names an anchor: as a word of its own, run together, or as a compound of its words."""
    if len(anchor.stems) > 1:
        return anchor.joined in statement.squeezed or all(stem in statement.words for stem in anchor.stems)
    stem = next(iter(anchor.stems))
    return (
        stem in statement.lone
        or any(short in statement.lone for short in anchor.initials.split())
        or _inflected(stem, statement)
        or abbreviated(stem, frozenset(statement.lone))
        or (not anchor.joined.isascii() and _cjk_in(anchor.joined, statement))
        or _compounded(anchor.joined, statement)
        or (statement.scanned and _misread(anchor.joined, statement))
    )


_COMMON = 5  # letters two forms of a word share at least


def _inflected(stem: str, statement: Statement) -> bool:
    """``approval`` in a text about ``approving``: the same beginning, and endings that are endings."""
    if len(stem) < _COMMON or not stem.isascii():
        return False
    return any(same_word(stem, other) for other in statement.lone)


_MISREAD = str.maketrans({"1": "i", "l": "i", "0": "o", "5": "s", "8": "b"})


def _misread(word: str, statement: Statement) -> bool:
    """Whether a scanned text has a word but for letters that scanners mix up."""
    wanted = _as_scanned(word)
    return len(word) >= _COMMON and any(
        len(other) >= _COMMON and len(wanted) - len(other) < _JOINT and wanted.startswith(_as_scanned(other))
        for other in statement.words
    )


def _as_scanned(word: str) -> str:
    return word.replace("rn", "m").translate(_MISREAD)


def _cjk_in(word: str, statement: Statement) -> bool:
    return len(word) > 1 and word[:2] in statement.squeezed


def _compounded(word: str, statement: Statement) -> bool:
    """``dachantenne`` in a text about the ``Antenne`` on the ``Dach``."""
    inside = [
        stem for stem in statement.lone if len(stem) >= _COMPOUND_LETTERS and stem in word and len(stem) < len(word)
    ]
    return any(
        head != tail
        and word.startswith(head)
        and 0 <= (joint := word.find(tail, len(head)) - len(head)) <= _JOINT
        and len(word) - len(head) - joint - len(tail) <= _JOINT
        for head in inside
        for tail in inside
    )
