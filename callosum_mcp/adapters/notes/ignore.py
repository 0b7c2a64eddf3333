"""Which paths are left out: the gitignore rules of the folders and of the repository around them.

Above: the scanner. Below: pathspec. A rule file speaks for its folder and all below; the deepest one that says
anything decides, as in git, and nothing below an ignored folder is looked at.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from pathspec import GitIgnoreSpec

_MAX_RULE_CHARACTERS = 1024**2


@dataclass(frozen=True, kw_only=True, slots=True)
class Rules:
    """The rules of one folder.

    Attributes:
        base: Absolute folder they are relative to, without a slash at its end.
        spec: The compiled patterns.
    """

    base: str
    spec: GitIgnoreSpec


Chain = tuple[Rules, ...]
"""The rules that apply in one folder, outermost first."""


def compiled(lines: Iterable[str]) -> GitIgnoreSpec:
    """Gitignore patterns ready to match; a line git would not understand is left out, as git does.

    ``folder/**`` means all that is in the folder, not the folder: as ``folder/*`` it can be taken back below.
    """
    return GitIgnoreSpec.from_lines(
        line.removesuffix("*") if line.endswith("/**") else line for line in lines if _understood(line)
    )


def ignored(chain: Chain, path: str, *, folder: bool) -> bool:
    """Whether the rules leave out an absolute path."""
    for rules in reversed(chain):
        relative = path[len(rules.base) + 1 :].replace(os.sep, "/")
        verdict = rules.spec.check_file(f"{relative}/" if folder else relative).include
        if verdict is not None:
            return verdict
    return False


class RuleBook:
    """The rule files met so far, each read again only when it has changed.

    Attributes:
        version: Grows whenever a known rule file appeared, changed or went.
    """

    def __init__(self) -> None:
        self.version = 0
        self._known: dict[str, tuple[tuple[int, int] | None, Rules | None]] = {}

    def of_folder(self, folder: str) -> Chain:
        """The rules in a folder's own ``.gitignore``, if any."""
        return self._read(os.path.join(folder, ".gitignore"), folder)

    def around(self, folder: str) -> Chain:
        """The rules of the git repository around a folder; none if they leave out the folder itself.

        Whoever names an ignored folder as a place for notes wants its notes.
        """
        chain: Chain = ()
        above = _repository_folders(folder)
        if above:
            chain = self._read(os.path.join(above[0], ".git", "info", "exclude"), above[0])
        for outer, inner in pairwise(above):
            chain += self.of_folder(outer)
            if ignored(chain, inner, folder=True):
                return ()
        return chain

    def _read(self, path: str, base: str) -> Chain:
        signature = _signature(path)
        known, rules = self._known.get(path, (None, None))
        if signature != known:
            rules = _rules_in(path, base)
            self._known[path] = (signature, rules)
            self.version += 1
        return () if rules is None or signature is None else (rules,)


def _understood(line: str) -> bool:
    try:
        GitIgnoreSpec.from_lines([line])
    except (ValueError, re.error):
        return False
    return True


def _signature(path: str) -> tuple[int, int] | None:
    """What changes when a file does; None if there is none. A link counts as none, as in git."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return None if os.path.islink(path) else (found.st_mtime_ns, found.st_size)


def _repository_folders(folder: str) -> list[str]:
    """The folders from the top of the repository down to this one; empty outside a repository."""
    folders = [folder]
    while not os.path.exists(os.path.join(folders[-1], ".git")):
        parent = os.path.dirname(folders[-1])
        if parent == folders[-1]:
            return []
        folders.append(parent)
    return folders[::-1]


def _rules_in(path: str, base: str) -> Rules | None:
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            lines = file.read(_MAX_RULE_CHARACTERS).splitlines()
    except OSError:
        return None
    return Rules(base=base.rstrip(os.sep), spec=compiled(lines))
