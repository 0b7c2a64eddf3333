"""The protocol of OpenAI that LM Studio, llama.cpp, vLLM and many others speak.

Above: ask. Below: base. ``/v1/models`` says which models are there, ``/v1/chat/completions`` asks one. LM Studio
answers 400 "model is unloaded" while it loads a model it had put away: asked again once, a little later, it answers.
"""

from __future__ import annotations

import re

import anyio

from callosum_mcp.adapters.http import HttpRequest
from callosum_mcp.answer.backends.base import BackendError, Wire, as_object, names_at, said, text_at
from callosum_mcp.answer.prompt import Prompt
from callosum_mcp.models.asking import BackendSpec

RELOAD_S = 1.5
"""How long LM Studio is given to load a model."""

_UNLOADED = re.compile(rb"model\b.{0,80}\b(?:is |was |has been )?unloaded", re.IGNORECASE | re.DOTALL)


class OpenAiCompatible:
    """A model behind an endpoint in OpenAI's shape; its URL may end in ``/v1`` or not."""

    def __init__(self, spec: BackendSpec, *, reload_s: float = RELOAD_S) -> None:
        self.spec = spec
        self._wire = Wire(spec)
        self._base = "" if spec.url.rstrip("/").endswith("/v1") else "/v1"
        self._reload_s = reload_s

    async def available(self) -> None:
        """Nothing, if the server answers and knows the model, or does not say which it knows."""
        there = names_at(await self._wire.get(f"{self._base}/models"), "data", "id")
        if there and self.spec.model not in there:
            raise BackendError(f"has no model {self.spec.model!r}; it has {', '.join(there[:5])}")

    async def complete(self, prompt: Prompt) -> str:
        """What the model writes."""
        request = HttpRequest(method="POST", path=f"{self._base}/chat/completions", json=chat_body(self.spec, prompt))
        status, body = await self._wire.exchange(request)
        if status == 400 and _UNLOADED.search(body):
            await anyio.sleep(self._reload_s)
            status, body = await self._wire.exchange(request)
        if status != 200:
            raise BackendError(f"answered {status}{said(body)}")
        return text_at(as_object(body), "choices", 0, "message", "content")

    async def aclose(self) -> None:
        """Close the connections."""
        await self._wire.aclose()


def chat_body(spec: BackendSpec, prompt: Prompt) -> dict[str, object]:
    """The body of ``/v1/chat/completions``."""
    return {
        "model": spec.model,
        "messages": prompt.messages,
        "stream": False,
        "temperature": 0,
        "max_tokens": prompt.max_tokens,
    }
