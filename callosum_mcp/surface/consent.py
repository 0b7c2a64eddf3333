"""Asking the person behind an MCP client, where the client can.

Above: the MCP server. Below: the SDK. Two ways for two eras of the protocol: a client of the handshake gets a request
while its call waits; a stateless one is answered with the question and calls again with the answer, which counts once
and for the very question it was asked. Whatever is not a yes is a no.
"""

from __future__ import annotations

import secrets
from typing import Any

import anyio
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolRequestParams,
    ElicitRequest,
    ElicitRequestedSchema,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)
from mcp_types.version import is_version_at_least
from pydantic import ValidationError

from callosum_mcp.federation.urls import Consent

Context = ServerRequestContext[Any, Any]

PATIENCE_S = 300.0
"""Seconds a person has for an answer."""

_STATELESS = "2026-07-28"
_OPEN = 64  # questions that are waited for at the same time; the oldest are forgotten
_ALLOW = "allow"
_SCHEMA: ElicitRequestedSchema = {
    "type": "object",
    "properties": {
        _ALLOW: {
            "type": "boolean",
            "title": "Add it",
            "description": "Whether callosum-mcp may connect to this host.",
        }
    },
    "required": [_ALLOW],
}


class AskedError(Exception):
    """The call cannot go on before the person has answered.

    Args:
        result: The question, which is the answer to this call.
    """

    def __init__(self, result: InputRequiredResult) -> None:
        self.result = result
        super().__init__("a person has to be asked first")


class Consents:
    """The questions that are open."""

    def __init__(self) -> None:
        self._open: dict[str, str] = {}

    def of(self, ctx: Context, params: CallToolRequestParams) -> Consent | None:
        """How the person behind a call is asked; None if the client cannot do it."""
        if not _can_ask(ctx):
            return None
        if is_version_at_least(ctx.protocol_version, _STATELESS):
            return lambda question: self._asked_again(question, params)
        return (lambda question: _asked_now(question, ctx)) if ctx.session.can_send_request else None

    async def _asked_again(self, question: str, params: CallToolRequestParams) -> bool:
        for key, answer in (params.input_responses or {}).items():
            if self._open.get(key) == question:
                del self._open[key]
                return isinstance(answer, ElicitResult) and _is_yes(answer)
        key = f"allow-{secrets.token_hex(12)}"
        self._open[key] = question
        while len(self._open) > _OPEN:
            del self._open[next(iter(self._open))]
        form = ElicitRequestFormParams(message=question, requested_schema=_SCHEMA)
        raise AskedError(InputRequiredResult(input_requests={key: ElicitRequest(params=form)}))


async def _asked_now(question: str, ctx: Context) -> bool:
    with anyio.move_on_after(PATIENCE_S):
        try:
            return _is_yes(await ctx.session.elicit_form(question, _SCHEMA, ctx.request_id))
        except (MCPError, ValidationError):  # the client refuses to ask, or answers with something else
            return False
    return False


def _can_ask(ctx: Context) -> bool:
    """Whether the client shows forms: by its word, or by that of a client from before there was anything else."""
    capabilities = ctx.session.client_capabilities
    elicitation = capabilities.elicitation if capabilities is not None else None
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


def _is_yes(answer: ElicitResult) -> bool:
    return answer.action == "accept" and (answer.content or {}).get(_ALLOW) is True
