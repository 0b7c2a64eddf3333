"""Plain words: words that could name a scope, and do not where they stand.

Above: `scoping`. Below: `tokens`. Pure. ``test`` narrows in ``on test``, not in ``unit tests``; ``pro`` in ``the pro
plan``, not in ``pro Monat``.
"""

from __future__ import annotations

from collections.abc import Sequence

from callosum_mcp.reconcile.tokens import Token

_AMBIGUOUS = frozenset({"!test", "!dev", "!qa", "!demo", "!beta_channel", "!nightly_builds"})
_PREPOSITIONS = frozenset("on in im auf en sur for für sul nel w na em no the a for".split())
_ENVIRONMENT = frozenset(
    "environment env system server cluster instance umgebung stage box tenant database db branch".split()
)
_DURING = frozenset("since last this that seit letztes dieses depuis desde dal".split())
_WEEKENDS = frozenset("weekend wochenende week-end".split())
_VARIANTS = frozenset("variant variation treatment".split())
_ALL = frozenset("all every each alle allen tous toutes todos todas tutti tutte wszyscy wszystkie".split())
_CODE_WORDS = frozenset("const default function class let var async type interface enum from".split())
_PLANS = frozenset("plan plans tier edition licence license account package tarif forfait piano".split())
_JOINTS = ("-", "_", "@", "/", "(", " (")
_POSSESSIVES = frozenset("reads her his my".split())


def plain_word(tokens: Sequence[Token], at: int, name: str, value: str) -> bool:
    """Whether the word here, which could name a scope of this dimension and value, is a plain word."""
    verdict = _by_dimension(tokens, at, name)
    if verdict is None:
        verdict = _by_word(tokens, at)
    return verdict if verdict is not None else value in _AMBIGUOUS and not _isolated(tokens, at)


def _by_dimension(tokens: Sequence[Token], at: int, name: str) -> bool | None:
    """What its dimension tells; None if nothing."""
    token, previous, following = _around(tokens, at)
    if name in ("flow", "side") and _in_a_class(token, previous, following):
        return True  # ``ExportClient``
    if name == "files":
        return token.gap == "."
    if name == "bound":
        return token.gap == "/" or (previous is not None and previous.kind == "num") or _dated(tokens, at)
    if name == "surface":
        return previous is None or _of_no_surface(token, previous)
    if name == "tier" and token.text.islower() and token.low != "pro":
        return not any(near is not None and near.low in _PLANS for near in (previous, following))
    if name == "env" and following is not None and following.low == "=":
        return True  # ``stage=bake``
    if name == "audience" and previous is not None and previous.low in _ALL:
        return True  # ``all customers``: everybody
    return True if name == "flow" and following is not None and following.low in _CODE_WORDS else None


def _by_word(tokens: Sequence[Token], at: int) -> bool | None:
    """What the word itself tells; None if nothing."""
    token, previous, following = _around(tokens, at)
    if token.low in _WEEKENDS and any(near.low in _DURING for near in tokens[max(0, at - 3) : at]):
        return True  # ``since the July weekend``
    if token.low == "live":
        return token.gap not in _JOINTS and not (at and following is not None and following.gap.startswith(":"))
    if token.low == "night":
        return True if previous is not None and previous.low in ("last", "that", "one") else None
    if token.low == "default" and following is not None and following.low in _VARIANTS:
        return True if any(near.low in _ALL for near in tokens) else None  # ``default variant, all shops``
    if token.low == "pro":
        unit = following is not None and (following.named("unit") or following.named("per"))
        return True if unit else None  # ``pro Monat``
    if token.low == "vendor":
        return token.gap != "/" and (following is None or following.gap != "/")
    return not token.text[0].isupper() if token.low == "plus" else None


def _around(tokens: Sequence[Token], at: int) -> tuple[Token, Token | None, Token | None]:
    return tokens[at], tokens[at - 1] if at else None, tokens[at + 1] if at + 1 < len(tokens) else None


def _in_a_class(token: Token, previous: Token | None, following: Token | None) -> bool:
    ahead = following is not None and following.gap == "_" and following.text[0].isupper()
    behind = previous is not None and token.gap == "_" and previous.text[0].isupper()
    return token.text[0].isupper() and not token.text.isupper() and (ahead or behind)


def _dated(tokens: Sequence[Token], at: int) -> bool:
    """``up to 22 November``."""
    return any(near.named("month") or near.kind in ("iso", "dmy") for near in tokens[at + 2 : at + 5])


def _of_no_surface(token: Token, previous: Token) -> bool:
    return (
        previous.low not in _PREPOSITIONS
        and not previous.owns
        and token.gap == " "
        and previous.low not in _POSSESSIVES
    )


def _isolated(tokens: Sequence[Token], at: int) -> bool:
    """``on test``, ``@test``, ``tests/``, ``test environment``."""
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    if (
        tokens[at].gap in _JOINTS
        or tokens[at].gap.endswith("(")
        or (following is not None and (following.gap == "/" or following.low in _ENVIRONMENT))
    ):
        return True
    return (
        at > 0
        and tokens[at - 1].low in _PREPOSITIONS
        and (following is None or following.light or following.gap.strip() != "" or tokens[at - 1].low != "the")
    )
