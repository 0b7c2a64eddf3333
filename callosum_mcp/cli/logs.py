"""The log on stderr: what happened and where, never a secret, and no question or memory unless the settings say so.

Above: the commands. Below: logging. Libraries that carry questions (the SDK, the HTTP clients) are heard from warnings
on and without their words; of an exception its kind and its way are told, but not its text, which may quote a reply.
``logging.log_queries`` lifts all that, and still masks secrets.
"""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import cast

from callosum_mcp.federation.federation import QUERIES
from callosum_mcp.models.secrets import Mask, redacted, secrets_of, url_secrets
from callosum_mcp.settings import Loaded

_CARRIERS = ("mcp", "httpx2", "httpcore2", "aiohttp", "psycopg", "anthropic", "httpx", "httpcore")
_WITHHELD = "(its words are not logged, since they may quote what was asked: logging.log_queries)"
_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]

Masks = Callable[[], Iterable[Mask]]
"""The secrets known now."""


def set_up(loaded: Loaded) -> None:
    """Log by the settings, to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    chosen, told = loaded.settings.logging, Mask(known_secrets(loaded))
    handler.setFormatter(Formatter(lambda: [told], quotes=chosen.log_queries))
    if not chosen.log_queries:
        handler.addFilter(_is_due)
    logging.basicConfig(handlers=[handler], level=chosen.level.upper())
    logging.getLogger(QUERIES).setLevel(logging.DEBUG if chosen.log_queries else logging.CRITICAL)


def watch(masks: Masks) -> None:
    """Also mask what these know: stores that are added later have tokens of their own."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler.formatter, Formatter):
            handler.formatter.more = masks


def known_secrets(loaded: Loaded) -> Iterator[str]:
    """Every secret of the settings."""
    yield from (token.get_secret_value() for token in loaded.bearers)
    for spec in loaded.stores:
        yield from secrets_of(spec)
    for backend in loaded.answering.backends:
        yield from [backend.token.get_secret_value()] if backend.token else []
        yield from url_secrets(backend.url)
    rerank = loaded.answering.rerank
    if rerank is not None:
        yield from [rerank.token.get_secret_value()] if rerank.token else []
        yield from url_secrets(rerank.url)


class Formatter(logging.Formatter):
    """Lines without secrets.

    Args:
        masks: The secrets.
        quotes: Whether questions, memories and the texts of exceptions may be shown.
    """

    def __init__(self, masks: Masks, *, quotes: bool) -> None:
        super().__init__("%(levelname)s %(name)s: %(message)s")
        self.more: Masks = tuple
        self._masks = masks
        self._quotes = quotes

    def format(self, record: logging.LogRecord) -> str:
        """The line, or lines."""
        text = super().format(record)
        for mask in (*self._masks(), *self.more()):
            text = mask.text(text)
        return redacted(text)

    def formatMessage(self, record: logging.LogRecord) -> str:
        """The record without its trace."""
        if not self._quotes and _is_of(record, _CARRIERS):
            record.message = _WITHHELD
        return super().formatMessage(record)

    def formatException(self, ei: _ExcInfo) -> str:
        """The trace; without what the exceptions say, if that may not be shown."""
        if self._quotes or ei[1] is None:
            return super().formatException(ei)
        return "\n".join(_way_of(ei[1]))


def _is_due(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.WARNING or not _is_of(record, _CARRIERS)


def _is_of(record: logging.LogRecord, names: Iterable[str]) -> bool:
    return any(record.name == name or record.name.startswith(f"{name}.") for name in names)


def _way_of(fault: BaseException) -> Iterator[str]:
    """How an exception came about: its causes first, for each its kind and where it was raised."""
    before = fault.__cause__ or (None if fault.__suppress_context__ else fault.__context__)
    if before is not None:
        yield from _way_of(before)
        yield "and then:"
    yield from (line.rstrip("\n") for line in traceback.format_tb(fault.__traceback__))
    yield type(fault).__qualname__
    if isinstance(fault, BaseExceptionGroup):
        for inner in cast("BaseExceptionGroup[BaseException]", fault).exceptions:
            yield "in it:"
            yield from _way_of(inner)
