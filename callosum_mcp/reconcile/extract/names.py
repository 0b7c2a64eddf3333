"""Names of an open class: people, hosts, and whatever a key is set to.

Above: `extract`. Below: `base`. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator

from callosum_mcp.reconcile.extract.base import Found
from callosum_mcp.reconcile.lexicon import SLOTS_OF
from callosum_mcp.reconcile.sentences import Sentence
from callosum_mcp.reconcile.tokens import Token
from callosum_mcp.reconcile.values import Value

_ROLES = frozenset(concept for concept, slots in SLOTS_OF.items() if "person" in slots)
_BY = frozenset("by durch par por przez da von is :".split())
_ACTIVE = frozenset(
    """
    owns own took maintains chairs administers leads heads manages reviews wrote betreut leitet dirige kieruje lidera
    coordina looks takes übernimmt prüft relit
    """.split()
)
_FROM = frozenset("from von de da du od".split())
_HOST_WORDS = 5
_OPEN_WORDS = 4


def names(sentence: Sentence) -> Iterator[Found]:
    """Owners, hosts and plain settings of a sentence."""
    tokens = sentence.tokens
    for at, token in enumerate(tokens):
        if not token.senses:
            continue
        for sense in token.senses:
            if sense.role == "attr" and sense.name in _ROLES:
                yield from _people(sentence, at, sense.name)
                break
        if token.named("attr", "host"):
            yield from _host(tokens, at + 1)
        elif sentence.changed and token.marked("into") and any(near.low in _MOVED for near in tokens[:at]):
            yield from _host(tokens, at + 1)
    yield from _setting(sentence)
    full = [run for run in _runs(tokens) if len(run) > 1]
    if len(full) == 1:
        yield _person("any", full[0], tokens)


_MOVED = frozenset(
    """
    moved moves migrated relocated transferred umgezogen verschoben déplacé migré trasladado migrado spostato
    przeniesiony mudado movido mudamos
    """.split()
)


def _people(sentence: Sentence, at: int, role: str) -> Iterator[Found]:
    """The people a clause (or, where it names none, its sentence) gives a role."""
    tokens, clauses = sentence.tokens, sentence.clauses
    runs = _runs(tokens)
    runs = [run for run in runs if not (run[0] and tokens[run[0] - 1].low in _FROM and sentence.changed)]
    near = [run for run in runs if clauses[run[0]] == clauses[at]] or runs
    if not near:
        return
    sent = [
        run
        for run in near
        if run[0]
        and tokens[run[0] - 1].marked("into")
        and tokens[run[0] - 1].low in ("to", "an", "à", "a", "na", "para", "do")
    ]
    ahead = [run for run in near if run[0] > at]
    behind = [run for run in near if run[0] < at]
    if sent and sentence.changed:
        chosen = sent[0]
    elif tokens[at].low in _ACTIVE and behind:
        chosen = behind[-1]
    else:
        chosen = (ahead or behind)[0]
    yield _person(role, chosen, tokens)


def _person(role: str, run: list[int], tokens: list[Token]) -> Found:
    name = " ".join(tokens[i].text for i in run)
    return Found(Value(f"person:{role}", tuple(tokens[i].stem for i in run), name), run[0])


def _runs(tokens: list[Token]) -> list[list[int]]:
    """Runs of capitalised words nobody knows: ``Edda Roth``."""
    runs: list[list[int]] = []
    for at, token in enumerate(tokens):
        if token.kind != "word" or not token.text[0].isupper() or token.light or _known(token):
            continue
        if runs and runs[-1][-1] == at - 1 and token.gap in (" ", "_") and not tokens[at - 1].owns:
            runs[-1].append(at)
        else:
            runs.append([at])
    return runs


def _known(token: Token) -> bool:
    return any(sense.role in ("attr", "month", "day", "mark", "state", "scope", "choice") for sense in token.senses)


def _host(tokens: list[Token], start: int) -> Iterator[Found]:
    """The name after ``runs on``: unknown words up to the end of the clause."""
    words: list[Token] = []
    start += start < len(tokens) and tokens[start].low in ("=", "→")
    for token in tokens[start : start + _HOST_WORDS]:
        if words and (token.gap.strip() not in ("", "(", "-", ".") or token.light or token.senses):
            break
        if token.kind != "word":
            break
        if not token.light and not any(sense.role in ("attr", "choice", "state") for sense in token.senses):
            words.append(token)
    if words:
        name = "".join(("" if i == 0 else token.gap) + token.text for i, token in enumerate(words)).replace("(", "")
        yield Found(Value("host", tuple(token.stem for token in words), name), start)


def _setting(sentence: Sentence) -> Iterator[Found]:
    """``key = value``, ``key: value``, ``(s)-[KEY]->(value)``: a short value of words after a sign."""
    tokens = sentence.tokens
    signs = [at for at in range(1, len(tokens)) if _sign(tokens, at)]
    for at in signs[:2]:
        words = tokens[at : at + _OPEN_WORDS + 1]
        ends = next(
            (i for i, token in enumerate(words) if i and token.gap.strip() not in ("", "-", "_", ".", "/")), len(words)
        )
        value = [token for token in words[:ends] if token.kind in ("word", "cjk", "num", "ver") and not token.light]
        if value and ends <= _OPEN_WORDS and not any(token.named("number") for token in value):
            yield Found(Value("open", _joined(value), " ".join(token.text for token in words[:ends])), at)
    yield from _user(tokens)


def _joined(tokens: list[Token]) -> tuple[str, ...]:
    """The words of a value; what a hyphen, an underscore or a dot holds together is one word."""
    found: list[str] = []
    for i, token in enumerate(tokens):
        if i and token.gap in ("-", "_", ".", "/"):
            found[-1] += token.gap + token.low
        else:
            found.append(token.stem or token.low)
    return tuple(found)


def _user(tokens: list[Token]) -> Iterator[Found]:
    """``as user ops``."""
    for at in range(1, len(tokens)):
        if (
            tokens[at - 1].named("attr", "user")
            and tokens[at].gap == " "
            and tokens[at].kind == "word"
            and not tokens[at].light
        ):
            yield Found(Value("open", (tokens[at].stem,), tokens[at].text), at)


def _sign(tokens: list[Token], at: int) -> bool:
    gap = tokens[at].gap.strip("\"'`“„ [(<")
    return gap in (":", "=", "→", "]->", "->", "=>") or tokens[at - 1].low in ("=", "→") or _called(tokens, at)


_CALLED = frozenset("called named heißt named appelle llama chiama nazywa".split())


def _called(tokens: list[Token], at: int) -> bool:
    return tokens[at - 1].low in _CALLED or (
        tokens[at - 1].low in ("is", "ist", "est", "es", "è", "jest", "é")
        and tokens[at].gap.strip(" ") in ('"', "“", "„", "`", "'")
    )
