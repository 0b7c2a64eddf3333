"""Half surrogate pairs in JSON on its way in: a server that cuts a text in the middle of an emoji sends one.

Above: `connecting`. Below: nothing. Pure. One such escape makes a whole message unreadable, and over SSE a call would
wait for an answer that was thrown away; here each becomes U+FFFD before anybody parses it.
"""

from __future__ import annotations

import re

_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
_OPEN_END = re.compile(
    rb"(?<!\\)(?:\\\\)*\\(?:u[0-9a-fA-F]{0,3}|u[dD][89abAB][0-9a-fA-F]{2}(?:\\(?:u[0-9a-fA-F]{0,3})?)?)?$"
)


class Mender:
    """Mends a stream of bytes, chunk by chunk."""

    def __init__(self) -> None:
        self._rest = b""

    def fed(self, chunk: bytes) -> bytes:
        """What can be passed on after this chunk; an escape that may go on in the next one is held back."""
        data = self._rest + chunk
        end = _OPEN_END.search(data, max(0, len(data) - 1_024)) if b"\\" in data[-12:] else None
        self._rest = data[end.start() :] if end else b""
        return mended(data[: end.start()] if end else data)

    def rest(self) -> bytes:
        """What was held back, at the end of the stream."""
        rest, self._rest = self._rest, b""
        return mended(rest)


def mended(data: bytes) -> bytes:
    """The same bytes with every half surrogate pair written as U+FFFD."""
    if b"\\ud" not in data and b"\\uD" not in data:
        return data
    return _ESCAPE.sub(lambda found: rb"\ufffd" if found.group(1) else found.group(), data)
