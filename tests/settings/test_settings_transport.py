"""The transport of an engine in a settings file: read, expanded, and refused with file, line and key."""

from __future__ import annotations

import pytest

from callosum_mcp.app import build
from callosum_mcp.errors import SettingsError
from callosum_mcp.models.values import TransportSpec

from .desk import Desk

HEAD = "stores:\n- name: graph\n  type: server-memory\n"


def refused(desk: Desk, text: str, **environ: str) -> str:
    desk.write(text)
    with pytest.raises(SettingsError) as error:
        build(desk.load(environ=environ))
    return str(error.value).removeprefix(f"{desk.cwd / 'callosum.yaml'}, ")


def test_everything_of_a_transport_is_read_and_variables_are_replaced(desk: Desk) -> None:
    desk.write(
        HEAD + "  transport: {type: stdio, command: '${BIN}/server', args: ['--db', '${DB:-x.db}'], cwd: /srv,\n"
        "    env: {KEY: '${KEY}'}, protocol: legacy, connect_timeout_s: 12}\n"
        "  headers: {X-Key: '${KEY}'}\n"
    )
    (spec,) = desk.load(environ={"BIN": "/opt", "KEY": "s3cret"}).stores
    assert spec.transport == TransportSpec(
        type="stdio",
        command="/opt/server",
        args=("--db", "x.db"),
        env={"KEY": "s3cret"},
        cwd="/srv",
        protocol="legacy",
        connect_timeout_s=12,
    )
    assert spec.headers == {"X-Key": "s3cret"} and "s3cret" not in repr(spec)


def test_without_a_transport_there_is_none(desk: Desk) -> None:
    desk.write(HEAD)
    assert desk.load().stores[0].transport is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HEAD + "  transport: {typ: stdio}\n", "line 4: stores.0.transport.typ: is unknown; did you mean 'type'?"),
        (HEAD + "  transport: {type: pipe}\n", "line 4: stores.0.transport.type: must be"),
        (HEAD + "  transport: {env: {A: '${NOT_SET}'}}\n", "line 4: stores.0.transport.env.A: names the environment"),
        (HEAD + "  transport:\n    connect_timeout_s: 0\n", "line 5: stores.0.transport.connect_timeout_s: must be"),
        (HEAD + "  transport: {command: [a, b]}\n", "line 4: stores.0.transport.command: must be"),
        (
            HEAD + "  url: http://127.0.0.1:1/mcp\n  transport: {command: x}\n",
            "line 5: stores.0.transport: store 'graph': transport: a store has either a url or a command (stdio), not",
        ),
        (
            "stores:\n- name: wiki\n  type: chroma\n  transport: {type: sse}\n  options: {collection: c}\n",
            "line 2: stores.0.url: store 'wiki': url: is required for transport.type sse",
        ),
        (
            "stores:\n- name: n\n  type: notes\n  url: .\n  transport: {type: stdio, command: x}\n",
            "line 5: stores.0.transport: store 'n': transport: means nothing for type notes; it is for engines behind",
        ),
        (
            "stores:\n- name: b\n  type: brain.http\n  url: http://h\n  transport: {}\n",
            "line 5: stores.0.transport: store 'b': transport: means nothing for type brain.http, which is asked over",
        ),
        (
            HEAD + "  options: {tol: x}\n",
            "line 2: stores.0: store 'graph': option 'tol' is unknown for type server-memory; did you mean 'tool'",
        ),
    ],
)
def test_a_transport_that_cannot_be_is_refused_with_line_and_key(desk: Desk, text: str, said: str) -> None:
    assert refused(desk, text).startswith(said)


def test_a_secret_in_a_transport_is_not_shown_in_an_error(desk: Desk) -> None:
    assert "s3cret" not in refused(desk, HEAD + "  transport: {env: {A: [s3cret]}}\n")
