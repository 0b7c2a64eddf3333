"""Claims: what each hit asserts, in the light of a query.

Above: `align`, `reconciliation`. Below: `reading`, `question`. Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache

from callosum_mcp.models.values import Hit
from callosum_mcp.reconcile.lexicon.markers import NOT_IN_FORCE
from callosum_mcp.reconcile.lexicon.scopes import SCOPES
from callosum_mcp.reconcile.naming import in_brackets
from callosum_mcp.reconcile.question import Question, understand
from callosum_mcp.reconcile.reading import Names, Reading, Said, label, readings
from callosum_mcp.reconcile.scoping import Scopes
from callosum_mcp.reconcile.sentences import SIDE
from callosum_mcp.reconcile.texts import meta, texts, unscanned
from callosum_mcp.reconcile.values import Value

_SOURCE = re.compile(
    r"([\w./-]+\.(?:py|go|rs|ts|js|java|kt|cc?|cpp|h|rb|php|swift|cs|scala|lua|exs?|dart|jl))\b(?=:|\s)"
)
_NOT_IN_FORCE = re.compile(rf"\W*status\W+(?:proposed|{'|'.join(sorted(NOT_IN_FORCE))})\b", re.IGNORECASE)
_NOT_WORD = re.compile(r"[\W_]+")
_CONTEXT_DIMENSIONS = frozenset("env role flow bound tier quarter vendor audience meal fill tenant part hours".split())
_TOLD_DIMENSIONS = frozenset("env role layer tenant vendor hours net".split())
_SEAT = "host:on"  # of what is on something, which may be a host: only where one is asked for
_SIDES = frozenset({"!container", "!host_port"})
_NUMBER_DIMENSIONS = frozenset("fill bound measure".split())  # of one number, not of its sentence
_POSITIONS = 1_000
_COMPOUND_LETTERS = 4
_UNLISTED_WORDS = 2


@dataclass(frozen=True, slots=True)
class Claim:
    """One value that one hit asserts.

    Attributes:
        value: The value, typed.
        near: Concepts, members and stems of its clause; for a number, of the words next to it.
        beside: Stems of the words right before and right after it.
        key: The unknown words of its key: what tells ``connect_timeout`` from ``upstream.timeout``.
        label: For what a sign assigns, concepts, members and stems of the words before the sign.
        wide: Concepts, members and stems of its sentence.
        scopes: What narrows it, by dimension.
        subject: The unknown words before the verb or the sign, without those of the query.
        lead: Words that could name something before the verb or the sign, each with its concepts.
        holders: Unknown words there that are of something else, with that (``the JVM on larch``).
        years: The years it names.
        changed: Its sentence says that something changed.
        keyed: It is the value of a key.
        arrived: A word of change leads to it.
        at: Where in the hit it stands; earlier is smaller.
    """

    value: Value
    near: frozenset[str]
    beside: frozenset[str]
    key: frozenset[str]
    label: frozenset[str]
    wide: frozenset[str]
    scopes: Scopes
    subject: frozenset[str]
    lead: frozenset[tuple[str, ...]]
    holders: frozenset[tuple[str, str]]
    years: frozenset[str]
    changed: bool
    keyed: bool
    arrived: bool
    at: int


@dataclass(slots=True)
class Statement:
    """One hit, read.

    Attributes:
        hit: The hit.
        claims: What it asserts.
        words: Concepts, members and stems of everything in it.
        squeezed: All its letters and digits, run together.
        lone: Stems that name something by themselves, not as part of a longer name.
        context: Concepts and stems of title, key, project and place.
        home: Stems of its project.
        openers: Stems its title and its text start with.
        changed: Some sentence says that something changed.
        scopes: Every scope it names anywhere.
        asserted: Concepts, members and stems of the sentences that assert something.
        gone: Stems of what it says goodbye to.
        people: First and family names of people.
        source: The file of source code that its text is about.
        scanned: A scanner wrote it, which mixes letters up.
        draft: It is a proposal, an example, or no longer in force, and asserts nothing.
    """

    hit: Hit
    claims: list[Claim] = field(default_factory=list[Claim])
    words: set[str] = field(default_factory=set[str])
    squeezed: str = ""
    lone: set[str] = field(default_factory=set[str])
    context: frozenset[str] = frozenset()
    home: frozenset[str] = frozenset()
    openers: frozenset[str] = frozenset()
    changed: bool = False
    scopes: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    asserted: set[str] = field(default_factory=set[str])
    gone: set[str] = field(default_factory=set[str])
    people: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    source: str = ""
    scanned: bool = False
    draft: bool = False

    @property
    def aside(self) -> frozenset[str]:
        """What it names in brackets only (``the annex (small hall)``)."""
        return in_brackets(self.hit.text) - self.context


def read(hit: Hit, question: Question) -> Statement:
    """Reads a hit: its keyed value first, then its text; what was read for the same question is kept."""
    return replace(statement_of(words_of_hit(hit), question.text), hit=hit)


Words = tuple[str, str, str, str, str, str, str]
"""All that is read of a hit: title, text, path, id, project, key and value."""


def words_of_hit(hit: Hit) -> Words:
    """All that is read of a hit."""
    return (
        hit.title or "", hit.text, hit.path or "", hit.id, meta(hit, "project"), meta(hit, "key"), meta(hit, "value"),
    )  # fmt: skip


@lru_cache(maxsize=1_024)
def statement_of(words: Words, query: str) -> Statement:
    """A hit with these words, read for a query; kept, so nobody may change it."""
    title, text, path, native, *names = words
    metadata: dict[str, object] = dict(zip(("project", "key", "value"), names, strict=True))
    return _read(Hit(store="", id=native, text=text, title=title, path=path, metadata=metadata), understand(query))


def _read(hit: Hit, question: Question) -> Statement:
    scanned = "OCR" in hit.text
    if scanned:
        hit = replace(hit, text=unscanned(hit.text))
    source = _SOURCE.match(hit.text)
    statement = Statement(hit, source=source[1] if source else "", scanned=scanned)
    project, key, value = (meta(hit, name) for name in ("project", "key", "value"))
    around = label(hit.title or "", project, key, f"{hit.path or ''} ; {hit.id}")
    _note(statement, around.names, question)
    statement.context = around.words
    statement.home = around.project
    statement.openers = around.opener
    scopes = {name: values for name, values in around.scopes.items() if name in _CONTEXT_DIMENSIONS}
    statement.scopes.update(scopes)
    statement.squeezed = _squeezed(f"{hit.title} {project} {key} {hit.path} {hit.id}") + _squeezed(
        SIDE.sub(" ", hit.text)
    )
    statement.lone.update(_compounds(statement.squeezed, question))
    statement.draft = around.draft or _NOT_IN_FORCE.match(hit.text) is not None
    if not statement.draft:
        _read_texts(statement, hit, (project, key, value), scopes, question)
    return statement


@lru_cache(maxsize=2_048)
def _squeezed(text: str) -> str:
    """All letters and digits of a text, run together."""
    return _NOT_WORD.sub("", text.lower())


def _read_texts(
    statement: Statement, hit: Hit, names: tuple[str, str, str], scopes: Scopes, question: Question
) -> None:
    position = 0
    if names[2]:
        scopes = {**scopes, **_told(hit, question.closed)}
    for text, keyed in texts(hit, names[1], names[2]):
        for reading in readings(text, question.closed):
            if reading.example:
                break
            if not position and not keyed:
                statement.openers |= reading.opener
            position += _POSITIONS
            _add(statement, reading, scopes, question, keyed, position)


def _compounds(squeezed: str, question: Question) -> list[str]:
    """Pairs of words of the query that stand in the text as one (``Drucker im Flur``, ``Flurdrucker``)."""
    single = [
        anchor for anchor in question.anchors if len(anchor.stems) == 1 and len(anchor.joined) >= _COMPOUND_LETTERS
    ]
    return [
        stem
        for one in single
        for other in single
        if one is not other and one.joined + other.joined in squeezed
        for stem in (*one.stems, *other.stems)
    ]


def _told(hit: Hit, closed: bool) -> Scopes:
    """The scopes that the text of a keyed fact puts its value in."""
    told = readings(hit.text, closed)
    scopes: Scopes = told[0].scopes if told else {}
    return {
        name: values
        for name, values in scopes.items()
        if (name in _TOLD_DIMENSIONS and (name != "net" or values <= _SIDES)) or name not in SCOPES
    }


def _note(statement: Statement, names: Names, question: Question) -> None:
    """Adds names to those of a statement; a part of a longer name counts if the query names the rest too."""
    statement.words |= names.words
    statement.lone |= names.lone
    asked = question.stems | question.topics
    statement.lone.update(stem for stem, longer in names.partial if not longer.isdisjoint(asked))


def _add(
    statement: Statement, reading: Reading, scopes: Scopes, question: Question, keyed: bool, position: int
) -> None:
    _note(statement, reading.names, question)
    statement.changed |= reading.changed
    for name, values in reading.scopes.items():
        statement.scopes[name] = statement.scopes.get(name, frozenset()) | values
    statement.gone |= reading.gone
    statement.people |= reading.people
    if reading.asserted:
        statement.asserted |= reading.wide
    subject = reading.subject - question.stems
    whole = {name: values for name, values in reading.scopes.items() if name not in _NUMBER_DIMENSIONS}
    for said in reading.said:
        if said.value.slot == _SEAT and "host" in question.slots:
            said = replace(said, value=replace(said.value, slot="host"))
        if said.value.slot != _SEAT and _of_use(said, question):
            narrowed = _without({**whole, **said.scopes}, said.inner)
            statement.claims.append(_claim(said, reading, subject, {**scopes, **narrowed}, question, keyed, position))
    statement.claims.extend(
        _unlisted(statement.claims, reading, subject, {**scopes, **whole}, question, keyed, position)
    )


def _unlisted(
    known: list[Claim],
    reading: Reading,
    subject: frozenset[str],
    scopes: Scopes,
    question: Question,
    keyed: bool,
    position: int,
) -> list[Claim]:
    """The value of a key that asks for a choice, where no list has it: a choice all the same, and another one."""
    classes = [slot for slot in question.slots if slot.startswith("choice:")]
    if not question.topics & reading.wide or any(claim.value.slot in classes for claim in known):
        return []
    if any(said.value.slot in question.slots - {"open"} for said in reading.said):
        return []
    typed = {said.at for said in reading.said if said.value.slot not in ("open", "loose")}
    return [
        _claim(_chosen(said, slot), reading, subject, _without(scopes, said.inner), question, keyed, position)
        for said in reading.said
        if said.value.slot == "open"
        and (keyed or said.at not in typed)
        and len(said.value.data) <= _UNLISTED_WORDS
        and (keyed or not question.topics.isdisjoint(said.label))
        for slot in classes
    ]


def _without(scopes: Scopes, inner: frozenset[str]) -> Scopes:
    return {name: values for name, values in scopes.items() if name not in inner}


def _chosen(said: Said, slot: str) -> Said:
    name = " ".join(str(word) for word in said.value.data)
    return replace(said, value=Value(slot, (name, True), said.value.text))


def _of_use(said: Said, question: Question) -> bool:
    """Whether a value may answer the query at all.

    A number, a date or an address may have a name the query calls it by, and so may a word no list knows.
    """
    slot = said.value.slot
    if slot in ("open", "loose"):
        return True
    return question.admits(slot) or slot.startswith(("number", "ip", "when"))


def _claim(
    said: Said,
    reading: Reading,
    subject: frozenset[str],
    scopes: Scopes,
    question: Question,
    keyed: bool,
    position: int,
) -> Claim:
    return Claim(
        value=said.value,
        near=said.near,
        beside=said.beside,
        key=(reading.subject if keyed else said.key) - question.stems,
        label=said.label,
        wide=reading.wide,
        scopes=scopes,
        subject=subject,
        lead=reading.lead,
        holders=reading.holders,
        years=reading.years,
        changed=reading.changed,
        keyed=keyed,
        arrived=said.arrived,
        at=position + said.at,
    )
