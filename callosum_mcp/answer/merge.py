"""The deterministic answer, which always works: the best memories as short prose, each with its receipt.

Above: ask. Below: evidence, prose. Pure. It quotes and adds nothing but whose words they are and how old; a conflict
and how it was settled is one sentence; what is missing is said with the mark of the stores.
"""

from __future__ import annotations

from collections.abc import Sequence

from callosum_mcp.answer.evidence import Dispute, Evidence, Piece, distinct, most_telling
from callosum_mcp.answer.prose import ENGINES, Sentence, quoted, sentence, split
from callosum_mcp.models.values import StoreStatus
from callosum_mcp.text import content_words, one_line, words

_TOLD = 3  # memories quoted when nothing is disputed
_DISPUTED = 2  # disputes told
_LOSERS = 2  # losers named in one sentence
_QUOTE = 200


def merged(evidence: Evidence) -> list[Sentence]:
    """What the memories say, disputes first."""
    told = [disputed(dispute, evidence.query) for dispute in evidence.disputes[:_DISPUTED]]
    done = {mark for one in told for mark in one.marks} | evidence.lost
    others = [piece for piece in distinct(evidence.pieces) if piece.id not in done]
    room = 1 if told else _TOLD
    return told + [_quotation(piece, evidence.query) for piece in _on_topic(others, evidence.query)[:room]]


def disputed(dispute: Dispute, query: str) -> Sentence:
    """A conflict and its resolution: what holds, and who said otherwise when."""
    winner = dispute.winner
    said = "; ".join(_overruled(winner, loser, query) for loser in dispute.losers[:_LOSERS])
    return sentence(f"{_words(winner, query)} ({_whose(winner)}) [{winner.id}]; {said}.")


def remarks(evidence: Evidence, statuses: Sequence[StoreStatus]) -> list[Sentence]:
    """What this call knows of the stores: that nothing is known, and who did not answer."""
    asked = [status for status in statuses if status.status == "up" or status.missing]
    missing = [status for status in asked if status.missing]
    told: list[str] = []
    if not evidence.pieces:
        told.append(_nothing(evidence, len(asked), len(missing)))
    told += [
        f"{_plain(status.engine)} did not answer ({status.reason or 'error'}), so something may be missing"
        for status in missing
    ]
    return [Sentence(f"{one} {ENGINES}.") for one in told]


def _nothing(evidence: Evidence, asked: int, missing: int) -> str:
    if evidence.untold:
        return "Nothing is known about this: what was found only gives orders to its reader or holds no words"
    if missing == asked:
        return "Nothing can be said about this: no store answered"
    if missing:
        return f"Nothing was found about this in the {asked - missing} of {asked} stores that answered"
    return f"Nothing is known about this: {asked} of {asked} stores answered and hold none of it"


def _quotation(piece: Piece, query: str) -> Sentence:
    return sentence(f"{_words(piece, query)} ({_whose(piece)}) [{piece.id}].")


def _overruled(winner: Piece, loser: Piece, query: str) -> str:
    older = winner.age_days is not None and loser.age_days is not None and int(loser.age_days) > int(winner.age_days)
    age = "from today" if loser.age == "today" else loser.age if loser.age_days is None else f"of {loser.age}"
    noun = f"an older {loser.noun}" if older else f"{'an' if loser.noun[0] in 'aeiou' else 'a'} {loser.noun}"
    return f"{noun} {age} said: {_words(loser, query)} [{loser.id}]"


def _words(piece: Piece, query: str) -> str:
    return quoted(most_telling(split(piece.snippet), query), _QUOTE)


def _whose(piece: Piece) -> str:
    tier = (piece.hit.tier or "").replace("-", " ")
    return ", ".join(part for part in (_plain(piece.hit.store), tier, piece.age) if part)


def _on_topic(pieces: Sequence[Piece], query: str) -> Sequence[Piece]:
    """The pieces that share a word with the question, if any does; a store may have found the others by meaning."""
    wanted = set(content_words(query))
    sharing = [piece for piece in pieces if wanted & set(words(f"{piece.hit.title or ''} {piece.snippet}"))]
    return sharing or pieces


def _plain(name: str) -> str:
    return one_line(name, 64).replace("[", "(").replace("]", ")")
