"""The environment: names over the file, ``${VAR}`` inside it, and typos that must not be silently without effect."""

from __future__ import annotations

from typing import Any

import pytest

from callosum_mcp.models.knobs import Knobs
from callosum_mcp.settings.environment import NAMES

from .desk import Desk

VALUES: dict[str, tuple[str, object]] = {
    "FUSION_MODE": ("percentile", "percentile"),
    "K": ("7", 7),
    "POOL_WEIGHT": ("0.3", 0.3),
    "EMBED_ENABLED": ("false", False),
    "EMBED_BUDGET_MS": ("90", 90),
    "TEMPORAL_WEIGHT": ("0.2", 0.2),
    "AUTHORITY_MARGIN": ("0.5", 0.5),
    "MIN_PER_STORE": ("2", 2),
    "EDGES_ENABLED": ("false", False),
    "EDGE_BUDGET": ("4", 4),
    "SATELLITE_BUDGET": ("5", 5),
    "CONFLICTS_ENABLED": ("false", False),
    "N_RESULTS": ("20", 20),
    "BUDGET_TOKENS": ("400", 400),
    "FETCH_MULTIPLIER": ("3", 3),
    "PER_STORE_TIMEOUT_S": ("2.5", 2.5),
    "DEADLINE_S": ("3.5", 3.5),
    "SOFT_DEADLINE_S": ("1.5", 1.5),
    "MAX_IN_FLIGHT": ("8", 8),
    "MAX_QUEUED": ("9", 9),
    "CACHE_S": ("2.5", 2.5),
    "HALF_LIFE_DAYS": ("9", 9.0),
    "HOST": ("127.0.0.2", "127.0.0.2"),
    "PORT": ("8000", 8000),
    "PORTS": ("9890, 9891", [9890, 9891]),
    "BEARER_TOKEN_ENV": ("SCC_TEST_SERVER_TOKEN", "SCC_TEST_SERVER_TOKEN"),
    "ALLOW_OPEN_LAN": ("1", True),
    "ALLOWED_HOSTS": ("a.lan, b.lan,", ["a.lan", "b.lan"]),
    "ALLOWED_ORIGINS": ("http://a.lan", ["http://a.lan"]),
    "ALLOW_HOSTS": ("nas", ["nas"]),
    "ALLOW_TOKEN_ENV": ("X_*,Y_*", ["X_*", "Y_*"]),
    "ALIASES": ("darwin_ask", ["darwin_ask"]),
    "ANSWER_SYNTHESIZE": ("false", False),
    "ANSWER_ALLOW_PAID": ("true", True),
    "ANSWER_AVAILABLE_S": ("2", 2.0),
    "ANSWER_RERANK": ("off", "off"),
    "ANSWER_RERANK_URL": ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
    "ANSWER_RERANK_MODEL": ("bge", "bge"),
    "ANSWER_RERANK_TOKEN_ENV": ("SCC_TEST_SERVER_TOKEN", "SCC_TEST_SERVER_TOKEN"),
    "LOG_LEVEL": ("INFO", "info"),
    "LOG_QUERIES": ("true", True),
}

TOKENS = {"BEARER_TOKEN", "BEARER_TOKENS", "BEARER_TOKEN_KEYRING", "BEARER_TOKEN_FILE"}
"""Tried by the tests of tokens."""


def setting(desk: Desk, name: str, environ: dict[str, str]) -> object:
    value: Any = desk.load(environ=environ).settings
    for part in NAMES[name]:
        value = getattr(value, str(part))
    return value


@pytest.mark.parametrize("name", sorted(set(NAMES) - TOKENS))
def test_each_variable_overrides_its_setting(desk: Desk, name: str) -> None:
    given, expected = VALUES[name]
    environ = {f"CALLOSUM_{name}": given, "SCC_TEST_SERVER_TOKEN": "t"}
    assert setting(desk, name, environ) == expected


def test_every_knob_can_be_set_by_a_variable() -> None:
    assert {name.upper() for name in Knobs.model_fields} <= set(NAMES)


def test_the_environment_wins_over_the_file_and_our_names_over_the_peers(desk: Desk) -> None:
    desk.write("server: {port: 1, host: file}\nfederation: {k: 5, edge_budget: 1}\n")
    environ = {"CALLOSUM_K": "6", "CALLOSUM_PORT": "2", "SEREN_SCC_PORT": "3", "SEREN_SCC_HOST": "peer"}
    loaded = desk.load(environ=environ)
    server = loaded.settings.server
    assert (server.port, server.host, loaded.knobs.k, loaded.knobs.edge_budget) == (2, "peer", 6, 1)


def test_an_empty_variable_counts_as_not_set(desk: Desk) -> None:
    desk.write("server: {port: 1}\n")
    loaded = desk.load(environ={"CALLOSUM_PORT": "", "CALLOSUM_CONFIG": "", "SEREN_SCC_HOST": ""})
    assert (loaded.settings.server.port, loaded.settings.server.host) == (1, "127.0.0.1")


@pytest.mark.parametrize(
    ("variable", "value", "name", "expected"),
    [
        ("SEREN_SCC_HOST", "h", "HOST", "h"),
        ("SEREN_SCC_PORT", "9", "PORT", 9),
        ("SEREN_SCC_BEARER_TOKEN_ENV", "SCC_TEST_SERVER_TOKEN", "BEARER_TOKEN_ENV", "SCC_TEST_SERVER_TOKEN"),
        ("SEREN_SCC_ALLOW_OPEN_LAN", "1", "ALLOW_OPEN_LAN", True),
        ("SEREN_SCC_MCP_ALLOWED_HOSTS", "a,b", "ALLOWED_HOSTS", ["a", "b"]),
        ("SEREN_SCC_MCP_ALLOWED_ORIGINS", "http://a", "ALLOWED_ORIGINS", ["http://a"]),
        ("SEREN_SCC_LOG_LEVEL", "DEBUG", "LOG_LEVEL", "debug"),
        ("SEREN_SCC_LOG_QUERY", "yes", "LOG_QUERIES", True),
    ],
)
def test_the_peers_variables_mean_the_same_here(
    desk: Desk, variable: str, value: str, name: str, expected: object
) -> None:
    assert setting(desk, name, {variable: value, "SCC_TEST_SERVER_TOKEN": "t"}) == expected


def test_the_peers_variables_that_mean_nothing_here_do_nothing(desk: Desk) -> None:
    names = ("TRUST_SYSTEM_STORE", "UPDATES_ENABLED", "MCP_MOUNT", "SOMETHING_NEW")
    assert desk.load(environ={f"SEREN_SCC_{name}": "1" for name in names}).settings == desk.load().settings


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("CALLOSUM_PORT", "seven", "must be a valid integer, unable to parse string as an integer (got 'seven')"),
        ("CALLOSUM_K", "0", "must be greater than or equal to 1 (got '0')"),
        ("SEREN_SCC_LOG_LEVEL", "LOUD", "must be 'debug', 'info', 'warning' or 'error' (got 'loud')"),
    ],
)
def test_a_value_that_cannot_be_used_is_an_error_that_names_the_variable(
    desk: Desk, variable: str, value: str, said: str
) -> None:
    desk.write("server: {port: 1}\n")
    assert str(desk.error(environ={variable: value})) == f"variable {variable}: {said}"


@pytest.mark.parametrize(
    ("typo", "meant"),
    [
        ("CALLOSUM_HOSTS", "CALLOSUM_HOST"),
        ("CALLOSUM_CONFG", "CALLOSUM_CONFIG"),
        ("CALLOSUM_N_RESULT", "CALLOSUM_N_RESULTS"),
    ],
)
def test_a_typo_of_one_of_our_variables_is_refused_with_the_name_that_was_meant(
    desk: Desk, typo: str, meant: str
) -> None:
    assert str(desk.error(environ={typo: "1"})) == f"variable {typo}: is unknown; did you mean {meant}?"


def test_variables_that_resemble_none_of_ours_are_left_alone(desk: Desk) -> None:
    environ = {"CALLOSUM_MEMORY_TOKEN": "x", "CALLOSUMPORT": "x", "PORT": "x"}
    assert desk.load(environ=environ).settings == desk.load().settings


def test_a_variable_does_not_hide_a_section_that_is_no_mapping(desk: Desk) -> None:
    file = desk.write("server: 5\n")
    assert str(desk.error(environ={"CALLOSUM_PORT": "1"})) == (
        f"{file}, line 1: server: must be a mapping of names to values"
    )


@pytest.mark.promise("P37")
def test_variables_are_expanded_wherever_a_text_may_stand(desk: Desk) -> None:
    desk.write(
        "server: {port: '${P}', bearer_token: '${env:T}', allowed_hosts: ['${H}.lan']}\n"
        "stores:\n- name: a\n  type: seren_loci\n  url: 'http://${H}:${P:-1}/${MISSING:-x}${NOTHING:-}'\n"
        "  token: ${T}\n  headers: {X-Key: 'v ${T}'}\n  options: {project: '${env:H}'}\n"
    )
    loaded = desk.load(environ={"H": "nas", "P": "81", "T": "s3cret"})
    store, server = loaded.stores[0], loaded.settings.server
    assert (server.port, server.allowed_hosts, store.url) == (81, ["nas.lan"], "http://nas:81/x")
    assert (dict(store.headers), dict(store.options)) == ({"X-Key": "v s3cret"}, {"project": "nas"})
    assert [token.get_secret_value() for token in loaded.bearers] == ["s3cret"]
    assert store.token is not None and store.token.get_secret_value() == "s3cret"


def test_an_empty_variable_takes_the_default_where_there_is_one(desk: Desk) -> None:
    desk.write("server: {host: '${EMPTY:-localhost}'}\n")
    assert desk.load(environ={"EMPTY": ""}).settings.server.host == "localhost"


@pytest.mark.promise("P37")
@pytest.mark.parametrize("environ", [{}, {"NAS": ""}])
def test_a_variable_that_is_not_set_is_an_error_that_names_it_and_the_line(desk: Desk, environ: dict[str, str]) -> None:
    file = desk.write("stores:\n- name: a\n  type: seren_memory\n  url: http://${NAS}:7420\n")
    assert str(desk.error(environ=environ)) == (
        f"{file}, line 4: stores.0.url: names the environment variable NAS, which is not set; "
        "write ${NAS:-default} for a default"
    )


@pytest.mark.parametrize("text", ["${NAS", "${}", "${NAS-x}", "${NAS:x}", "${1st}", "${a b}"])
def test_a_dollar_brace_that_names_no_variable_is_an_error_rather_than_part_of_the_text(desk: Desk, text: str) -> None:
    file = desk.write(f"server:\n  host: '{text}'\n")
    assert str(desk.error(environ={"NAS": "x", "NASx": "x"})) == (
        f"{file}, line 2: server.host: holds a ${{ that names no variable; write ${{NAME}} or ${{NAME:-default}}"
    )


def test_what_a_variable_holds_is_taken_as_it_is(desk: Desk) -> None:
    desk.write("server: {host: '${A}'}\n")
    loaded = desk.load(environ={"A": "${B}", "CALLOSUM_BEARER_TOKEN": "to${ken}"})
    assert loaded.settings.server.host == "${B}"
    assert [token.get_secret_value() for token in loaded.bearers] == ["to${ken}"]
