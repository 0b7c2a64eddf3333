"""Masking by value and by key: which texts lose what, and which keep what only looks like a secret."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr
from support.data import running, scripted

from callosum_mcp.errors import AllStoresFailed, StoreFailed
from callosum_mcp.models.requests import FetchRequest, ListStoresRequest, RecallRequest
from callosum_mcp.models.results import RecallResult
from callosum_mcp.models.secrets import Mask, given_to, is_secret_name, redacted, secrets_of, url_secrets
from callosum_mcp.models.values import Hit, ProbeReport, StoreReply, StoreSpec, TransportSpec
from callosum_mcp.testing import hit

SECRET = "s3cr3t-value"


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("Authorization", True),
        ("X-Api-Key", True),
        ("apikey", True),
        ("OPENAI_API_KEY", True),
        ("memoryToken", True),
        ("Cookie", True),
        ("PGPASSWORD", False),  # one word that no list has: its value is masked in errors, as every variable's is
        ("DB_PASSWORD", True),
        ("X-Project", False),
        ("token_limit", False),
        ("key_field", False),
        ("KEYBOARD", False),
        ("MAX_TOKENS", False),
        ("token_file", False),
    ],
)
def test_a_secret_is_told_by_its_name(name: str, secret: bool) -> None:
    assert is_secret_name(name) is secret


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ('{"authorization": "Bearer abcdefgh"}', '{"authorization": "***"}'),
        ("Authorization: Basic dXNlcjpwYXNz", "Authorization: ***"),
        ("{'x-api-key': 'abcdefgh', 'accept': 'text/plain'}", "{'x-api-key': '***', 'accept': 'text/plain'}"),
        ("failed: api_key=abcdefgh&q=hermes", "failed: api_key=***&q=hermes"),
        ("password = hunter2hunter2;", "password = ***;"),
        ("sent Bearer eyJhbGciOi.x.y to it", "sent Bearer *** to it"),
        ("at postgres://user:pw@db/x", "at postgres://***@db/x"),
        ('\\"token\\": \\"abcdefgh\\"', '\\"token\\": \\"***\\"'),
        ("refused our token (401); set token, token_env or token_keyring", None),
        ("its token or one of its headers holds characters that HTTP cannot carry", None),
        ("no answer within 4.0 s", None),
        ("mail ines@example.org about the token", None),
    ],
)
def test_words_of_others_lose_what_stands_behind_the_name_of_a_secret(text: str, masked: str | None) -> None:
    assert redacted(text) == (text if masked is None else masked)


def test_every_place_of_a_store_that_can_hold_a_secret_is_looked_at() -> None:
    spec = StoreSpec(
        name="s",
        type="mcp",
        url="http://us%3Aer:pa%73s-1@host/mcp?api_key=query-1&lang=deutsch",
        options={"api_key": "option-1", "mode": "fast-mode", "limit": 3},
        headers={"Authorization": "Bearer header-1", "X-Team": "platform"},
        token=SecretStr("token-1"),
        transport=TransportSpec(
            command="run",
            args=("--token", "argument-1", "--password=argument-2", "--mode", "fast-mode", "http://u:argument-3@h"),
            env={"A_TOKEN": "variable-1", "LEVEL": "verbose", "DSN": "postgres://u:variable-2@h/db"},
        ),
    )
    found = set(secrets_of(spec))
    assert {"token-1", "header-1", "option-1", "query-1", "pass-1", "variable-1", "variable-2"} <= found
    assert {"argument-1", "argument-2", "argument-3"} <= found
    assert not {"platform", "fast-mode", "verbose", "deutsch"} & found
    assert {"platform", "verbose", "deutsch"} <= set(given_to(spec))


@pytest.mark.parametrize(
    ("url", "secrets"),
    [
        ("http://abcdefgh@host/", ["abcdefgh", "abcdefgh", "abcdefgh"]),
        ("http://host/?q=1", []),
        ("http://[::1", []),
        ("", []),
    ],
)
def test_a_url_tells_its_secrets(url: str, secrets: list[str]) -> None:
    assert list(url_secrets(url)) == secrets


@pytest.mark.promise("7a")
@given(st.text(min_size=6, max_size=30), st.text(max_size=20), st.text(max_size=20))
def test_a_secret_is_found_in_every_form_it_is_sent_in(secret: str, before: str, after: str) -> None:
    mask = Mask([secret])
    for form in (secret, json.dumps(secret)[1:-1], quote(secret, safe=""), repr(secret)[1:-1]):
        assert form not in mask.text(f"\x01{form}\x01").replace("***", "") or form in "\x01*"
    plain = f"{before}{after}"
    assert mask.text(plain) == plain or secret in plain or "***" in mask.text(plain)


def test_a_short_secret_is_not_looked_for() -> None:
    assert not Mask(["abcde", ""])
    assert Mask(["abcde"]).text("abcdefgh") == "abcdefgh"


def test_values_of_every_kind_lose_it_and_those_without_it_stay_the_same_object() -> None:
    mask = Mask([SECRET])
    dirty = StoreReply(hits=(hit("s", "1", f"a {SECRET}", metadata={SECRET: [SECRET, {"a": SECRET}, 3]}),))
    (cleaned,) = mask.value(dirty).hits
    assert (cleaned.text, cleaned.metadata) == ("a ***", {"***": ["***", {"a": "***"}, 3]})
    same: list[object] = [StoreReply(hits=(hit("s", "1", "a"),)), ProbeReport(detail="fine", entries=3)]
    assert all(mask.value(value) is value for value in same)
    assert mask.value([hit("s", SECRET, "x")])[0].id == "***"
    assert mask.value(None) is None and mask.value(Hit) is Hit


@pytest.mark.promise("7a")
async def test_a_store_cannot_give_back_what_it_was_given_in_any_answer() -> None:
    dirty = hit("s", "1", f"Hermes {SECRET}", title=SECRET, path=SECRET, topics=(SECRET,), metadata={"why": SECRET})
    store = scripted("s", dirty, more={"token": SecretStr(SECRET), "headers": {"X-Team": "platform"}})
    async with running(store) as federation:
        result = await federation.recall(RecallRequest(query="Hermes", detail="detailed", trace=True))
        whole = await federation.fetch(FetchRequest(id="s:1"))
    assert SECRET not in f"{result.wire()}{whole.wire()}"
    assert result.hits[0].text == whole.text == "Hermes ***"


async def test_a_memory_about_a_password_is_told_as_it_is() -> None:
    text = "The wifi password: hunter2hunter2, api_key=abcdefgh, see http://u:p@host"
    async with running(scripted("s", hit("s", "1", text), more={"token": SecretStr(SECRET)})) as federation:
        assert (await federation.recall(RecallRequest(query="wifi"))).hits[0].text == text


async def test_a_failure_is_told_without_what_the_store_was_given() -> None:
    fault = StoreFailed(f"says: {SECRET}, platform, authorization: Bearer other-token-1 at http://u:pw@host")
    more = {"token": SecretStr(SECRET), "headers": {"X-Team": "platform"}}
    async with running(scripted("s", fault=fault, more=more)) as federation:
        with pytest.raises(AllStoresFailed) as failed:
            await federation.recall(RecallRequest(query="Hermes"))
    assert isinstance(failed.value.answer, RecallResult)
    assert failed.value.answer.engines[0].detail == "says: ***, ***, authorization: *** at http://***@host"
    assert "other-token-1" not in str(failed.value)
    assert ListStoresRequest().probe is False
