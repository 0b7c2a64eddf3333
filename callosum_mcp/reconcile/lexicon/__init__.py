"""What words mean: one table from words, phrases and CJK strings to senses.

Above: `tokens`. Below: the word lists next to this file and `stems`. Pure, built once at import.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import NamedTuple

from callosum_mcp.reconcile.lexicon.attributes import ATTRIBUTES
from callosum_mcp.reconcile.lexicon.choices import CHOICES
from callosum_mcp.reconcile.lexicon.markers import MARKERS
from callosum_mcp.reconcile.lexicon.measures import (
    CURRENCIES,
    FRACTIONS,
    MONTHS,
    MULTIPLIERS,
    NUMERALS,
    PER_NOUNS,
    RHYTHMS,
    UNITS,
    WEEKDAYS,
)
from callosum_mcp.reconcile.lexicon.scopes import SCOPES
from callosum_mcp.reconcile.lexicon.slots import SLOTS
from callosum_mcp.reconcile.lexicon.software import SHARED, SOFTWARE
from callosum_mcp.reconcile.lexicon.states import STATES
from callosum_mcp.reconcile.stems import plain, stem


class Sense(NamedTuple):
    """One meaning of a word.

    Attributes:
        role: ``attr``, ``state``, ``choice``, ``scope``, ``mark``, ``unit``, ``money``, ``times``, ``number``,
            ``share``, ``day``, ``month``, ``rhythm`` or ``per``.
        name: The concept, axis, class, dimension, mark or unit's dimension.
        value: The member, the polarity (``+``, ``-``), the factor or the number.
    """

    role: str
    name: str
    value: str = ""


Senses = tuple[Sense, ...]
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_UMLAUT = re.compile("[äöü]")  # "würde" is a condition, "wurde" the past
_SHORT = 3  # a word this short must be written with its accents: thé is tea, "the" is not
_LONGEST_ARTICLE = 4  # dell', nell', dall', sull'
_PART = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)?|[%€$£¥°~]", re.UNICODE)


def _entries() -> list[tuple[str, Sense]]:
    """Every word or phrase of every list with its sense."""
    found = [(word, Sense("attr", name)) for name, text in ATTRIBUTES.items() for word in text.split()]
    found += [(word, Sense("mark", name)) for name, text in MARKERS.items() for word in text.split()]
    for axis, (plus, minus) in STATES.items():
        found += [(word, Sense("state", axis, "+")) for word in plus.split()]
        found += [(word, Sense("state", axis, "-")) for word in minus.split()]
    return found + _choices() + _scopes() + _measures()


def _choices() -> list[tuple[str, Sense]]:
    found: list[tuple[str, Sense]] = []
    for name, text in (CHOICES | SOFTWARE).items():
        for member in text.split():
            canonical, *others = member.split("=")
            classes = [name, *(c for c in SHARED.get(canonical, "").split() if c != name)]
            words = [canonical.rsplit(">", 1)[-1], *others]
            found += [(word, Sense("choice", c, canonical)) for word in words for c in classes]
    return found


def _scopes() -> list[tuple[str, Sense]]:
    found: list[tuple[str, Sense]] = []
    for name, text in SCOPES.items():
        for member in text.split():
            canonical, *others = member.split("=")
            found += [(word.lstrip("!"), Sense("scope", name, canonical)) for word in [canonical, *others]]
    return found


def _measures() -> list[tuple[str, Sense]]:
    found = [(word, Sense("unit", name, factor)) for name, factor, text in UNITS for word in text.split()]
    tables = (
        ("times", MULTIPLIERS), ("share", FRACTIONS), ("number", NUMERALS), ("day", WEEKDAYS), ("month", MONTHS),
        ("money", CURRENCIES), ("rhythm", RHYTHMS), ("per", PER_NOUNS),
    )  # fmt: skip
    for role, table in tables:
        found += [(word, Sense(role, role, value)) for value, text in table.items() for word in text.split()]
    return found


def folded(word: str) -> str:
    """A word as the table has it: an elided article or a possessive falls off (``l'orario``, ``Edda's``)."""
    head, mark, tail = word.replace("’", "'").partition("'")
    if not mark or tail in ("t", "re", "ll", "ve", "d", "m") or (tail != "s" and len(head) > _LONGEST_ARTICLE):
        return word.replace("’", "'")
    return head if tail == "s" else tail


def parts(entry: str) -> tuple[str, ...]:
    """An entry of a list as the lower-case words a text would be cut into."""
    return tuple(folded(part) for part in _PART.findall(entry.replace("_", " ").lower()))


Phrases = dict[str, dict[str, list[tuple[tuple[str, ...], Senses]]]]
"""By the first word and the second: the words from the second on, and what the whole means."""


def _build() -> tuple[dict[str, Senses], Phrases, dict[str, Senses]]:
    words: dict[str, list[Sense]] = defaultdict(list)
    phrases: dict[tuple[str, ...], list[Sense]] = defaultdict(list)
    cjk: dict[str, list[Sense]] = defaultdict(list)
    for entry, sense in _entries():
        if _CJK.search(entry):
            cjk[entry].append(sense)
            continue
        cut = parts(entry)
        bare = tuple(plain(part) for part in cut)
        plainly = len("".join(bare)) > _SHORT and not (sense.role == "mark" and _UMLAUT.search(entry))
        for form in {cut, bare if plainly else cut}:
            (words[form[0]] if len(form) == 1 else phrases[form]).append(sense)
    heads: Phrases = {}
    for form in sorted(phrases, key=lambda form: (-len(form), form)):
        seconds = heads.setdefault(form[0], {})
        seconds.setdefault(form[1], []).append((form[1:], tuple(dict.fromkeys(phrases[form]))))
    return (
        {word: tuple(dict.fromkeys(senses)) for word, senses in words.items()},
        heads,
        {w: tuple(s) for w, s in cjk.items()},
    )


WORDS, PHRASES, CJK_WORDS = _build()
"""Single words, phrases (the longest first), and CJK strings."""

_INFLECTED = {("choice", "code_language"), ("choice", "database")}
_STEM_LETTERS = 6  # shorter stems meet by accident
STEMS: dict[str, Senses] = {}
"""Attribute words by stem, for forms no list has."""
for _word, _senses in WORDS.items():
    if _kept := tuple(sense for sense in _senses if sense.role == "attr" or (sense.role, sense.name) in _INFLECTED):
        if len(stem(_word)) >= _STEM_LETTERS:
            STEMS.setdefault(stem(_word), _kept)

CJK_SPLIT = re.compile("|".join(re.escape(word) for word in sorted(CJK_WORDS, key=lambda word: (-len(word), word))))
"""Finds the known words in a run of Japanese or Chinese, the longest first."""


SLOTS_OF = {concept: tuple(slots.split()) for concept, slots in SLOTS.items()}
"""Concept -> the slots its values fill."""


def fits(concept: str, slot: str) -> bool:
    """Whether a value in this slot may be a value of the concept."""
    return any(slot == wanted or slot.startswith(wanted + ":") for wanted in SLOTS_OF.get(concept, ()))


def senses_of(low: str) -> Senses:
    """What a lower-case word may mean; empty if nobody knows."""
    return WORDS.get(low) or STEMS.get(stem(low)) or _compound(low)


_COMPOUNDS = ("limit", "adresse", "größe", "version", "status", "zustand", "datum", "dauer", "preis", "kosten", "pfad",
              "verzeichnis", "sprache", "format", "intervall", "frist", "termin", "uhrzeit")  # fmt: skip


def _compound(low: str) -> Senses:
    """A German compound that ends in a plain attribute has the senses of both its words (``Speicherlimit``)."""
    if not low.endswith(_COMPOUNDS):
        return ()
    for tail in _COMPOUNDS:
        if low.endswith(tail) and len(low) > len(tail):
            head = low.removesuffix(tail)
            return WORDS.get(head, WORDS.get(head.removesuffix("s"), ())) + WORDS[tail]
    return ()
