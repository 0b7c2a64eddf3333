"""Moments as engines write them: ISO 8601, or a count of seconds, milliseconds or nanoseconds.

Above: `expressions`, `hits`. Below: text. Pure.
"""

from __future__ import annotations

from typing import Final

from callosum_mcp.adapters.engine.preset import TimeUnit
from callosum_mcp.text import epoch_seconds, finite

EARLIEST_S: Final = 315_532_800.0
"""1980-01-01. What lies before is a zero in disguise: Unix 0, or year 1, which Go writes for "no time"."""

LATEST_S: Final = 4_102_444_800.0
"""2100-01-01. What lies after means "for ever", or another unit."""

SKEW_S: Final = 86_400.0
"""How far ahead of our clock an engine's may be: a day covers a wrong time zone."""

_PER_SECOND: Final[dict[TimeUnit, float]] = {"epoch_s": 1.0, "ms": 1e3, "ns": 1e9}


def moment(value: object, unit: TimeUnit | None = None) -> float | None:
    """Unix seconds; None for what is no time or an implausible one.

    Args:
        value: A number or a text.
        unit: What a number counts; None reads it by its size.
    """
    if isinstance(value, bool):
        return None
    seconds = epoch_seconds(value) if unit is None else _in_unit(value, unit)
    return seconds if seconds is not None and EARLIEST_S <= seconds <= LATEST_S else None


def past(value: object, now: float) -> float | None:
    """As `moment`, but None for what lies ahead."""
    seconds = moment(value)
    return seconds if seconds is not None and seconds <= now + SKEW_S else None


def _in_unit(value: object, unit: TimeUnit) -> float | None:
    number = finite(value)
    if unit == "iso":
        return epoch_seconds(value) if number is None else None
    return None if number is None else number / _PER_SECOND[unit]
