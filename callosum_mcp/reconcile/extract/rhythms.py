"""Rhythms with a number: ``every six weeks``.

Above: `moments`. Below: `tokens`. Pure.
"""

from __future__ import annotations

from callosum_mcp.reconcile.tokens import Token

_EVERY = frozenset("every each alle jede aller tous toutes cada todos todas ogni tutti tutte co wszystkie".split())
_THE = frozenset("les las los le i".split())
_DAY_S = 86_400.0
_NAMED = ((1, 1, "daily"), (7, 7, "weekly"), (14, 14, "biweekly"), (28, 31, "monthly"), (84, 92, "quarterly"),
          (180, 184, "half-yearly"), (360, 366, "yearly"))  # fmt: skip


def counted_rhythm(tokens: list[Token], at: int) -> str | None:
    """The rhythm of ``every six weeks``, read at its unit; what has a name of its own goes by that (``7 days``)."""
    unit = tokens[at].named("unit", "time")
    if unit is None or float(unit) < _DAY_S or at == 0:
        return None
    number = tokens[at - 1].text if tokens[at - 1].kind == "num" else tokens[at - 1].named("number")
    if number is None or not number.isdigit() or not _recurs(tokens, at):
        return None
    days = round(int(number) * float(unit) / _DAY_S)
    return next((name for low, high, name in _NAMED if low <= days <= high), f"{days} days")


def _recurs(tokens: list[Token], at: int) -> bool:
    """Whether ``every`` stands before the number, or its Japanese counterpart behind the unit."""
    if at + 1 < len(tokens) and tokens[at + 1].gap.startswith(("ごと", "おき", "毎")):
        return True
    ahead = [token for token in tokens[max(0, at - 3) : at - 1] if token.low not in _THE]
    return bool(ahead) and ahead[-1].low in _EVERY
