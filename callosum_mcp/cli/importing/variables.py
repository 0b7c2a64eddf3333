"""Texts of a client's file as texts of a settings file: variables in our notation, secrets behind a variable.

Above: `entries`. Below: nothing. Pure. A literal secret is never written again: its place gets ``${NAME}``, and whoever
runs the import is told which name to set. What looks like a secret and is none costs one variable; the other way round
would cost the secret.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from callosum_mcp.errors import SettingsError
from callosum_mcp.settings.environment import expand

_PLACE = re.compile(r"\$\{([^{}]*)\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLAIN = re.compile(r"(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(:-.*)?", re.DOTALL)
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SECRET_WORDS = frozenset(
    "apikey auth authorization bearer cookie credential credentials dsn jwt key passphrase passwd password pat private "
    "pw pwd secret secrets session signature sig token tokens".split()
)
_HARMLESS_WORDS = frozenset("dir file folder model name path url".split())
_HARMLESS_HEADERS = frozenset({"accept", "accept-language", "content-type", "user-agent"})
_PREFIX = re.compile(
    r"(sk|pk|rk|ghp|gho|ghu|ghs|github_pat|glpat|xox[abprs]|br|m0|memos_pat|hf|pat)[-_]\w|AKIA|ASIA|eyJ"
)
_RUN, _DIGIT, _LETTER = re.compile(r"[A-Za-z0-9]{16,}"), re.compile(r"\d"), re.compile(r"[A-Za-z]")
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_SCHEME = re.compile(r"(?i)(bearer|basic|token|apikey)\s+")


@dataclass(kw_only=True, slots=True)
class Variables:
    """What one file's texts become, and which variables they need.

    Attributes:
        folder: What ``${workspaceFolder}`` means.
        home: What ``${userHome}`` means.
        environ: The environment, for telling which variables are set.
        values: Value of every variable that stands for a secret of a file; never shown.
        needed: Variable by name, and what to set it to.
    """

    folder: Path
    home: Path
    environ: Mapping[str, str] = field(repr=False)
    values: dict[str, str] = field(default_factory=dict[str, str], repr=False)
    needed: dict[str, str] = field(default_factory=dict[str, str])

    def translated(self, text: str) -> str:
        """A text with every variable in our notation.

        Raises:
            ValueError: If it holds a ``${`` that never ends.
        """
        done = _PLACE.sub(self._place, text)
        if "${" in _PLACE.sub("", done):
            raise ValueError("holds a ${ that names no variable")
        return done

    def real(self, text: str) -> str:
        """A translated text with its variables replaced.

        Raises:
            ValueError: If one is not set.
        """
        try:
            return expand(text, self.environ)
        except SettingsError:
            missing = [name for name in self.needed if f"${{{name}}}" in text]
            why = "; ".join(f"{name} ({self.needed[name]})" for name in missing)
            raise ValueError(f"needs a variable that is not set: {why}") from None

    def hidden(self, text: str, label: str, variable: str, what: str) -> str:
        """A translated text without what it may give away.

        Args:
            text: The text.
            label: What it is called there: a variable's, a header's or a flag's name.
            variable: What to call the variable that stands for it.
            what: Where it stands, for a person.
        """
        head = _SCHEME.match(text)
        scheme, value = (head.group(), text[head.end() :]) if head else ("", text)
        if not head and "://" in value and not value.startswith("${"):
            return self.hidden_url(value, variable, what)
        if "${" in value:
            return _PLACE.sub(partial(self._without_default, label), text)
        if not value or not (head or is_secret(label, value)):
            return text
        return scheme + self._kept(value, variable, what)

    def hidden_header(self, name: str, text: str, variable: str, what: str) -> str:
        """A header without its value, unless everybody may know it."""
        if name.lower() in _HARMLESS_HEADERS:
            return text
        return self.hidden(text, "authorization", variable, what)

    def hidden_url(self, url: str, variable: str, what: str) -> str:
        """A URL without the password, the query's secrets and the long random parts of its path."""
        parts = urlsplit(url)
        hide = partial(self.hidden, variable=variable, what=what)
        who, at, host = parts.netloc.rpartition("@")
        user, colon, password = who.partition(":")
        if password:
            who = user + colon + hide(password, label="password")
        path = "/".join(hide(part, label="") for part in parts.path.split("/"))
        pairs = (part.partition("=") for part in parts.query.split("&"))
        query = "&".join(name + equals + hide(value, label=name) for name, equals, value in pairs)
        return parts._replace(netloc=who + at + host, path=path, query=query).geturl()

    def _place(self, match: re.Match[str]) -> str:
        inner = match.group(1)
        known = {
            "workspaceFolder": str(self.folder),
            "workspaceRoot": str(self.folder),
            "cwd": str(self.folder),
            "workspaceFolderBasename": self.folder.name,
            "userHome": str(self.home),
        }
        if inner in known:
            return known[inner]
        plain = _PLAIN.fullmatch(inner)
        if plain is not None:
            name, default = plain.groups()
            if default is None and not self.environ.get(name):
                self.needed.setdefault(name, "the file names it, and it is not set here")
            return f"${{{name}{default or ''}}}"
        name = variable_name(inner.removeprefix("input:"))
        if not self.environ.get(name):
            kind, _, rest = inner.partition(":")
            asked = f"the client asks for {rest}" if kind == "input" else f"stands for ${{{inner}}}"
            self.needed.setdefault(name, asked)
        return f"${{{name}}}"

    def _without_default(self, label: str, match: re.Match[str]) -> str:
        """A reference without the default that may be the secret itself."""
        name, _, default = match.group(1).partition(":-")
        if not default or not (is_secret(name, default) or is_secret(label, default)):
            return match.group()
        if not self.environ.get(name):
            self.needed[name] = "its default in the file is not copied"
        return f"${{{name}}}"

    def _kept(self, value: str, variable: str, what: str) -> str:
        name, taken = variable, 1
        while self.values.get(name, value) != value or self.environ.get(name, value) != value:
            taken += 1
            name = f"{variable}_{taken}"
        self.values[name] = value
        if not self.environ.get(name):
            self.needed[name] = what
        return f"${{{name}}}"


def variable_name(*parts: str) -> str:
    """Parts of a name as the name of a variable; none of ours, whose misspellings are errors."""
    name = "_".join(re.sub(r"[^A-Za-z0-9]+", "_", part).strip("_").upper() for part in parts if part) or "SECRET"
    return f"STORE_{name}" if not _NAME.fullmatch(name) or name.startswith(("CALLOSUM_", "SEREN_SCC_")) else name


def is_secret(label: str, value: str) -> bool:
    """Whether a literal text may be a secret, by what it is called or by what it looks like."""
    words = {word.lower() for word in _WORDS.findall(label)}
    if words & _SECRET_WORDS and not words & _HARMLESS_WORDS:
        return True
    if _PREFIX.match(value) or _UUID.fullmatch(value):
        return True
    return any(_DIGIT.search(run) and _LETTER.search(run) for run in _RUN.findall(value))
