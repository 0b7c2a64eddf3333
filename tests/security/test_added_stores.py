"""Stores that are added at run time: who may add which, through every door, and what a restart makes of them."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp_types import ElicitRequestParams, ElicitResult, ErrorData
from support.fake_seren import FakeSeren, serving
from surface.world import Served, http_target, served, sse_target, structured, write_config

from callosum_mcp.app import Application, build
from callosum_mcp.errors import InvalidInput
from callosum_mcp.models.requests import AddStoreRequest, ListStoresRequest, RecallRequest
from callosum_mcp.settings import load
from callosum_mcp.surface import consent

from .names import Names, dialled_nowhere, resolving

UNLISTED = "url: host 'store.example' is neither loopback nor in the setting security.allow_hosts"
ERAS = ["auto", "legacy"]
WAYS = [(target, era) for target in (http_target, sse_target) for era in ERAS]
IDS = [f"{target.__name__.removesuffix('_target')}-{era}" for target, era in WAYS]


@pytest.fixture
async def fake() -> AsyncGenerator[FakeSeren]:
    async with serving("memory") as store:
        yield store


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Names:
    """Every name leads to this machine."""
    return resolving(monkeypatch, ["127.0.0.1"])


def application(folder: Path, *allow_hosts: str) -> Application:
    base = {"name": "base", "type": "seren_memory", "url": "http://127.0.0.1:9"}
    config = write_config(folder, [base], security={"allow_hosts": list(allow_hosts)})
    return build(load(config, {}, folder))


def at(fake: FakeSeren, host: str = "store.example") -> str:
    return f"http://{host}:{fake.url.rpartition(':')[2]}"


def new(url: str) -> AddStoreRequest:
    return AddStoreRequest(name="more", type="seren_memory", url=url)


async def listed(made: Application) -> list[str]:
    return [store.name for store in (await made.administration.list_stores(ListStoresRequest())).stores]


def write_overlay(folder: Path, **more: Any) -> None:
    entry = {"name": "more", "type": "seren_memory", "url": "http://127.0.0.1:9", **more}
    (folder / "runtime-stores.json").write_text(json.dumps([entry]), encoding="utf-8")


async def test_a_host_of_the_setting_is_added_and_asked(fake: FakeSeren, names: Names, tmp_path: Path) -> None:
    made = application(tmp_path, "*.example")
    async with made.running():
        added = await made.administration.add_store(new(at(fake, "Store.EXAMPLE.")))
        assert added.added.health is not None and added.added.health.status == "up"
        assert added.added.url == at(fake)
        assert (await made.federation.recall(RecallRequest(query="Hermes", stores=["more"]))).hits
    again = application(tmp_path, "*.example")
    async with again.running():
        assert (await again.federation.recall(RecallRequest(query="Hermes", stores=["more"]))).hits


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            "169.254.169.254",
            "url: host 'store.example' leads to 169.254.169.254, the metadata service of a cloud; only",
        ),
        ("0.0.0.0", "url: host 'store.example' leads to 0.0.0.0, an unspecified address; only"),
        ("fe80::1", "url: host 'store.example' leads to fe80::1, a link-local address; only"),
    ],
)
async def test_a_host_of_the_setting_that_leads_to_a_forbidden_address_is_refused(
    names: Names, tmp_path: Path, answer: str, said: str
) -> None:
    names.then(["127.0.0.1", answer])
    made = application(tmp_path, "store.example")
    with pytest.raises(InvalidInput) as refused:
        await made.administration.add_store(new("http://store.example:9"))
    assert str(refused.value).startswith(said)
    assert await listed(made) == ["base"]


async def test_a_name_is_not_even_looked_up_where_no_answer_could_allow_it(names: Names, tmp_path: Path) -> None:
    made = application(tmp_path, "other.example")
    with pytest.raises(InvalidInput, match=f"^{UNLISTED}$"):
        await made.administration.add_store(new("http://store.example:9"))
    assert names.asked == []


async def test_a_network_of_the_setting_allows_a_name_that_leads_into_it(
    fake: FakeSeren, names: Names, tmp_path: Path
) -> None:
    made = application(tmp_path, "127.0.0.0/8")
    async with made.running():
        assert (await made.administration.add_store(new(at(fake)))).active == 2
    names.then(["127.0.0.1", "10.0.0.1"])
    elsewhere = application(tmp_path / "..", "127.0.0.0/8")
    with pytest.raises(InvalidInput, match=f"^{UNLISTED}$"):
        await elsewhere.administration.add_store(new(at(fake)).model_copy(update={"name": "other"}))


async def test_a_name_that_nobody_knows_today_is_added_and_down(names: Names, tmp_path: Path) -> None:
    names.then([])
    made = application(tmp_path, "store.example")
    async with made.running():
        health = (await made.administration.add_store(new("http://store.example:9"))).added.health
    assert health is not None and (health.status, health.detail) == ("down", "its host name is unknown")


@pytest.mark.promise("6a")
@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"url": "http://169.254.169.254/latest"}, "url: host '169.254.169.254' is the metadata service of a cloud"),
        ({"url": "http://store.example"}, UNLISTED),
        ({"url": "http://10.0.0.1"}, "url: host '10.0.0.1' is neither loopback nor"),
        ({"url": "http://0x7f.1"}, "url: host '0x7f.1' is an address in an unusual form"),
        ({"url": "file:///etc/passwd"}, "url: must start with http"),
        ({"url": "postgresql://localhost/db", "type": "postgres"}, "url: must start with http"),
        ({"url": "/etc", "type": "notes"}, "type: a notes store names a folder"),
        ({"url": "stdio:npx", "type": "server-memory"}, "url: must start with http"),
        ({"url": "http://user:pw@127.0.0.1"}, "url: must not hold a password"),
        ({"url": "http://store.example", "agreed_hosts": ["other.example"]}, UNLISTED),
        ({"url": "http://169.254.169.254", "agreed_hosts": ["169.254.169.254"]}, "url: host '169.254.169.254' is the"),
    ],
)
async def test_an_overlay_is_held_to_the_same_rules(tmp_path: Path, more: dict[str, Any], said: str) -> None:
    write_overlay(tmp_path, **more)
    made = application(tmp_path)
    (note,) = (await made.administration.list_stores(ListStoresRequest())).notes or [""]
    assert note.startswith(f"overlay: store 'more' left out: {said}")
    assert await listed(made) == ["base"]


@pytest.mark.promise("6a")
async def test_a_command_in_an_overlay_is_nothing(tmp_path: Path) -> None:
    write_overlay(tmp_path, type="server-memory", transport={"command": "touch"}, command="touch")
    made = application(tmp_path)
    (store,) = [one for one in made.federation.state.stores.stores if one.spec.managed]
    assert (store.spec.transport, store.spec.options, store.spec.headers) == (None, {}, {})


@pytest.mark.parametrize("kind", ["server-memory", "seren_memory"])
async def test_rest_refuses_what_it_cannot_ask_about(kind: str, tmp_path: Path) -> None:
    with served(application(tmp_path)) as running, running.client() as client:
        answer = client.post("/stores", json={"name": "more", "type": kind, "url": "http://store.example/sse"})
        stores = client.get("/stores").json()["stores"]
    assert (answer.status_code, answer.json()["detail"][0]["msg"]) == (422, UNLISTED)
    assert [store["name"] for store in stores] == ["base"]


class Person:
    """Whoever sits before the client."""

    def __init__(self, answer: ElicitResult | ErrorData) -> None:
        self.answer = answer
        self.asked: list[str] = []

    async def __call__(self, context: Any, params: ElicitRequestParams) -> ElicitResult | ErrorData:
        self.asked.append(params.message)
        return self.answer


YES = ElicitResult(action="accept", content={"allow": True})
NOES = [
    ElicitResult(action="decline"),
    ElicitResult(action="cancel"),
    ElicitResult(action="accept", content={"allow": False}),
    ElicitResult(action="accept", content={}),
    ElicitResult(action="accept", content={"allow": "true"}),
    ElicitResult(action="accept"),
]


async def add(running: Served, way: Any, person: Person | None, **arguments: Any) -> Any:
    target, era = way
    asked = {"name": "more", "type": "seren_memory", **arguments}
    async with Client(target(running.url), mode=era, read_timeout_seconds=20, elicitation_callback=person) as client:
        return await client.call_tool("add_store", asked)


@pytest.mark.promise("6b")
@pytest.mark.parametrize("way", WAYS, ids=IDS)
async def test_a_person_says_yes_to_a_host(
    fake: FakeSeren, names: Names, tmp_path: Path, way: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = Person(YES)
    dialled = dialled_nowhere(monkeypatch)
    made = build(load(application(tmp_path).loaded.file, {"CALLOSUM_T": "canary-token"}, tmp_path))
    with served(made) as running:
        names.then(["93.184.216.34"])
        result = await add(running, way, person, url="http://store.example:1/", token_env="CALLOSUM_T")
        assert not result.is_error, result
        assert structured(result)["active"] == 2
    assert set(dialled) == {"93.184.216.34"}
    assert person.asked == [
        "Add the memory store 'more' (type seren_memory) at http://store.example:1? It is not on this machine and not "
        "in security.allow_hosts. Every question will be sent there, and the token in CALLOSUM_T."
    ]
    kept = json.loads((tmp_path / "runtime-stores.json").read_text(encoding="utf-8"))
    assert kept == [
        {
            "name": "more",
            "type": "seren_memory",
            "url": "http://store.example:1",
            "weight": 1.0,
            "floor": 0.0,
            "token_env": "CALLOSUM_T",
            "agreed_hosts": ["store.example"],
        }
    ]
    again = build(load(made.loaded.file, {"CALLOSUM_T": "canary-token"}, tmp_path))
    assert await listed(again) == ["base", "more"]


@pytest.mark.promise("6b")
@pytest.mark.parametrize("answer", NOES)
@pytest.mark.parametrize("way", WAYS, ids=IDS)
async def test_whatever_is_not_a_yes_is_a_no(names: Names, tmp_path: Path, way: Any, answer: ElicitResult) -> None:
    person = Person(answer)
    with served(application(tmp_path)) as running:
        result = await add(running, way, person, url="http://store.example:9")
        assert result.is_error
        assert result.content[0].text == f"{UNLISTED}, and nobody agreed to it when asked"
        assert await listed(running.application) == ["base"]
    assert (len(person.asked), names.asked) == (1, [])


@pytest.mark.promise("6b")
@pytest.mark.parametrize("way", WAYS, ids=IDS)
async def test_a_client_that_cannot_ask_is_told_the_setting(names: Names, tmp_path: Path, way: Any) -> None:
    with served(application(tmp_path)) as running:
        result = await add(running, way, None, url="http://store.example:9")
    assert (result.is_error, result.content[0].text) == (True, UNLISTED)


@pytest.mark.parametrize("way", WAYS, ids=IDS)
async def test_a_yes_does_not_reach_what_the_person_did_not_see(names: Names, tmp_path: Path, way: Any) -> None:
    names.then(["192.168.1.1"])
    with served(application(tmp_path)) as running:
        result = await add(running, way, Person(YES), url="http://store.example:9")
    assert result.content[0].text == (
        "url: host 'store.example' leads to 192.168.1.1, which is not public; list the host in security.allow_hosts"
    )


@pytest.mark.parametrize("way", WAYS, ids=IDS)
@pytest.mark.parametrize("url", ["http://169.254.169.254", "http://0.0.0.0", "http://[fe80::1]", "file:///etc/passwd"])
async def test_nobody_is_asked_about_what_no_answer_could_allow(tmp_path: Path, way: Any, url: str) -> None:
    person = Person(YES)
    with served(application(tmp_path)) as running:
        assert (await add(running, way, person, url=url)).is_error
        assert (await add(running, way, person, url="http://store.example", type="seren_memroy")).is_error
        assert (await add(running, way, person, url="http://store.example", name="base")).is_error
        assert (await add(running, way, person, url="http://store.example", token_env="HOME")).is_error
    assert person.asked == []


async def test_a_client_that_refuses_to_ask_is_a_no(names: Names, tmp_path: Path) -> None:
    person = Person(ErrorData(code=-32603, message="no window"))
    with served(application(tmp_path)) as running:
        result = await add(running, (http_target, "legacy"), person, url="http://store.example:9")
    assert result.content[0].text == f"{UNLISTED}, and nobody agreed to it when asked"


async def test_a_person_who_does_not_answer_is_not_waited_for_for_ever(
    names: Names, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consent, "PATIENCE_S", 0.05)

    class Absent(Person):
        async def __call__(self, context: Any, params: ElicitRequestParams) -> ElicitResult | ErrorData:
            await anyio.sleep_forever()
            return self.answer

    with served(application(tmp_path)) as running:
        result = await add(running, (http_target, "legacy"), Absent(YES), url="http://store.example:9")
    assert result.content[0].text == f"{UNLISTED}, and nobody agreed to it when asked"


async def raw(running: Served, arguments: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A call of a stateless client that answers whatever it likes."""
    meta: dict[str, Any] = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
    }
    params = {"name": "add_store", "arguments": arguments, "_meta": meta, **more}
    headers = {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "add_store",
    }
    with running.client(headers=headers) as client:
        answer = client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    text = answer.text
    line = next((one[5:] for one in text.splitlines() if one.startswith("data:")), text)
    return json.loads(line)["result"]


async def test_an_answer_counts_once_and_for_the_question_it_was_asked(
    names: Names, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialled_nowhere(monkeypatch)
    names.then(["93.184.216.34"])
    arguments = {"name": "more", "type": "seren_memory", "url": "http://store.example:1"}
    other = {**arguments, "url": "http://evil.example:1"}
    yes = {"action": "accept", "content": {"allow": True}}
    with served(application(tmp_path)) as running:
        made_up = await raw(running, arguments, inputResponses={"allow-0": yes})
        assert made_up["resultType"] == "input_required"
        (key,) = made_up["inputRequests"]
        assert (await raw(running, other, inputResponses={key: yes}))["resultType"] == "input_required"
        assert not (await raw(running, arguments, inputResponses={key: yes})).get("isError")
        assert running.application.federation.state.stores.names() == ["base", "more"]
        again = {**arguments, "name": "again"}
        assert (await raw(running, again, inputResponses={key: yes}))["resultType"] == "input_required"


async def test_questions_that_nobody_answers_are_forgotten(
    names: Names, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consent, "_OPEN", 2)
    arguments = {"name": "more", "type": "seren_memory", "url": "http://store.example:1"}
    yes = {"action": "accept", "content": {"allow": True}}
    with served(application(tmp_path)) as running:
        (first,) = (await raw(running, arguments))["inputRequests"]
        for _ in range(2):
            await raw(running, arguments)
        assert (await raw(running, arguments, inputResponses={first: yes}))["resultType"] == "input_required"
