"""States: a word of an axis, its negation, and booleans that belong to a key.

Above: `extract`. Below: `base`, `lexicon`. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator

from callosum_mcp.reconcile.extract.base import Found, after, before, negated
from callosum_mcp.reconcile.lexicon.states import COPULA, FALSE, TRUE
from callosum_mcp.reconcile.sentences import Sentence
from callosum_mcp.reconcile.tokens import Token, unknown
from callosum_mcp.reconcile.values import Value

_LONE = {"on": True, "up": True, "off": False, "down": False, "aus": False}
_ASSIGNS = ("=", ":", "→", "->", "⇒", "=>", ">")
_GOES_ON = frozenset(
    """
    for since in by at everywhere again now only because and but until as everybody during when after with
    everyone too there
    """.split()
)


def states(sentence: Sentence) -> Iterator[Found]:
    """Every state a sentence names, as (axis, holds)."""
    tokens = sentence.tokens
    for at, token in enumerate(tokens):
        assigned = _assigned(tokens, at)
        boolean = token.low in TRUE or token.low in FALSE
        if assigned and boolean and token.named("state") is None and not _initial(tokens, at):
            yield _boolean(tokens, at)
            continue
        if (holds := _lone(tokens, at)) is not None:
            yield _state("on", holds != negated(sentence, at), token, at)
        if token.low in _IN:
            yield from _mode(tokens, at)
        elif token.low in _RED or token.low in _GREEN:
            yield from _colour(sentence, at)
        for sense in token.senses:
            if sense.role == "state" and not _modifies(tokens, at) and not _is_key(tokens, at):
                yield _state(sense.name, (sense.value == "+") != negated(sentence, at), token, at)


def _initial(tokens: list[Token], at: int) -> bool:
    """Whether a letter is the first one of a name (``Y. Brink``)."""
    following = after(tokens, at)
    return len(tokens[at].text) == 1 and following is not None and following.gap.startswith(".")


def _lone(tokens: list[Token], at: int) -> bool | None:
    """What ``is up``, ``is off`` and ``there is no X`` say; None of anything else."""
    low = tokens[at].low
    if low in _NONE and _missing(tokens, at):
        return False
    return _LONE[low] if low in _LONE and _alone(tokens, at) else None


_NONE = frozenset("no kein keine keinen aucun aucune ningún ninguna nessun nessuna nenhum nenhuma".split())
_THERE = frozenset("is are gibt hay è há a existe currently derzeit".split())


def _missing(tokens: list[Token], at: int) -> bool:
    """``There is no freeze``: what the noun names is not there."""
    following = after(tokens, at)
    there = at > 0 and tokens[at - 1].low in _THERE and at <= _EARLY
    return there and following is not None and following.kind == "word" and following.gap == " "


_EARLY = 4  # words before it: "there is no", "currently there is no"


_IN = frozenset("in im en w em".split())
_RED = frozenset("red rot rouge rojo rojo rosso czerwony vermelho 赤".split())
_GREEN = frozenset("green grün vert verde zielony verde 緑".split())


def _mode(tokens: list[Token], at: int) -> Iterator[Found]:
    """``is in maintenance mode``: the mode is on."""
    following = tokens[at + 1 : at + 4]
    if at and tokens[at - 1].low in COPULA and any(token.named("attr", "mode") for token in following):
        yield _state("on", True, tokens[at], at)


def _colour(sentence: Sentence, at: int) -> Iterator[Found]:
    """A red build fails, a green one passes."""
    low = sentence.tokens[at].low
    if (at and sentence.tokens[at - 1].low in COPULA) or any(
        token.named("attr", "ci") or token.named("attr", "status") for token in sentence.clause(at)
    ):
        yield _state("health", low in _GREEN, sentence.tokens[at], at)


def _state(axis: str, holds: bool, token: Token, at: int) -> Found:
    return Found(Value(f"state:{axis}", (axis, holds), token.text), at)


def _assigned(tokens: list[Token], at: int) -> bool:
    """Whether the token is the value of a key: ``key = true``, ``"key": 1``."""
    gap = tokens[at].gap.strip("\"'` ")
    previous = before(tokens, at)
    return previous is not None and (gap in _ASSIGNS or previous.low in ("=", "→", "⇒"))


def _is_key(tokens: list[Token], at: int) -> bool:
    """Whether a boolean follows that says whether this state holds: ``Sealed: false``."""
    value = at + 1
    while value < len(tokens) and tokens[value].inner:
        value += 1
    value += value < len(tokens) and tokens[value].low in ("=", "→", "⇒")
    return (
        value < len(tokens) and _assigned(tokens, value) and (tokens[value].low in TRUE or tokens[value].low in FALSE)
    )


def _boolean(tokens: list[Token], at: int) -> Found:
    """A boolean says that the state its key names holds; any other key is on or off."""
    holds = tokens[at].low in TRUE
    for near in reversed(tokens[max(0, at - 3) : at]):
        axis = next((sense for sense in near.senses if sense.role == "state"), None)
        if axis is not None:
            return _state(axis.name, holds == (axis.value == "+"), tokens[at], at)
    return _state("on", holds, tokens[at], at)


def _alone(tokens: list[Token], at: int) -> bool:
    """Whether ``on``, ``off``, ``up``, ``down`` is a state and no preposition."""
    previous, following = before(tokens, at), after(tokens, at)
    if tokens[at].low == "aus":
        return previous is not None and (following is None or following.gap.strip() != "")
    said = previous is not None and (
        previous.low in COPULA
        or previous.owns  # ``it's up``
        or _assigned(tokens, at)
        or previous.named("state") is not None
        or (tokens[at].low in ("off", "down"))
    )
    if not said or following is None:
        return said
    return tokens[at].low in ("off", "down") or following.low in _GOES_ON or following.gap.strip() != ""


def _ordered(tokens: list[Token], at: int) -> bool:
    """Whether the word tells the reader what to do: ``open a case``, ``X: open cases by mail``."""
    following = after(tokens, at)
    starts = at == 0 or tokens[at].gap.strip() in (":", "(", ",")
    if not starts or tokens[at].low not in _ORDERS or following is None or following.gap != " ":
        return False
    return following.low in _DETERMINERS or unknown(following) or following.named("attr") is not None


def _used_with(tokens: list[Token], at: int) -> bool:
    """``works with X``: what it is used with, and not whether it runs."""
    following = after(tokens, at)
    return tokens[at].low in _WORKS and following is not None and following.gap == " " and following.low in _WITH


_WORKS = frozenset("works funciona fonctionne funziona działa".split())
_WITH = frozenset("with for as at mit für avec con per para pour z".split())
_ORDERS = frozenset("open complete clean empty shut".split())
_DETERMINERS = frozenset("the a an all every any no its der die das le la el il".split())


def _modifies(tokens: list[Token], at: int) -> bool:
    """Whether the word only describes the next one (``active accounts``, ``the running job``) or counts."""
    following, previous = after(tokens, at), before(tokens, at)
    if following is not None and following.kind in ("num",) and following.gap == " ":
        return True
    if (
        previous is not None
        and previous.kind == "num"
        and tokens[at].gap == " "
        and following is not None
        and following.gap == " "
    ):
        return not following.inner
    if following is not None and following.gap == " " and following.kind in ("mail", "url"):
        return True  # ``closed help@…``: done to it
    if _ordered(tokens, at) or _used_with(tokens, at):
        return True
    if following is None or following.gap != " " or following.kind != "word" or following.light or following.senses:
        return False
    return previous is None or previous.low in _DETERMINERS
