"""What the generic engine adapter is told about one product: which call, which arguments, what its reply means.

Above: the preset files, the settings' overrides, the adapter. Below: nothing but pydantic. A preset is data: it names
every tool and pins every argument that may be sent, since the annotations of other servers are not trusted.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from callosum_mcp.models.values import Tier

Kind = Literal["mcp", "http"]
Source = Literal["auto", "structured", "text", "blocks"]
Order = Literal["engine", "score_desc", "score_asc", "last_seen_desc"]
SideEffects = Literal["none", "audit", "access_stats"]
TimeUnit = Literal["iso", "epoch_s", "ms", "ns"]

Path = Annotated[str, Field(min_length=1, max_length=300)]
"""A dotted path into a reply: ``$.results[*]``, ``$.*[*]``; ``.*`` over a map captures its key as $1, $2."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, hide_input_in_errors=True)


class Param(_Part):
    """A value that the user of a preset fills in under ``options``; templates name it in braces."""

    description: Annotated[str, Field(min_length=1, max_length=300)]
    required: bool = False
    default: str | int | float | bool | None = None
    secret: bool = False


class HttpCall(_Part):
    """One request of an engine behind plain HTTP and JSON; every value may hold templates.

    Only calls that read may be written down here. POST is for searches that take their query as a body.
    """

    method: Literal["GET", "POST"] = "GET"
    path: Annotated[str, Field(pattern=r"^/", max_length=500)]
    params: dict[str, Any] = Field(default_factory=dict[str, Any])
    body: Annotated[
        dict[str, Any] | list[Any] | None,
        Field(validation_alias=AliasChoices("json", "body"), description="JSON body."),
    ] = None
    headers: dict[str, str] = Field(default_factory=dict[str, str])


class Joined(_Part):
    """One filter out of many terms: `each` with ``{term}``, joined."""

    each: str
    join: str = " "


class Query(_Part):
    """How a question is put to an engine.

    Attributes:
        mode: ``verbatim`` as it was asked; ``terms`` its content words one call each; ``identifiers`` what looks like a
            name in code, else its content words; ``longest_term`` its longest content word.
        max_terms: The most terms that are used.
        max_calls: The most calls of one search.
        one_filter: All terms in one call, for engines with a filter language; makes ``{filter}``.
    """

    mode: Literal["verbatim", "terms", "identifiers", "longest_term"] = "verbatim"
    max_terms: Annotated[int, Field(ge=1, le=16)] = 4
    max_calls: Annotated[int, Field(ge=1, le=8)] = 3
    one_filter: Annotated[Joined | None, Field(validation_alias=AliasChoices("or", "one_filter"))] = None


class Converted(_Part):
    """A field that needs more than a path: where it is, and what it is made of."""

    from_: Annotated[Path, Field(validation_alias=AliasChoices("from", "from_"))]
    json_: Annotated[str | None, Field(validation_alias=AliasChoices("json", "json_"))] = None
    time: TimeUnit | None = None
    join: str | None = None
    map: Annotated[dict[str, str] | None, Field(description="Values of the engine and what they mean here.")] = None


Expression = str | Converted
"""``a | b`` the first that is not empty (0 is a value); ``{x} {y+1}`` a text; ``=literal``; or a conversion."""


class Fields(_Part):
    """Where the parts of a hit stand in one item."""

    id: Expression | None = None
    title: Expression | None = None
    path: Expression | None = None
    snippet: Expression
    score: Expression | None = None
    last_seen: Expression | None = None
    confidence: Expression | None = None
    type: Expression | None = None
    tags: Expression | None = None
    superseded_at: Expression | None = None
    superseded_by: Expression | None = None
    uri: Expression | None = None
    citations: Expression | None = None


class Extract(_Part):
    """One kind of items in a reply.

    Attributes:
        mode: ``objects``: each item is an object or a text; ``table``: `columns` names what each row holds;
            ``columns``: parallel lists, one per name in `columns`; ``regex``: each match of `pattern` in each text.
        items: Where the items are.
        columns: Path of the column names (``table``), or a path per column (``columns``).
        pattern: Regular expression with named groups.
        where: An item is taken only if these fields have one of these values.
        optional: The engine leaves `items` out where there are none; elsewhere a reply without them is a bad reply.
    """

    mode: Literal["objects", "table", "columns", "regex"] = "objects"
    items: Path = "$[*]"
    columns: str | dict[str, Path] | None = None
    pattern: Annotated[str | None, Field(max_length=1_000)] = None
    where: dict[str, list[str | int | bool]] = Field(default_factory=dict[str, list[str | int | bool]])
    optional: bool = False
    fields: Fields


class Errors(_Part):
    """How an engine says that it failed where the protocol says it did not.

    Attributes:
        path: Where an error stands in a reply; anything there that is not empty is one.
        text: Pattern of a text that is an error; looked for in replies of plain text.
        none: Pattern of the text that says "nothing found"; any other text without an item is then a bad reply.
        empty_is_error: A reply without any content means that it failed.
    """

    path: list[Path] = Field(default_factory=list[str])
    text: Annotated[str | None, Field(max_length=300)] = None
    none: Annotated[str | None, Field(max_length=300)] = None
    empty_is_error: bool = False


class Score(_Part):
    """What an engine's score means. Only ``unit`` (calibrated 0–1, higher is better) is ever compared with a floor."""

    meaning: Literal["opaque", "unit"] = "opaque"


class Verdict(_Part):
    """Where an engine says how many answers there are, and in which words."""

    from_: Annotated[Path, Field(validation_alias=AliasChoices("from", "from_"))]


class LastSeen(_Part):
    """What to do where an engine tells no time."""

    stat_root: Annotated[
        str | None, Field(description="Folder that paths are relative to: a file's change time is used.")
    ] = None


class Second(_Part):
    """A second call per hit for what a search leaves out, at most `max` of them; ``{id}`` and such are filled in."""

    tool: str | None = None
    args: dict[str, Any] = Field(default_factory=dict[str, Any])
    http: HttpCall | None = None
    max: Annotated[int, Field(ge=1, le=20)] = 5
    items: Path = "$"
    fields: dict[str, Expression]


class Discover(_Part):
    """How a parameter that the user left out is found: the values at `from` in the reply of a tool that lists them."""

    param: str
    tool: str
    args: dict[str, Any] = Field(default_factory=dict[str, Any])
    from_: Annotated[Path, Field(validation_alias=AliasChoices("from", "from_"))]


class Preset(_Part):
    """One product, or a template for one.

    Attributes:
        name: The store type that users write.
        title: The product.
        about: What a store of it holds and how it is asked, in a sentence or two.
        evidence: ``recorded``: tested on a recorded reply; ``documented``: on a sample of its documentation;
            ``template``: the user has to fill it in.
        example: A store section of a settings file, as users write it (YAML).
        tool: The tool's names; the first that the server advertises is called.
        allow_unlisted: Call it although the server does not advertise it.
        args: Its arguments. A key ``a|b`` is the first name that the tool's schema knows. One that it does not know is
            left out, unless it carries the question or ends in ``!`` (a pin without which the call would not be safe).
        recognise: Further tools that tell a server of this product from others with a tool of the same name.
        max_results: The most hits one search asks for.
        tier: Trust of its hits; None leaves it to the kind of hit.
        tier_from_file: ``recent-file`` for a file changed in the last 30 days, else ``older-note``.
        side_effects: What reading changes in the engine.
        changes: The same in words.
    """

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_.-]{0,63}$")]
    title: str
    about: str
    evidence: Literal["recorded", "documented", "template"]
    example: str
    kind: Kind = "mcp"
    protocol: Literal["auto", "legacy"] = "auto"
    command: Annotated[
        list[str], Field(description="What starts it over stdio, if a settings file names no command.")
    ] = Field(default_factory=list[str])
    env: dict[str, str] = Field(default_factory=dict[str, str])
    params: dict[str, Param] = Field(default_factory=dict[str, Param])
    discover: Discover | None = None
    tool: list[str] = Field(default_factory=list[str])
    recognise: list[str] = Field(default_factory=list[str])
    allow_unlisted: bool = False
    args: dict[str, Any] = Field(default_factory=dict[str, Any])
    http: HttpCall | None = None
    query: Query = Query()
    source: Source = "auto"
    extract: list[Extract] = Field(default_factory=list[Extract])
    order: Order = "engine"
    client_rerank: Literal["none", "bm25"] = "none"
    score: Score = Score()
    errors: Errors = Errors()
    verdict: Verdict | None = None
    max_results: Annotated[int, Field(ge=1, le=500)] = 50
    tier: Tier | None = None
    tier_from_file: bool = False
    last_seen: LastSeen = LastSeen()
    enrich: Second | None = None
    fetch: Second | None = None
    side_effects: SideEffects = "none"
    changes: str = "nothing"
    concurrency: Annotated[int, Field(ge=1, le=16)] = 4
    connect_timeout_s: Annotated[float, Field(gt=0, le=120)] = 30.0


OVERRIDABLE = frozenset(
    {
        "tool",
        "allow_unlisted",
        "args",
        "http",
        "query",
        "source",
        "extract",
        "order",
        "client_rerank",
        "score",
        "errors",
    }
    | {"verdict", "max_results", "last_seen", "enrich", "fetch", "discover", "tier_from_file"}
)
"""What a store's ``options`` may say instead of its preset, besides the preset's own params."""
