"""Where things stand in a reply: dotted paths, compiled once.

Above: `expressions`, `items`, `faults`. Below: nothing. Pure. ``$`` is the whole reply, ``.name`` a member,
``['any name']`` the same for a name with dots, ``[3]`` an element, ``[*]`` every element of a list, ``.*`` every value
of a map. What ``.*`` stands for is captured and is ``$1``, ``$2`` in the fields of an item. ``_`` is the item itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Final, cast

MAX_NODES: Final = 10_000
"""Values looked at in one reply, whatever the engine sent."""

MAX_CHARS: Final = 1_000
"""The longest path, and the longest expression."""

Node = tuple[object, tuple[str, ...]]
"""A value in a reply and the map keys on the way to it."""

_STEP = re.compile(
    r"""
      \[\*\] (?P<all>)
    | \[(?P<index>-?\d{1,9})\]
    | \[(?P<quote>['"])(?P<quoted>.+?)(?P=quote)\]
    | \.\* (?P<each>)
    | \.? (?P<name>[^\s.\[\]{}|*'"=$](?:[^.\[\]{}|*'"]*[^\s.\[\]{}|*'"])?|(?<=\.)\$[^\s.\[\]{}|*'"]+)
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Each:
    """A step to every element of a list, or to every value of a map."""

    of_map: bool


Step = str | int | Each
ALL = Each(of_map=False)
EACH = Each(of_map=True)


@dataclass(frozen=True, slots=True)
class Found:
    """What a path leads to.

    Attributes:
        nodes: The values there, in the reply's order.
        missing: The reply has no such place at all; a null or an empty list there is a place.
    """

    nodes: list[Node]
    missing: bool = False


@dataclass(frozen=True, slots=True)
class Path:
    """A compiled path.

    Attributes:
        text: As it was written.
        steps: Names, indices and wildcards.
        capture: 1 for ``$1``, the first captured key; 0 for everything else.
        many: It holds a wildcard, so it leads to a list of values.
    """

    text: str
    steps: tuple[Step, ...]
    capture: int = 0
    many: bool = False

    @property
    def whole(self) -> bool:
        """Whether it names what it starts from."""
        return not self.steps and not self.capture

    def value(self, item: object, captured: Sequence[str] = ()) -> object:
        """What stands there, None if nothing does; a list if the path holds a wildcard."""
        if self.capture:
            return captured[self.capture - 1] if self.capture <= len(captured) else None
        if self.many:
            return [value for value, _ in self.select(item).nodes]
        for step in self.steps:
            item = _one(item, cast("str | int", step))
            if item is None:
                return None
        return item

    def select(self, root: object, limit: int = MAX_NODES) -> Found:
        """Every value that the path leads to, at most `limit` of them."""
        nodes: list[Node] = [(root, ())]
        for step in self.steps:
            after = list(islice(_stepped(nodes, step), limit))
            if not after:
                return Found([], missing=not any(_empty_at(value, step) for value, _ in nodes))
            nodes = after
        return Found(nodes)


def check_length(text: str) -> None:
    """Refuse a path or an expression that nobody would write.

    Raises:
        ValueError: If it is longer than `MAX_CHARS`.
    """
    if len(text) > MAX_CHARS:
        raise ValueError(f"it has {len(text)} characters; at most {MAX_CHARS:,} are read")


@lru_cache(maxsize=2_000)
def compiled(text: str) -> Path:
    """A path ready for use.

    Raises:
        ValueError: If it is none; the text says where it stops making sense.
    """
    check_length(text)
    rest = text.strip()
    if rest in ("_", "$"):
        return Path(text, ())
    if capture := re.fullmatch(r"\$([1-9])", rest):
        return Path(text, (), capture=int(capture[1]))
    steps = tuple(_steps(rest.removeprefix("$") if re.match(r"\$[.\[]", rest) else rest, text))
    return Path(text, steps, many=any(isinstance(step, Each) for step in steps))


def _steps(rest: str, text: str) -> Iterator[Step]:
    if not rest:
        raise ValueError("a path is empty; write $ for the whole reply")
    at = 0
    while at < len(rest):
        match = _STEP.match(rest, at)
        if match is None or (at and match["name"] is not None and rest[at] != "."):
            raise ValueError(f"path {text!r} cannot be read from {rest[at:]!r} on; write it like $.results[*].name")
        yield _step(match)
        at = match.end()


def _step(match: re.Match[str]) -> Step:
    if match["index"] is not None:
        return int(match["index"])
    if match["all"] is not None:
        return ALL
    return EACH if match["each"] is not None else cast("str", match["quoted"] or match["name"])


def _one(value: object, step: str | int) -> object:
    if isinstance(step, str):
        return cast("dict[str, object]", value).get(step) if isinstance(value, dict) else None
    if isinstance(value, list):
        elements = cast("list[object]", value)
        return elements[step] if -len(elements) <= step < len(elements) else None
    return None


def _stepped(nodes: Iterable[Node], step: Step) -> Iterator[Node]:
    for value, captured in nodes:
        if not isinstance(step, Each):
            inner = _one(value, step)
            if inner is not None:
                yield inner, captured
        elif step.of_map and isinstance(value, dict):
            for key, inner in cast("Mapping[object, object]", value).items():
                yield inner, (*captured, str(key))
        elif not step.of_map and isinstance(value, list):
            for inner in cast("list[object]", value):
                yield inner, captured


def _empty_at(value: object, step: Step) -> bool:
    """Whether there is a place for the step that holds nothing: a null, an empty list, an empty map."""
    if isinstance(step, Each):
        return value == ({} if step.of_map else [])
    if isinstance(step, str):
        return isinstance(value, dict) and step in value
    return value == []
