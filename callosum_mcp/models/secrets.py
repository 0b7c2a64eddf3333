"""What is secret of a store or a model, and texts without it.

Above: the fan-out, which lets no store give back what it was given; whoever writes answers; the log. Below: values.
Pure. By value: each secret that is known, in every form it is sent or shown in. By key: what stands behind a name such
as ``authorization`` in another program's words. A hit is masked by value alone: a memory may be about a password.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from typing import Any, TypeVar, cast
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from callosum_mcp.models.values import StoreSpec

T = TypeVar("T")

MASKED = "***"
SHORTEST = 6
"""Anything shorter is not looked for: it would be found in the words of every text."""

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SECRET_WORDS = frozenset(
    "apikey auth authorization bearer cookie credential credentials dsn jwt key pass passphrase passwd password pat pw "
    "pwd secret secrets session sig signature token tokens".split()
)
_HARMLESS_WORDS = frozenset("dir field file folder limit max model name path".split())
_SCHEME = re.compile(r"(?i)^(?:bearer|basic|token|apikey)\s+")
_FLAG = re.compile(r"^--?([A-Za-z][\w-]*)(?:=(.*))?$", re.DOTALL)
_BY_KEY = re.compile(
    r"""(?ix)
    (?<![a-z]) ((?:[a-z]+[-_])?
        (?:authorization|api[-_]?key|access[-_]?key|cookie|password|passwd|passphrase|secret|token|session[-_]?id))
    (\\?["']? \s* [:=] \s* \\?["']?)
    (?: (bearer|basic|token) \s+ )?
    ([^\s"'\\,;&}\])]{6,})
    """
)
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+([A-Za-z0-9._~+/=-]{8,})")
_USERINFO = re.compile(r"(?i)(\b[a-z][a-z0-9+.-]*://)[^\s/@\"'<>]+@")


def is_secret_name(name: str) -> bool:
    """Whether a value of this name is a secret: a header, a variable, a parameter, an option, a switch."""
    words = {word.lower() for word in _WORDS.findall(name)}
    return bool(words & _SECRET_WORDS) and not words & _HARMLESS_WORDS


def secrets_of(spec: StoreSpec) -> Iterator[str]:
    """What only a store may know."""
    if spec.token is not None:
        yield spec.token.get_secret_value()
    yield from _named(spec.headers)
    yield from _named({name: text for name, text in spec.options.items() if isinstance(text, str)})
    for url in (spec.url, *spec.urls):
        yield from url_secrets(url)
    if spec.transport is not None:
        yield from _named(spec.transport.env)
        yield from _of_arguments(spec.transport.args)


def given_to(spec: StoreSpec) -> Iterator[str]:
    """All that a store is told beside questions, whatever it is called; for its error texts, which need none of it."""
    yield from secrets_of(spec)
    yield from (_SCHEME.sub("", text) for text in spec.headers.values())
    if spec.transport is not None:
        yield from spec.transport.env.values()
    yield from (text for url in (spec.url, *spec.urls) for _, text in parse_qsl(urlsplit(url).query))


def url_secrets(url: str) -> Iterator[str]:
    """The user, the password and the parameters of a URL that are secrets."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return
    userinfo = parts.netloc.rpartition("@")[0]
    if userinfo:
        user, _, password = userinfo.partition(":")
        yield from (text for text in (userinfo, unquote(userinfo), password, unquote(password)) if text)
        if not password:
            yield unquote(user)
    yield from _named(dict(parse_qsl(parts.query)))


def _named(values: Mapping[str, Any]) -> Iterator[str]:
    for name, text in values.items():
        if is_secret_name(name):
            yield text
            yield _SCHEME.sub("", text)
        yield from url_secrets(text) if "://" in text else ()


def _of_arguments(arguments: Iterable[str]) -> Iterator[str]:
    wanted = False
    for argument in arguments:
        flag = _FLAG.match(argument)
        if wanted and flag is None:
            yield argument
        wanted = flag is not None and is_secret_name(flag.group(1))
        if flag is not None and wanted and flag.group(2):
            yield flag.group(2)
        yield from url_secrets(argument) if "://" in argument else ()


class Mask:
    """Takes secrets out of texts.

    Args:
        secrets: Them; those that are too short are left out.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        known = {secret for secret in secrets if len(secret) >= SHORTEST}
        self._forms = sorted({form for secret in known for form in _forms(secret)}, key=lambda form: (-len(form), form))

    def __bool__(self) -> bool:
        return bool(self._forms)

    def text(self, text: str) -> str:
        """A text without them."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, MASKED)
        return text

    def value(self, value: T) -> T:
        """A value without them in any of its texts: of a dataclass, a list, a tuple, a mapping or a text."""
        return cast("T", self._masked(value)) if self._forms else value

    def _masked(self, value: object) -> object:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            pairs = cast("Mapping[object, object]", value).items()
            return {self._masked(key): self._masked(item) for key, item in pairs}
        if isinstance(value, list | tuple):
            items = [self._masked(item) for item in cast("list[object]", value)]
            return tuple(items) if isinstance(value, tuple) else items
        if is_dataclass(value) and not isinstance(value, type):
            return self._of_dataclass(value)
        return value

    def _of_dataclass(self, value: Any) -> object:
        """The same value, if nothing of it changes, which is the rule."""
        changed: dict[str, object] = {}
        for field in fields(value):
            before = getattr(value, field.name)
            after = self._masked(before)
            if after is not before and after != before:
                changed[field.name] = after
        return replace(value, **changed) if changed else value


@lru_cache(maxsize=512)
def _forms(secret: str) -> frozenset[str]:
    """A secret as it is, in JSON, in a URL, as Python shows it, and as HTTP's Basic sends it."""
    found = {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], repr(secret)[1:-1]}
    found |= {quote(secret, safe=""), quote(secret)}
    if ":" in secret:
        found.add(base64.b64encode(secret.encode()).decode())
    return frozenset(found)


def redacted(text: str) -> str:
    """Another program's words without what stands behind the name of a secret, and without the user of a URL."""
    text = _BY_KEY.sub(lambda found: f"{found[1]}{found[2]}{MASKED}", text)
    return _USERINFO.sub(rf"\1{MASKED}@", _BEARER.sub(rf"\1 {MASKED}", text))
