"""What an adapter returned, made safe to rank and to show, whoever wrote the adapter.

Above: the federation, inside the fan-out. Below: models and text. Pure. A hit without an id or a text is left out; an
id that stands twice counts once; a number that is not finite or not in its range is unknown.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from callosum_mcp.models.values import Hit
from callosum_mcp.text import clean, finite, iso_utc


def sane_hits(hits: Iterable[Hit], store: str) -> tuple[Hit, ...]:
    """The hits of one store that can be shown, in their order, each id once."""
    found: dict[str, Hit] = {}
    for hit in hits:
        safe = sane(hit, store)
        if safe is not None:
            found.setdefault(safe.id, safe)
    return tuple(found.values())


def sane(hit: Hit, store: str) -> Hit | None:
    """One hit with clean texts and finite numbers; None if nothing of it can be shown. Most hits are clean already."""
    if _is_sane(hit, store):
        return hit
    identity, text = clean(hit.id), clean(hit.text)
    if not identity or not text.strip():
        return None
    return replace(
        hit,
        store=store,
        id=identity,
        text=text,
        native_id=clean(hit.native_id),
        title=_text(hit.title),
        path=_text(hit.path),
        type=_text(hit.type),
        topics=tuple(clean(topic) for topic in hit.topics),
        last_seen=_moment(hit.last_seen),
        confidence=_share(hit.confidence),
        relevance=_share(hit.relevance),
        superseded_at=_moment(hit.superseded_at),
        superseded_by=_text(hit.superseded_by),
    )


def _is_sane(hit: Hit, store: str) -> bool:
    """Whether `sane` would change nothing; metadata is cleaned where it is shown."""
    texts = (hit.id, hit.text, hit.native_id, hit.title, hit.path, hit.type, hit.superseded_by, *hit.topics)
    shares, moments = (hit.confidence, hit.relevance), (hit.last_seen, hit.superseded_at)
    return (
        hit.store == store
        and bool(hit.id)
        and not hit.text.isspace()
        and bool(hit.text)
        and all(text is None or clean(text) == text for text in texts)
        and all(share is None or 0.0 <= share <= 1.0 for share in shares)
        and all(moment is None or _moment(moment) == moment for moment in moments)
    )


def _text(text: str | None) -> str | None:
    return clean(text).strip() or None if text is not None else None


def _moment(value: float | None) -> float | None:
    number = finite(value)
    return None if iso_utc(number) is None else number


def _share(value: float | None) -> float | None:
    number = finite(value)
    return number if number is not None and 0 <= number <= 1 else None
