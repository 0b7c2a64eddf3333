"""The section `answer` as a policy: names, URLs and models filled in, secrets resolved, and what may cost money.

Above: the loader. Below: model. A backend may cost money unless it stands on a machine nearby or the file says
otherwise: a mistake then asks for a setting instead of for money.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

from callosum_mcp.errors import SettingsError
from callosum_mcp.models.asking import AnswerPolicy, BackendSpec, RerankSpec
from callosum_mcp.settings.answer_model import Answer, BackendSection
from callosum_mcp.settings.source import KeyPath, Source
from callosum_mcp.settings.tokens import token_from

DEFAULT_URLS = {"ollama": "http://127.0.0.1:11434", "openai": "http://127.0.0.1:1234", "anthropic": ""}
DEFAULT_MODELS = {"ollama": "qwen3:8b"}
_NEARBY = (".localhost", ".local", ".lan", ".internal", ".home.arpa")


def answer_policy(section: Answer, source: Source, environ: Mapping[str, str]) -> AnswerPolicy:
    """The policy in force.

    Raises:
        SettingsError: If a backend has no model, a name stands twice, or a named secret is not there.
    """
    specs = [_backend(one, ("answer", "backends", at), source, environ) for at, one in enumerate(section.backends)]
    names = [spec.name for spec in specs]
    for at, name in enumerate(names):
        if name in names[:at]:
            raise source.error(
                ("answer", "backends", at, "name"), f"{name!r} stands twice; names of backends are unique"
            )
    return AnswerPolicy(
        backends=tuple(specs) if section.synthesize else (),
        allow_paid=section.allow_paid,
        available_s=section.available_s,
        rerank=_rerank(section, tuple(specs), source, environ),
    )


def _backend(section: BackendSection, path: KeyPath, source: Source, environ: Mapping[str, str]) -> BackendSpec:
    model = section.model or DEFAULT_MODELS.get(section.type)
    if model is None:
        raise source.error((*path, "model"), "is required for this type of backend")
    url = (section.url or DEFAULT_URLS[section.type]).rstrip("/")
    plain = section.token if section.token and section.token.get_secret_value() else None
    key = "token_keyring" if section.token_keyring else "token_env"
    try:
        token = plain or token_from(environ, section.token_env, section.token_keyring)
    except SettingsError as fault:
        raise source.error((*path, key), fault.problem) from None
    return BackendSpec(
        name=section.name or section.type,
        type=section.type,
        url=url,
        model=model,
        size=section.size,
        timeout_s=section.timeout_s,
        token=token,
        paid=section.paid if section.paid is not None else section.type == "anthropic" or not nearby(url),
    )


def _rerank(
    section: Answer, backends: tuple[BackendSpec, ...], source: Source, environ: Mapping[str, str]
) -> RerankSpec | None:
    if section.rerank == "off":
        return None
    if section.rerank == "endpoint" and not section.rerank_url:
        raise source.error(("answer", "rerank"), "endpoint needs rerank_url")
    if section.rerank == "judge" and not backends:
        raise source.error(("answer", "rerank"), "judge needs a backend")
    try:
        token = token_from(environ, section.rerank_token_env, "")
    except SettingsError as fault:
        raise source.error(("answer", "rerank_token_env"), fault.problem) from None
    return RerankSpec(
        type=section.rerank,
        url=section.rerank_url.rstrip("/"),
        model=section.rerank_model,
        token=token,
        top=section.rerank_top,
        filter=section.rerank_filter,
        timeout_s=section.rerank_timeout_s,
    )


def nearby(url: str) -> bool:
    """Whether a URL points at a machine of one's own: loopback, a private address, a name no public DNS knows."""
    try:
        host = (urlsplit(url).hostname or "").rstrip(".").lower()
    except ValueError:
        return False
    try:
        return ip_address(host).is_private
    except ValueError:
        return bool(host) and ("." not in host or host.endswith(_NEARBY))
