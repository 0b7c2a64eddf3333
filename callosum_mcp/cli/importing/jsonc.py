"""JSON as the clients accept it: with comments and with commas before a closing bracket.

Above: `clients`. Below: json. Pure.
"""

from __future__ import annotations

import json
import re

_PART = re.compile(r'"(?:\\.|[^"\\])*"|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
_STRING_OR_COMMA = re.compile(r'"(?:\\.|[^"\\])*"|,(?=\s*[\]}])', re.DOTALL)


def parse(text: str) -> object:
    """The value of a document.

    Raises:
        ValueError: If it is not JSON; the text names the line.
    """
    bare = _PART.sub(_without_comment, text.removeprefix("\ufeff"))
    try:
        return json.loads(_STRING_OR_COMMA.sub(_without_comma, bare), parse_constant=_refused)
    except json.JSONDecodeError as fault:
        raise ValueError(f"is not JSON: {fault.msg} (line {fault.lineno})") from None
    except RecursionError:
        raise ValueError("is not JSON: it is nested too deep") from None


def _without_comment(match: re.Match[str]) -> str:
    """A comment as the blanks and line ends it stood in, so that lines keep their numbers."""
    part = match.group()
    return part if part.startswith('"') else re.sub(r"[^\r\n]", " ", part)


def _without_comma(match: re.Match[str]) -> str:
    part = match.group()
    return part if part.startswith('"') else " "


def _refused(word: str) -> object:
    raise ValueError(f"is not JSON: {word} is no value")
