"""How engines say that they failed, in every shape that was seen, as one `StoreError`.

Above: `reading`, the adapter. Below: errors. Pure. An error arrives as a flagged result, as an error of the protocol,
as prose, as an object with an ``error``, or as a row that holds one; taken for a hit, or for "nothing found", it would
be a lie about the memory.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, cast

from callosum_mcp.adapters.engine.expressions import as_text, is_empty, parsed_json
from callosum_mcp.adapters.engine.plan import Plan
from callosum_mcp.errors import StoreAuthFailed, StoreBadReply, StoreError, StoreFailed, StoreRateLimited
from callosum_mcp.text import one_line

_MAX_DETAIL: Final = 180
_HEAD: Final = 300  # characters of a text that tell what kind of text it is
_AUTH = re.compile(
    r"(?i)\bunauthori[sz]ed\b|\bunauthenticated\b|\bforbidden\b|\blogin required\b"
    r"|\b(?:status|code|error|http)\W{0,3}40[13]\b|^\W*40[13]\b"
    r"|\b(?:invalid|missing|wrong|expired|incorrect|bad|no)\s(?:\w+\s){0,2}(?:token|api[ _-]?key|credentials?)\b"
    r"|\b(?:token|api[ _-]?key|credentials?)\s(?:is|are|was)?\s?(?:invalid|missing|required|expired|not valid)\b"
    r"|\bauthenti\w+ (?:failed|failure|required|error)\b|\bnot (?:logged in|authenticated|authori[sz]ed)\b"
)
_LIMITED = re.compile(r"(?i)\brate[ _-]?limit|\btoo many requests\b|\bquota exceeded\b|\b429\b")
_BAD_CALL = re.compile(
    r"(?i)\b(?:input )?validation errors?\b|\binvalid (?:arguments?|params?|parameters?|input)\b|\bmissing required\b"
    r"|\brequired property\b|\bfield required\b|\bunexpected keyword\b"
    r"|\bunknown (?:tool|argument|parameter)|\btool \S+ not found"
)
_PROSE = re.compile(
    r"^\W*(?:(?:[a-z]+ )?error(?: (?:executing|searching|running|calling|occurred|during|while|in)\b|\s*[:\[(]|$)"
    r"|[A-Za-z.]*(?:Error|Exception)(?:\s*[:\[(]|$)|failed (?:to|with)\b|failure:|traceback \(|unknown tool\b"
    r"|unauthori[sz]ed\b|internal server error|mcp error\b)",
    re.IGNORECASE,
)
_NOTHING_FOUND = re.compile(
    r"(?i)^\W*(?:found )?(?:no|0|zero)\s(?:[\w-]+\s){0,3}"
    r"(?:results?|match(?:es)?|hits?|memor(?:y|ies)|documents?|notes?|entr(?:y|ies)|facts?|nodes?|items?|records?|symbols?)\b"
    r"(?!.{0,20}\b(?:available|configured|connected|indexed)\b)|^\W*nothing (?:was )?found\b"
)
_WORDS: Final = ("message", "error", "detail", "reason", "description", "msg")
_URL_USER = re.compile(r"://[^/@\s]+@")
_ADVERT = re.compile(r"(?i)(?<!\s)\s*For further information visit \S+")


def said(text: str) -> StoreError:
    """The error of an engine's own words about a failure."""
    words = _shown(text)
    if _AUTH.search(text[:2_000]):
        return StoreAuthFailed(f"wants a valid token, its words: {words}; set token_env, headers or env of this store")
    if _LIMITED.search(text[:2_000]):
        return StoreRateLimited(f"asks us to slow down: {words}")
    if _BAD_CALL.search(text[:2_000]):
        return StoreBadReply(f"does not understand our call: {words}; do the preset and its args fit this version?")
    return StoreFailed(f"failed: {words}" if words else "failed without saying why")


def protocol_error(code: int, message: str) -> StoreError:
    """The error of a JSON-RPC error response."""
    if code in (-32601, -32602):
        words = _shown(message)
        return StoreBadReply(f"does not understand our call: {words}; do the preset and its args fit this version?")
    return said(message)


def flagged(texts: tuple[str, ...], structured: object) -> StoreError:
    """The error of a result that is marked as one."""
    words = _words(parsed_json("\n".join(texts))) if any(text.strip() for text in texts) else _words(structured)
    return said(words or "")


def check(root: object, plan: Plan) -> None:
    """Refuse a result in which the preset's marks of an error stand.

    Raises:
        StoreError: What the engine says.
    """
    for path in plan.error_paths:
        for value, _ in path.select(root).nodes:
            if not is_empty(value) and value is not False and value != 0:
                raise said(_words(value) or "it does not say why")
    text = only_text(root)
    if text is not None and plan.error_text is not None and plan.error_text.found_in(text):
        raise said(text)
    if text is not None and _PROSE.match(text[:_HEAD]):
        raise said(text)


def only_text(root: object) -> str | None:
    """The text that is all of a result, also as the one element of a list."""
    if isinstance(root, list) and len(cast("list[object]", root)) == 1:
        root = cast("list[object]", root)[0]
    return root if isinstance(root, str) else None


def first_text(root: object) -> str | None:
    """The text of a result that is one, or the first of a result that is a list of texts."""
    if isinstance(root, list) and root and all(isinstance(one, str) for one in cast("list[object]", root)):
        return cast("list[str]", root)[0]
    return root if isinstance(root, str) else None


def check_nothing(root: object) -> None:
    """Refuse "nothing found" where the result says in a usual way that the search failed.

    Raises:
        StoreError: What the engine says.
    """
    told = _told(root)
    if told is not None:
        raise said(told)


def says_nothing_found(text: str, plan: Plan) -> bool:
    """Whether a text means that the search went well and found nothing."""
    pattern = plan.none_text
    return bool(_NOTHING_FOUND.search(text[:_HEAD]) if pattern is None else pattern.found_in(text))


def unreadable(root: object, where: str) -> StoreError:
    """The error of a result without the place where items should be."""
    told = _told(root)
    if told is not None:
        return said(told)
    kind = "text" if isinstance(root, str) else "a list" if isinstance(root, list) else "an object"
    shown = f": {_shown(root)!r}" if isinstance(root, str) else ""
    return StoreBadReply(f"its result is {kind} without {where}{shown}")


def _told(root: object) -> str | None:
    """The words of a failure in an object, or in the first row of a list."""
    if isinstance(root, list):
        rows = cast("list[object]", root)
        return _told(cast("object", rows[0])) if rows and isinstance(rows[0], dict) else None
    if not isinstance(root, dict):
        return None
    members = cast("dict[str, object]", root)
    for key in ("error", "errors"):
        if not is_empty(members.get(key)) and members[key] is not False and members[key] != 0:
            return _words(members[key]) or "it does not say why"
    failed = members.get("success") is False or members.get("ok") is False or members.get("isError") is True
    if failed or str(members.get("status", "")).lower() in ("error", "failed", "failure"):
        return _words(members) or "it does not say why"
    return None


def _words(value: object) -> str | None:
    """The sentence in an error, whatever it is wrapped in."""
    if isinstance(value, list) and value:
        return _words(cast("list[object]", value)[0])
    if isinstance(value, dict):
        members = cast("Mapping[str, object]", value)
        found = (as_text(members[key]) for key in _WORDS if not isinstance(members.get(key, None), dict | list | None))
        nested = (_words(members[key]) for key in _WORDS[:3] if isinstance(members.get(key), dict))
        return next(filter(None, found), None) or next(filter(None, nested), None) or as_text(cast("object", value))
    return as_text(cast("object", value))


def _shown(text: str) -> str:
    """The first paragraph of an error on one line, without the password of a URL."""
    first = text.strip()[:4_000].split("\n\n", 1)[0]
    return one_line(_ADVERT.sub("", _URL_USER.sub("://", first)), _MAX_DETAIL)
