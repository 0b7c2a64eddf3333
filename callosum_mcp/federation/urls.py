"""Which URLs a store may have, and how one is shown.

Above: administration. Below: errors. Pure. Nothing is resolved here.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from callosum_mcp.adapters.transport import is_loopback
from callosum_mcp.errors import InvalidInput


def shown_url(url: str) -> str:
    """A URL without user name, password and query, which may hold secrets."""
    parts = urlsplit(url)
    if not parts.scheme or not parts.netloc:
        return url
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}"


def check_url(url: str, allow_hosts: Sequence[str]) -> None:
    """Refuse a URL that a store added at run time may not have.

    Raises:
        InvalidInput: With what is wrong and what to do.
    """
    try:
        parts, port = urlsplit(url), urlsplit(url).port
    except ValueError as fault:
        raise InvalidInput(f"url: cannot be read ({fault})", field="url") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise InvalidInput("url: must start with http:// or https:// and name a host", field="url")
    if any(character.isspace() or not character.isprintable() for character in url):
        raise InvalidInput("url: must not hold spaces or control characters", field="url")
    if parts.username or parts.password:
        raise InvalidInput("url: must not hold a password; use token_env", field="url")
    if not is_loopback(url) and parts.hostname.rstrip(".") not in allow_hosts:
        raise InvalidInput(
            f"url: host {parts.hostname!r} is neither loopback nor in the setting security.allow_hosts", field="url"
        )
