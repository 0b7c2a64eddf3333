"""No claim without a receipt: every sentence of a model is checked against what it cites.

Above: ask. Below: evidence, prose, reconcile. Pure. A sentence stays if it cites receipts that exist and if its
numbers, its names and its states occur in them, with most of its other words. What fails is taken out and counted. A
sentence that rests on the loser of a conflict alone fails too: that is the lie this product was made against.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from callosum_mcp.answer.evidence import Evidence, Piece
from callosum_mcp.answer.instructions import speaks_to_reader
from callosum_mcp.answer.prose import Sentence, segments, unmarked, written
from callosum_mcp.reconcile.extract.states import states
from callosum_mcp.reconcile.sentences import sentences
from callosum_mcp.reconcile.tokens import Token, tokenise
from callosum_mcp.text import normalised

MOST_SENTENCES = 8
"""More than a model was asked for is not read."""

BORNE_OUT = 0.6
"""Part of a sentence's words that must stand in its receipts or in the question; the rest is how it is put."""

_THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_NAME = re.compile(r"\b(?=\w*[A-Z0-9_@/.-])[\w@][\w@/.-]*\w\b|\b[A-Z]\w*\b")
_AGE = re.compile(r"\b\d+[ -](?:days?|d|tagen?|jours?|días?|giorni|dni|dias)\b|\b(?:today|yesterday)\b", re.IGNORECASE)
_REPORTED = re.compile(
    r"\b(?:said|says|claim(?:s|ed)|report(?:s|ed)|wrote|noted|older|earlier|previously|formerly|stale|outdated|ago|sagte|meldete|behauptete|"
    r"ältere\w*|frühere\w*|veraltete\w*|disait|ancien\w*|périmé\w*|decía|antigu\w+|diceva|vecchi\w*|mówił\w*|starsz\w+|dizia|antig\w+)\b|古い|以前|と言",
    re.IGNORECASE,
)
_STEM = 5  # letters two words must share to be the same word in another form
_NOT_ASSERTED = frozenset({"question", "plan", "condition", "example", "will"})
_NO_ANSWER = "NOTHING"
State = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Grounded:
    """What is left of a model's text, and how many sentences were taken out."""

    kept: tuple[Sentence, ...]
    dropped: int


def grounded(text: str, evidence: Evidence) -> Grounded:
    """The sentences of a model's text that their receipts bear out."""
    said = [one for one in written(_THINKING.sub(" ", text)) if not one.text.startswith(_NO_ANSWER)]
    known = {piece.id: piece for piece in evidence.pieces}
    kept = [one for one in said[:MOST_SENTENCES] if holds(one, known, evidence)]
    return Grounded(tuple(dict.fromkeys(kept)), len(said) - len(kept))


def holds(sentence: Sentence, known: dict[str, Piece], evidence: Evidence) -> bool:
    """Whether a sentence may stand in an answer: each part of it is borne out by the receipts it ends in."""
    if not sentence.marks or not known.keys() >= set(sentence.marks) or evidence.lost.issuperset(sentence.marks):
        return False
    if speaks_to_reader(unmarked(sentence.text)):
        return False
    return all(_part_holds(text, marks, known, evidence) for text, marks in segments(sentence))


def _part_holds(text: str, marks: Sequence[str], known: dict[str, Piece], evidence: Evidence) -> bool:
    """What lost is only told as what somebody said once; beside something that holds it bears nothing out."""
    standing = [mark for mark in marks if mark not in evidence.lost]
    if not standing and not _REPORTED.search(text):
        return False
    return _borne_out(_REPORTED.sub(" ", text), [known[mark] for mark in standing or marks], evidence)


def _borne_out(claim: str, pieces: Sequence[Piece], evidence: Evidence) -> bool:
    told = "\n".join(
        f"{piece.hit.title or ''}\n{piece.hit.path or ''}\n{piece.hit.store}\n{piece.snippet}" for piece in pieces
    )
    ages = {str(int(piece.age_days)) for piece in pieces if piece.age_days is not None}
    aged = _AGE.sub(lambda age: " " if set(_NUMBER.findall(age.group())) <= ages else age.group(), claim)
    snippets = "\n".join(piece.snippet for piece in pieces)
    return (
        _numbers(aged) <= _numbers(told)
        and _names_occur(aged, told)
        and _states(aged, asserted=False) <= _states(snippets, asserted=True)
        and _words_occur(aged, f"{told}\n{evidence.query}\n{' '.join(piece.noun for piece in pieces)}")
    )


def _numbers(text: str) -> set[str]:
    return {number.replace(",", "") for number in _NUMBER.findall(text)}


def _names_occur(claim: str, told: str) -> bool:
    """Whether each name is in the receipts; the first word of a sentence is a name only if it is no everyday word."""
    there = _folded(told)
    for found in _NAME.finditer(claim):
        name = _folded(found.group())
        if name in there or (found.start() == 0 and _everyday(found.group())):
            continue
        return False
    return True


def _everyday(word: str) -> bool:
    token = tokenise(word)[0]
    return token.light or bool(token.senses)


def _states(text: str, *, asserted: bool) -> set[State]:
    """The states a text names, each with whether it holds; of memories only what they say of now."""
    found: set[State] = set()
    for sentence in sentences(text):
        if asserted and sentence.meant in _NOT_ASSERTED:
            continue
        found.update(
            state.value.data
            for state in states(sentence)
            if not (asserted and sentence.clauses[state.at] in sentence.past)
        )
    return found


def _words_occur(claim: str, told: str) -> bool:
    mine = [token for token in tokenise(claim) if _tells(token)]
    there = {form for token in tokenise(told) for form in _forms(token)}
    borne = sum(not there.isdisjoint(_forms(token)) or token.named("state") is not None for token in mine)
    return borne >= BORNE_OUT * len(mine)


def _tells(token: Token) -> bool:
    return bool(token.low) and not token.light and token.kind in ("word", "late", "cjk")


def _forms(token: Token) -> Iterable[str]:
    return {token.low, token.stem, token.low[:_STEM] if len(token.low) > _STEM else token.low} - {""}


def _folded(text: str) -> str:
    return normalised(text)
