"""Numbers with their units, and versions.

Above: `extract`. Below: `base`, `measure`. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from callosum_mcp.reconcile.extract.base import Found
from callosum_mcp.reconcile.extract.measure import Reading, read
from callosum_mcp.reconcile.sentences import Sentence
from callosum_mcp.reconcile.tokens import Token, unknown
from callosum_mcp.reconcile.values import Quantity, Value

_DIGITS = re.compile(r"\d+")
_OPERATOR = re.compile(r"(==|>=|<=|!=|~=|\^|~|(?<![-=])>|<)\s*[\"']?v?$")
_PRODUCTS = frozenset(
    "code_language runtime database broker os proxy orchestrator framework package_manager model test_runner linter "
    "formatter ci search monitoring container_engine vpn editor chat tracker mta iac forge secret_store "
    "idp sync dns_server dashboard log_stack hypervisor cms wiki object_store backup_tool registry game_engine erp "
    "error_tracker workflow orm bundler browser mail_client ticket video docs_tool type_checker sync template "
    "service_mesh process_manager migration_tool tracing_tool".split()
)
_VERSION_WORDS = ("version", "release", "kernel", "firmware")
_VERSION_IDS = frozenset("a:" + word for word in _VERSION_WORDS)
_REACH = 4
_SUFFIXES = ("k", "m", "g", "t", "b", "w", "y")
_NUMERIC = ("num", "ver")
_PORT_DIGITS = 4  # kafka:9092 has a port, node:22 a version
_ROUGH = 0.12  # "about 200" is said of 204 and of 220, hardly of 250


def numbers(sentence: Sentence, taken: set[int]) -> Iterator[Found]:
    """Every version and quantity of a sentence that is nothing else (no port, date or room)."""
    tokens = sentence.tokens
    for at, token in enumerate(tokens):
        if at in taken or not (token.senses or token.kind in _NUMERIC):
            continue
        if token.kind in _NUMERIC and (_heading(tokens, at) or _paired(tokens, at)):
            continue
        if token.kind == "ver" or (token.kind == "num" and _is_version(tokens, at)):
            yield _version(tokens, at)
        elif (token.kind == "num" and not _in_a_name(tokens, at)) or token.named("number") or token.named("share"):
            reading = read(tokens, at, taken)
            if reading is not None:
                yield Found(_quantity(reading, tokens, at), at)
                if reading.dimension == "count" and _DECIMAL.fullmatch(token.text) and _assigned(tokens, at):
                    yield _version(tokens, at)


_DECIMAL = re.compile(r"[1-9]\d?\.\d{1,2}")
_FROM = frozenset("from since ab from version".split())


def _assigned(tokens: list[Token], at: int) -> bool:
    """Whether a plain decimal may be a version too: a sign or ``from`` before it."""
    return at > 0 and (tokens[at - 1].low in ("=", "→", *_FROM) or tokens[at].gap.strip("\"' ") in (":", "="))


def _paired(tokens: list[Token], at: int) -> bool:
    """Whether a colon ties the number to another (``8081:3000``)."""
    ahead = tokens[at + 1] if at + 1 < len(tokens) else None
    behind = at > 0 and tokens[at].gap == ":" and tokens[at - 1].kind == "num"
    return behind or (ahead is not None and ahead.gap == ":" and ahead.kind == "num")


def _heading(tokens: list[Token], at: int) -> bool:
    """Whether the number heads a line (``0.8: …``, ``3. …``)."""
    return at == 0 and len(tokens) > 1 and tokens[1].gap.strip() == ":" and tokens[0].kind == "num"


def _in_a_name(tokens: list[Token], at: int) -> bool:
    """Whether letters that are no unit hang on to the number (``7950X``), or it to a name (``TKT-212``)."""
    if (
        at
        and tokens[at].gap == "-"
        and tokens[at - 1].kind == "word"
        and (tokens[at - 1].text.isupper() or tokens[at].text.startswith("0") or unknown(tokens[at - 1]))
    ):
        return True
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    hangs = following is not None and following.gap == "" and following.kind == "word" and not following.senses
    return following is not None and hangs and following.low not in _SUFFIXES


def _is_version(tokens: list[Token], at: int) -> bool:
    """A bare number after a product, a version word or an operator, or a decimal right after a name."""
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    if following is not None and (_measured(following) or _priced(tokens, at)):
        return False
    window = tokens[max(0, at - _REACH) : at]
    operator = _OPERATOR.search(tokens[at].gap)
    if operator is not None and (operator[1] not in ("<", ">") or any(_product(token) for token in window)):
        return True
    ahead = tokens[at + 1 : at + 3] if "." in tokens[at].text else []
    if any(not _VERSION_IDS.isdisjoint(token.ids) for token in (*window, *ahead) if token.ids):
        return True
    previous = next((token for token in reversed(window) if token.low not in ("=", "→")), None)
    if _sits_on(tokens, at):
        return True
    if previous is None or previous.kind != "word" or tokens[at].gap.strip() in (",", "/", ".", "_"):
        return False
    if tokens[at].gap.strip() == ")" and not _product(previous):
        return False
    if tokens[at].gap == ":" and tokens[at].text.isdigit() and len(tokens[at].text) >= _PORT_DIGITS:
        return False
    edition = len(window) > 1 and previous.text[0].isupper() and previous.gap == " " and _product(window[-2]) != ""
    return (
        edition or _product(previous) != "" or ("." in tokens[at].text and not previous.light and not previous.senses)
    )


_ON = frozenset("on auf em en su na to at".split())
_BE = frozenset("is runs are still now läuft est tourne corre gira jest está roda moved went upgraded".split())


def _sits_on(tokens: list[Token], at: int) -> bool:
    """``is on 6.2``: a decimal that something is or runs on."""
    return (
        at > 1
        and tokens[at].text.replace(".", "", 1).isdigit()
        and "." in tokens[at].text
        and tokens[at - 1].low in _ON
        and tokens[at - 2].low in _BE
    )


def _measured(following: Token) -> bool:
    """Whether the next token makes the number a quantity."""
    near = following.gap.strip() in ("", "#")
    return near and any(following.named(role) for role in ("unit", "money", "times", "month"))


def _priced(tokens: list[Token], at: int) -> bool:
    """``49.50 a month``: so much in that time."""
    ahead = tokens[at + 1 : at + 3]
    return len(ahead) > 1 and ahead[0].low in _EACH and ahead[1].named("unit", "time") is not None


_EACH = frozenset("a per pro par al por im je each na".split())


def _product(token: Token) -> str:
    for sense in token.senses:
        if sense.role == "choice" and sense.name in _PRODUCTS:
            return sense.value.split(">")[0]
    return next((word for word in _VERSION_WORDS[2:] if token.named("attr", word)), "")


def _version(tokens: list[Token], at: int) -> Found:
    token = tokens[at]
    operator = _OPERATOR.search(token.gap)
    product = ""
    for place in range(at - 1, max(0, at - _REACH) - 1, -1):
        if tokens[place].kind in ("num", "ver"):
            break
        if product := _product(tokens[place]):
            product += _suffix(tokens, place, at)
            break
    numbers = tuple(int(piece) for piece in _DIGITS.findall(re.split(r"[-+]", token.text)[0])[:4])
    sign = (operator[1] if operator else _bound(tokens, at)).replace("==", "")
    return Found(Value("version", (sign, numbers, product), token.text), at)


def _suffix(tokens: list[Token], place: int, end: int) -> str:
    """What a hyphen adds to the name of a product, which makes it the name of a package for it (its client, a tool)."""
    following = tokens[place + 1]
    joined = place + 1 < end and following.gap == "-" and following.kind == "word" and not following.light
    joined = joined and not following.named("attr", "version") and following.low not in _MACHINES
    return f"-{following.low}" if joined else ""


_MACHINES = frozenset("cluster server node host vm box machine instance prod main rechner serveur servidor".split())
_LEAST = frozenset("minimum min least mindestens minimal minimale mínimo mínima minimo minima".split())
_OR_LATER = frozenset("later newer higher above up onwards upwards plus aufwärts höher neuer".split())


def _bound(tokens: list[Token], at: int) -> str:
    """``minimum 3.20``, ``3.20 or newer``, ``3.20+``: any later version will do."""
    window = tokens[max(0, at - _REACH) : at]
    ahead = tokens[at + 1 : at + 3]
    later = len(ahead) > 1 and ahead[0].low in ("or", "and", "oder", "und", "ou", "o") and ahead[1].low in _OR_LATER
    tail = bool(ahead) and ahead[0].gap.startswith("+")
    return ">=" if later or tail or any(token.low in _LEAST for token in window) else ""


def _quantity(reading: Reading, tokens: list[Token], at: int) -> Value:
    rough = (
        _ROUGH
        if any(token.marked("approx") for token in tokens[max(0, at - 2) : at]) or tokens[at].gap.endswith("~")
        else 0.0
    )
    low, high = reading.low * (1 - rough), reading.high * (1 + rough)
    return Value(f"number:{reading.dimension}", (Quantity(low, high, reading.per),), reading.text)
