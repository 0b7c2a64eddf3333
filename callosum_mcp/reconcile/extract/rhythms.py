"""Rhythms with a number: ``every six weeks``.

Above: `moments`. Below: `tokens`. Pure.
"""

from __future__ import annotations

from callosum_mcp.reconcile.tokens import Token

_EVERY = frozenset("every each alle jede aller tous toutes cada todos todas ogni tutti tutte co".split())
_THE = frozenset("les las los le i".split())
_DAY_S = 86_400.0
_NAMED_RHYTHMS = {1: "daily", 7: "weekly", 14: "biweekly", 30: "monthly", 91: "quarterly", 365: "yearly"}


def counted_rhythm(tokens: list[Token], at: int) -> str | None:
    """The rhythm of ``every six weeks``, read at its unit; what has a name of its own goes by that (``7 days``)."""
    unit = tokens[at].named("unit", "time")
    if unit is None or float(unit) < _DAY_S or at == 0:
        return None
    number = tokens[at - 1].text if tokens[at - 1].kind == "num" else tokens[at - 1].named("number")
    if number is None or not number.isdigit() or not _recurs(tokens, at):
        return None
    days = int(int(number) * float(unit) / _DAY_S)
    return _NAMED_RHYTHMS.get(days, f"{days} days")


def _recurs(tokens: list[Token], at: int) -> bool:
    """Whether ``every`` stands before the number, or its Japanese counterpart behind the unit."""
    if at + 1 < len(tokens) and tokens[at + 1].gap.startswith(("ごと", "おき", "毎")):
        return True
    ahead = [token for token in tokens[max(0, at - 3) : at - 1] if token.low not in _THE]
    return bool(ahead) and ahead[-1].low in _EVERY
