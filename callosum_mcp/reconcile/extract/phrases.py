"""Values no list knows: what a sign assigns, and what a preposition, a verb or its own spelling sets off.

Above: `extract`. Below: `base`. Pure. ``open`` values are assigned (``driver: journald``), ``loose`` ones only stand
where a value could (``logs through journald``, ``takes QX-22``): `contrast` believes them only against an assigned
one.
"""

from __future__ import annotations

from collections.abc import Iterator

from callosum_mcp.reconcile.extract.base import Found
from callosum_mcp.reconcile.extract.copulas import copulas
from callosum_mcp.reconcile.extract.joints import JOINTS, joined
from callosum_mcp.reconcile.extract.places import placeholder
from callosum_mcp.reconcile.lexicon.asking import LONE
from callosum_mcp.reconcile.lexicon.markers import VERBS
from callosum_mcp.reconcile.lexicon.states import FALSE, TRUE
from callosum_mcp.reconcile.sentences import Sentence
from callosum_mcp.reconcile.tokens import Token, unknown
from callosum_mcp.reconcile.values import Value

_OPEN_WORDS = 4
_LOOSE_WORDS = 3
_SIGNS = 6  # of a sentence; what comes after is a list
_JOINTS = JOINTS
_NUMBERS = ("num", "ver")
_SIGN_WORDS = frozenset({"=", "→"})
_KINDS = ("word", "cjk", "num", "ver", "head", "late")


def phrases(sentence: Sentence) -> Iterator[Found]:
    """Settings, and phrases that may be values."""
    tokens = sentence.tokens
    taken: set[int] = set()
    for at in [at for at in range(1, len(tokens)) if _sign(tokens, at)][:_SIGNS]:
        yield from _setting(tokens, at, taken)
    yield from _user(tokens)
    yield from copulas(sentence, taken)
    for at in range(1, len(tokens)):
        if at not in taken and (_introduced(sentence, at) or _spelled(tokens, at) or _particle(tokens, at)):
            arriving = sentence.changed and tokens[at - 1].marked("into")
            yield from _loose(tokens, at, taken, arriving=arriving)


def _introduced(sentence: Sentence, at: int) -> bool:
    """Whether the word before may stand before a value; where something changed, any word of direction may."""
    previous = sentence.tokens[at - 1]
    return previous.low in _INTRO or (sentence.changed and previous.marked("into"))


def _setting(tokens: list[Token], at: int, taken: set[int]) -> Iterator[Found]:
    """``key = value``, ``key: value``, ``(s)-[KEY]->(value)``: a short value of words after a sign."""
    words = tokens[at : at + _OPEN_WORDS + 1]
    tight = tokens[at - 1].low == "=" and tokens[at].gap in ("", '"', "'")  # ``key=value and more``
    inside = _JOINTS if tight else ("", *_JOINTS)
    ends = next((i for i, t in enumerate(words) if i and (t.gap if tight else t.gap.strip()) not in inside), len(words))
    if ends > _OPEN_WORDS or _no_setting(tokens, at) or _no_value(tokens, at, at + ends):
        return
    value = [token for i, token in enumerate(words[:ends]) if _carries(token, i)]
    if value and not all(map(_typed, value)) and not placeholder(joined(value)[-1]):
        taken.update(range(at, at + ends))
        yield Found(Value("open", joined(value), " ".join(token.text for token in words[:ends])), at, at + ends)


def _no_setting(tokens: list[Token], at: int) -> bool:
    """Whether what stands before the sign makes it a scope (``flag[tenant=elm]``) or one of many (``HAS_OVEN``)."""
    if tokens[at - 1].low == "=":
        return "[" in tokens[at - 2].gap
    return tokens[at - 1].gap == "_" and tokens[at - 2].low == "has" and unknown(tokens[at - 1])


def _no_value(tokens: list[Token], at: int, end: int) -> bool:
    """Whether the words after a sign are a number, a key, a call, a piece of code (``f"…"``) or a sentence."""
    words = tokens[at:end]
    if words[0].kind in _NUMBERS and (len(words) == 1 or words[1].gap not in _JOINTS):
        return True
    if any(token.low in _SIGN_WORDS or token.named("number") for token in words) or any(
        token.light and token.gap == " " for token in words[1:]
    ):
        return True
    if end == len(tokens):
        return False
    quoted = len(words) == 1 and len(words[0].text) == 1 and tokens[end].gap[:1] in ('"', "'")
    return quoted or tokens[end].gap == "(" or _sign(tokens, end)


def _carries(token: Token, at: int) -> bool:
    """Whether a word is part of a value, and not one of the small words around it."""
    return token.kind in _KINDS and (not token.light or (at > 0 and token.gap in _JOINTS))


def _typed(token: Token) -> bool:
    """Whether a word is a state."""
    return token.named("state") is not None or token.low in TRUE or token.low in FALSE


def _user(tokens: list[Token]) -> Iterator[Found]:
    """``as user ops``."""
    for at in range(1, len(tokens)):
        if (
            tokens[at - 1].named("attr", "user")
            and tokens[at].gap == " "
            and tokens[at].kind == "word"
            and not tokens[at].light
        ):
            yield Found(Value("open", (tokens[at].stem,), tokens[at].text), at, at + 1)


def _sign(tokens: list[Token], at: int) -> bool:
    gap = tokens[at].gap.strip("\"'`“„「 [(<")
    if gap == "は":
        return at + 1 == len(tokens) or tokens[at + 1].gap[:1] not in _PARTICLES
    return gap in (":", "=", "→", "]->", "->", "=>") or tokens[at - 1].low in ("=", "→") or _called(tokens, at)


_IS = frozenset("is ist est es è jest é".split())
_COPULAS = frozenset("is are ist sind est sont es son è sono jest są é são".split())
_CALLED = frozenset("called named heißt named appelle llama chiama nazywa".split())


def _called(tokens: list[Token], at: int) -> bool:
    return tokens[at - 1].low in _CALLED or (
        (tokens[at - 1].low in _IS or tokens[at - 1].named("attr") is not None)
        and tokens[at].gap.strip(" ") in ('"', "“", "„", "`", "'", "「", "『")
    )


_INTRO = frozenset(
    """
    with via through using uses use by is are takes take at to on in into under as from runs
    behind beside below above inside near outside beneath opposite
    mit über nutzt verwendet ist sind durch bei auf zu im am unter hinter neben vor
    avec par utilise est sont chez sous à au
    con por usa utiliza es son está en bajo
    per è sono tramite presso
    przez z jest są w na używa
    com é são
    """.split()
)
_CLOSED = frozenset({"mark", "state"})
_SAID = LONE | TRUE | FALSE
_PARTICIPLES = ("ed", "ing")
ARTICLES = frozenset("the a an der die das den dem ein eine le la les l un une el los las lo il gli o os um".split())
_VALUED = frozenset("unit times day month rhythm number share state".split())


def _loose(tokens: list[Token], at: int, taken: set[int], *, arriving: bool) -> Iterator[Found]:
    """Up to three words that are neither light nor a verb, from an introducing word on.

    What a sign follows is a key, if nothing has changed to it.
    """
    if tokens[at].low in ARTICLES and at + 1 < len(tokens) and tokens[at + 1].gap == " ":
        at += 1
    end = at
    while end < len(tokens) and end - at < _LOOSE_WORDS + 2 and _goes_on(tokens, at, end):
        end += 1
    words = tokens[at:end]
    if tokens[at - 1].low in _COPULAS and end < len(tokens) and tokens[end].gap == " ":
        return  # ``is easy to …``
    if end < len(tokens) and _sign(tokens, end) and not arriving:
        return
    if words and at not in taken and any(token.kind != "num" for token in words) and not _marks(words):
        taken.update(range(at, end))
        yield Found(Value("loose", joined(words), " ".join(token.text for token in words)), at, end)


def _goes_on(tokens: list[Token], start: int, at: int) -> bool:
    token = tokens[at]
    if token.kind not in _KINDS or token.low in VERBS or (token.light and token.gap not in _JOINTS):
        return False
    if at + 1 < len(tokens) and tokens[at + 1].inner:
        return False
    if any(sense.role in _CLOSED for sense in token.senses) or token.low.endswith(_PARTICIPLES) or token.low in _SAID:
        return False
    if at == start:
        return token.gap.strip("\"'`“„ (") == "" or token.gap in _PARTICLES
    return token.gap in (*_JOINTS, " ")


def _marks(words: list[Token]) -> bool:
    """Whether the phrase is a date, a number with its unit, or a word that only marks how the sentence is meant."""
    if words[0].named("share") is not None or words[0].named("number") is not None:
        return True
    if words[0].kind in _NUMBERS and any(word.named("month") or word.named("unit") for word in words[1:]):
        return True
    return len(words) == 1 and any(sense.role in _VALUED for sense in words[0].senses)


_PARTICLES = frozenset("を で に が か から".split())


def _particle(tokens: list[Token], at: int) -> bool:
    """Whether a Japanese word stands where a value could: between two particles."""
    return tokens[at].kind == "cjk" and not tokens[at].senses and tokens[at].gap in _PARTICLES


def _spelled(tokens: list[Token], at: int) -> bool:
    """Whether a word is written as a name or a code: ``QX-22``, ``json_file``, a capital inside a sentence."""
    token = tokens[at]
    if token.kind != "word" or token.gap in _JOINTS:
        return False
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    code = following is not None and following.gap in ("-", "_") and following.kind in _KINDS
    return code or _spelt(token.text)


def _spelt(text: str) -> bool:
    return text[0].isupper() or any(letter.isdigit() for letter in text)
