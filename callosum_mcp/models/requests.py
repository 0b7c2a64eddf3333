"""What a caller may ask: one model per tool, shared by MCP, HTTP and the command line.

Above: surfaces and the command line. Below: knobs. Each field has a description and a bound; unknown fields are
refused. `parse` turns pydantic's complaint into one line that names the field and the bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from callosum_mcp.errors import InvalidInput
from callosum_mcp.models.knobs import MAX_BUDGET_TOKENS, MAX_RESULTS, MIN_BUDGET_TOKENS
from callosum_mcp.models.values import Tier
from callosum_mcp.text import control_character, epoch_seconds, one_line

MAX_QUERY_CHARS = 8_000
NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"

Detail = Literal["concise", "detailed"]
Mode = Literal["chat", "search", "both"]


def _whole(text: object) -> object:
    """Half an emoji, which a client cut, becomes a question mark; pydantic takes no such text at all."""
    return text.encode("utf-8", "replace").decode("utf-8") if isinstance(text, str) else text


def _asked(text: str) -> str:
    found = control_character(text)
    if found is not None:
        raise ValueError(f"control character {found[1]} at position {found[0]} is not allowed")
    if not text.strip():
        raise ValueError(f"must hold 1 to {MAX_QUERY_CHARS} characters that are not blank")
    return text.strip()


def _moment(value: object) -> object:
    if value is None:
        return None
    seconds = None if isinstance(value, bool) else epoch_seconds(value)
    if seconds is None:
        raise ValueError("must be ISO 8601 (2026-11-29 or 2026-11-29T08:00:00Z) or Unix seconds")
    return seconds


Query = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_QUERY_CHARS,
        description="The question or keywords, in the user's words and language.",
    ),
    BeforeValidator(_whole),
    AfterValidator(_asked),
]
Moment = Annotated[
    float | None,
    BeforeValidator(_moment, json_schema_input_type=Annotated[str, Field(max_length=64)]),
]
Name = Annotated[str, Field(pattern=NAME_PATTERN, description="Name of a store: letters, digits, '_', '.', '-'; 1–64.")]
Names = Annotated[list[Annotated[str, Field(min_length=1, max_length=200)]], Field(max_length=64)]
Budget = Annotated[
    int,
    Field(
        ge=MIN_BUDGET_TOKENS,
        le=MAX_BUDGET_TOKENS,
        description="Size of the whole answer in tokens of 4 characters; the default is list_stores' budget_tokens.",
    ),
]
TimeoutMs = Annotated[
    int,
    Field(ge=1, le=600_000, description="Milliseconds this call may take; never more than the configured deadline."),
]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)


class RecallRequest(_Request):
    """Arguments of `recall`."""

    query: Query
    n_results: Annotated[
        int | None,
        Field(ge=1, le=MAX_RESULTS, description="Most hits wanted; the default is list_stores' n_results (10)."),
    ] = None
    stores: Annotated[Names | None, Field(description="Ask only these stores; the default is all enabled ones.")] = None
    budget_tokens: Budget | None = None
    detail: Annotated[
        Detail, Field(description="concise: what a model needs. detailed: also topics, metadata, snippets.")
    ] = "concise"
    since: Annotated[Moment, Field(description="Only memories last seen at or after this ISO 8601 time.")] = None
    until: Annotated[Moment, Field(description="Only memories last seen at or before this ISO 8601 time.")] = None
    types: Annotated[
        Names | None, Field(description="Only these kinds of hit: short, near, long, fact, note or an engine's own.")
    ] = None
    topics: Annotated[Names | None, Field(description="Only memories tagged with one of these topics.")] = None
    include_superseded: Annotated[
        bool, Field(description="Also return what newer memories replaced, in superseded[].")
    ] = False
    timeout_ms: TimeoutMs | None = None
    trace: Annotated[bool, Field(description="Add how each hit got its place.")] = False


class AskRequest(_Request):
    """Arguments of `ask`."""

    query: Query
    mode: Annotated[
        Mode, Field(description="chat: the answer with its receipts. search: the ranked hits. both: both.")
    ] = "both"
    scope: Annotated[Names | None, Field(description="Ask only these stores; the default is all enabled ones.")] = None
    k: Annotated[int, Field(ge=1, le=MAX_RESULTS, description="Most hits of one store.")] = 12
    synthesize: Annotated[
        bool, Field(description="Let the configured model write the answer; false: put together from the hits.")
    ] = True
    timeout_ms: Annotated[
        int | None, Field(ge=1, le=600_000, description="Milliseconds this call may take, with the model's part.")
    ] = None


class DarwinAskRequest(_Request):
    """Arguments of `darwin_ask`, the name of `ask` that older agents know."""

    query: Query
    mode: Annotated[Mode, Field(description="chat, search or both.")] = "both"
    scope: Annotated[Names | None, Field(description="Ask only these stores; the default is all enabled ones.")] = None


class ListStoresRequest(_Request):
    """Arguments of `list_stores`."""

    probe: Annotated[bool, Field(description="Ask every store now whether it answers.")] = False


class AddStoreRequest(_Request):
    """Arguments of `add_store`."""

    name: Name
    type: Annotated[str, Field(min_length=1, max_length=64, description="Store type: seren_memory, seren_loci, …")]
    url: Annotated[str, Field(min_length=1, max_length=2_048, description="Base URL of the store, http or https.")]
    weight: Annotated[float, Field(ge=0, le=100, description="Multiplies the store's vote.")] = 1.0
    floor: Annotated[float, Field(ge=0, le=1, description="Hits less relevant than this are dropped.")] = 0.0
    tier: Annotated[Tier | None, Field(description="Trust of its hits; the default depends on the kind of hit.")] = None
    token_env: Annotated[
        str | None,
        Field(
            pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$",
            description="Environment variable of the server that holds the store's bearer token.",
        ),
    ] = None


class RemoveStoreRequest(_Request):
    """Arguments of `remove_store`."""

    name: Name


class StoreChange(_Request):
    """One entry of `configure`'s stores: what to change of a store."""

    name: Name
    weight: Annotated[float | None, Field(ge=0, le=100, description="Multiplies the store's vote.")] = None
    floor: Annotated[float | None, Field(ge=0, le=1, description="Hits less relevant than this are dropped.")] = None
    enabled: Annotated[bool | None, Field(description="Whether the store is asked at all.")] = None


class FetchRequest(_Request):
    """Arguments of `fetch`."""

    id: Annotated[
        str, Field(min_length=3, max_length=4_096, description="Id of a hit as recall gave it: store:native-id.")
    ]
    timeout_ms: TimeoutMs | None = None


_M = TypeVar("_M", bound=BaseModel)


def parse(model: type[_M], values: Mapping[str, Any]) -> _M:
    """A caller's arguments as a model.

    Raises:
        InvalidInput: For the first thing wrong, with the field and its bound.
    """
    try:
        return model.model_validate(dict(values))
    except ValidationError as failure:
        raise explain(failure, model) from None


def explain(failure: ValidationError, model: type[BaseModel]) -> InvalidInput:
    """One line for a person out of pydantic's report: every field that is wrong, how, and its bound."""
    errors = failure.errors(include_url=False)
    properties = model.model_json_schema()["properties"]
    lines = [
        f"{_place(error['loc'])}: {reason(error, list(properties))}{_with_bound(error, properties)}"
        for error in errors[:5]
    ]
    if len(errors) > 5:
        lines.append(f"and {len(errors) - 5} more")
    return InvalidInput("; ".join(lines), field=_place(errors[0]["loc"]), kind=errors[0]["type"])


def _place(loc: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in loc) or "arguments"


def reason(error: Mapping[str, Any], known: list[str]) -> str:
    """What is wrong with one field, in words a person understands, with the bound."""
    kind = str(error["type"])
    if kind == "missing":
        return "is required"
    if kind == "extra_forbidden":
        return "is unknown; " + nearest(str(error["loc"][-1]), known)
    message = str(error["msg"]).removeprefix("Value error, ").replace("Input should be", "must be")
    return f"{message[:1].lower()}{message[1:]}{_given(error)}"


def _with_bound(error: Mapping[str, Any], properties: Mapping[str, Any]) -> str:
    """The bound of a field whose value is not even of its type, which pydantic leaves out."""
    if not str(error["type"]).endswith(("_parsing", "_type", "_from_float")):
        return ""
    node = properties.get(str(error["loc"][0]), {})
    options = [node, *node.get("anyOf", ())]
    for low, high in (("minimum", "maximum"), ("minLength", "maxLength")):
        found = next((option for option in options if low in option and high in option), None)
        if found is not None:
            return f"; allowed: {found[low]} to {found[high]}"
    return ""


def _given(error: Mapping[str, Any]) -> str:
    value: object = error.get("input")
    if str(error["type"]) == "value_error" or not isinstance(value, str | int | float | bool):
        return ""
    return f" (got {one_line(repr(value), 60)})"


def nearest(name: str, known: list[str]) -> str:
    """A hint at the valid name closest to a wrong one, or all of them."""
    close = get_close_matches(name.lower(), known, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"known are {', '.join(known)}" if known else "nothing is allowed here"
