"""Ollama's own protocol: ``/api/tags`` says which models are there, ``/api/chat`` asks one.

Above: ask. Below: base. ``think: false`` keeps a reasoning model from thinking aloud, as the contract has it.
"""

from __future__ import annotations

from callosum_mcp.answer.backends.base import BackendError, Wire, names_at, text_at
from callosum_mcp.answer.prompt import Prompt
from callosum_mcp.models.asking import BackendSpec

_CONTEXT_TOKENS = 8_192  # a prompt of ours is some 2,000; Ollama's default would cut it silently


class Ollama:
    """A model that Ollama serves."""

    def __init__(self, spec: BackendSpec) -> None:
        self.spec = spec
        self._wire = Wire(spec)

    async def available(self) -> None:
        """Nothing, if Ollama runs and has pulled the model."""
        there = names_at(await self._wire.get("/api/tags"), "models", "name")
        if self.spec.model not in there and f"{self.spec.model}:latest" not in there:
            raise BackendError(f"has no model {self.spec.model!r}: run `ollama pull {self.spec.model}`")

    async def complete(self, prompt: Prompt) -> str:
        """What the model writes."""
        return text_at(await self._wire.post("/api/chat", chat_body(self.spec, prompt)), "message", "content")

    async def aclose(self) -> None:
        """Close the connections."""
        await self._wire.aclose()


def chat_body(spec: BackendSpec, prompt: Prompt) -> dict[str, object]:
    """The body of ``/api/chat``."""
    return {
        "model": spec.model,
        "messages": prompt.messages,
        "stream": False,
        "think": False,
        "options": {"temperature": 0, "num_predict": prompt.max_tokens, "num_ctx": _CONTEXT_TOKENS},
    }
