"""Anthropic's Messages API through its official SDK, which is the extra ``anthropic``.

Above: ask, which calls it only where `allow_paid` is set. Below: base. Being available is having the SDK and a key:
asking would be a call.
"""

from __future__ import annotations

import importlib
from typing import Any, cast

from callosum_mcp.answer.backends.base import BackendError
from callosum_mcp.answer.prompt import Prompt
from callosum_mcp.models.asking import BackendSpec
from callosum_mcp.text import one_line


class Anthropic:
    """A Claude model."""

    def __init__(self, spec: BackendSpec) -> None:
        self.spec = spec
        self._client: Any = None

    async def available(self) -> None:
        """Nothing, if the SDK is installed and a key is set."""
        _sdk()
        if self.spec.token is None:
            raise BackendError("has no key; set token_env of this backend")

    async def complete(self, prompt: Prompt) -> str:
        """What the model writes."""
        sdk = _sdk()
        message = {"role": "user", "content": prompt.user}
        try:
            reply: Any = await self._made(sdk).messages.create(
                model=self.spec.model,
                max_tokens=prompt.max_tokens,
                system=prompt.system,
                messages=[message],
            )
        except (sdk.AnthropicError, ValueError) as fault:  # the SDK lets a body that is no JSON through as ValueError
            raise BackendError(self._without_key(f"{type(fault).__name__}: {fault}")) from fault
        return written(reply)

    async def aclose(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()

    def _made(self, sdk: Any) -> Any:
        if self._client is None:
            assert self.spec.token is not None
            key = self.spec.token.get_secret_value()
            more = {"base_url": self.spec.url} if self.spec.url else {}
            self._client = sdk.AsyncAnthropic(api_key=key, max_retries=0, timeout=self.spec.timeout_s, **more)
        return self._client

    def _without_key(self, text: str) -> str:
        key = self.spec.token.get_secret_value() if self.spec.token is not None else ""
        return one_line(text.replace(key, "***") if key else text, 160)


def written(reply: object) -> str:
    """The text of a reply, which the SDK does not check.

    Raises:
        BackendError: If there is none.
    """
    content: object = getattr(reply, "content", None)
    blocks = cast("list[object]", content) if isinstance(content, list) else []
    texts: list[object] = [getattr(block, "text", None) for block in blocks if getattr(block, "type", "") == "text"]
    text = "".join(part for part in texts if isinstance(part, str))
    if not text.strip():
        raise BackendError("its reply holds no text")
    return text


def _sdk() -> Any:
    try:
        return importlib.import_module("anthropic")
    except ImportError:
        raise BackendError("needs the package anthropic: pip install 'callosum-mcp[anthropic]'") from None
