"""Words, times and safe strings: the text helpers every layer above shares.

Pure functions without I/O. Nothing here knows of stores or of a protocol.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from datetime import UTC, datetime
from typing import cast

_MARKS = (
    "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff\u0e31-\u0e3a\u0e47-\u0e4e"
)
WORD = rf"[^\W_]+(?:[{_MARKS}][^\W_]*)*"
"""Pattern of one word: letters and digits, and the vowel signs and accents that some scripts write as marks."""

_WORD = re.compile(rf"{WORD}(?:['’]{WORD})?")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_HIDDEN = (
    "\u00ad\u034f\u061c\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Characters that are not seen: they turn the order of the others around, or carry what only a machine reads."""

_JOINED = "\u0600-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u18af\u1a20-\u1b7f\ua840-\uaaff\ufb50-\ufdff\ufe70-\ufefc"
_STACKED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1a20-\u1aaf"
_PICTURES = "\u00a9\u00ae\u203c-\u303d\u3297\u3299\U0001f000-\U0001faff"
_IDEOGRAPHS = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_NEEDED = "|".join(
    (
        rf"(?<=[{_JOINED}])[\u200c\u200d]",  # Persian, Indic and others: where letters join
        rf"(?<=[{_STACKED}])\u200b",  # Thai, Khmer, Burmese: where a line may end
        r"(?<=[\u1800-\u18af])[\u180b-\u180f]",  # Mongolian: the form of a letter
        rf"(?:(?<=[{_PICTURES}])|(?<=[{_PICTURES}]\ufe0f))\u200d(?=[{_PICTURES}])",  # one emoji of several
        rf"(?<=[#*0-9{_PICTURES}])[\ufe0e\ufe0f]",  # emoji or sign
        rf"(?<=[{_IDEOGRAPHS}])[\ufe00-\ufe02\U000e0100-\U000e01ef]",  # the form of a name's character
        r"(?<=\U0001f3f4)[\U000e0061-\U000e007a]{3,6}\U000e007f",  # the flags of Scotland, Wales …
    )
)
_UNSEEN = re.compile(f"[{_HIDDEN}]")
_UNSEEN_OR_NEEDED = re.compile(f"({_NEEDED})|[{_HIDDEN}]")
_CJK_RANGES = (
    "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u31a0-\u31bf\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff"
)
_CJK = re.compile(f"[{_CJK_RANGES}]+")
UNSPACED = re.compile(f"[{_CJK_RANGES}\u0e01-\u0e4e\u0e81-\u0ecd\u1000-\u103f\u1050-\u109d\u1780-\u17d3]+")
"""A run of any script that is written without spaces: as in `cjk_runs`, and Thai, Lao, Burmese and Khmer."""

STOPWORDS = frozenset(
    "a about after again all also am an and any are as at be because been before being both but by can could did "
    "do does doing done for from had has have having he her here hers him his how i if in into is it its just me "
    "more most my no nor not now of off on once only or other our out over own she should so some such than that "
    "the their them then there these they this those through to too under until up us very was we were what when "
    "where which while who whom whose why will with would you your".split()
)
"""English function words; a query made of these alone keeps them (see `content_words`)."""


def words(text: str) -> list[str]:
    """The words of a text in order: lower case, no punctuation, runs of CJK kept whole."""
    return _WORD.findall(text.lower())


def content_words(text: str) -> list[str]:
    """The words that carry meaning, each once and in order; all words if none does."""
    found = list(dict.fromkeys(words(text)))
    return [word for word in found if word not in STOPWORDS] or found


def cjk_runs(text: str) -> list[str]:
    """The runs of Chinese, Japanese and Korean characters in a text (scripts without spaces)."""
    return _CJK.findall(text)


def control_character(text: str) -> tuple[int, str] | None:
    """The first control character of a text as (position, ``U+XXXX``); tab and line ends are allowed."""
    found = _CONTROL.search(text)
    return None if found is None else (found.start(), f"U+{ord(found.group()):04X}")


def clean(text: str) -> str:
    """A text that every JSON encoder and terminal takes, and that says to a machine what it shows to a person.

    Without lone surrogates, control characters, and characters that nobody sees (bidirectional controls, zero-width
    ones, tags, variation selectors), except where a script or an emoji needs one.
    """
    if text.isascii():
        return text if text.isprintable() else _CONTROL.sub("", text)
    whole = _CONTROL.sub("", text.encode("utf-8", "replace").decode("utf-8"))
    whole = whole.replace("\u2028", "\n").replace("\u2029", "\n")
    if _UNSEEN.search(whole) is None:
        return whole
    return _UNSEEN_OR_NEEDED.sub(lambda found: found.group(1) or "", whole)


_MAX_DEPTH = 64  # far beyond any message or memory, far below the interpreter's own limit


def clean_json(value: object, depth: int = _MAX_DEPTH) -> object:
    """A value that every JSON encoder takes.

    Strings are cleaned, NaN and infinity become None, what is nested deeper than `depth` becomes None, and anything
    JSON has no word for (a date, a set) becomes its text.
    """
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict | list | tuple):
        return _clean_nested(cast("dict[object, object] | list[object]", value), depth - 1) if depth > 0 else None
    return clean(str(value))


def _clean_nested(value: dict[object, object] | list[object] | tuple[object, ...], depth: int) -> object:
    if isinstance(value, dict):
        return {clean(str(key)): clean_json(item, depth) for key, item in value.items()}
    return [clean_json(item, depth) for item in value]


def compact_json(value: object) -> str:
    """The shortest JSON of a value: no spaces, characters as themselves."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


_CONTROL_ESCAPES = re.compile(r"\\[ubfr]")  # how JSON writes what `clean` takes out


def clean_compact_json(value: object) -> str:
    """The shortest JSON of a value after `clean_json`; what is clean already, which is the rule, is not copied."""
    try:
        text = compact_json(value)
    except (ValueError, TypeError, RecursionError):
        return compact_json(clean_json(value))
    if text.isprintable() and _CONTROL_ESCAPES.search(text) is None and (text.isascii() or not _UNSEEN.search(text)):
        return text
    return compact_json(clean_json(value))


def clip(text: str, limit: int) -> str:
    """At most `limit` characters of a text, cut at a word where one is near, with an ellipsis."""
    if len(text) <= limit:
        return text
    if limit <= 0:
        return ""
    head = text[: limit - 1]
    space = head.rfind(" ")
    return (head[:space] if space > limit * 3 // 4 else head).rstrip() + "…"


def one_line(text: str, limit: int = 200) -> str:
    """A text on one line: white space folded, cleaned, clipped."""
    return clip(" ".join(clean(text).split()), limit)


def normalised(text: str) -> str:
    """A text for comparing: NFC, case folded, white space folded."""
    whole = text.lower() if text.isascii() else unicodedata.normalize("NFC", text).casefold()
    return " ".join(whole.split())


def finite(value: object) -> float | None:
    """A finite number out of a loosely typed reply (numbers as strings count), else None."""
    if value.__class__ is float:
        return cast("float", value) if math.isfinite(cast("float", value)) else None
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


_EPOCH_MIN_S = -62_135_596_800.0  # 0001-01-01T00:00:00Z, the first second a datetime holds
_EPOCH_MAX_S = 253_402_300_799.0  # 9999-12-31T23:59:59Z, the last that ISO 8601 writes with four digits


def epoch_seconds(value: object) -> float | None:
    """A moment in Unix seconds from seconds, milliseconds, nanoseconds or ISO 8601; None if it is neither.

    A bare number is read by its size: the ranges of the three units do not overlap for any date after 1970-06.
    """
    number = finite(value)
    if number is None:
        return _iso_seconds(value) if isinstance(value, str) else None
    for unit in (1.0, 1e3, 1e6, 1e9):
        if 0 <= number / unit <= _EPOCH_MAX_S / 20:
            return number / unit
    return None


def _iso_seconds(value: str) -> float | None:
    try:
        moment = datetime.fromisoformat(value.strip())
    except ValueError:
        return None
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    seconds = aware.timestamp()
    return seconds if _EPOCH_MIN_S <= seconds <= _EPOCH_MAX_S else None


def iso_utc(seconds: float | None) -> str | None:
    """Unix seconds as ISO 8601 in UTC, to the second; None for None and for what no calendar holds."""
    if seconds is None or not _EPOCH_MIN_S <= seconds <= _EPOCH_MAX_S:
        return None
    return datetime.fromtimestamp(int(seconds // 1), UTC).isoformat().replace("+00:00", "Z")
