"""The temporal tie-break: when a question asks for the latest, a younger memory goes before its equals.

Above: the federation. Below: text helpers. Pure. The bonus is w_t · unit · 0.5^(age / 90 d), never more than what one
first rank is worth, and is given only where the question has a temporal cue or the call a time filter.
"""

from __future__ import annotations

import re

from callosum_mcp.text import words

HALVING_DAYS = 90.0
"""After this many days the bonus is half as large."""

_CUES = frozenset(
    "today yesterday tonight now current currently latest newest recent recently lately nowadays anymore heute gestern "
    "jetzt aktuell aktuelle neueste neuesten zuletzt kürzlich aujourd'hui hier maintenant actuel actuelle actuellement "
    "récemment hoy ayer ahora actual actualmente reciente recientemente hoje ontem agora atual atualmente recente oggi "
    "ieri adesso attuale attualmente recente dzisiaj wczoraj teraz obecnie ostatnio".split()
)
_PHRASES = re.compile(
    r"\b(?:last|this|past|previous) (?:night|day|week|month|quarter|year|morning|evening|weekend|time|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b|\b(?:days?|weeks?|months?|years?) ago\b|\bas of\b|"
    r"\b(?:letzte|diese|vorige)[nrsm]? (?:nacht|woche|monat|jahr)\b|\b(?:cette|la) (?:semaine|année)\b|"
    r"\besta semana\b|\b(?:semana|año|ano) pasad[oa]\b|\b(?:19|20)\d\d-\d\d(?:-\d\d)?\b"
)
_CUE_RUNS = re.compile("今天|昨天|现在|目前|最新|最近|今日|昨日|現在|先週|今週|오늘|어제|지금|현재|최근|최신")


def has_cue(query: str) -> bool:
    """Whether a question asks for a time, or for the state at one."""
    if not _CUES.isdisjoint(words(query)):
        return True
    return _PHRASES.search(query.lower()) is not None or _CUE_RUNS.search(query) is not None


def bonus(last_seen: float | None, now: float, unit: float, weight: float) -> float:
    """What a hit's youth adds to its score; nothing for an unknown age.

    Args:
        last_seen: Unix seconds.
        now: Unix seconds.
        unit: What a first rank is worth: 1 / (k + 1) in RRF.
        weight: w_t, the part of a unit that a hit of this moment gets, 0–1.
    """
    if last_seen is None:
        return 0.0
    age_days = max(now - last_seen, 0.0) / 86_400
    return weight * unit * 0.5 ** (age_days / HALVING_DAYS)
