"""Every error this package raises on purpose, and what each does to a call.

The class decides what happens, never the text::

    CallosumError
    ├── SettingsError            the settings cannot be used: refuse to start, or keep the last good ones
    ├── CallerError              the caller can do better: an ordinary tool error or HTTP 4xx
    │   ├── InvalidInput         a field is wrong; says which and its bound (422)
    │   ├── UnknownStore         no store of that name (404)
    │   ├── UnknownHit           no hit of that id (404)
    │   ├── DuplicateStore       the name is taken (409)
    │   └── ProtectedStore       the store is declared in the config file (409)
    ├── Overloaded               too many calls at once: ask again in a moment (503)
    ├── AllStoresFailed          nobody answered: an error result that carries the statuses (502)
    └── StoreError               one store failed: becomes its status, never leaves the fan-out
        ├── StoreTimeout         it did not answer within its deadline
        ├── StoreRefused         no connection
        ├── StoreAuthFailed      it refused our token (401, 403)
        ├── StoreRateLimited     it asked us to slow down (429)
        ├── StoreBadReply        it answered, but not what its protocol promises
        └── StoreFailed          it said that it failed (5xx, safe mode)
"""

from __future__ import annotations

from typing import ClassVar, Literal

Reason = Literal[
    "timeout",
    "refused",
    "auth_failed",
    "bad_reply",
    "error",
    "rate_limited",
    "circuit_open",
    "disabled",
    "out_of_scope",
]
"""Why a store did not answer a call; the vocabulary of ``engines[].reason``."""


class CallosumError(Exception):
    """Base of every error raised on purpose; its text is for the person who meets it."""


class SettingsError(CallosumError):
    """The settings cannot be used as they stand.

    Args:
        problem: What is wrong and what to do.
        source: The file or environment variable it stands in, if known.
        line: The 1-based line in that file, if known.
    """

    def __init__(self, problem: str, *, source: str | None = None, line: int | None = None) -> None:
        self.problem = problem
        self.source = source
        self.line = line
        place = "" if source is None else source if line is None else f"{source}, line {line}"
        super().__init__(f"{place}: {problem}" if place else problem)


class CallerError(CallosumError):
    """The caller asked for something that cannot be done as asked."""


class InvalidInput(CallerError):
    """A value is outside its bound.

    Args:
        problem: One line that names the field and the bound.
        field: The field, dotted for nested ones.
        kind: The kind of fault, as pydantic names it (``missing``, ``int_parsing`` …).
    """

    def __init__(self, problem: str, *, field: str = "", kind: str = "value_error") -> None:
        self.field = field
        self.kind = kind
        super().__init__(problem)


class UnknownStore(CallerError):
    """No store has that name."""


class UnknownHit(CallerError):
    """No store holds a hit of that id."""


class DuplicateStore(CallerError):
    """A store of that name exists already."""


class ProtectedStore(CallerError):
    """The store is declared in the config file and is only changed there."""


class Overloaded(CallosumError):
    """More calls at once than the settings allow; the text says how many."""


class AllStoresFailed(CallosumError):
    """Every store that was asked failed.

    Args:
        problem: One line for a person.
        answer: The result object with the statuses, for callers that show it.
    """

    def __init__(self, problem: str, answer: object) -> None:
        self.answer = answer
        super().__init__(problem)


class StoreError(CallosumError):
    """One store failed; ``reason`` goes into its status and the text into ``detail``."""

    reason: ClassVar[Reason] = "error"

    def __init__(self, detail: str, *, retry_after_s: float | None = None) -> None:
        self.retry_after_s = retry_after_s
        super().__init__(detail)


class StoreTimeout(StoreError):
    """The store did not answer within its deadline."""

    reason: ClassVar[Reason] = "timeout"


class StoreRefused(StoreError):
    """No connection to the store could be made."""

    reason: ClassVar[Reason] = "refused"


class StoreAuthFailed(StoreError):
    """The store refused our token, or wants one."""

    reason: ClassVar[Reason] = "auth_failed"


class StoreRateLimited(StoreError):
    """The store asked us to come back later."""

    reason: ClassVar[Reason] = "rate_limited"


class StoreBadReply(StoreError):
    """The store answered something its protocol does not promise."""

    reason: ClassVar[Reason] = "bad_reply"


class StoreFailed(StoreError):
    """The store said that it failed."""

    reason: ClassVar[Reason] = "error"
