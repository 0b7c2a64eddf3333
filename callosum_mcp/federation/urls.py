"""Which URLs a store may have that is added at run time, and how a URL is shown.

Above: administration, the overlay's reading. Below: the rules for hosts. A host is looked up here once, so that a
refusal is an answer to whoever adds the store; every connection later looks it up again and checks it again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

import anyio

from callosum_mcp.errors import InvalidInput
from callosum_mcp.models.hosts import HostRules, Target, target_of
from callosum_mcp.models.requests import AddStoreRequest
from callosum_mcp.models.values import StoreSpec

Consent = Callable[[str], Awaitable[bool]]
"""Asks a person a question; whether the answer is yes."""

_LOOKUP_S = 5.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where a new store may be.

    Attributes:
        url: Its URL, written in full.
        hosts: What its connections are checked by.
    """

    url: str
    hosts: HostRules


def shown_url(url: str) -> str:
    """A URL without user name, password and query, which may hold secrets."""
    parts = urlsplit(url)
    if not parts.scheme or not parts.netloc:
        return url
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}"


def checked_target(url: str) -> Target:
    """Where a URL leads.

    Raises:
        InvalidInput: If a store may not have it, wherever it leads.
    """
    try:
        return target_of(url)
    except ValueError as fault:
        raise InvalidInput(f"url: {fault}", field="url") from None


async def settled(request: AddStoreRequest, rules: HostRules, consent: Consent | None = None) -> Place:
    """Where a store that somebody adds may be; a person is asked about a host that the settings do not have.

    Raises:
        InvalidInput: If it may not be there, with what to do about it.
    """
    target = checked_target(request.url)
    problem = await _problem(target, rules)
    if problem is None:
        return Place(url=target.url, hosts=rules)
    if consent is None or not rules.may_ask(target.host, target.address):
        raise _refusal(target, problem)
    if not await consent(_question(request, target)):
        raise _refusal(target, f"{problem}, and nobody agreed to it when asked")
    agreed = rules.agreeing([target.host])
    problem = await _problem(target, agreed)
    if problem is not None:
        raise _refusal(target, problem)
    return Place(url=target.url, hosts=agreed)


def restored(spec: StoreSpec, rules: HostRules) -> StoreSpec:
    """A store as the overlay declares it, its connections checked by the rules in force.

    Raises:
        InvalidInput: If it may not be where it is; what its name leads to is seen when it is asked.
    """
    if spec.type == "notes":
        raise InvalidInput("type: a notes store names a folder and is declared in the config file only", field="type")
    target = checked_target(spec.url)
    hosts = rules.agreeing(spec.hosts.agreed & {target.host})
    problem = hosts.problem(target.host, target.address)
    if problem is not None:
        raise _refusal(target, problem)
    return replace(spec, url=target.url, hosts=hosts)


async def _problem(target: Target, rules: HostRules) -> str | None:
    problem = rules.problem(target.host, target.address)
    if problem is not None or target.address is not None:
        return problem
    from callosum_mcp.adapters.dialling import Dialler, NotAllowedError  # 35 ms that no start should pay

    with anyio.move_on_after(_LOOKUP_S):
        try:
            await Dialler(rules).addresses(target.host)
        except NotAllowedError as refused:
            return refused.problem
        except OSError:
            pass  # a name that nobody knows today: the store is down, and is checked when it comes up
    return None


def _refusal(target: Target, problem: str) -> InvalidInput:
    return InvalidInput(f"url: host {target.host!r} {problem}", field="url")


def _question(request: AddStoreRequest, target: Target) -> str:
    token = f", and the token in {request.token_env}" if request.token_env else ""
    return (
        f"Add the memory store {request.name!r} (type {request.type}) at {shown_url(target.url)}? It is not on this "
        f"machine and not in security.allow_hosts. Every question will be sent there{token}."
    )
