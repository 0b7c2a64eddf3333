"""What a query asks for: the words of its subject, and the slots an answer may fill.

Above: `align`. Below: `tokens`, `lexicon`. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from callosum_mcp.reconcile.focus import NO_FOCUS, WHICH, Focus, focus_of
from callosum_mcp.reconcile.lexicon import SLOTS_OF
from callosum_mcp.reconcile.lexicon.asking import ASKS, LONE
from callosum_mcp.reconcile.lexicon.choices import CASED
from callosum_mcp.reconcile.lexicon.markers import VERBS
from callosum_mcp.reconcile.lexicon.scopes import COMPONENTS
from callosum_mcp.reconcile.tokens import Token, tokenise, unknown

_LANGUAGE_CODE = 2  # letters: "de" is an article before it is a language


@dataclass(frozen=True, slots=True)
class Anchor:
    """One name of the query's subject.

    Attributes:
        stems: Its stems in order.
        joined: Its words run together (``day-book``, ``daybook``).
        initials: Of itself and the words next to it (``access point``); empty if there are none.
    """

    stems: tuple[str, ...]
    joined: str
    initials: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A query, understood.

    Attributes:
        anchors: The names and words nobody knows: the subject.
        topics: The concepts and members it names (``a:port``, ``c:postgres``).
        slots: The slots an answer may fill; empty means any.
        stems: All its words.
        scopes: The scopes it names, by dimension.
        many: It asks for several values.
        place: It asks where something is.
        text: As asked.
        focus: Which of its words name the attribute.
    """

    anchors: tuple[Anchor, ...]
    topics: frozenset[str]
    slots: frozenset[str]
    stems: frozenset[str]
    scopes: Mapping[str, frozenset[str]]
    many: bool = False
    place: bool = False
    text: str = ""
    focus: Focus = NO_FOCUS

    @property
    def closed(self) -> bool:
        """Whether no word that no list knows can answer it: it asks whether a state holds, or for nothing in words."""
        worded = any(slot == "open" or slot.startswith("choice") for slot in self.slots)
        return not self.focus.heads and bool(self.slots) and not worded

    def admits(self, slot: str) -> bool:
        """Whether a value in this slot may answer the query."""
        return _admits(self.slots, slot)


@lru_cache(maxsize=4_096)
def _admits(slots: frozenset[str], slot: str) -> bool:
    return (
        not slots - {"open"} or "*" in slots or any(slot == wanted or slot.startswith(wanted + ":") for wanted in slots)
    )


@lru_cache(maxsize=256)
def understand(query: str) -> Question:
    """Reads a query."""
    tokens = [token for token in tokenise(query) if token.kind != "end"]
    runs = _runs(tokens)
    free = [token for run in runs if not compound(run) for token in run if not _only_a_verb(token, tokens)]
    focus = focus_of(tokens)
    aimed = _aimed(free, focus)
    scopes: dict[str, set[str]] = {}
    for token in tokens:
        for sense in token.senses:
            if sense.role == "scope":
                scopes.setdefault(sense.name, set()).add(sense.value)
    if any(token.low == "default" for token in tokens):
        scopes.setdefault("layer", {"!default"})  # ``default branch``: as a key or as a phrase
    parts = frozenset("!" + token.low for token in tokens if token.low in COMPONENTS)
    if parts:
        scopes["part"] = set(parts)
    return Question(
        anchors=tuple(_anchors(runs)),
        topics=frozenset(topic for token in free for topic in token.ids),
        slots=frozenset(
            _slots(aimed)
            | _asked_for_up(tokens)
            | _yes_or_no(tokens, free)
            | {slot for token in free for slot in ASKS.get(token.low, ())}
        ),
        stems=frozenset(token.stem or token.low for token in tokens),
        scopes={name: frozenset(values) for name, values in scopes.items()},
        many=any(token.low in _PLURALS for token in free),
        place=any("room" in ASKS.get(token.low, ()) for token in tokens[:2]),
        text=query,
        focus=focus,
    )


def _only_a_verb(token: Token, tokens: list[Token]) -> bool:
    """Whether a word that may name a product is the verb of the question (``where do the logs go``)."""
    return token.low in CASED and token.low in VERBS and token.text.islower() and tokens[0].low in ASKS


_VAGUE = frozenset("size limit length level name type mode".split())
"""Attributes of attributes: the disk's size."""


def _aimed(free: list[Token], focus: Focus) -> list[Token]:
    """The words that say what is asked for: the head of the focus if a list knows it, else all but the subject."""
    heads = [token for token in free if (token.stem or token.low) in focus.heads]
    concepts = {sense.name for token in heads for sense in token.senses if sense.role == "attr"}
    if concepts - _VAGUE and not concepts.isdisjoint(SLOTS_OF):
        return heads
    if not focus.words:
        return free
    which = bool(free) and free[0].low in WHICH  # … does it run: the verb asks for nothing
    return [
        token for token in free if (token.stem or token.low) not in focus.rest and not (which and token.low in VERBS)
    ]


_PLURALS = frozenset(
    "ports addresses hosts owners dates languages databases ips versions puertos porte porty portas".split()
)


def _slots(tokens: list[Token]) -> set[str]:
    found: set[str] = set()
    classes: set[str] = set()
    for token in tokens:
        for sense in token.senses:
            if sense.role == "attr":
                found.update(SLOTS_OF.get(sense.name, ()))
            elif sense.role == "state":
                found.add(f"state:{sense.name}")
            elif sense.role == "choice" and len(token.low) > _LANGUAGE_CODE:
                classes.add(f"choice:{sense.name}")
    return _narrowed(found, classes, tokens)


def _narrowed(found: set[str], classes: set[str], tokens: list[Token]) -> set[str]:
    """The slots after all words were read: a date asked for is a date, a product alone asks for its version too."""
    if "when" in found and any(
        token.named("attr", name) for token in tokens for name in ("date", "day", "time", "launch")
    ):
        found = {"when"}
    if "choice" in found and classes:
        return (found - {"choice"}) | classes
    return found or (classes | {"version", "state:on", "state:health"} if classes else classes)


def _asked_for_up(tokens: list[Token]) -> set[str]:
    asked = any(token.low in _YES_NO for token in tokens) and not (tokens[0].low in WHICH and tokens[-1].low == "on")
    return {"state:on"} if asked and any(_lone_state(tokens, at) for at in range(1, len(tokens))) else set()


def _yes_or_no(tokens: list[Token], free: list[Token]) -> set[str]:
    """``is the pool heated``: whatever is asked, a state may answer it."""
    asks = bool(tokens) and tokens[0].low in _YES_NO and bool(_slots(free))
    return {"state"} if asks and not any(slot.startswith("state") for slot in _slots(free)) else set()


def _lone_state(tokens: list[Token], at: int) -> bool:
    """``is it on``, ``is it up in prod``: a state; ``is it on MySQL``: a preposition."""
    return tokens[at].low in LONE and (at + 1 == len(tokens) or tokens[at + 1].low in ("in", "for", "at", "now"))


_YES_NO = frozenset("is are does do did has have can".split())


def _anchors(runs: list[list[Token]]) -> list[Anchor]:
    """Compound names, and the unknown words of the rest."""
    anchors: list[Anchor] = []
    for run in runs:
        if compound(run):
            anchors.append(Anchor(tuple(token.stem or token.low for token in run), "".join(token.low for token in run)))
        else:
            anchors.extend(Anchor((token.stem or token.low,), token.low) for token in run if unknown(token))
    return [replace(anchor, initials=_initials(anchors, at)) for at, anchor in enumerate(anchors)]


def _initials(anchors: list[Anchor], at: int) -> str:
    """``ap`` for both words of ``access point``: the last two names, or the word with the one before or after it."""
    pairs = [anchors[low : low + 2] for low in (at - 1, at) if 0 <= low < len(anchors) - 1]
    return " ".join("".join(anchor.joined[0] for anchor in pair) for pair in pairs)


def _runs(tokens: list[Token]) -> list[list[Token]]:
    """The tokens, those that a hyphen or an underscore joins together."""
    runs: list[list[Token]] = []
    for token in tokens:
        if runs and token.gap in ("-", "_"):
            runs[-1].append(token)
        else:
            runs.append([token])
    return runs


def compound(run: list[Token]) -> bool:
    """Whether joined words are one name (``mail-hub``, ``dark_launch``) and no known phrase (``sign-in``)."""
    if len(run) == 1 or all(token.inner for token in run[1:]):
        return False
    return any(token.gap == "_" for token in run[1:]) or any(unknown(token) for token in run)
