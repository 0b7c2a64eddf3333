"""A resolver that answers what a test wants, and differently from one question to the next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import httpcore2
import pytest

from callosum_mcp.adapters import dialling


class Names:
    """Answers in turn, the last one for ever; `asked` is every name that was looked up."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, host: str) -> list[str]:
        self.asked.append(host)
        found = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if not found:
            raise OSError(-2, "Name or service not known")
        return list(found)

    def then(self, *answers: Sequence[str]) -> None:
        """From now on, these."""
        self.answers = list(answers)


def dialled_nowhere(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """From now on no connection leaves this machine; the addresses that would have been dialled."""
    dialled: list[str] = []
    backend: Any = httpcore2.AnyIOBackend
    dial = backend.connect_tcp

    async def here(self: object, host: str, *more: object, **named: object) -> object:
        if host == "127.0.0.1":
            return await dial(self, host, *more, **named)
        dialled.append(host)
        raise httpcore2.ConnectError("nobody is there")

    monkeypatch.setattr(backend, "connect_tcp", here)
    return dialled


def resolving(monkeypatch: pytest.MonkeyPatch, *answers: Sequence[str]) -> Names:
    """Put a resolver in the system's place."""
    names = Names(*answers)
    monkeypatch.setattr(dialling, "system_lookup", names)
    return names
