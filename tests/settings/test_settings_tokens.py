"""Tokens: where they come from, that a missing one never opens anything, and that none is ever shown."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest
from pydantic import SecretStr

from callosum_mcp.app import build
from callosum_mcp.models.requests import ListStoresRequest

from .desk import Desk

CANARY = "canary-7d1f"
NUMBER = 8675309117


def secret(value: SecretStr | None) -> str | None:
    return None if value is None else value.get_secret_value()


@pytest.fixture
def keyring(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], str]:
    """A keyring that holds what the test puts in."""
    held: dict[tuple[str, str], str] = {}
    module = ModuleType("keyring")
    module.__dict__["get_password"] = lambda service, user: held.get((service, user))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    monkeypatch.setitem(sys.modules, "keyring", module)
    return held


def test_a_token_comes_from_the_file_or_a_variable_or_the_keyring(
    desk: Desk, keyring: dict[tuple[str, str], str]
) -> None:
    keyring["my/service", "me"] = "from keyring"
    desk.write(
        "server: {bearer_token_keyring: my/service/me}\nstores:\n"
        "- {name: a, type: notes, token: from file, token_env: T}\n"
        "- {name: b, type: notes, token: '', token_env: T}\n"
        "- {name: c, type: notes, token_env: T, token_keyring: my/service/me}\n"
        "- {name: d, type: notes, bearer_token: peer}\n- {name: e, type: notes, bearer_token_env: T}\n"
        "- {name: f, type: notes, bearer_token_keyring: my/service/me}\n- {name: g, type: notes}\n"
    )
    loaded = desk.load(environ={"T": "from variable"})
    found = {store.name: secret(store.token) for store in loaded.stores}
    assert found == {
        "a": "from file",
        "b": "from variable",
        "c": "from keyring",
        "d": "peer",
        "e": "from variable",
        "f": "from keyring",
        "g": None,
    }
    assert [secret(token) for token in loaded.bearers] == ["from keyring"]


@pytest.mark.promise("5d")
@pytest.mark.parametrize("environ", [{}, {"T": ""}])
def test_a_token_whose_variable_holds_nothing_is_an_error_and_never_an_open_door(
    desk: Desk, environ: dict[str, str]
) -> None:
    said = "names the environment variable T, which is not set"
    file = desk.write("server:\n  bearer_token_env: T\n")
    assert str(desk.error(environ=environ)) == f"{file}, line 2: server.bearer_token_env: {said}"
    desk.write("stores:\n- name: a\n  type: notes\n  token_env: T\n")
    assert str(desk.error(environ=environ)) == f"{file}, line 4: stores.0.token_env: {said}"
    desk.write("server: {bearer_token: '${T}'}\n")
    assert said in str(desk.error(environ=environ))
    file.unlink()
    by_name = {**environ, "CALLOSUM_BEARER_TOKEN_ENV": "T"}
    assert str(desk.error(environ=by_name)) == f"variable CALLOSUM_BEARER_TOKEN_ENV: {said}"


def test_a_keyring_that_holds_nothing_is_an_error(desk: Desk, keyring: dict[tuple[str, str], str]) -> None:
    file = desk.write("server:\n  bearer_token_keyring: s/u\n")
    assert str(desk.error()) == f"{file}, line 2: server.bearer_token_keyring: the keyring holds nothing for s/u"
    desk.write("server:\n  bearer_token_keyring: nobody\n")
    assert str(desk.error()) == f"{file}, line 2: server.bearer_token_keyring: must be service/user"


def test_a_keyring_entry_without_the_package_is_an_error_that_says_how_to_install_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    desk.write("server: {bearer_token_keyring: s/u}\n")
    assert "needs the package keyring: pip install 'callosum-mcp[keyring]'" in str(desk.error())


@pytest.mark.promise("7a")
def test_no_secret_is_in_what_the_settings_show_of_themselves(desk: Desk) -> None:
    desk.write(
        f"server: {{bearer_token: {CANARY}}}\nstores:\n"
        f"- name: a\n  type: seren_memory\n  url: http://me:{CANARY}@127.0.0.1:9/x?key={CANARY}\n"
        f"  token: {CANARY}\n  headers: {{X-Key: {CANARY}}}\n"
        "- {name: b, type: seren_loci, url: 'http://127.0.0.1:9', token_env: T, options: {project: '${T}'}}\n"
    )
    loaded = desk.load(environ={"T": CANARY, "UNRELATED": CANARY})
    shown = [repr(loaded), str(loaded), repr(loaded.settings), str(loaded.settings), repr(loaded.source)]
    shown += [loaded.settings.model_dump_json(include={"server"}), *map(repr, loaded.stores), repr(build(loaded))]
    assert not [text for text in shown if CANARY in text]


async def test_listing_the_stores_shows_that_there_is_a_token_and_not_which(desk: Desk) -> None:
    desk.write(
        f"stores:\n- name: a\n  type: seren_memory\n  url: http://me:{CANARY}@127.0.0.1:9/x?key={CANARY}\n"
        f"  token: {CANARY}\n  headers: {{X-Key: {CANARY}}}\n  options: {{search_path: /{CANARY}}}\n"
    )
    application = desk.build()
    async with application.running():
        listed = await application.administration.list_stores(ListStoresRequest(probe=True))
    store = listed.stores[0]
    assert (store.auth, store.url, CANARY in listed.model_dump_json()) == (True, "http://127.0.0.1:9/x", False)


@pytest.mark.parametrize(
    "text",
    [
        f"server:\n  bearer_token: {NUMBER}\n",
        f"stores:\n- {{name: a, type: notes, token: {NUMBER}}}\n",
        f"stores:\n- {{name: a, type: notes, bearer_token: {NUMBER}}}\n",
        f"stores:\n- {{name: a, type: notes, headers: {{X-Key: {NUMBER}}}}}\n",
        f"stores:\n- {{name: a, type: notes, headers: 'X-Key {NUMBER}'}}\n",
        f"stores:\n- {{name: a, type: notes, url: {NUMBER}}}\n",
        f"stores:\n- 'http://me:{NUMBER}@host'\n",
        f"stores:\n- {{name: a, type: notes, tokn: {NUMBER}}}\n",
        f"server: {NUMBER}\n",
        f"stores: {NUMBER}\n",
    ],
)
def test_an_error_about_a_secret_does_not_show_it(desk: Desk, text: str) -> None:
    desk.write(text)
    assert str(NUMBER) not in str(desk.error())


def bearers(desk: Desk, environ: dict[str, str] | None = None) -> list[str | None]:
    return [secret(token) for token in desk.load(environ=environ).bearers]


@pytest.mark.promise("5c")
def test_every_token_that_anything_names_lets_callers_in(desk: Desk, keyring: dict[tuple[str, str], str]) -> None:
    keyring["s", "u"] = "of keyring"
    desk.write("# first\n\n  one  \n#two\none\nthree", "tokens")
    desk.write(
        "server: {bearer_token: plain, bearer_tokens: [l1, '${T}', l1], bearer_token_env: T, "
        "bearer_token_keyring: s/u, bearer_token_file: tokens}\n"
    )
    assert bearers(desk, {"T": " of variable\n"}) == ["plain", "l1", "of variable", "of keyring", "one", "three"]


def test_several_tokens_can_stand_in_one_variable(desk: Desk) -> None:
    assert bearers(desk, {"CALLOSUM_BEARER_TOKENS": "one, two,"}) == ["one", "two"]


def test_a_token_file_stands_beside_the_settings_or_in_the_folder_of_whoever_set_the_variable(
    desk: Desk, tmp_path: Path
) -> None:
    beside = tmp_path / "beside"
    beside.mkdir()
    (beside / "t").write_text("beside")
    desk.write("here", "t")
    (beside / "callosum.yaml").write_text("server: {bearer_token_file: t}\n")
    assert [secret(t) for t in desk.load(beside / "callosum.yaml").bearers] == ["beside"]
    found = desk.load(beside / "callosum.yaml", {"CALLOSUM_BEARER_TOKEN_FILE": "t"})
    assert [secret(token) for token in found.bearers] == ["here"]


def test_a_store_takes_its_token_from_a_file(desk: Desk) -> None:
    desk.write("# of a\nabc\n", "t")
    desk.write("stores: [{name: a, type: notes, token_file: t, token_env: UNUSED, token_keyring: u}]\n")
    assert secret(desk.load().stores[0].token) == "abc"
    desk.write("abc\ndef\n", "t")
    assert "holds 2 tokens; a store has one" in str(desk.error())


NOTHING = "holds what cannot be a token: nothing, or a control character"


@pytest.mark.promise("5d")
@pytest.mark.parametrize(
    ("server", "line", "said"),
    [
        ("bearer_tokn: x", 2, "server.bearer_tokn: is unknown"),
        ("bearer_tokens: ['']", 2, f"server.bearer_tokens.0: {NOTHING}"),
        ("bearer_tokens:\n  - good\n  - ' '", 4, f"server.bearer_tokens.1: {NOTHING}"),
        ("bearer_tokens: x", 2, "server.bearer_tokens: must be a list"),
        ("bearer_token: ' '", 2, f"server.bearer_token: {NOTHING}"),
        ('bearer_token: "a\\nb"', 2, f"server.bearer_token: {NOTHING}"),
        ("bearer_token_env: T", 2, "server.bearer_token_env: names the environment variable T, which is not set"),
        ("bearer_token_env: BLANK", 2, "names the environment variable BLANK, which is not set"),
        ("bearer_token_file: nowhere", 2, "which cannot be read: No such file"),
        ("bearer_token_file: empty", 2, "which holds no token"),
        ("bearer_token_file: comments", 2, "which holds no token"),
        ("bearer_token_file: binary", 2, "which is not UTF-8"),
        ("bearer_token_file: large", 2, "which is larger than 65536 bytes"),
        ("bearer_token: good\n  bearer_token_env: T", 3, "names the environment variable T, which is not set"),
        ("bearer_tokens: [good]\n  bearer_token_file: empty", 3, "which holds no token"),
    ],
)
def test_a_slip_in_what_names_a_token_is_an_error_and_never_an_open_door(
    desk: Desk, server: str, line: int, said: str
) -> None:
    for name, content in {"empty": b"", "comments": b"# a\n\n", "binary": b"\xff\xfe", "large": b"x" * 70_000}.items():
        (desk.cwd / name).write_bytes(content)
    file = desk.write(f"server:\n  {server}\n")
    text = str(desk.error(environ={"BLANK": " \n"}))
    assert text.startswith(f"{file}, line {line}: ") and said in text


@pytest.mark.parametrize("name", ["TOKEN", "TOKENS", "TOKEN_ENV", "TOKEN_FILE", "TOKEN_KEYRING"])
@pytest.mark.parametrize("value", ["", " "])
def test_an_empty_variable_that_names_a_token_is_an_error_too(desk: Desk, name: str, value: str) -> None:
    variable = f"CALLOSUM_BEARER_{name}"
    assert str(desk.error(environ={variable: value})) == (
        f"variable {variable}: is empty; give it what it names, or unset it"
    )


def test_a_keyring_that_stays_shut_is_an_error(desk: Desk, keyring: dict[tuple[str, str], str]) -> None:
    class KeyringError(Exception):
        pass

    def shut(service: str, user: str) -> str:
        raise KeyringError("locked")

    module = sys.modules["keyring"]
    errors = ModuleType("keyring.errors")
    errors.__dict__["KeyringError"] = KeyringError
    module.__dict__["errors"] = errors
    module.__dict__["get_password"] = shut
    desk.write("server: {bearer_token_keyring: s/u}\n")
    assert "the keyring does not open for s/u: locked" in str(desk.error())
