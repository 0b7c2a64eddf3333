"""How an engine is reached: out of its URL, its transport and its preset, or refused with the setting's name."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from callosum_mcp.adapters.engine.preset import Preset
from callosum_mcp.adapters.engine.reach import Reach, check_http, reach_of
from callosum_mcp.models.values import StoreSpec, TransportSpec

PRESET = Preset(
    name="small",
    title="Small",
    about="",
    evidence="template",
    example="",
    command=["small-server", "--quiet"],
    env={"READ_ONLY": "true"},
    connect_timeout_s=9,
)
BARE = PRESET.model_copy(update={"command": [], "env": {}, "protocol": "legacy"})


def spec(url: str = "", transport: TransportSpec | None = None, **more: object) -> StoreSpec:
    return StoreSpec(name="s", type="small", url=url, transport=transport, **more)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("http://127.0.0.1:1/sse", "sse"),
        ("http://127.0.0.1:1/a/sse/", "sse"),
        ("http://127.0.0.1:1/mcp", "http"),
        ("http://127.0.0.1:1/sse/mcp", "http"),
        ("https://host.example", "http"),
    ],
)
def test_the_url_says_which_transport(url: str, kind: str) -> None:
    assert reach_of(spec(url), PRESET).type == kind


def test_a_transport_that_is_named_wins_over_the_url() -> None:
    assert reach_of(spec("http://127.0.0.1:1/sse", TransportSpec(type="http")), PRESET).type == "http"
    assert reach_of(spec("http://127.0.0.1:1/mcp", TransportSpec(type="sse")), PRESET).type == "sse"


def test_without_a_url_the_command_is_the_settings_or_the_presets() -> None:
    whole = TransportSpec(
        type="stdio", command="mine", args=("a",), env={"K": "v"}, cwd="/", protocol="legacy", connect_timeout_s=3
    )
    assert reach_of(spec(transport=whole), PRESET) == Reach(
        type="stdio",
        command=("mine", "a"),
        env={"READ_ONLY": "true", "K": "v"},
        cwd="/",
        protocol="legacy",
        connect_timeout_s=3,
    )
    assert reach_of(spec(), PRESET).command == ("small-server", "--quiet")
    assert reach_of(spec(transport=TransportSpec(args=("--db", "x"))), PRESET).command == (
        "small-server",
        "--quiet",
        "--db",
        "x",
    )
    assert (reach_of(spec(), PRESET).connect_timeout_s, reach_of(spec("http://h/mcp"), BARE).protocol) == (9, "legacy")


@pytest.mark.parametrize(
    ("given", "preset", "said"),
    [
        (spec(), BARE, "transport.command: is required, since type small names no command of its own; or url"),
        (spec("http://h/mcp", TransportSpec(type="stdio")), PRESET, "transport: a store has either a url or a command"),
        (spec("http://h/mcp", TransportSpec(command="x")), PRESET, "transport: a store has either a url or a command"),
        (spec(transport=TransportSpec(type="sse")), PRESET, "url: is required for transport.type sse"),
        (spec("ftp://h/mcp"), PRESET, "url: must start with http:// or https:// and name a host"),
        (spec("/srv/notes"), PRESET, "url: must start with http:// or https:// and name a host"),
        (spec(managed=True), PRESET, "url: is required; a command .stdio. can come from the settings file only"),
    ],
)
def test_settings_that_give_no_way_are_refused(given: StoreSpec, preset: Preset, said: str) -> None:
    with pytest.raises(ValueError, match=f"^{said}"):
        reach_of(given, preset)


def test_an_engine_behind_plain_http_has_a_url_and_no_transport() -> None:
    check_http(spec("http://h"))
    with pytest.raises(ValueError, match=r"^url: must start with http://"):
        check_http(spec())
    with pytest.raises(ValueError, match=r"^transport: means nothing for type small"):
        check_http(spec("http://h", TransportSpec()))


def test_the_token_goes_into_the_one_header_it_belongs_in() -> None:
    given = spec("http://h/mcp", token=SecretStr("t0ken!"), headers={"Authorization": "other", "X-A": "b"})
    assert reach_of(given, PRESET).headers == {"X-A": "b", "authorization": "Bearer t0ken!"}
    assert reach_of(spec("http://h/mcp", headers={"Authorization": "Api-Key k"}), PRESET).headers == {
        "Authorization": "Api-Key k"
    }


def test_what_only_the_engine_may_know_is_taken_out_of_its_words() -> None:
    reach = Reach(type="http", headers={"authorization": "Bearer t0ken!"}, env={"PASSWORD": "hunter22", "DEBUG": "1"})
    assert reach.hidden("t0ken! and hunter22 at level 1") == "*** and *** at level 1"
    assert "t0ken!" not in repr(reach) and "hunter22" not in repr(reach)
