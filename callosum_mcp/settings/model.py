"""What may stand in the settings file: sections, names, defaults, bounds.

Above: the loader and the JSON Schema. Below: knobs and values. A file of seren-corpus-callosum 5.3 is accepted
unchanged: its names that mean nothing here are listed as such, and do nothing.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, cast

from pydantic import AfterValidator, AliasChoices, ConfigDict, Field, SecretStr, model_validator

from callosum_mcp.models.hosts import entry_of
from callosum_mcp.models.knobs import Knobs
from callosum_mcp.models.requests import NAME_PATTERN
from callosum_mcp.models.values import Tier
from callosum_mcp.settings.answer_model import Answer
from callosum_mcp.settings.section import EnvName, Section

_PEER_OPTIONS = frozenset(
    "search_path topic_search_path include_short include_near include_long include_superseded with_surroundings "
    "project include_fundamentals".split()
)
"""Options that a seren-corpus-callosum file may write beside `options` instead of in it."""


def _peer_names(schema: dict[str, Any]) -> None:
    """What else a store of a seren-corpus-callosum file may hold, for the JSON Schema."""
    properties = schema["properties"]
    for name in ("token", "token_env", "token_keyring"):
        properties[f"bearer_{name}"] = {**properties[name], "description": f"Peer's name of {name}."}
    for option in sorted(_PEER_OPTIONS):
        properties[option] = {"description": f"Peer's place of options.{option}."}


def _peer_budget(schema: dict[str, Any]) -> None:
    """A seren-corpus-callosum file writes ``budget_tokens: null``; a key without a value means its default."""
    budget = schema["properties"]["budget_tokens"]
    budget["type"] = [budget["type"], "null"]


class Server(Section):
    """The HTTP side: where it listens and who gets in."""

    host: Annotated[str, Field(min_length=1, description="Address to listen on.")] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65_535, description="Port to listen on; 0 lets the system choose.")] = 7423
    ports: Annotated[
        list[Annotated[int, Field(ge=0, le=65_535)]],
        Field(max_length=8, description="Ports to listen on, all with the same routes; if set, port has no effect."),
    ] = Field(default_factory=list[int])
    bearer_token: Annotated[SecretStr | None, Field(description="Token callers must send; empty means open.")] = None
    bearer_tokens: Annotated[
        list[SecretStr], Field(max_length=64, description="Several tokens, each of which lets a caller in.")
    ] = Field(default_factory=list[SecretStr])
    bearer_token_env: Annotated[EnvName, Field(description="Environment variable that holds the token.")] = ""
    bearer_token_keyring: Annotated[str, Field(description="Keyring entry service/user that holds the token.")] = ""
    bearer_token_file: Annotated[
        str, Field(max_length=1_000, description="File with tokens, one per line; lines that begin with # are none.")
    ] = ""
    allow_open_lan: Annotated[bool, Field(description="Listen beyond loopback without a token. Anybody can read.")] = (
        False
    )
    allowed_hosts: Annotated[
        list[str], Field(description="Host headers accepted besides loopback and the address listened on.")
    ] = Field(default_factory=list[str])
    allowed_origins: Annotated[list[str], Field(description="Origin headers accepted besides loopback's.")] = Field(
        default_factory=list[str]
    )


class TransportSection(Section):
    """How an engine behind MCP is reached, where its URL does not tell."""

    type: Annotated[
        Literal["auto", "stdio", "sse", "http"],
        Field(description="auto: SSE for a url that ends in /sse, else Streamable HTTP; stdio starts command."),
    ] = "auto"
    command: Annotated[
        str, Field(max_length=1_000, repr=False, description="Program to start; the default is the preset's.")
    ] = ""
    args: Annotated[list[str], Field(max_length=100, repr=False, description="Its arguments. ${VAR} is expanded.")] = (
        Field(default_factory=list[str])
    )
    env: Annotated[
        dict[str, str],
        Field(repr=False, description="Variables it gets besides PATH, HOME and the like. ${VAR} is expanded."),
    ] = Field(default_factory=dict[str, str])
    cwd: Annotated[str, Field(max_length=1_000, description="Folder it is started in; the default is the current.")] = (
        ""
    )
    protocol: Annotated[
        Literal["auto", "legacy"] | None,
        Field(description="legacy skips the question for the 2026-07-28 revision; the default is the preset's."),
    ] = None
    connect_timeout_s: Annotated[
        float | None,
        Field(gt=0, le=120, description="Seconds to start and connect, apart from timeout_s; default: the preset's."),
    ] = None


class StoreSection(Section):
    """One store."""

    model_config = ConfigDict(json_schema_extra=_peer_names)

    name: Annotated[str, Field(pattern=NAME_PATTERN, description="Unique name: letters, digits, '_', '.', '-'.")]
    type: Annotated[str, Field(min_length=1, description="Store type: seren_memory, seren_loci, notes, …")]
    url: Annotated[
        str, Field(repr=False, description="Base URL, or the folder of a notes store. ${VAR} is expanded.")
    ] = ""
    urls: Annotated[
        list[str],
        Field(max_length=7, repr=False, description="Replicas: further base URLs where the same store is asked."),
    ] = Field(default_factory=list[str])
    weight: Annotated[float, Field(ge=0, le=100, description="Multiplies the store's vote; 0 removes it.")] = 1.0
    floor: Annotated[
        float, Field(ge=0, le=1, description="Hits less relevant than this are dropped before ranking.")
    ] = 0.0
    enabled: Annotated[bool, Field(description="Whether the store is asked.")] = True
    tier: Annotated[Tier | None, Field(description="Trust of its hits when facts collide.")] = None
    timeout_s: Annotated[
        float | None, Field(gt=0, le=300, description="Seconds it may take; wins over per_store_timeout_s.")
    ] = None
    concurrency: Annotated[
        int, Field(ge=1, le=256, description="Calls it is sent at the same time; further ones wait in their own time.")
    ] = 32
    required: Annotated[bool, Field(description="A call without its answer is an error.")] = False
    managed: Annotated[bool, Field(description="Peer's name; a store in the file is always a base store.")] = False
    options: Annotated[
        dict[str, Any], Field(repr=False, description="Options of the store type, see docs/stores.md.")
    ] = Field(default_factory=dict[str, Any])
    headers: Annotated[dict[str, str], Field(repr=False, description="Extra HTTP headers. ${VAR} is expanded.")] = (
        Field(default_factory=dict[str, str])
    )
    transport: Annotated[
        TransportSection | None, Field(repr=False, description="Engines behind MCP: how they are started or reached.")
    ] = None
    token: Annotated[
        SecretStr | None,
        Field(
            validation_alias=AliasChoices("token", "bearer_token"),
            description="Bearer token; better in token_env or token_keyring.",
        ),
    ] = None
    token_env: Annotated[
        EnvName,
        Field(
            validation_alias=AliasChoices("token_env", "bearer_token_env"),
            description="Environment variable that holds the token.",
        ),
    ] = ""
    token_file: Annotated[str, Field(max_length=1_000, description="File that holds the token alone.")] = ""
    token_keyring: Annotated[
        str,
        Field(
            validation_alias=AliasChoices("token_keyring", "bearer_token_keyring"),
            description="Keyring entry service/user that holds the token.",
        ),
    ] = ""

    @model_validator(mode="before")
    @classmethod
    def _options_beside(cls, data: object) -> Any:
        """The peer reads its options also beside `options`."""
        if not isinstance(data, dict) or _PEER_OPTIONS.isdisjoint(cast("dict[str, object]", data)):
            return cast("Any", data)
        given = cast("dict[str, Any]", data)
        beside = {key: value for key, value in given.items() if key in _PEER_OPTIONS}
        rest = {key: value for key, value in given.items() if key not in _PEER_OPTIONS}
        inside: object = rest.get("options", {})
        return {**rest, "options": {**beside, **cast("dict[str, Any]", inside)} if isinstance(inside, dict) else inside}


class Federation(Knobs):
    """The federation's knobs, and the stores where a seren-corpus-callosum file keeps them."""

    model_config = ConfigDict(hide_input_in_errors=True, json_schema_extra=_peer_budget)

    stores: Annotated[list[StoreSection], Field(description="Same as the top-level stores.")] = Field(
        default_factory=list[StoreSection]
    )
    satellite_edges_enabled: Annotated[bool, Field(description="Peer's name: false sets satellite_budget to 0.")] = True
    hops: Annotated[int, Field(ge=1, description="Peer's setting; has no effect here.")] = 1
    hop_terms: Annotated[int, Field(ge=0, description="Peer's setting; has no effect here.")] = 4
    hop_budget: Annotated[int, Field(ge=0, description="Peer's setting; has no effect here.")] = 5

    def knobs(self) -> Knobs:
        """The knobs alone."""
        values = {name: getattr(self, name) for name in Knobs.model_fields}
        if not self.satellite_edges_enabled:
            values["satellite_budget"] = 0
        return Knobs(**values)


def _host_entry(entry: str) -> str:
    entry_of(entry)
    return entry


class Security(Section):
    """What may be added at run time."""

    allow_hosts: Annotated[
        list[Annotated[str, AfterValidator(_host_entry)]],
        Field(
            max_length=256,
            description="Hosts besides loopback that add_store may name: a name, *.name, an address or a network.",
        ),
    ] = Field(default_factory=list[str])
    allow_token_env: Annotated[
        list[str], Field(description="Patterns of variables that add_store's token_env may name.")
    ] = Field(default_factory=lambda: ["CALLOSUM_*", "SEREN_*"])


class Surface(Section):
    """What clients see besides the tools that are always there."""

    aliases: Annotated[
        list[Literal["darwin_ask"]],
        Field(max_length=8, description="Further tool names: darwin_ask, for agents of the Darwin Cortex."),
    ] = Field(default_factory=list[Literal["darwin_ask"]])


class Logging(Section):
    """What goes to stderr."""

    level: Annotated[Literal["debug", "info", "warning", "error"], Field(description="Least severe level shown.")] = (
        "warning"
    )
    log_queries: Annotated[bool, Field(description="Also log the text of queries.")] = False


class Tls(Section):
    """Peer's section. The system's trust store is always used here."""

    trust_system_store: Annotated[bool, Field(description="Has no effect: always on.")] = True


class Updates(Section):
    """Peer's section. callosum-mcp never asks for updates."""

    enabled: Annotated[bool, Field(description="Has no effect.")] = False
    check_interval_hours: Annotated[float, Field(description="Has no effect.")] = 6.0
    index_url: Annotated[str, Field(description="Has no effect.")] = ""
    allow_prerelease: Annotated[bool, Field(description="Has no effect.")] = False


class Settings(Section):
    """A whole settings file."""

    server: Server = Server()
    federation: Federation = Federation()
    stores: Annotated[list[StoreSection], Field(description="The stores, in the order that breaks ties.")] = Field(
        default_factory=list[StoreSection]
    )
    answer: Answer = Answer()
    surface: Surface = Surface()
    security: Security = Security()
    logging: Logging = Logging()
    tls: Tls = Tls()
    updates: Updates = Updates()
