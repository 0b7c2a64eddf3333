"""Typed values and what two of them say about each other: agree, differ, or cannot be compared.

Above: `extract`, `align`. Below: nothing. Pure. Equal after normalisation is agreement, and so is a refinement (16 /
16.4) or a range that holds the other value; only values that cannot both hold differ.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, cast

Relation = Literal["agree", "differ", "unsure"]


@dataclass(frozen=True, slots=True)
class Value:
    """A value in a slot.

    Attributes:
        slot: What kind of value: ``state:on``, ``choice:database``, ``number:bytes``, ``version``, ``port``, ``when`` …
        data: The value itself, normalised; its shape depends on the slot.
        text: As a person would write it.
    """

    slot: str
    data: tuple[object, ...]
    text: str = ""


@dataclass(frozen=True, slots=True)
class Moment:
    """What is known of a date, a time or a rhythm; None where it is silent.

    Attributes:
        minute: Minutes since midnight.
        zone: Minutes east of UTC, where the text names a zone.
        weekdays: Weekdays, Monday is 0.
        rhythm: ``daily``, ``weekly`` …
    """

    year: int | None = None
    month: int | None = None
    day: int | None = None
    minute: int | None = None
    zone: int | None = None
    weekdays: frozenset[int] = frozenset()
    rhythm: str | None = None


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number in the base unit of its dimension.

    Attributes:
        low: Smallest value it may stand for.
        high: Largest value it may stand for.
        per: What it is per, time left out (that is in the number).
    """

    low: float
    high: float
    per: frozenset[str] = frozenset()


_SLACK = 1.0001  # rounding
_BINARY_SLACK = 1.1  # 1 TB / 1 TiB: people mix the two
_EXACTLY = 1.0  # what is counted, or the number of a card, is not rounded
_SLACKS = {"number:bytes": _BINARY_SLACK, "number:count": _EXACTLY}


def _choices(a: Value, b: Value) -> Relation:
    (name, holds), (other, other_holds) = a.data, b.data
    kin = _kin(str(name), str(other))
    if holds and other_holds:
        return "agree" if kin else "differ"
    if holds != other_holds:
        return "differ" if kin else "agree"
    return "unsure"


def _kin(a: str, b: str) -> bool:
    """The same member, one a kind of the other (``kubernetes>k3s``), or the same words and more (``steel``)."""
    if a == b or a.startswith(b + ">") or b.startswith(a + ">"):
        return True
    mine, theirs = set(a.split()), set(b.split())
    return mine <= theirs or theirs <= mine


def _quantities(a: object, b: object, slack: float) -> Relation:
    if not isinstance(a, Quantity) or not isinstance(b, Quantity) or not _same_per(a.per, b.per):
        return "unsure"
    return "agree" if a.low <= b.high * slack and b.low <= a.high * slack else "differ"


def _same_per(a: frozenset[str], b: frozenset[str]) -> bool:
    """Whether two numbers are per the same; one may leave out what goes without saying, but not the time."""
    return (a <= b or b <= a) and ("time" in a) == ("time" in b)


def _versions(a: tuple[object, ...], b: tuple[object, ...]) -> Relation:
    """Data is (operator, numbers, product): ``>=18`` holds 20, 16 holds 16.4, and other products are not compared."""
    (op, _, product), (other_op, _, other_product) = a, b
    mine, theirs = cast("tuple[int, ...]", a[1]), cast("tuple[int, ...]", b[1])
    if product != other_product:
        return "unsure"
    if op in (">=", ">") or other_op in (">=", ">"):
        return (
            "unsure"
            if op == other_op
            else ("agree" if (mine <= theirs if op in (">=", ">") else theirs <= mine) else "differ")
        )
    if op in ("^", "~", "~=") or other_op in ("^", "~", "~="):
        return "agree" if mine[:1] == theirs[:1] else "differ"
    if op in ("<", "<=", "!=") or other_op in ("<", "<=", "!="):
        return "unsure"
    shorter = min(len(mine), len(theirs))
    return "agree" if mine[:shorter] == theirs[:shorter] else "differ"


def _moments(a: object, b: object) -> Relation:
    if not isinstance(a, Moment) or not isinstance(b, Moment):
        return "unsure"
    if _one_off(a, b) or _one_off(b, a):
        return "unsure"
    verdicts = [
        verdict
        for mine, theirs in ((a.year, b.year), (a.month, b.month), (a.day, b.day))
        if mine is not None and theirs is not None
        for verdict in [mine == theirs]
    ]
    dated = a.day is not None and b.day is not None
    if a.weekdays and b.weekdays and not dated:
        verdicts.append(bool(a.weekdays & b.weekdays))
    verdicts.extend(_clock_and_rhythm(a, b, dated))
    return "unsure" if not verdicts else "agree" if all(verdicts) else "differ"


def _one_off(a: Moment, b: Moment) -> bool:
    """Whether the one is a single day and the other a rule: an exception to it, or something else."""
    return a.day is not None and b.day is None and (b.rhythm is not None or bool(b.weekdays)) and not a.weekdays


def _clock_and_rhythm(a: Moment, b: Moment, dated: bool) -> list[bool]:
    verdicts: list[bool] = []
    if a.minute is not None and b.minute is not None:
        verdicts.extend(_clock(a, b))
    mine, theirs = _rhythm(a), _rhythm(b)
    if mine and theirs and not dated:
        verdicts.append(mine == theirs)
    return verdicts


_HALF_HOUR = 30  # zones differ by halves of an hour


def _clock(a: Moment, b: Moment) -> list[bool]:
    """Whether two times of day are one; if only one of them names its zone, only minutes can tell."""
    shift = (a.zone - b.zone) if a.zone is not None and b.zone is not None else 0
    apart = ((a.minute or 0) - (b.minute or 0) - shift) % 1440
    if apart and (a.zone is None) != (b.zone is None) and apart % _HALF_HOUR == 0:
        return []
    return [apart == 0]


def _rhythm(moment: Moment) -> str | None:
    """Its rhythm; a bare weekday means weekly, five of them mean daily."""
    if moment.rhythm is None and moment.day is None and moment.weekdays:
        return "daily" if len(moment.weekdays) >= 5 else "weekly"
    return moment.rhythm


_SHARE = re.compile(r"^(?:smb|cifs|afp)://(?:[^@/]*@)?", re.IGNORECASE)
_HOME = re.compile(r"^(?:/home/[^/]+|/users/[^/]+|/root)(?=/|$)")


def path_key(path: str) -> str:
    """A path for comparing: one slash, the home as ``~``, drives as WSL mounts them, no slash at the end."""
    key = _SHARE.sub("//", path.replace("\\", "/").rstrip("/."))
    if re.match(r"^[A-Za-z]:", key):
        key = "/mnt/" + key[0].lower() + key[2:]
    return _HOME.sub("~", key.lower()).removeprefix("file://")


def _paths(a: str, b: str) -> Relation:
    if a == b or a.startswith(b + "/") or b.startswith(a + "/"):
        return "agree"
    if a.startswith("//") != b.startswith("//"):
        return "unsure"  # a share of a host, and where it is mounted
    inside = (a.startswith("./") or "/" not in a) != (b.startswith("./") or "/" not in b)
    return "agree" if inside and a.rsplit("/", 1)[-1] == b.rsplit("/", 1)[-1] else "differ"


def _urls(a: tuple[object, ...], b: tuple[object, ...]) -> Relation:
    """Data is (host, port, path); what one of them leaves out is not compared."""
    pairs = [(x, y) for x, y in zip(a, b, strict=True) if x and y]
    return "unsure" if not pairs else "agree" if all(x == y for x, y in pairs) else "differ"


def _names(a: tuple[object, ...], b: tuple[object, ...]) -> Relation:
    """Two names agree if they share a word (``Edda`` / ``Edda Roth``)."""
    return "unsure" if not a or not b else "agree" if set(a) & set(b) else "differ"


def _addresses(a: tuple[object, ...], b: tuple[object, ...]) -> Relation:
    """Data is (address, length of the network's mask, if one is said)."""
    return "agree" if all(x == y for x, y in zip(a, b, strict=False)) else "differ"


def _equal(a: Value, b: Value) -> Relation:
    return "agree" if a.data == b.data else "differ"


_RELATIONS: Mapping[str, Callable[[Value, Value], Relation]] = {
    "choice": _choices,
    "number": lambda a, b: _quantities(a.data[0], b.data[0], _SLACKS.get(a.slot, _SLACK)),
    "version": lambda a, b: _versions(a.data, b.data),
    "when": lambda a, b: _moments(a.data[0], b.data[0]),
    "path": lambda a, b: _paths(str(a.data[0]), str(b.data[0])),
    "url": lambda a, b: _urls(a.data, b.data),
    "person": lambda a, b: _names(a.data, b.data),
    "host": lambda a, b: _names(a.data, b.data),
    "ip": lambda a, b: _addresses(a.data, b.data),
    "open": lambda a, b: _names(a.data, b.data),
}
"""How values of a kind relate; all others are equal or differ."""


def relation(a: Value, b: Value) -> Relation:
    """How two values of one slot relate."""
    return _RELATIONS.get(a.slot.split(":")[0], _equal)(a, b)
