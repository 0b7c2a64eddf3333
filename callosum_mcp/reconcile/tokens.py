"""Text as tokens with their senses: one pass of one pattern, then table look-ups.

Above: `sentences`, `question`. Below: `lexicon`, `stems`. Pure. A token knows the gap before it, which is where the
punctuation is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from callosum_mcp.reconcile.lexicon import CJK_SPLIT, CJK_WORDS, PHRASES, Senses, folded, senses_of
from callosum_mcp.reconcile.lexicon.asking import ASKS, LONE
from callosum_mcp.reconcile.lexicon.markers import LIGHT, VERBS
from callosum_mcp.reconcile.stems import stem

_CJK_CLASS = "\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_LETTER = rf"[^\W\d_{_CJK_CLASS}]"
_ALNUM = rf"[^\W_{_CJK_CLASS}]"
_WORD = rf"{_LETTER}{_ALNUM}*(?:['’]{_LETTER}+)?(?:\+\+|\#)?"
_PATTERN = re.compile(
    rf"""(?=[^\s,;()\[\]?!|])(?:  # where nothing starts, nothing is tried
    (?P<scp>git@[\w.-]+:[\w./-]+)
  | (?P<head>(?=[a-z]{{3,}}\d)[a-z]{{2,}}?(?=v\d+\.\d))
  | (?P<word>(?!v\d|[0-9a-f]{{1,4}}:[0-9a-f]{{0,4}}:){_WORD}(?![\w.+-]*@|:[/\\]|[\w+.]*://))
  | (?P<url>[a-z][a-z0-9+.]*://[^\s"'<>)\],;`]+)
  | (?P<mail>[\w.+-]+@(?:[\w-]+\.)+[a-z]{{2,}}|[\w.+-]+@(?=\s))
  | (?P<iso>\d{{4}}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?)
  | (?P<dmy>\d{{1,2}}\.\d{{1,2}}\.\d{{4}}
    |(?:(?<=am\ )|(?<=vom\ )|(?<=bis\ )|(?<=dem\ )|(?<=zum\ )|(?<=den\ )|(?<=ab\ ))\d{{1,2}}\.\d{{1,2}}\.(?=\s|$)
    |\d{{1,2}}/\d{{1,2}}/\d{{4}})
  | (?P<cjkdate>(?:\d{{4}}年)?\d{{1,2}}月\d{{1,2}}日)
  | (?P<cjktime>\d{{1,2}}時(?!間)(?:\d{{1,2}}分|半)?)
  | (?P<cron>(?<!\S)(?<!\d)(?<!\d\s)["']?(?:(?:\*|\d{{1,2}})(?:[/,-]\d{{1,2}})*\ ){{4}}(?:\*|\d)(?:[/,-]\d)*
    (?=["'\s]|$)(?!\ [\d*]))
  | (?P<ip>(?<![\d.])\d{{1,3}}(?:\.\d{{1,3}}){{3}}(?![\d.]*\d)(?:/\d{{1,2}})?(?::\d{{2,5}})?)
  | (?P<ip6>(?<![\w:])(?=[0-9a-f:]*::|(?:[0-9a-f]{{1,4}}:){{4}})[0-9a-f]{{0,4}}(?::[0-9a-f]{{0,4}}){{2,7}}(?![\w:]))
  | (?P<unc>(?:(?<![\w:/])//|(?<![\w\\])\\\\)[a-z][\w.-]*[\\/][^\s"',;]*)
  | (?P<winpath>(?<!\w)[A-Za-z]:\\[^\s"',;]*)
  | (?P<path>(?<![\w.>€$£%°])(?:~|\.{{1,2}})?/[\w.@~+*{{}}-]+(?:/[\w.@*{{}}+-]*)*)
  | (?P<time>(?<![\d:.])\d{{1,2}}:\d\d(?::\d\d)?(?!\d)(?:\s?[ap]\.?m\b)?
    |\b\d{{1,2}}\s?[ap]m\b|\b\d{{1,2}}\s?(?:h\d\d|Uhr(?:\s\d\d)?)\b)
  | (?P<ver>v\d+(?:\.\d+)*(?:[-+.][a-z0-9]+)*|\d+(?:\.\d+){{2,}}(?:[-+.]?[a-z]+[a-z0-9]*|[-+]\d+)*
    |\d+\.(?:\d+\.)*[x*](?!\w)|\d+\.\d+(?:rc|b|a|-lts|-rc\.?)\d*)
  | (?P<num>\d{{1,3}}(?:[,.'\u202f\u00a0]\d{{3}})+(?![\d])
    |(?<![\d:.,+-])\d{{1,3}}(?:\ \d{{3}})+(?![\d:.,-])|\d+(?:[.,]\d+)?)
  | (?P<cjk>[{_CJK_CLASS}]+)
  | (?P<late>{_WORD})
  | (?P<sym>(?!(?<=\b1)°\ [^\W\d])[%€$£¥°×→⇒]|(?<![<>=!~^])=(?!=))
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_KANA_GLUE = re.compile("[\u3041-\u309f\u3001\u3002]+")
_LANGUAGE_CODE = 2  # letters: "de" is an article before it is a language
_LONGEST = 1_200  # characters of a text that are read: claims stand early, and a budget of time is a promise


@dataclass(slots=True)
class Token:
    """One word, number or address of a text.

    Attributes:
        text: As written.
        low: Lower case, without article or possessive.
        kind: Name of the pattern that found it.
        gap: What stands between the token before and this one.
        senses: What it may mean.
        stem: For comparing.
        owns: It ends in a possessive (``Edda's``).
        ids: What it is about: its concepts (``a:port``) and the members it names (``c:postgres``).
        inner: It is a later word of a known phrase, whose first word has the senses.
    """

    text: str
    low: str
    kind: str
    gap: str
    senses: Senses = ()
    stem: str = ""
    owns: bool = False
    inner: bool = False
    ids: tuple[str, ...] = ()

    def named(self, role: str, name: str | None = None) -> str | None:
        """The value of its first sense of a role (and name); None if it has none."""
        if self.senses:
            for sense in self.senses:
                if sense[0] == role and (name is None or sense[1] == name):
                    return sense[2] or sense[1]
        return None

    def marked(self, kind: str) -> bool:
        """Whether it is a mark of this kind."""
        if self.senses:
            for sense in self.senses:
                if sense[1] == kind and sense[0] == "mark":
                    return True
        return False

    @property
    def light(self) -> bool:
        """Whether it is too common to name anything."""
        return self.low in LIGHT


_SMALL_ROLES = frozenset("unit times per number money rhythm".split())
_NAMING_KINDS = ("word", "cjk", "ver")


def unknown(token: Token) -> bool:
    """Whether a word names something: not light, no verb, and neither attribute nor state nor mark nor scope."""
    low = token.low
    if token.kind not in _NAMING_KINDS or token.inner or low in LIGHT or low in VERBS or low in LONE or low in ASKS:
        return False
    return not token.senses or all(sense.role in _SMALL_ROLES for sense in token.senses)


def tokenise(text: str) -> list[Token]:
    """The tokens of a text in order, phrases resolved, and an empty last one that holds the tail."""
    text = text[:_LONGEST]
    found: list[Token] = []
    last = 0
    for match in _PATTERN.finditer(text):
        kind, raw = match.lastgroup or "", match.group()
        gap = text[last : match.start()]
        last = match.end()
        if kind in ("word", "late", "head"):
            for word, low, senses, stemmed, owns, ids in _word_forms(raw):
                found.append(Token(word, low, "word", gap, senses, stemmed, owns, False, ids))
                gap = "_"
        elif kind == "cjk":
            pieces, length = _cjk_tokens(raw, gap)
            found.extend(pieces)
            last = match.start() + length if pieces else match.start() - len(gap)
        else:
            found.append(_plain_token(raw, "url" if kind == "scp" else kind, gap))
    _resolve_phrases(found)
    found.append(Token("", "", "end", text[last:]))
    return found


def _ids(senses: Senses, low: str) -> tuple[str, ...]:
    if not senses:
        return ()
    short = len(low) <= _LANGUAGE_CODE
    found: list[str] = []
    for role, name, value in senses:
        if role == "attr":
            found.append("a:" + name)
        elif role == "choice" and not (short and name == "human_language"):
            found.append("c:" + value)
    return tuple(found)


def _plain_token(raw: str, kind: str, gap: str) -> Token:
    low = raw.lower()
    if kind == "url":
        senses = _url_senses(low)
    else:
        senses = senses_of(low) if kind == "sym" else ()
    return Token(raw, low, kind, gap, senses, low, ids=_ids(senses, low))


_SITE = re.compile(r"(?:://|@)(?:[^@/]*@)?(?:[\w-]+\.)*?([\w-]+)\.[a-z]+(?=[:/]|$)")


def _url_senses(low: str) -> Senses:
    """What the scheme (``redis://``) and the site (``github.com``) of a link name."""
    site = _SITE.search(low)
    return senses_of(low.split("://")[0].split("+")[0]) + (senses_of(site[1]) if site else ())


@lru_cache(maxsize=16_384)
def _word_forms(raw: str) -> tuple[tuple[str, str, Senses, str, bool, tuple[str, ...]], ...]:
    """A word, or the words of a camelCase name no list knows: text, lower case, senses, stem, possessive, ids."""
    camel = len(raw) > 3 and not (raw.islower() or raw.isupper() or raw.istitle())
    whole = folded(raw.lower())
    pieces = _CAMEL.split(raw) if camel and not senses_of(whole) else [raw]
    return tuple(
        (
            piece,
            low := folded(piece.lower()),
            senses := senses_of(low),
            stem(low),
            piece.lower().endswith(("'s", "’s")),
            _ids(senses, low),
        )
        for piece in pieces
    )


def _cjk_tokens(raw: str, gap: str) -> tuple[list[Token], int]:
    """A run of CJK as known words and what is left between them, and how far they reach.

    It is cut at particles, which stand in the gaps.
    """
    found: list[Token] = []
    last = 0
    for start, end, senses in _cjk_pieces(raw):
        word = raw[start:end]
        before = raw[last:start] if found else gap
        found.append(Token(word, word, "cjk", before, senses, word, ids=_ids(senses, word)))
        last = end
    return found, last


def _cjk_pieces(raw: str) -> Iterator[tuple[int, int, Senses]]:
    last = 0
    for match in CJK_SPLIT.finditer(raw):
        if _inside_katakana(raw, match.start(), match.end()):
            continue
        yield from _unknown_cjk(raw, last, match.start())
        yield match.start(), match.end(), CJK_WORDS[match.group()]
        last = match.end()
    yield from _unknown_cjk(raw, last, len(raw))


_KATAKANA = re.compile("[\u30a1-\u30ff]+")
_SHORT_WORD = 2  # characters of a word that also stands inside longer ones


def _inside_katakana(raw: str, start: int, end: int) -> bool:
    """Whether a short katakana word is only a piece of a longer one (``オフ`` in ``オフィス``)."""
    if end - start > _SHORT_WORD or not _KATAKANA.fullmatch(raw, start, end):
        return False
    around = raw[start - 1 : start] if start else ""
    return any(_KATAKANA.fullmatch(near) for near in (around, raw[end : end + 1]) if near)


def _unknown_cjk(raw: str, start: int, end: int) -> Iterator[tuple[int, int, Senses]]:
    for glue in _KANA_GLUE.finditer(raw, start, end):
        if glue.start() > start:
            yield start, glue.start(), ()
        start = glue.end()
    if start < end:
        yield start, end, ()


def _resolve_phrases(tokens: list[Token]) -> None:
    """Gives the first word of each known phrase the phrase's senses, and takes the senses of the others away."""
    after = 0
    for at, (first, second) in enumerate(pairwise(tokens)):
        if at < after or (phrases := PHRASES.get(first.low)) is None:
            continue
        for rest, senses in phrases.get(second.low, ()):
            if _follows(tokens, at, rest):
                first.senses, first.ids, after = senses, _ids(senses, first.low), at + len(rest) + 1
                for token in tokens[at + 1 : after]:
                    token.senses, token.ids, token.inner = (), (), True
                break


def _follows(tokens: list[Token], at: int, rest: tuple[str, ...]) -> bool:
    if at + len(rest) >= len(tokens):
        return False
    for offset, word in enumerate(rest, start=1):
        token = tokens[at + offset]
        if token.low != word or not _tight(token.gap):
            return False
    return True


def _tight(gap: str) -> bool:
    """Whether a gap may stand inside a phrase: nothing, a space, or one joining character."""
    return gap in ("", " ", "-", "_", ".", "/", "'", "’", "+", "://") or gap == "\u00a0"
