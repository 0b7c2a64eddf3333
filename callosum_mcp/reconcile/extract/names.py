"""Names of people and hosts.

Above: `extract`. Below: `base`. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from callosum_mcp.reconcile.extract.base import Found
from callosum_mcp.reconcile.lexicon import SLOTS_OF
from callosum_mcp.reconcile.sentences import Sentence
from callosum_mcp.reconcile.tokens import Token, unknown
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


def names(sentence: Sentence) -> Iterator[Found]:
    """Owners and hosts of a sentence."""
    tokens = sentence.tokens
    for at, token in enumerate(tokens):
        if not token.senses and token.low not in _ON:
            continue
        role = next((sense.name for sense in token.senses if sense.role == "attr" and sense.name in _ROLES), None)
        if role is not None:
            yield from _people(sentence, at, role)
        if token.named("attr", "host") and not (token.low == "box" and not _directly(tokens, at)):
            yield from _host(tokens, at + 1)
        elif sentence.changed and token.marked("into") and any(near.low in _MOVED for near in tokens[:at]):
            yield from _host(tokens, at + 1)
        elif _seated(tokens, at):
            yield from (found._replace(value=replace(found.value, slot="host:on")) for found in _host(tokens, at + 1))
    full = [run for run in _runs(tokens) if len(run) > 1]
    if len(full) == 1:
        yield _person("any", full[0], tokens)


_ON = frozenset("on auf sur su em na en".split())
_IS = frozenset("is sits stays still now ist sitzt est es está è é jest".split())
_IDIOMS = frozenset(
    """
    hold fire loan sale leave vacation holiday ice track schedule time standby call duty display order offer strike air
    paper purpose top average demand request probation battery mains trial pause par eis urlaub reisen pause vente
    vacances grève venta vacaciones huelga vendita vacanza sciopero
    """.split()
)


def _seated(tokens: list[Token], at: int) -> bool:
    """``X is on larch``: a name right behind it, which may be that of a host."""
    if not at or tokens[at].low not in _ON or tokens[at - 1].low not in _IS or at + 1 == len(tokens):
        return False
    name = tokens[at + 1]
    return name.kind == "word" and name.gap == " " and unknown(name) and name.low not in _IDIOMS


def _directly(tokens: list[Token], at: int) -> bool:
    """Whether a name stands right after the word (``box larch``)."""
    return at + 1 < len(tokens) and tokens[at + 1].gap == " " and unknown(tokens[at + 1])


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
