"""Sentences and clauses of a text, and how each is meant.

Above: `extract`. Below: `tokens`. Pure. Only what a text asserts to hold now may become a claim: questions, plans,
conditions, examples, the past and one-off exceptions are recognised here, in nine languages, from their marks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from callosum_mcp.reconcile.lexicon.markers import VERBS
from callosum_mcp.reconcile.tokens import Token, tokenise

_BREAK = re.compile(r"[\n!?;。！？|]|\.\s|\.[)\"'”»]+\s|\s·\s")
_CLAUSE = re.compile(r"[,;()\[\]{}、，（）：—–→⇒«»]|\s-\s|->|=>")
SIDE = re.compile(r"\((?:\w+: *)?(?:not|nicht|pas|no|non|nie)\b[^)]*\)", re.IGNORECASE)
"""What names something else: ``(not the annex)``."""
_REMARK = re.compile(r"(?:^|[\s\"'`,)])(?:#|//|--)\s*$")
_ABBREVIATED = frozenset("ext ca approx no nr vs e.g i.e z.b bzw resp st dr mr mrs fig np p m".split())
_CONJUNCTIONS = frozenset(
    """
    but while whereas although aber während mais tandis pero mientras ma mentre ale podczas mas enquanto because
    since weil parce porque perché ponieważ
    """.split()
)
_TIMELESS = frozenset({"when"})


@dataclass(slots=True)
class Sentence:
    """One sentence, or one line, or one cell.

    Attributes:
        tokens: Its tokens.
        clauses: The clause each token stands in, from 0.
        meant: How it is meant: ``asserted``, ``plan``, ``question``, ``example``, ``exception`` or ``condition``.
        past: Clauses that speak of the past.
        changed: It says that something changed.
        start: Position of its first token in the text.
        tail: What stands behind its last token.
        marks: Kinds of the marks in it.
        removed: Clauses that say that something was removed.
    """

    tokens: list[Token]
    clauses: list[int] = field(default_factory=list[int])
    meant: str = "asserted"
    past: frozenset[int] = frozenset()
    changed: bool = False
    start: int = 0
    tail: str = ""
    marks: frozenset[str] = frozenset()
    removed: frozenset[int] = frozenset()

    def clause(self, at: int) -> list[Token]:
        """The tokens of the clause that the token at this position stands in."""
        wanted = self.clauses[at]
        if not self.clauses[-1]:
            return self.tokens
        return [token for token, clause in zip(self.tokens, self.clauses, strict=True) if clause == wanted]


def sentences(text: str) -> list[Sentence]:
    """The sentences of a text; what stands in ``(not …)`` names something else and is left out."""
    tokens = tokenise(SIDE.sub(" ", text) if "(" in text else text)
    found: list[Sentence] = []
    start = 0
    for at in range(1, len(tokens)):
        if at == len(tokens) - 1 or _breaks(tokens, at):
            piece = tokens[start:at]
            if piece:
                found.append(_understood(piece, tokens[at].gap, start))
            start = at
    return found


def _breaks(tokens: list[Token], at: int) -> bool:
    gap = tokens[at].gap
    if len(gap) < 2 and gap not in ("\n", "?", "!", ";", "。", "|", "？", "！"):
        return False
    if not _BREAK.search(gap):
        return _REMARK.search(gap) is not None and tokens[at].marked("past")
    if gap == ". " and tokens[at - 1].text.isdigit() and tokens[at].named("month"):
        return False
    if gap == ". " and tokens[at - 1].low.endswith("str") and tokens[at].kind == "num":
        return False  # a street and its number
    return not (gap == ". " and (tokens[at - 1].low in _ABBREVIATED or _initial(tokens[at - 1])))


def _initial(token: Token) -> bool:
    """Whether a letter stands for a name (``J. Doe``), and is no end of a longer one (``V2-S``)."""
    return len(token.text) == 1 and token.text.isalpha() and token.gap not in ("-", "_", ".", "")


def _understood(tokens: list[Token], tail: str, start: int) -> Sentence:
    clauses = _clauses(tokens)
    marks = {sense.name for token in tokens if token.senses for sense in token.senses if sense.role == "mark"}
    sentence = Sentence(tokens, clauses, start=start, tail=tail, marks=frozenset(marks))
    if "removed" in marks:
        sentence.removed = frozenset(
            clause for token, clause in zip(tokens, clauses, strict=True) if token.marked("removed")
        )
    doubtful = "??" in tail or tokens[0].low == "ocr"  # a scanner's mark for what it could not read
    if ("?" in tail and not doubtful) or "？" in tail:
        sentence.meant = "question"
    else:
        sentence.meant = _meant(tokens, marks)
    if "past" in marks:
        sentence.past = _past_clauses(tokens, clauses)
    sentence.past |= _told_clauses(tokens, clauses)
    sentence.past |= _ended_clauses(tokens, clauses, "change" in marks)
    sentence.changed = "change" in marks or _from_a_date(tokens) or _until_a_date(tokens)
    return sentence


def _clauses(tokens: list[Token]) -> list[int]:
    found: list[int] = []
    clause = 0
    for at, token in enumerate(tokens):
        gap = token.gap
        if at and ((gap not in ("", " ") and _CLAUSE.search(gap)) or token.low in _CONJUNCTIONS):
            clause += 1
        found.append(clause)
    return found


def _meant(tokens: list[Token], marks: set[str]) -> str:
    if "example" in marks and any(
        token.marked("example") and token.gap != "." and not _domain(tokens, at) for at, token in enumerate(tokens)
    ):
        return "example"
    if tokens[0].named("scope", "quarter") and len(tokens) > 2 and tokens[2].gap.startswith(":"):
        return "plan"  # ``Q3 2031: …``
    if ("hypo" in marks and _supposed(tokens)) or tokens[0].marked("hypo_start"):
        return "condition"
    if (
        "plan" in marks
        and _planned(tokens)
        and not any(token.marked("change") and token.low in ("now",) for token in tokens)
    ):
        return "plan"
    if "exception" in marks or ("only" in marks and _dated_only(tokens)):
        return "exception"
    return "will" if "will" in marks else "asserted"


def _supposed(tokens: list[Token]) -> bool:
    """Whether a word of a condition is meant as one; ``it falls back to X`` is English."""
    for at, token in enumerate(tokens):
        if token.low in _ELSE and at and token.gap.strip():
            return False  # ``has X, otherwise it would …``
        if token.marked("hypo") and not (token.low == "falls" and at and token.gap == " "):
            return True
    return False


_ELSE = frozenset("otherwise sonst sinon altrimenti inaczej senão".split())


def _planned(tokens: list[Token]) -> bool:
    """Whether a word of a plan is meant as one; ``is planned and applied with X`` says how planning is done."""
    return any(
        token.marked("plan")
        and not (token.low == "planned" and following.low in _PLANNED_WITH)
        and not (token.low == "plan" and before.low in _RENEWED)
        for before, token, following in zip([tokens[0], *tokens], tokens, [*tokens[1:], tokens[-1]], strict=False)
    )


_RENEWED = frozenset("new changed neuer nuevo nouveau nuovo novo nowy".split())
_PLANNED_WITH = frozenset("and with using".split())
_FROM = frozenset("from ab od desde dal".split())


def _from_a_date(tokens: list[Token]) -> bool:
    """``from 1 October``: something is otherwise since then."""
    return any(
        token.low in _FROM
        and any(near.named("month") or near.kind in ("iso", "dmy", "cjkdate") for near in tokens[at + 1 : at + 3])
        for at, token in enumerate(tokens)
    )


def _domain(tokens: list[Token], at: int) -> bool:
    """Whether ``example`` is the end of a host name."""
    return at > 0 and tokens[at].gap == "."


def _dated_only(tokens: list[Token]) -> bool:
    """Whether an ``only`` stands next to a date or a day: an exception, and not a rule."""
    return any(
        token.marked("only")
        and any(
            near.kind in ("iso", "dmy", "cjkdate") or near.named("month") or near.named("day")
            for near in tokens[max(0, at - 4) : at + 4]
        )
        for at, token in enumerate(tokens)
    )


def _changed_after(tokens: list[Token], clauses: list[int], at: int) -> bool:
    """Whether a word of change (and not of removal) follows in the clause: ``was moved``, ``wurde … verschoben``."""
    return any(
        tokens[near].marked("change")
        and (not tokens[near].marked("removed") or any(token.marked("into") for token in tokens[near + 1 : near + 2]))
        for near in range(at + 1, len(tokens))
        if clauses[near] == clauses[at]
    )


_UNTIL = frozenset("until till bis jusqu hasta fino até do".split())


def _ended_clauses(tokens: list[Token], clauses: list[int], changed: bool) -> frozenset[int]:
    """``Until May it was …, now``; ``(called X up to May)``: clauses with an end, where another holds now."""
    starts = {at for at in range(len(tokens)) if not at or clauses[at] != clauses[at - 1]}
    over = frozenset(
        clauses[at]
        for at, token in enumerate(tokens)
        if token.low in _UNTIL and _told(tokens[:at]) and not any(near.low == "now" for near in tokens[at + 1 : at + 2])
    )
    return over | frozenset(
        clauses[at]
        for at in range(len(tokens))
        if _ends(tokens, at)
        and ((changed and at in starts and clauses[at] != clauses[-1]) or _aside(tokens, clauses, at))
    )


_PAST_VERBS = frozenset("used ran had kept sat lived worked stayed stood held drove took got nutzte lief hatte".split())


def _told(tokens: list[Token]) -> bool:
    """Whether a verb of the past stands here (``used X until …``)."""
    verbs = (token.low in _PAST_VERBS for token in reversed(tokens) if token.low in _PAST_VERBS or token.low in VERBS)
    return next(verbs, False)


_ONCE = frozenset("ran sat lived stood lief nutzte wohnte lag".split())
_HELPERS = frozenset("is are was were be been being has have had gets get got".split())


def _told_clauses(tokens: list[Token], clauses: list[int]) -> frozenset[int]:
    """Clauses whose verb is a plain past (``the old larch used X``, and not ``is used by X``)."""
    return frozenset(
        clauses[at]
        for at, token in enumerate(tokens)
        if at
        and clauses[at] == clauses[at - 1]
        and ((token.low in _ONCE and _a_verb(tokens, at)) or (token.low == "used" and _object(tokens, at)))
        and not any(near.low in _HELPERS for near in tokens[max(0, at - 3) : at])
    )


def _a_verb(tokens: list[Token], at: int) -> bool:
    """Whether ``lag`` or ``sat`` is no key and no day."""
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    return not tokens[at].text[0].isupper() and (following is None or (following.gap == " " and following.low != "="))


def _object(tokens: list[Token], at: int) -> bool:
    """Whether a name stands right behind a verb."""
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    return following is not None and following.kind == "word" and following.text[0].isupper() and following.gap == " "


def _ends(tokens: list[Token], at: int) -> bool:
    """Whether a word of an end and a date stand here: ``until 3 May``, ``up to 2030-05-03``."""
    until = tokens[at].low in _UNTIL or (tokens[at].low == "to" and at > 0 and tokens[at - 1].low == "up")
    return until and any(near.named("month") or near.kind in ("iso", "dmy", "num") for near in tokens[at + 1 : at + 4])


def _aside(tokens: list[Token], clauses: list[int], at: int) -> bool:
    """Whether a clause stands in brackets and dates its end."""
    start = next(i for i, clause in enumerate(clauses) if clause == clauses[at])
    dated = any(near.named("month") or near.kind in ("iso", "dmy") for near in tokens[at + 1 : at + 4])
    return start > 0 and "(" in tokens[start].gap and start < at - 1 and dated


def _until_a_date(tokens: list[Token]) -> bool:
    return any(_ends(tokens, at) and "(" in tokens[max(0, at - 4)].gap for at in range(1, len(tokens)))


def _past_clauses(tokens: list[Token], clauses: list[int]) -> frozenset[int]:
    """Clauses with a past mark; a passive of change (``was moved``) tells of the present and does not count."""
    past: set[int] = set()
    for at, token in enumerate(tokens):
        if token.marked("past") and not _changed_after(tokens, clauses, at) and not _set_to(tokens, at):
            past.add(clauses[at])
            if at and clauses[at] != clauses[at - 1]:
                past.update(_without_a_verb(tokens, clauses, at))
    return frozenset(past)


_SET = frozenset("set fixed configured pinned assigned limited gesetzt festgelegt réglé configuré fijado".split())


def _set_to(tokens: list[Token], at: int) -> bool:
    """``was set to X``: what was set then holds."""
    return any(token.low in _SET for token in tokens[at + 1 : at + 3]) and any(
        token.marked("into") for token in tokens[at + 2 : at + 4]
    )


def _without_a_verb(tokens: list[Token], clauses: list[int], end: int) -> set[int]:
    """The clauses before a verb of the past that starts its own: its subject, and what is said of that in passing."""
    ahead = set(clauses[:end])
    return ahead - {clause for token, clause in zip(tokens[:end], clauses, strict=False) if token.low in VERBS}
