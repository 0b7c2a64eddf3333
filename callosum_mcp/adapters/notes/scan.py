"""Which files a `notes` store holds: one walk over its folders, without opening any file.

Above: the index and `fetch`. Below: the gitignore rules. A walk of 20,000 known files is little more than a `stat`
for each: what the rules say of a path is remembered until a rule file changes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple

from callosum_mcp.adapters.notes.ignore import Chain, RuleBook, Rules, compiled, ignored
from callosum_mcp.adapters.notes.options import NotesOptions
from callosum_mcp.adapters.notes.roots import Root, root_of
from callosum_mcp.errors import StoreFailed
from callosum_mcp.text import clean

_ALWAYS_SKIPPED = frozenset({".git", ".hg", ".svn", "node_modules", ".venv", "__pycache__"})
_REMEMBERED_PER_FILE = 8  # verdicts kept for each file of the store; beyond, most are of paths long gone
_REMEMBERED_MIN = 100_000
_LINE_BREAKS = frozenset("\n\r\t")
_SUFFIX_PATTERN = re.compile(r"\*\.[a-z0-9_]+")


class Signature(NamedTuple):
    """What tells a changed file from an unchanged one."""

    mtime_ns: int
    size: int


_signed = Signature._make  # half the time of calling the class, 20,000 times


@dataclass(kw_only=True, slots=True)
class Tree:
    """What one walk found.

    Attributes:
        files: Every file by its path in the store.
        too_large: Files that were left out for their size.
        full: There are more files than the store may hold.
    """

    files: dict[str, Signature] = field(default_factory=dict[str, Signature])
    too_large: int = 0
    full: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class _Folder:
    root: Root
    path: str
    real: str
    prefix: str
    chain: Chain


@dataclass(kw_only=True, slots=True)
class _Walk:
    tree: Tree
    stopped: Callable[[], bool]
    pending: list[_Folder] = field(default_factory=list[_Folder])
    links: list[tuple[_Folder, str]] = field(default_factory=list[tuple[_Folder, str]])
    seen: set[str] = field(default_factory=set[str])


class Scanner:
    """Finds the files of a store; a path is inside or outside by the same rules for a walk and for one file."""

    def __init__(self, roots: tuple[Root, ...], options: NotesOptions) -> None:
        self._roots = roots
        self._options = options
        self._book = RuleBook()
        self._max_file_bytes, self._max_files = options.max_file_bytes, options.max_files
        self._include = _include_test(options.include)
        self._exclude = {root.path: _exclude_rules(root, options.exclude) for root in roots}
        self._verdicts: dict[str, bool] = {}
        self._verdicts_of = 0

    def check_roots(self) -> None:
        """Make sure that every folder can be listed.

        Raises:
            StoreFailed: If one cannot.
        """
        for root in self._roots:
            try:
                with os.scandir(root.path):
                    pass
            except FileNotFoundError:
                raise StoreFailed(f"folder not found: {root.path}") from None
            except NotADirectoryError:
                raise StoreFailed(f"not a folder: {root.path}") from None
            except OSError as exc:
                raise StoreFailed(f"folder cannot be read: {root.path} ({exc.strerror})") from exc

    def walk(self, stopped: Callable[[], bool] = lambda: False) -> Tree:
        """Every file of the store; folders that vanish or cannot be read meanwhile are left out.

        Raises:
            StoreFailed: If a folder of the store itself cannot be listed.
        """
        self.check_roots()
        walk = _Walk(tree=Tree(), stopped=stopped)
        for root in self._roots:
            walk.pending.append(self._top(root))
            self._drain(walk)
            # Links come last, so that a file which is in the folder anyway keeps its own path.
            for folder, name in sorted(walk.links, key=lambda link: (link[0].path, link[1])):
                self._follow(walk, folder, name)
                self._drain(walk)
            walk.links.clear()
        if len(self._verdicts) > max(_REMEMBERED_MIN, _REMEMBERED_PER_FILE * len(walk.tree.files)):
            self._verdicts.clear()
        return walk.tree

    def find(self, path: str) -> tuple[str, os.stat_result] | None:
        """The real path and the state of a file, by its path in the store; None if the store does not hold it."""
        root = root_of(path, self._roots)
        return None if root is None else self._find_below(root, path[len(root.prefix) :].split("/"))

    def real_path(self, path: str) -> str | None:
        """The real path of a file of the store; None if it leads out of its folder."""
        root = root_of(path, self._roots)
        real = "" if root is None else os.path.realpath(root.absolute(path))
        return real if root is not None and root.holds(real) else None

    def uri(self, path: str) -> str:
        """The ``file:`` URI of a file of the store."""
        root = root_of(path, self._roots)
        return Path(path if root is None else root.absolute(path)).as_uri()

    def _find_below(self, root: Root, names: list[str]) -> tuple[str, os.stat_result] | None:
        folder = self._top(root)
        for name in names[:-1]:
            if not self._plain(name) or not self._wanted(folder, name, is_folder=True):
                return None
            folder = self._child(folder, name)
        if not self._plain(names[-1]) or not self._wanted(folder, names[-1], is_folder=False):
            return None
        try:
            real = os.path.realpath(os.path.join(folder.path, names[-1]))
            state = os.stat(real)
        except OSError:
            return None
        usable = root.holds(real) and S_ISREG(state.st_mode) and state.st_size <= self._options.max_file_bytes
        return (real, state) if usable else None

    def _drain(self, walk: _Walk) -> None:
        while walk.pending and not walk.stopped() and not walk.tree.full:
            folder = walk.pending.pop()
            if folder.real not in walk.seen:
                walk.seen.add(folder.real)
                self._list(walk, folder)

    def _list(self, walk: _Walk, folder: _Folder) -> None:
        known, prefix, tree = self._verdicts.get, folder.prefix, walk.tree
        for entry in _entries(folder.path):
            wanted = known(entry.path)
            if wanted and entry.is_file(follow_symlinks=False):
                self._add(tree, prefix + entry.name, entry)
            elif wanted is not False or entry.is_dir(follow_symlinks=False):
                self._meet(walk, folder, entry)

    def _meet(self, walk: _Walk, folder: _Folder, entry: os.DirEntry[str]) -> None:
        """Deal with anything but a file that was wanted before."""
        name = entry.name
        if self._skipped_by_name(name):
            return
        if _is_link(entry):
            walk.links.append((folder, name))
        elif entry.is_dir(follow_symlinks=False):
            if self._wanted(folder, name, is_folder=True):
                walk.pending.append(self._child(folder, name))
        elif entry.is_file(follow_symlinks=False) and self._wanted(folder, name, is_folder=False):
            self._add(walk.tree, folder.prefix + name, entry)

    def _add(self, tree: Tree, path: str, file: os.DirEntry[str] | Path) -> None:
        try:
            state = file.stat()
        except OSError:
            return
        size = state.st_size
        if size > self._max_file_bytes:
            tree.too_large += 1
        elif len(tree.files) >= self._max_files:
            tree.full = True
        else:
            tree.files[path] = _signed((state.st_mtime_ns, size))

    def _follow(self, walk: _Walk, folder: _Folder, name: str) -> None:
        """Take what a link leads to, unless that is outside its folder, gone, or already there under its own path."""
        real = os.path.realpath(os.path.join(folder.path, name))
        if not folder.root.holds(real) or real in walk.seen:
            return
        if os.path.isdir(real):
            if self._wanted(folder, name, is_folder=True):
                walk.pending.append(self._child(folder, name, real))
            return
        own_path = folder.root.prefix + folder.root.below(real)
        if own_path not in walk.tree.files and os.path.isfile(real) and self._wanted(folder, name, is_folder=False):
            walk.seen.add(real)
            self._add(walk.tree, folder.prefix + name, Path(real))

    def _top(self, root: Root) -> _Folder:
        chain = self._book.around(root.path) if self._options.gitignore else ()
        return self._entered(_Folder(root=root, path=root.path, real=root.path, prefix=root.prefix, chain=chain))

    def _child(self, folder: _Folder, name: str, real: str | None = None) -> _Folder:
        return self._entered(
            _Folder(
                root=folder.root,
                path=os.path.join(folder.path, name),
                real=real or os.path.join(folder.real, name),
                prefix=f"{folder.prefix}{name}/",
                chain=folder.chain,
            )
        )

    def _entered(self, folder: _Folder) -> _Folder:
        """The folder with its own rules added."""
        if not self._options.gitignore:
            return folder
        own = self._book.of_folder(folder.path)
        if self._verdicts_of != self._book.version:
            self._verdicts_of = self._book.version
            self._verdicts = {}
        if not own:
            return folder
        return replace(folder, chain=folder.chain + own)

    def _wanted(self, folder: _Folder, name: str, *, is_folder: bool) -> bool:
        path = os.path.join(folder.path, name)
        key = path + os.sep if is_folder else path
        known = self._verdicts.get(key)
        if known is None:
            known = self._verdicts[key] = self._verdict(folder, name, path, is_folder=is_folder)
        return known

    def _verdict(self, folder: _Folder, name: str, path: str, *, is_folder: bool) -> bool:
        if self._skipped_by_name(name) or not _fit_for_an_id(name):
            return False
        if not is_folder and not self._include(folder.root.below(path)):
            return False
        return not ignored(folder.chain + self._exclude[folder.root.path], path, folder=is_folder)

    def _skipped_by_name(self, name: str) -> bool:
        return name in _ALWAYS_SKIPPED or (name[:1] == "." and not self._options.hidden)

    @staticmethod
    def _plain(name: str) -> bool:
        """Whether a piece of an id names something inside its folder and nothing else."""
        return name not in ("", ".", "..") and "\0" not in name and os.path.basename(name) == name


def _entries(path: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(path) as entries:
            return list(entries)
    except OSError:
        return []


def _is_link(entry: os.DirEntry[str]) -> bool:
    """Whether following an entry may lead elsewhere; on Windows a junction does too (Python 3.12 and later tell)."""
    return entry.is_symlink() or getattr(entry, "is_junction", bool)()


def _fit_for_an_id(name: str) -> bool:
    """Whether a name is clean text on one line."""
    return clean(name) == name and _LINE_BREAKS.isdisjoint(name)


def _include_test(patterns: tuple[str, ...]) -> Callable[[str], bool]:
    """Whether a path relative to its folder is to be indexed; the case of a suffix does not matter."""
    suffixes = frozenset(pattern[1:] for pattern in patterns if _SUFFIX_PATTERN.fullmatch(pattern))
    if len(suffixes) == len(patterns):  # the usual case, and ten times as fast as matching patterns
        return lambda path: os.path.splitext(path)[1].lower() in suffixes
    spec = compiled(patterns)

    def matches(path: str) -> bool:
        stem, suffix = os.path.splitext(path)
        return spec.match_file(stem + suffix.lower())

    return matches


def _exclude_rules(root: Root, patterns: tuple[str, ...]) -> Chain:
    return (Rules(base=root.base, spec=compiled(patterns)),) if patterns else ()
