"""The temporal tie-break: when a question asks for the latest, a younger memory goes before its equals.

Above: the federation. Below: text helpers. Pure. The bonus is w · unit · 0.5^(age / 90 d), at most half of what one
first rank is worth, and is given only where the question has a temporal cue or the call a time filter.
"""

from __future__ import annotations

import re

from callosum_mcp.text import words

WEIGHT = 0.5
"""w_t: at most half a unit, so that age alone never overturns a whole rank-1 vote."""

HALVING_DAYS = 90.0
"""After this many days the bonus is half as large."""

_CUES = frozenset(
    "today yesterday tonight now current currently latest newest recent recently lately last this still already new "
    "anymore nowadays ago since when week month year morning heute gestern jetzt aktuell neueste zuletzt letzte noch "
    "aujourd'hui hier maintenant actuel dernier dernière récemment hoy ayer ahora actual último última reciente hoje ontem "
    "agora atual oggi ieri adesso ultimo ultima".split()
)
_CUE_RUNS = re.compile("今天|昨天|现在|目前|最新|最近|今日|昨日|現在|先週|今週|오늘|어제|지금|현재|최근|최신")
_DATE = re.compile(r"\b(?:19|20)\d\d-\d\d(?:-\d\d)?\b")


def has_cue(query: str) -> bool:
    """Whether a question asks for a time, or for the state at one."""
    return (
        not _CUES.isdisjoint(words(query))
        or _CUE_RUNS.search(query) is not None
        or _DATE.search(query) is not None
    )


def bonus(last_seen: float | None, now: float, unit: float) -> float:
    """What a hit's youth adds to its score; nothing for an unknown age.

    Args:
        last_seen: Unix seconds.
        now: Unix seconds.
        unit: What a first rank is worth: 1 / (k + 1) in RRF.
    """
    if last_seen is None:
        return 0.0
    age_days = max(now - last_seen, 0.0) / 86_400
    return WEIGHT * unit * 0.5 ** (age_days / HALVING_DAYS)
