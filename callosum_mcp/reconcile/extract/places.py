"""Ports, addresses, host names, links, mail addresses, paths and rooms.

Above: `extract`. Below: `base`. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from callosum_mcp.reconcile.extract.base import Found
from callosum_mcp.reconcile.sentences import Sentence
from callosum_mcp.reconcile.tokens import Token, unknown
from callosum_mcp.reconcile.values import Value, path_key

_SCP = re.compile(r"^git@([\w.-]+):")
_URL = re.compile(r"^([a-z][a-z0-9+.]*)://(?:[^@/]*@)?(\[[^\]]*\]|[^:/?#]*)(?::(\d+))?([^?#]*)")
_TOP = frozenset(
    """
    com org net io dev example local lan internal test de fr it es pl pt jp uk eu cloud app home arpa intranet
    invalid co info me tech
    """.split()
)
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1", "[::1]"})
_REACH = 4  # words between "port" and its number
_SHARES = frozenset("smb cifs afp".split())
_SCHEME_PORTS = {"http": "80", "https": "443"}


def places(sentence: Sentence, taken: set[int]) -> Iterator[Found]:
    """Every place of a sentence; numbers that belong to one are marked as taken."""
    tokens = sentence.tokens
    for at, token in enumerate(tokens):
        if token.kind == "num":
            yield from _port(tokens, at, taken)
        elif token.kind in _BY_KIND:
            yield from _BY_KIND[token.kind](token, at)
        elif token.kind == "word" and token.low in _TOP and token.gap == ".":
            yield from _host_name(tokens, at)
    yield from _rooms(tokens, taken)


def _ip(token: Token, at: int) -> Iterator[Found]:
    host, _, port = token.low.partition(":")
    address, _, mask = host.partition("/")
    yield Found(Value("ip", (_plain_host(address), mask) if mask else (_plain_host(address),), host), at)
    if port:
        yield Found(Value("port", (int(port),), port), at)


def _plain_host(host: str) -> str:
    return "localhost" if host in _LOCAL else host.removeprefix("www.")


def _url(token: Token, at: int) -> Iterator[Found]:
    match = _URL.match(_SCP.sub(r"ssh://\1/", token.text.rstrip(".,;:")))
    if match is None:
        return
    if placeholder(match[2].lower()):
        return
    if match[1].lower() in _SHARES:
        yield from _path(token, at)
        return
    scheme, host, port, path = match[1].lower(), _plain_host(match[2].lower()), match[3], match[4].rstrip("/")
    yield Found(Value("url", (host, port or _SCHEME_PORTS.get(scheme, ""), path.lower()), token.text), at)
    if port:
        yield Found(Value("port", (int(port),), port), at)
    if "." in host:
        yield Found(Value("fqdn", (host,), host), at)


def _host_name(tokens: list[Token], at: int) -> Iterator[Found]:
    """``registry.lab.example`` was cut into words; here they are put together again."""
    start = at
    while start and tokens[start].gap in (".", "-"):
        start -= 1
    ends = at + 1 == len(tokens) or tokens[at + 1].gap not in ("-", ".") or tokens[at + 1].low not in _TOP
    if start < at and ends and tokens[start].kind in ("word", "num"):
        name = "".join(("" if i == 0 else token.gap) + token.low for i, token in enumerate(tokens[start : at + 1]))
        if not placeholder(name):
            yield Found(Value("fqdn", (name.removeprefix("www."),), name), at)


_SAMPLES = frozenset("example.com example.org example.net".split())


def placeholder(host: str) -> bool:
    """Whether a host is one that stands for the reader's own (RFC 2606)."""
    return ".".join(host.split(".")[-2:]) in _SAMPLES


_PORT_UNITS = frozenset("tcp udp".split())


def _port(tokens: list[Token], at: int, taken: set[int]) -> Iterator[Found]:
    token = tokens[at]
    if not token.text.isdigit() or not 1 < len(token.text) < 6 or int(token.text) > 65_535:
        return
    if _says_port(tokens, at):
        taken.add(at)
        inner = at + 1 < len(tokens) and tokens[at + 1].gap == ":" and tokens[at + 1].kind == "num"
        outer = at and token.gap == ":" and tokens[at - 1].kind == "num"
        slot = "port:host" if inner else "port:inner" if outer else "port"
        yield Found(Value(slot, (int(token.text),), token.text), at)


def _says_port(tokens: list[Token], at: int) -> bool:
    """A port word before it, ``/tcp`` after it, a colon after a host, or the only thing a program can run on."""
    if at + 1 < len(tokens) and tokens[at + 1].gap == "/" and tokens[at + 1].low in _PORT_UNITS:
        return True
    if at + 1 < len(tokens) and (tokens[at + 1].named("unit") or tokens[at + 1].named("money")):
        return False
    if tokens[at].gap.endswith(("*:", "]:")) or _bare_colon(tokens, at):
        return True
    if at > 0 and tokens[at - 1].low == "p" and tokens[at - 1].gap.endswith(" -"):
        return True  # ``ssh -p 2022``
    assigned = at > 0 and tokens[at - 1].low in _SETS and len(tokens[at].text) >= _FOUR
    window = tokens[max(0, at - _REACH * (1 + assigned)) : at]
    if any(token.named("attr", "port") for token in window) or (
        at == 1 and tokens[at].gap == ":" and len(tokens[at].text) >= 4
    ):
        return True
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    counted = following is not None and following.gap == " " and unknown(following)
    return len(tokens[at].text) >= 4 and not counted and _runs_on(window)


def _bare_colon(tokens: list[Token], at: int) -> bool:
    """``--listen :8443``: a colon with nothing before it, and no time behind it."""
    gap, following = tokens[at].gap, tokens[at + 1] if at + 1 < len(tokens) else None
    alone = gap.endswith((" :", '":', "=:", "':")) or (gap == ":" and not at)
    return alone and len(tokens[at].text) >= _FOUR and not (following is not None and following.gap == ":")


_SETS, _FOUR = frozenset("to is = auf à a al ist est es è jest é".split()), 4
_ANSWERS = frozenset(
    """
    runs sits answers answer runs running served läuft tourne corre gira roda moved sat reached reachable
    erreichbar répond responde risponde
    """.split()
)
_ON = frozenset("on auf sur en su na at port in no em el il le".split())


def _runs_on(window: list[Token]) -> bool:
    return bool(window) and window[-1].low in _ON and any(token.low in _ANSWERS for token in window)


def _ip6(token: Token, at: int) -> Iterator[Found]:
    yield Found(Value("ip6", (token.low,), token.text), at)


def _mail(token: Token, at: int) -> Iterator[Found]:
    yield Found(Value("mail", (token.low,), token.text), at)


def _path(token: Token, at: int) -> Iterator[Found]:
    yield Found(Value("path", (path_key(token.text),), token.text), at)


_BY_KIND = {"ip": _ip, "ip6": _ip6, "url": _url, "mail": _mail, "path": _path, "winpath": _path, "unc": _path}
_ROOM = re.compile(r"^(?:[A-Za-z]?\d{1,2}[.\-]\d{2,3}|[A-Za-z]\d{1,4}|\d{3,4})$")


def _rooms(tokens: list[Token], taken: set[int]) -> Iterator[Found]:
    if not any(token.senses and token.named("attr", "room") for token in tokens):
        return
    for at, token in enumerate(tokens):
        window = tokens[max(0, at - 5) : at]
        if _ROOM.match(token.text) and any(near.named("attr", "room") for near in window) and at not in taken:
            taken.add(at)
            yield Found(Value("room", (token.low,), token.text), at)
        elif at and token.text[0].isupper() and token.gap == " " and unknown(token) and _room_word(tokens[at - 1]):
            yield Found(Value("room", (token.low,), token.text), at)


_PHONE_DIGITS = 7


def phones(sentence: Sentence, taken: set[int]) -> Iterator[Found]:
    """Phone numbers: groups of digits behind a plus, a zero, or a word for a phone."""
    tokens = sentence.tokens
    for at, token in enumerate(tokens):
        if token.kind != "num" or at in taken or not (_dialled(token) or _after_phone(tokens, at)):
            continue
        end = at + 1
        while end < len(tokens) and tokens[end].kind == "num" and tokens[end].gap in (" ", "-", "/", " (", ") "):
            end += 1
        digits = "".join(filter(str.isdigit, "".join(near.text for near in tokens[at:end])))
        if len(digits) >= _PHONE_DIGITS and "." not in token.text:
            taken.update(range(at, end))
            yield Found(Value("phone", (digits,), " ".join(near.text for near in tokens[at:end])), at)


def _dialled(token: Token) -> bool:
    return token.gap.endswith("+") or token.text.startswith("0")


def _after_phone(tokens: list[Token], at: int) -> bool:
    """Whether a word for a phone stands shortly before."""
    previous = tokens[at - 1] if at else None
    if previous is None or not (previous.low in _IS or previous.named("attr", "phone")):
        return False
    return any(token.named("attr", "phone") for token in tokens[max(0, at - _REACH - 2) : at])


_IS = frozenset("is ist est es è é jest new neu neue novo nuevo nuovo no nr number nummer".split())


_STREET_ENDS = ("weg", "straße", "strasse", "str", "gasse", "platz", "allee", "damm", "ufer", "straat", "gatan")
_STREETS = frozenset("street st road rd avenue ave lane ln drive way square court terrace".split())
_ROADS = frozenset("rue via calle ulica ul rua avenida piazza plaza corso aleja place".split())


def streets(sentence: Sentence, taken: set[int]) -> Iterator[Found]:
    """Postal addresses: ``Lindenweg 4``, ``12 High Street``, ``rue Cuvier 9``."""
    tokens = sentence.tokens
    for at, token in enumerate(tokens):
        if token.kind != "num" or at in taken or not token.text.isdigit():
            continue
        name = _street_before(tokens, at) or _street_after(tokens, at)
        if name:
            taken.add(at)
            yield Found(Value("street", (name, token.text), f"{name} {token.text}"), at)


def _street_before(tokens: list[Token], at: int) -> str:
    previous = tokens[at - 1] if at else None
    if previous is None or previous.kind != "word" or tokens[at].gap.strip(".") != " ":
        return ""
    if previous.low.endswith(_STREET_ENDS) and previous.text[0].isupper():
        return previous.low.removesuffix("aße").removesuffix("asse")
    led = [near for near in tokens[max(0, at - 4) : at - 1] if near.low in _ROADS]
    return previous.low if led and previous.text[0].isupper() else ""


def _street_after(tokens: list[Token], at: int) -> str:
    words = tokens[at + 1 : at + 4]
    for count, word in enumerate(words):
        if word.low in _STREETS and count and word.text[0].isupper():
            return " ".join(near.low for near in words[:count])
        if not word.text[:1].isupper():
            break
    return ""


def _room_word(token: Token) -> bool:
    return token.named("attr", "room") is not None and token.low not in ("sits", "desk", "sitzt")
