"""Where a server may listen, whom it lets in there, and that its settings never open it while it runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from callosum_mcp.cli.listening import door, may_listen, policy_at
from callosum_mcp.errors import SettingsError
from callosum_mcp.settings import Loaded, load
from callosum_mcp.surface.guard import Guard, Policy

TOKEN: dict[str, Any] = {"bearer_tokens": ["t"]}


def settings(folder: Path, **server: Any) -> Loaded:
    (folder / "callosum.yaml").write_text(json.dumps({"server": server}), encoding="utf-8")
    return load(None, {}, folder)


@pytest.mark.promise("5a")
@pytest.mark.parametrize(
    ("address", "open_there"),
    [
        ("127.0.0.1", True),
        ("localhost", True),
        ("::1", True),
        ("127.8.0.1", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.0.2.1", False),
        ("localhost.example", False),
        ("::ffff:192.0.2.1", False),
    ],
)
def test_without_a_token_only_loopback_is_listened_on(tmp_path: Path, address: str, open_there: bool) -> None:
    assert may_listen(address, settings(tmp_path)) is open_there
    assert may_listen(address, settings(tmp_path, **TOKEN))
    assert may_listen(address, settings(tmp_path, allow_open_lan=True))


class Doors:
    """A guard at an address, and the settings that it started with."""

    def __init__(self, folder: Path, address: str, fixed: tuple[str, ...] = (), **server: Any) -> None:
        self.folder = folder
        started = settings(folder, **server)
        self.guard = Guard(lambda scope, receive, send: None, policy_at(address, started))  # type: ignore[arg-type, return-value]
        self._part = door(self.guard, address, started, fixed=fixed)

    def turn(self, **server: Any) -> tuple[str, ...]:
        prepared = self._part(settings(self.folder, **server))
        prepared.commit()
        return prepared.restart

    def refusal(self, **server: Any) -> str:
        before = self.policy
        with pytest.raises(SettingsError) as caught:
            self._part(settings(self.folder, **server))
        assert self.policy is before
        return str(caught.value)

    @property
    def policy(self) -> Policy:
        return self.guard._policy  # pyright: ignore[reportPrivateUsage]


def test_tokens_hosts_and_origins_follow_the_settings(tmp_path: Path) -> None:
    doors = Doors(tmp_path, "127.0.0.1", **TOKEN)
    assert doors.turn(bearer_tokens=["u", "v"], allowed_hosts=["a.lan"], allowed_origins=["https://a.lan"]) == ()
    assert doors.policy == Policy(
        tokens=(SecretStr("u"), SecretStr("v")),
        hosts=frozenset({"127.0.0.1", "a.lan"}),
        origins=frozenset({"https://a.lan"}),
    )


@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0"])
def test_a_server_that_wants_a_token_goes_on_wanting_one(tmp_path: Path, address: str) -> None:
    doors = Doors(tmp_path, address, **TOKEN)
    said = doors.refusal(allow_open_lan=True)
    assert said.startswith(str(tmp_path / "callosum.yaml")) and "bearer_token_file" in said and "restart" in said


def test_a_server_beyond_loopback_stays_allowed_to_be_there(tmp_path: Path) -> None:
    doors = Doors(tmp_path, "192.0.2.1", allow_open_lan=True)
    assert "server.allow_open_lan" in doors.refusal()
    assert doors.turn(**TOKEN) == ()


def test_an_open_server_on_loopback_can_be_shut_by_its_settings(tmp_path: Path) -> None:
    doors = Doors(tmp_path, "127.0.0.1")
    assert doors.policy.tokens == ()
    doors.turn(**TOKEN)
    assert doors.policy.tokens == (SecretStr("t"),)


def test_what_a_running_server_cannot_go_by_is_told(tmp_path: Path) -> None:
    doors = Doors(tmp_path, "127.0.0.1", ("host", "port", "ports"))
    assert doors.turn(host="localhost", port=1, ports=[2], **TOKEN) == ("server.host", "server.port", "server.ports")
    assert doors.turn(**TOKEN) == ()
    of_the_command = Doors(tmp_path, "127.0.0.1", ("host",))
    assert of_the_command.turn(port=1) == ()
