"""One number read with everything around it: multiplier, unit, currency, what it is per, a range.

Above: `numbers`. Below: `tokens`. Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from callosum_mcp.reconcile.tokens import Token, unknown

_THOUSANDS = re.compile(r"(?<=\d)[,.' \u202f\u00a0](?=\d{3}(?:\D|$))")
_MONTH_S = 2_629_800.0
_PER = frozenset("im au ao per a an pro par por al alla je and and/or each / na za a pour".split())
_SECONDS = ("timeout", "ttl", "interval")
_BYTES = ("memory", "disk", "upload", "size")
SUFFIX = {"k": 1024.0, "m": 1024.0**2, "g": 1024.0**3, "t": 1024.0**4}
"""Bytes by the letter that stands right behind a size (``512m``)."""
_SHORT_UNIT = 3  # letters: "30 idle minutes" has its unit a word further, "3 of h" has not
_TIGHT = {"m": 60.0, "w": 604_800.0, "y": 31_557_600.0}
_REACH = 5
_ARTICLES = frozenset("an a une eine".split())


@dataclass(slots=True)
class Reading:
    """A number in the base unit of its dimension, and how far its tokens reach."""

    low: float
    high: float
    dimension: str
    per: frozenset[str]
    text: str


def read(tokens: list[Token], at: int, taken: set[int]) -> Reading | None:
    """Reads the number at a position; None if it is only the tail of another (``6 of 6``, ``3/3``)."""
    token = tokens[at]
    if (
        _is_tail(tokens, at)
        or (token.kind == "word" and end_of_fraction(tokens, at))
        or (token.named("number") == "1" and token.low != "single" and not _unit_follows(tokens, at))
    ):
        return None
    value = _plain(token)
    end = at + 1
    value, end = _product_of(tokens, at, value, end, taken)
    high = value
    if end < len(tokens) and tokens[end].kind == "num" and tokens[end].gap in ("-", "–"):
        high, end = _plain(tokens[end]), end + 1
        taken.add(end - 1)
    factor, dimension, end = _unit(tokens, at, end)
    half = _and_a_half(tokens, end) if dimension == "time" else 0.0
    value, high = value + half, high + half
    per, scale, end = _per(tokens, end, dimension)
    if token.named("share") and dimension == "count":
        factor, dimension = 100.0, "percent"
    text = "".join(("" if i == 0 else t.gap) + t.text for i, t in enumerate(tokens[at:end]))
    return Reading(min(value, high) * factor * scale, max(value, high) * factor * scale, dimension, per, text)


def _is_tail(tokens: list[Token], at: int) -> bool:
    if not at:
        return False
    gap, previous = tokens[at].gap.strip(), tokens[at - 1]
    counted = at > 1 and previous.low in ("of", "von", "de", "di", "z", "sur", "/") and tokens[at - 2].kind == "num"
    return (
        counted
        or (gap == "/" and previous.kind == "num")
        or (previous.low in ("and", "×") and tokens[at].named("share") is not None)
    )


def end_of_fraction(tokens: list[Token], at: int) -> bool:
    """``nine tenths``: the first half of a fraction nobody reads."""
    return at + 1 < len(tokens) and tokens[at + 1].low.endswith("ths") and not tokens[at + 1].senses


def _unit_follows(tokens: list[Token], at: int) -> bool:
    return at + 1 < len(tokens) and tokens[at + 1].named("unit") is not None


def _plain(token: Token) -> float:
    said = token.named("number") or token.named("share")
    if said is not None and token.kind != "num":
        return float(said)
    text = token.text
    text = _THOUSANDS.sub("", text) if len(_THOUSANDS.findall(text)) > 1 or "," in text or "." not in text else text
    return float(text.replace(",", ".").replace("'", "").replace(" ", "").replace("\u202f", "").replace("\u00a0", ""))


def _product_of(tokens: list[Token], at: int, value: float, end: int, taken: set[int]) -> tuple[float, int]:
    """``100 * 1024 * 1024`` and ``4 × 16``."""
    while end < len(tokens):
        step = 1 if tokens[end].low == "×" else 0
        factor = tokens[end + step] if end + step < len(tokens) else None
        if factor is None or factor.kind != "num" or not (step or tokens[end].gap.strip() == "*"):
            break
        value *= _plain(factor)
        taken.add(end + step)
        end += step + 1
    return value, end


def _unit(tokens: list[Token], at: int, end: int) -> tuple[float, str, int]:
    """Factor, dimension and end of the unit, from what follows, what stands before, or the key."""
    factor = 1.0
    following = tokens[end] if end < len(tokens) else None
    distant = _distant_unit(tokens, at, end)
    if distant is not None:
        return distant, "time", end + 2
    if following is not None and following.gap.strip() in ("", "#", "//", "-"):
        tight = following.gap == ""
        if tight and following.low in SUFFIX and _about(tokens, at, _BYTES):
            return SUFFIX[following.low], "bytes", end + 1
        if tight and following.low in _TIGHT:
            return _TIGHT[following.low], "time", end + 1
        times = following.named("times")
        if times is not None and (tight or following.gap == " "):
            factor, end = float(times), end + 1
            following = tokens[end] if end < len(tokens) else None
    return _named_unit(tokens, at, end, factor, following)


def _distant_unit(tokens: list[Token], at: int, end: int) -> float | None:
    """The unit of time one word further: ``half an hour``, ``30 vacation days``."""
    if end + 1 >= len(tokens):
        return None
    between, unit = tokens[end], tokens[end + 1].named("unit", "time")
    article = tokens[at].named("share") is not None and between.low in _ARTICLES
    noun = (
        (bool(between.ids) or (unknown(between) and len(tokens[end + 1].low) > _SHORT_UNIT))
        and not between.inner
        and between.gap == " " == tokens[end + 1].gap
    )
    return float(unit) if unit is not None and (article or (noun and between.named("money") is None)) else None


def _named_unit(
    tokens: list[Token], at: int, end: int, factor: float, following: Token | None
) -> tuple[float, str, int]:
    if following is not None and following.gap.strip() in ("", "#", "//", "-"):
        for sense in following.senses:
            if sense.role == "unit":
                return factor * float(sense.value), sense.name, end + 1
            if sense.role == "money":
                return factor, f"money:{sense.value}", end + 1
    currency = tokens[at - 1].named("money") if at else None
    if currency is not None and tokens[at].gap.strip() == "":
        return factor, f"money:{currency}", end
    return _unit_of_key(tokens, at, factor, end)


def _and_a_half(tokens: list[Token], at: int) -> float:
    tail = [token.low for token in tokens[at : at + 3]]
    return (
        0.5
        if tail in (["and", "a", "half"], ["y", "media"])
        or tail[:2] in (["et", "demie"], ["e", "mezza"], ["e", "meia"])
        else 0.0
    )


def _unit_of_key(tokens: list[Token], at: int, factor: float, end: int) -> tuple[float, str, int]:
    """``MAX_UPLOAD_BYTES = …``, ``timeout_ms = …``; a timeout without a unit is in seconds."""
    for near in reversed(tokens[max(0, at - _REACH) : at]):
        unit = next((sense for sense in near.senses if sense.role == "unit"), None)
        if (
            unit is not None
            and not near.named("scope", "bound")
            and (near.gap == "_" or (tokens[at - 1].low == "=" and near is tokens[at - 2]))
        ):
            return factor * float(unit.value), unit.name, end
    if _about(tokens, at, _SECONDS) and tokens[at].kind == "num":
        return factor, "time", end
    if tokens[at].kind == "num" and (_about(tokens, at, ("coverage",)) or _in_percent(tokens, at)):
        return factor, "percent", end
    if tokens[at].kind == "num" and _about(tokens, at, ("temperature",)):
        return factor, "temp", end
    if factor == 1.0 and end > at + 2 and _about(tokens, at, (*_BYTES, "limit")):
        return factor, "bytes", end
    return factor, "count", end


def _in_percent(tokens: list[Token], at: int) -> bool:
    """``percentage=50``, ``rollout_pct: 25``."""
    return any(token.named("attr", "percentage") or token.low == "pct" for token in tokens[max(0, at - 2) : at])


def _about(tokens: list[Token], at: int, names: tuple[str, ...]) -> bool:
    return any("a:" + name in token.ids for token in tokens[max(0, at - _REACH) : at] if token.ids for name in names)


def _per(tokens: list[Token], at: int, dimension: str) -> tuple[frozenset[str], float, int]:
    """What a number is per; time goes into the number (per month for money, per second else)."""
    if dimension in ("time", "percent"):
        return frozenset(), 1.0, at
    if at + 2 < len(tokens) and tokens[at].low == "of" and _per_word(tokens, at + 2):
        at += 2  # "30 euros of power a month"
    pers: set[str] = set()
    scale = 1.0
    probe = (
        at + 1
        if at < len(tokens) and tokens[at].kind == "word" and _per_word(tokens, at + 1) and not _per_word(tokens, at)
        else at
    )
    while probe < len(tokens) and (step := _per_word(tokens, probe)):
        noun = tokens[probe + step - 1]
        seconds = noun.named("unit", "time")
        if seconds is not None:
            scale, at = (_MONTH_S if dimension.startswith("money") else 1.0) / float(seconds), probe + step
            pers.add("time")
        elif (per := noun.named("per")) is not None:
            pers.add(per)
            at = probe + step
        else:
            break
        probe = at
    return frozenset(pers), scale, at


def _per_word(tokens: list[Token], at: int) -> int:
    """Tokens of ``per month`` or ``/ month`` at a position; 0 if there is none."""
    if at >= len(tokens):
        return 0
    token = tokens[at]
    if token.gap.strip() in ("/", ",") and token.low not in _PER:
        return 1
    if token.low in _PER and at + 1 < len(tokens):
        return 2
    return 0
