"""The models that may write an answer, by type; each is imported when it is first used.

Above: writing. Below: one module per protocol.
"""

from __future__ import annotations

from importlib import import_module

from callosum_mcp.answer.backends.base import Backend
from callosum_mcp.models.asking import BackendSpec

BUILT_IN = {
    "ollama": ("callosum_mcp.answer.backends.ollama", "Ollama"),
    "openai": ("callosum_mcp.answer.backends.openai", "OpenAiCompatible"),
    "anthropic": ("callosum_mcp.answer.backends.anthropic", "Anthropic"),
}
"""Module and class of each type."""


def create(spec: BackendSpec) -> Backend:
    """The backend of a spec; cheap, and does not touch it."""
    module, name = BUILT_IN[spec.type]
    backend: Backend = getattr(import_module(module), name)(spec)
    return backend
