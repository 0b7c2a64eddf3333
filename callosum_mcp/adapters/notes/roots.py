"""The folders of a `notes` store, and the paths its notes have in it.

Above: the scanner and the index. Below: nothing.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Root:
    """One folder of a store.

    Attributes:
        path: Its real path.
        prefix: What the paths of its notes start with: "" if it is the only one, else its name and a slash.
    """

    path: str
    prefix: str = ""

    @property
    def base(self) -> str:
        """The path without a slash at its end, which only the root of a disk has."""
        return self.path.rstrip(os.sep)

    def holds(self, real: str) -> bool:
        """Whether a real path lies below this folder."""
        return real.startswith(self.base + os.sep)

    def below(self, path: str) -> str:
        """An absolute path below this folder, relative to it, with slashes."""
        return path[len(self.base) + 1 :].replace(os.sep, "/")

    def absolute(self, path: str) -> str:
        """Where a note lies, by its path in the store."""
        return os.path.join(self.path, *path[len(self.prefix) :].split("/"))


def resolve_roots(folders: Sequence[str]) -> tuple[Root, ...]:
    """The folders with their real paths; several are told apart by as much of their ends as that takes."""
    paths = list(dict.fromkeys(os.path.realpath(os.path.expanduser(folder)) for folder in folders))
    if len(paths) == 1:
        return (Root(path=paths[0]),)
    return tuple(Root(path=path, prefix=f"{_shortest_tail(path, paths)}/") for path in paths)


def root_of(path: str, roots: Sequence[Root]) -> Root | None:
    """The folder that a path in the store starts with."""
    return max((r for r in roots if path.startswith(r.prefix)), key=lambda r: len(r.prefix), default=None)


def _shortest_tail(path: str, paths: Sequence[str]) -> str:
    parts = path.replace(os.sep, "/").strip("/").split("/")
    others = [f"/{other.replace(os.sep, '/')}" for other in paths if other != path]
    tails = ("/".join(parts[-length:]) for length in range(1, len(parts)))
    unlike = (tail for tail in tails if not any(other.endswith(f"/{tail}") for other in others))
    return next(unlike, "/".join(parts))
