"""Scopes of a piece of text: environment, role, tier, period, bound, tenant …

Above: `claims`, `align`. Below: `lexicon`, `question`. Pure. A word is a scope only where it is used as one:
``test`` in ``on test`` and ``tests/``, not in ``unit tests``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from callosum_mcp.reconcile.lexicon.scopes import COMPONENTS, SCOPE_KEYS
from callosum_mcp.reconcile.plain import plain_word
from callosum_mcp.reconcile.stems import stem
from callosum_mcp.reconcile.tokens import Token, unknown

Scopes = Mapping[str, frozenset[str]]

_FOR_SLOTS = {
    "fill": ("number",),
    "bound": ("number",),
    "measure": ("number",),
    "net": ("port", "ip", "url", "fqdn", "number", "path"),
    "proto": ("port", "number", "url", "path", "ip"),
    "bits": ("ip",),
    "files": (
        "choice:indent",
        "choice:formatter",
        "choice:linter",
        "choice:quotes",
        "choice:line_end",
        "choice:charset",
        "number",
    ),
    "surface": ("choice:theme", "choice:colour", "choice:human_language", "choice:shell", "choice:editor", "open"),
    "meal": ("choice", "when", "open"),
    "hours": ("number",),
    "period": ("number",),
    "phase": ("number:time",),
    "cadence": ("number",),
    "device": ("choice", "path", "version", "open"),
}
"""Dimensions that matter to some slots only; the others matter to all."""

_MACHINES = frozenset(stem(word) for word in ("host", "machine", "hosta", "maszyna", "hoście"))


def scopes_of(tokens: Sequence[Token]) -> dict[str, frozenset[str]]:
    """The scopes that tokens name, by dimension."""
    found: dict[str, set[str]] = {}
    for at, token in enumerate(tokens):
        for sense in token.senses:
            if sense.role == "scope" and not plain_word(tokens, at, sense.name, sense.value):
                found.setdefault(sense.name, set()).add(sense.value)
        if token.low in COMPONENTS and at + 1 < len(tokens) and _is_part(token, tokens[at + 1]):
            found.setdefault("part", set()).add("!" + token.low)
        named = _named_scope(tokens, at)
        if named is not None:
            found.setdefault(token.stem, set()).add(named)
    if "!override" in found.get("layer", ()):
        found["layer"] = {"!override"}  # "overrides the default" is no default
    return {name: frozenset(values) for name, values in found.items()}


def _is_part(token: Token, following: Token) -> bool:
    """Whether a word is a folder inside a path (``app/web/x.py``) or named as one (``web/ of the app``)."""
    return following.gap.startswith("/ ") or (token.gap == "/" and following.gap.startswith("/"))


def matters(name: str, slot: str) -> bool:
    """Whether a dimension can keep two values of this slot apart."""
    if name in _MACHINES and slot.startswith(("host", "fqdn", "ip", "url")):
        return False  # here the machine is the value
    wanted = _FOR_SLOTS.get(name)
    slot = "open" if slot == "loose" else slot
    return wanted is None or any(slot == kind or slot.startswith(kind + ":") for kind in wanted)


def clash(mine: Scopes, theirs: Scopes, slot: str, asked: Scopes, said: tuple[Scopes, Scopes]) -> bool:
    """Whether two claims hold in different scopes.

    A marked scope (``!``) also differs from none, unless the query names its dimension or the other hit names it
    elsewhere.

    Args:
        mine: Scopes of one claim.
        theirs: Scopes of the other.
        slot: The slot of both.
        asked: Scopes of the query.
        said: All scopes of the two hits.
    """
    for name in mine.keys() | theirs.keys():
        if not matters(name, slot):
            continue
        a, b = mine.get(name, frozenset()), theirs.get(name, frozenset())
        if a and b:
            if a.isdisjoint(b):
                return True
        elif name not in asked:
            elsewhere = said[1 if a else 0].get(name, frozenset())
            if any(value.startswith("!") and value not in elsewhere for value in a | b):
                return True
    return False


def _named_scope(tokens: Sequence[Token], at: int) -> str | None:
    """The name after a word like ``tenant`` or ``host``."""
    bracketed = tokens[at].gap == "[" and at + 3 < len(tokens) and tokens[at + 3].gap.startswith("]")
    if (tokens[at].low not in SCOPE_KEYS and not bracketed) or at + 1 == len(tokens) or tokens[at].gap == "_":
        return None
    skip = tokens[at + 1].low == "=" and at + 2 < len(tokens)
    named = tokens[at + 2] if skip else tokens[at + 1]
    joined = skip or named.gap.strip(" [\"'") in ("", "=", "-", "/")
    return named.stem or named.low if joined and (unknown(named) or (skip and named.kind == "word")) else None
