"""What may stand in the section `answer`.

Above: the model of the whole file. Below: section.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, SecretStr

from callosum_mcp.models.asking import BackendSize, BackendType
from callosum_mcp.models.requests import NAME_PATTERN
from callosum_mcp.settings.section import EnvName, Section


class BackendSection(Section):
    """One model that may write answers."""

    name: Annotated[
        str | None, Field(pattern=NAME_PATTERN, description="What synthesis.backend calls it; the default is its type.")
    ] = None
    type: Annotated[BackendType, Field(description="ollama; openai for any endpoint in its shape; anthropic.")]
    url: Annotated[
        str | None, Field(repr=False, description="Base URL; Ollama's and LM Studio's ports here are known.")
    ] = None
    model: Annotated[
        str | None, Field(min_length=1, max_length=200, description="Name of the model; qwen3:8b for ollama.")
    ] = None
    size: Annotated[
        BackendSize, Field(description="small: cheap and factual questions. large: hard ones or several sources.")
    ] = "any"
    timeout_s: Annotated[float, Field(gt=0, le=120, description="Seconds it may write.")] = 20.0
    paid: Annotated[
        bool | None, Field(description="Whether a call may cost money; the default is no only for machines nearby.")
    ] = None
    token: Annotated[SecretStr | None, Field(description="Its key; better in token_env or token_keyring.")] = None
    token_env: Annotated[EnvName, Field(description="Environment variable that holds its key.")] = ""
    token_keyring: Annotated[str, Field(description="Keyring entry service/user that holds its key.")] = ""


class Answer(Section):
    """How `ask` writes answers. Without a backend they are put together from the hits."""

    backends: Annotated[
        list[BackendSection], Field(max_length=8, description="Models, in the order they are tried.")
    ] = Field(default_factory=list[BackendSection])
    synthesize: Annotated[bool, Field(description="Let a backend write; without backends this has no effect.")] = True
    allow_paid: Annotated[bool, Field(description="Call backends that may cost money.")] = False
    available_s: Annotated[
        float, Field(gt=0, le=30, description="Seconds a backend may take to say that it is there.")
    ] = 1.0
    rerank: Annotated[
        Literal["off", "endpoint", "judge"],
        Field(description="Reorder the first hits: a cross-encoder's endpoint, or the first free backend as judge."),
    ] = "off"
    rerank_url: Annotated[
        str, Field(repr=False, description="Base URL of the endpoint; /v1/rerank is added, or TEI's /rerank.")
    ] = ""
    rerank_model: Annotated[str, Field(max_length=200, description="Name of the model there, if it wants one.")] = ""
    rerank_token_env: Annotated[EnvName, Field(description="Environment variable that holds the endpoint's key.")] = ""
    rerank_top: Annotated[int, Field(ge=2, le=100, description="So many of the first hits are reordered.")] = 20
    rerank_filter: Annotated[
        bool, Field(description="judge only: leave out what it does not approve, but never the last one.")
    ] = False
    rerank_timeout_s: Annotated[float, Field(gt=0, le=60, description="Seconds it may take; then the order stays.")] = (
        3.0
    )
