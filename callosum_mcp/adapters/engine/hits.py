"""One item of a reply as a hit: clean texts, finite numbers, plausible times.

Above: `reading`. Below: `expressions`, `times`, models. Pure.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from callosum_mcp.adapters.engine import times
from callosum_mcp.adapters.engine.expressions import as_text
from callosum_mcp.adapters.engine.places import tier_of
from callosum_mcp.adapters.engine.plan import Getters
from callosum_mcp.adapters.engine.preset import Preset
from callosum_mcp.models.values import Hit
from callosum_mcp.text import finite, one_line

MAX_ID: Final = 1_000
"""Characters of an engine's id; a longer one is replaced by its digest, which ``fetch`` cannot ask for."""

_MADE: Final = "text-"
_MAX_TITLE: Final = 200
_MAX_PATH: Final = 1_000
_MAX_TOPICS: Final = 32
_UNIT_SLACK: Final = 1e-6  # a cosine of a text with itself, in single precision


@dataclass(frozen=True, kw_only=True, slots=True)
class Reader:
    """What all items of one reply have in common.

    Attributes:
        preset: Whose items they are.
        store: Name of the store.
        now: Our clock, in Unix seconds.
    """

    preset: Preset
    store: str
    now: float

    def hit(self, fields: Getters, item: object, captured: Sequence[str]) -> Hit | None:
        """The hit that an item is; None if it has no text."""
        said = {name: get(item, captured) for name, get in fields.items()}
        text = as_text(said.get("snippet"), "\n")
        return None if text is None else self.made(said, text)

    def made(self, said: Mapping[str, object], text: str) -> Hit:
        """The hit that a text and the values of other fields are."""
        path = _line(said.get("path"), _MAX_PATH)
        title = _line(said.get("title"), _MAX_TITLE)
        last_seen = times.past(said.get("last_seen"), self.now)
        score = finite(said.get("score"))
        gone_at, gone_by = self._superseded(said)
        return Hit(
            store=self.store,
            id=_identity(said.get("id"), text, path),
            text=text,
            title=None if title == text else title,
            path=path,
            uri=_line(said.get("uri"), _MAX_PATH),
            type=_line(said.get("type"), 60),
            topics=_topics(said.get("tags")),
            tier=tier_of(self.preset, last_seen, self.now),
            last_seen=last_seen,
            confidence=_share(finite(said.get("confidence"))),
            relevance=_share(score) if self.preset.score.meaning == "unit" else None,
            live=gone_at is None and gone_by is None,
            superseded_at=gone_at,
            superseded_by=gone_by,
            metadata=_metadata(score, finite(said.get("citations"))),
        )

    def _superseded(self, said: Mapping[str, object]) -> tuple[float | None, str | None]:
        """When and by what it was replaced; neither if that lies ahead."""
        moment = times.moment(said.get("superseded_at"))
        if moment is not None and moment > self.now:
            return None, None
        return moment, _line(said.get("superseded_by"), MAX_ID)


def is_made(hit_id: str) -> bool:
    """Whether an id was made here, of a text whose engine has none; the engine cannot be asked for it."""
    return hit_id.startswith(_MADE) and len(hit_id) == len(_MADE) + 24


def _identity(value: object, text: str, path: str | None) -> str:
    identity = as_text(value)
    if identity is not None and len(identity) <= MAX_ID:
        return identity
    whole = identity if identity is not None else text if path is None else f"{path}\n{text}"
    return _MADE + hashlib.sha256(whole.encode()).hexdigest()[:24]


def _line(value: object, limit: int) -> str | None:
    text = as_text(value)
    if text is None or (len(text) <= limit and text.isprintable()):
        return text
    return one_line(text, limit) or None


def _topics(value: object) -> tuple[str, ...]:
    """Tags out of a list or a text with commas, lower case, without a leading hash."""
    parts = cast("list[object]", value) if isinstance(value, list) else str(as_text(value) or "").split(",")
    lines = (_line(part, 100) for part in parts[: 4 * _MAX_TOPICS])
    tags = (line.lstrip("#").strip().lower() for line in lines if line is not None)
    return tuple(dict.fromkeys(tag for tag in tags if tag))[:_MAX_TOPICS]


def _share(number: float | None) -> float | None:
    if number is None or not -_UNIT_SLACK <= number <= 1 + _UNIT_SLACK:
        return None
    return min(max(number, 0.0), 1.0)


def _metadata(score: float | None, citations: float | None) -> dict[str, object]:
    found: dict[str, object] = {} if score is None else {"store_score": score}
    if citations is not None and citations >= 0:
        found["citations"] = int(citations)
    return found
