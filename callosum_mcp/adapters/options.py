"""Options of a store type: each read once, with its bound and a message that names it.

Above: the adapters' constructors. Below: nothing. Errors are `ValueError`s; the settings turn them into a line.
"""

from __future__ import annotations

from collections.abc import Mapping


def flag(options: Mapping[str, object], name: str, default: bool) -> bool:
    """A boolean option.

    Raises:
        ValueError: If it is anything else.
    """
    value = options.get(name, default)
    if not isinstance(value, bool):
        raise ValueError(f"option {name}: must be true or false (got {value!r})")
    return value


def string(options: Mapping[str, object], name: str, default: str) -> str:
    """A string option.

    Raises:
        ValueError: If it is anything else.
    """
    value = options.get(name, default)
    if not isinstance(value, str):
        raise ValueError(f"option {name}: must be text (got {value!r})")
    return value


def path(options: Mapping[str, object], name: str, default: str) -> str:
    """A URL path option, which starts with a slash and names no other host.

    Raises:
        ValueError: If it does not.
    """
    value = string(options, name, default)
    if not value.startswith("/") or value.startswith("//") or "?" in value or "#" in value:
        raise ValueError(f"option {name}: must be a path that starts with one '/' (got {value!r})")
    return value
