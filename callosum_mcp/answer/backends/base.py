"""The seam between an answer and one kind of model.

Above: ask, which owns the deadlines and falls back to the merge. Below: one module per protocol: `ollama`, `openai`,
`anthropic`. A backend raises `BackendError` and nothing else on purpose; its text is what `synthesis.reason` says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, cast

from callosum_mcp.adapters.http import HttpRequest, JsonHttp, decode
from callosum_mcp.answer.prompt import Prompt
from callosum_mcp.errors import CallosumError, StoreError
from callosum_mcp.models.asking import BackendSpec
from callosum_mcp.models.values import StoreSpec
from callosum_mcp.text import one_line


class BackendError(CallosumError):
    """A model did not answer; the text says why and what to do."""


class Backend(Protocol):
    """One model, asked through its own protocol; construction is cheap and touches nothing."""

    spec: BackendSpec

    async def available(self) -> None:
        """Nothing, if the model can be asked now.

        Raises:
            BackendError: If it cannot.
        """
        ...

    async def complete(self, prompt: Prompt) -> str:
        """What the model writes.

        Raises:
            BackendError: If it does not.
        """
        ...

    async def aclose(self) -> None:
        """Close its connections."""
        ...


class Wire:
    """JSON over HTTP to one backend, with its failures as `BackendError`."""

    def __init__(self, spec: BackendSpec) -> None:
        store = StoreSpec(name=spec.name, type=spec.type, url=spec.url, token=spec.token)
        self._http = JsonHttp(store)

    async def get(self, path: str) -> Mapping[str, object]:
        """The object at a path."""
        return self._object(*await self.exchange(HttpRequest(method="GET", path=path)))

    async def post(self, path: str, body: Mapping[str, object]) -> Mapping[str, object]:
        """The object that a body is answered with."""
        return self._object(*await self.exchange(HttpRequest(method="POST", path=path, json=body)))

    async def exchange(self, request: HttpRequest) -> tuple[int, bytes]:
        """Status and body of an answer, whatever the status.

        Raises:
            BackendError: If there is none.
        """
        try:
            return await self._http.exchange(request)
        except StoreError as fault:
            raise BackendError(str(fault)) from fault

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    def _object(self, status: int, body: bytes) -> Mapping[str, object]:
        if status in (401, 403):
            raise BackendError(f"refused our token ({status}); set token_env of this backend")
        if status != 200:
            raise BackendError(f"answered {status}{said(body)}")
        return as_object(body)


def as_object(body: bytes) -> Mapping[str, object]:
    """The JSON object of a body.

    Raises:
        BackendError: If it is none.
    """
    try:
        value = decode(body)
    except StoreError as fault:
        raise BackendError(str(fault)) from fault
    if not isinstance(value, dict):
        raise BackendError("reply is no JSON object")
    return cast("dict[str, object]", value)


def said(body: bytes) -> str:
    """The server's own words about a failure, as `: words`; "" if it has none."""
    try:
        error = as_object(body).get("error")
    except BackendError:
        return ""
    words = cast("dict[str, object]", error).get("message") if isinstance(error, dict) else error
    return f": {one_line(words, 160)}" if isinstance(words, str) else ""


def inner(value: object, *path: str | int) -> object:
    """What stands at a path of keys and indexes in a loosely typed reply; None if nothing does."""
    for step in path:
        if isinstance(step, str) and isinstance(value, dict):
            value = cast("dict[str, object]", value).get(step)
        elif isinstance(step, int) and isinstance(value, list) and len(cast("list[object]", value)) > step:
            value = cast("list[object]", value)[step]
        else:
            return None
    return value


def text_at(reply: Mapping[str, object], *path: str | int) -> str:
    """The text at a path of a reply.

    Raises:
        BackendError: If there is none, or only blanks.
    """
    text = inner(reply, *path)
    if not isinstance(text, str) or not text.strip():
        raise BackendError("its reply holds no text")
    return text


def names_at(reply: Mapping[str, object], key: str, name: str) -> list[str]:
    """The names of the rows in a list of a reply, as ``/api/tags`` and ``/v1/models`` give them."""
    found = inner(reply, key)
    rows = cast("list[object]", found) if isinstance(found, list) else []
    return [text for row in rows if isinstance(text := inner(row, name), str)]
