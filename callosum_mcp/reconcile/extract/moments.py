"""Dates, times, weekdays and rhythms, gathered to moments.

Above: `extract`. Below: `base`. Pure. Pieces that stand near each other in a sentence are one moment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from callosum_mcp.reconcile.extract.base import Found, dismissed
from callosum_mcp.reconcile.extract.rhythms import counted_rhythm
from callosum_mcp.reconcile.sentences import Sentence
from callosum_mcp.reconcile.tokens import Token
from callosum_mcp.reconcile.values import Moment, Value

_GAP = 5  # tokens between the pieces of one moment
_CLOCK = re.compile(r"(\d{1,2})(?:[:h時]|\s?Uhr\s?)?(\d\d|半)?", re.IGNORECASE)
_INTS = re.compile(r"\d+")
_AT = frozenset("at um à alle às las ore o las um gegen vers".split())
_ZONES = {
    **dict.fromkeys(("utc", "gmt", "z", "london", "lisbon"), 0),
    **dict.fromkeys(("cet", "berlin", "paris", "warsaw", "rome", "madrid", "zurich", "vienna"), 60),
    **dict.fromkeys(
        ("stockholm", "oslo", "copenhagen", "amsterdam", "brussels", "prague", "budapest", "met", "mez"), 60
    ),
    **dict.fromkeys(("helsinki", "athens", "kyiv", "eet"), 120),
    **dict.fromkeys(("hamburg", "munich", "münchen", "milan", "rom", "wien", "zürich", "frankfurt", "barcelona"), 60),
    **dict.fromkeys(("new_york", "toronto", "boston", "eastern"), -300),
    **{"lisboa": 0, "dublin": 0, "istanbul": 180, "moscow": 180, "pacific": -480, "singapore": 480, "sydney": 600},
    **{"cest": 120, "mesz": 120, "est": -300, "edt": -240, "pst": -480, "jst": 540, "tokyo": 540},
}
_ORDINALS = frozenset("st nd rd th er".split())
_LATE_HALF = {
    "noon": 720,
    "midday": 720,
    "midnight": 0,
    "mittag": 720,
    "mitternacht": 0,
    "midi": 720,
    "minuit": 0,
    "mediodía": 720,
    "mezzogiorno": 720,
}


@dataclass(slots=True)
class _Pieces:
    """The pieces of one moment while they are gathered."""

    first: int
    last: int
    year: int | None = None
    month: int | None = None
    day: int | None = None
    minute: int | None = None
    zone: int | None = None
    weekdays: set[int] = field(default_factory=set[int])
    rhythm: str | None = None

    def moment(self) -> Moment:
        return Moment(self.year, self.month, self.day, self.minute, self.zone, frozenset(self.weekdays), self.rhythm)


def moments(sentence: Sentence, taken: set[int]) -> Iterator[Found]:
    """The moments of a sentence; the numbers in them are marked as taken."""
    tokens = sentence.tokens
    current: _Pieces | None = None
    for at in range(len(tokens)):
        piece = _piece(tokens, at, taken)
        if piece is None or _unsaid(sentence, at, piece):
            continue
        if current is None or _ends(sentence, current, at) or _clash(current, piece):
            yield from _finished(tokens, current)
            current = piece
        else:
            _merge(current, piece)
    yield from _finished(tokens, current)


def _ends(sentence: Sentence, current: _Pieces, at: int) -> bool:
    """Whether a moment is complete before this token: it stands far away, or behind a semicolon."""
    between = sentence.tokens[current.last + 1 : at + 1]
    return at - current.last > _GAP or any(";" in token.gap for token in between)


def _unsaid(sentence: Sentence, at: int, piece: _Pieces) -> bool:
    """Whether the sentence takes this piece back: ``and not nightly``, ``the Friday slot was dropped``."""
    previous = sentence.tokens[max(0, at - 2) : at]
    denied = piece.rhythm is not None and any(token.marked("negation") for token in previous)
    return denied or dismissed(sentence, at)


def _finished(tokens: list[Token], pieces: _Pieces | None) -> Iterator[Found]:
    if pieces is None:
        return
    if pieces.day is None and pieces.year is None:
        pieces.month = None  # "in October" dates the sentence and is no value
    if pieces.moment() == Moment():
        return
    text = " ".join(token.text for token in tokens[pieces.first : pieces.last + 1])
    yield Found(Value("when", (pieces.moment(),), text), pieces.first)


def _clash(current: _Pieces, piece: _Pieces) -> bool:
    return any(
        getattr(current, name) is not None and getattr(piece, name) is not None for name in ("day", "minute", "month")
    )


def _merge(current: _Pieces, piece: _Pieces) -> None:
    for name in ("year", "month", "day", "minute", "zone", "rhythm"):
        if getattr(current, name) is None:
            setattr(current, name, getattr(piece, name))
    current.weekdays |= piece.weekdays
    current.last = max(current.last, piece.last)


def _piece(tokens: list[Token], at: int, taken: set[int]) -> _Pieces | None:
    """What the token at a position adds to a moment; None if nothing."""
    token = tokens[at]
    counted = counted_rhythm(tokens, at) if token.senses else None
    if counted is not None:
        return _Pieces(at - 1, at, rhythm=counted)
    if at in taken or (
        token.kind == "word" and not token.senses and token.low not in _LATE_HALF and not _zoned(tokens, at)
    ):
        return None
    if token.kind in ("iso", "dmy", "cjkdate", "time", "cjktime", "cron"):
        return _from_pattern(token, at)
    if token.kind == "num" or token.named("number"):
        return _from_number(tokens, at, taken)
    if token.named("month"):
        return _from_month(tokens, at, taken)
    return _from_word(tokens, at)


_CITIES = frozenset(name.partition("_")[0] for name in _ZONES if "_" in name)


def _zoned(tokens: list[Token], at: int) -> bool:
    low = tokens[at].low
    return low in _ZONES or (low in _CITIES and _city(tokens, at) is not None)


def _from_pattern(token: Token, at: int) -> _Pieces:
    pieces = _Pieces(at, at)
    numbers = [int(number) for number in _INTS.findall(token.text)]
    if token.kind == "iso":
        pieces.year, pieces.month, pieces.day = numbers[:3]
        if len(numbers) >= 5:
            pieces.minute, pieces.zone = numbers[3] * 60 + numbers[4], 0 if token.text.endswith("Z") else None
    elif token.kind == "dmy":
        pieces.day, pieces.month = numbers[:2]
        pieces.year = numbers[2] if len(numbers) > 2 else None
    elif token.kind == "cjkdate":
        pieces.month, pieces.day = numbers[-2:]
        pieces.year = numbers[0] if len(numbers) > 2 else None
    elif token.kind == "cron":
        _from_cron(pieces, token.low.strip("\"'").split())
    else:
        pieces.minute = _minute(token.low)
    return pieces


def _minute(text: str) -> int | None:
    match = _CLOCK.match(text)
    if match is None:
        return None
    hour, minute = int(match[1]), 30 if match[2] == "半" else int(match[2] or 0)
    if "pm" in text.replace(".", "") and hour < 12:
        hour += 12
    return hour * 60 + minute if hour <= 24 else None


def _from_cron(pieces: _Pieces, fields: list[str]) -> None:
    minute, hour, day, _, weekday = fields
    if minute.isdigit() and hour.isdigit():
        pieces.minute = int(hour) * 60 + int(minute)
    if weekday.isdigit():
        pieces.weekdays.add((int(weekday) - 1) % 7)
        pieces.rhythm = "weekly"
    elif day.isdigit():
        pieces.rhythm = "monthly"
    elif weekday == "*" and day == "*":
        pieces.rhythm = (
            "minutely"
            if minute.startswith("*/")
            else "daily"
            if hour.isdigit()
            else "hourly"
            if hour == "*" and minute.isdigit()
            else None
        )


def _from_number(tokens: list[Token], at: int, taken: set[int]) -> _Pieces | None:
    """``at 11``, ``half past nine``; days of a month are read from the month."""
    token, previous = tokens[at], tokens[at - 1] if at else None
    if previous is None or any(
        near.named("month") for near in tokens[at + 1 : at + 4] if near.gap in (" ", "") or near.low in ("of", "de")
    ):
        return None
    value = token.named("number") if token.kind != "num" else token.text
    if value is None or not value.isdigit() or int(value) > 24:
        return None
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    hours = following is not None and following.gap == "" and following.low == "h" and previous.low in _AT
    if (
        not hours
        and following is not None
        and any(sense.role in ("unit", "money", "times", "per", "attr") for sense in following.senses)
        and following.gap in ("", " ")
    ):
        return None
    half = previous.low == "past" and at > 1 and tokens[at - 2].named("share") is not None
    if not half and not (previous.low in _AT and (token.gap == " ")):
        return None
    taken.update({at, at + 1} if hours else {at - 2, at} if half else {at})
    return _Pieces(at, at, minute=int(value) * 60 + _past_minutes(tokens, at) * half)


def _past_minutes(tokens: list[Token], at: int) -> int:
    """``half past nine``, ``a quarter past nine``."""
    return int(60 * float(tokens[at - 2].named("share") or 0)) if at > 1 else 0


def _from_month(tokens: list[Token], at: int, taken: set[int]) -> _Pieces | None:
    """A month with the day and the year around it; ``may`` and ``mar`` need one of them."""
    pieces = _Pieces(at, at, month=int(tokens[at].named("month") or 0))
    for near in (at - 1, at - 2, at - 3, at + 1):
        if (
            0 <= near < len(tokens)
            and pieces.day is None
            and tokens[near].text.isdigit()
            and 0 < int(tokens[near].text) <= 31
            and _joined(tokens, near, at)
        ):
            pieces.day = int(tokens[near].text)
            pieces.first, pieces.last = min(pieces.first, near), max(pieces.last, near)
            taken.add(near)
    for near in range(at + 1, min(at + 5, len(tokens))):
        if re.fullmatch(r"(?:19|20)\d\d", tokens[near].text):
            pieces.year, pieces.last = int(tokens[near].text), near
            taken.add(near)
            break
    alone = pieces.day is None and pieces.year is None
    return None if alone and (len(tokens[at].low) <= 3 and not tokens[at].text[0].isupper()) else pieces


def _joined(tokens: list[Token], near: int, at: int) -> bool:
    """Whether only ``of``, ``de``, an ordinal ending or nothing stands between day and month."""
    low, high = min(near, at), max(near, at)
    between = tokens[low + 1 : high]
    if not all(token.low in ("of", "de", "di", "the") or token.low in _ORDINALS for token in between):
        return False
    gap = tokens[high].gap
    return gap in (" ", "", ". ", ".", "-", "/") and not (
        near > at and near + 1 < len(tokens) and tokens[near + 1].kind == "time" and tokens[near + 1].gap == ":"
    )


def _from_word(tokens: list[Token], at: int) -> _Pieces | None:
    token = tokens[at]
    weekday = token.named("day")
    if weekday is not None and (len(token.low) > 3 or not token.low.isascii() or token.text[0].isupper()):
        return _Pieces(at, at, weekdays={int(weekday)})
    rhythm = token.named("rhythm")
    if rhythm is not None and not (token.named("attr", "meeting") and _named_thing(tokens, at)):
        return _Pieces(at, at, rhythm=rhythm)
    if token.low in _LATE_HALF:
        return _Pieces(at, at, minute=_LATE_HALF[token.low])
    zone = _ZONES.get(token.low, _city(tokens, at))
    near_clock = zone is not None and any(
        near.kind == "time" or near.low in _LATE_HALF for near in tokens[max(0, at - 2) : at]
    )
    return _Pieces(at, at, zone=zone) if near_clock else None


def _city(tokens: list[Token], at: int) -> int | None:
    """The zone of a city of two words."""
    if at + 1 >= len(tokens) or tokens[at].low not in _CITIES:
        return None
    return _ZONES.get(f"{tokens[at].low}_{tokens[at + 1].low}")


def _named_thing(tokens: list[Token], at: int) -> bool:
    """``the weekly is …``: here the rhythm is the name of the meeting, and still its rhythm for nobody."""
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    return following is not None and following.low in ("is", "sync", "meeting", "call")
