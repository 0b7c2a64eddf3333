"""Adding, removing and configuring stores: all or nothing, in force at once, and safe."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import pytest
from pydantic import SecretStr
from support.data import running, scripted
from support.fake_seren import FakeSeren, serving

from callosum_mcp.adapters import registry
from callosum_mcp.errors import (
    DuplicateStore,
    InvalidInput,
    ProtectedStore,
    SettingsError,
    UnknownStore,
)
from callosum_mcp.federation.administration import Administration, AdminPolicy, shown_url, store_out
from callosum_mcp.federation.federation import Federation, State
from callosum_mcp.federation.overlay import Overlay
from callosum_mcp.federation.stores import Store, StoreSet
from callosum_mcp.models.knobs import Knobs
from callosum_mcp.models.requests import (
    AddStoreRequest,
    ListStoresRequest,
    RecallRequest,
    RemoveStoreRequest,
)
from callosum_mcp.models.results import Change, EngineOut
from callosum_mcp.models.values import ProbeReport, StoreSpec
from callosum_mcp.testing import ScriptedStore, hit

ASK = RecallRequest(query="which port does Hermes use")


def tokens(variable: str, keyring: str) -> SecretStr | None:
    if variable == "CALLOSUM_UNSET":
        raise SettingsError("environment variable CALLOSUM_UNSET is not set")
    return SecretStr(f"value of {variable}") if variable else None


def administration(federation: Federation, overlay: Path | None = None, **policy: Any) -> Administration:
    return Administration(federation, Overlay(overlay, tokens), tokens, AdminPolicy(**policy))


@pytest.fixture(autouse=True)
def scripted_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.BUILT_IN, "scripted", ("callosum_mcp.testing", "ScriptedStore"))


@pytest.fixture
async def fake() -> AsyncGenerator[FakeSeren]:
    async with serving("memory") as store:
        yield store


@pytest.fixture
async def federation() -> AsyncGenerator[Federation]:
    base = scripted("base", hit("base", "1", "one"))
    async with running(base, deadline_s=10, per_store_timeout_s=10) as federation:
        yield federation


@pytest.fixture
def admin(federation: Federation) -> Administration:
    return administration(federation)


def new(url: str, **more: Any) -> AddStoreRequest:
    values: dict[str, Any] = {"name": "mem", "type": "seren_memory", "url": url, **more}
    return AddStoreRequest(**values)


async def test_an_added_store_is_probed_then_searched_and_a_removed_one_is_not(
    fake: FakeSeren, federation: Federation, admin: Administration
) -> None:
    added = await admin.add_store(new(f"{fake.url}/", weight=2.0, tier="live-infra"))
    assert (added.active, added.added.managed, added.added.weight) == (2, True, 2.0)
    assert added.added.health is not None
    assert added.added.health.model_copy(update={"ms": None}) == EngineOut(
        engine="mem", status="up", detail="SerenMemory: 36 short, 8 near, 17 long"
    )
    assert [asked.path for asked in fake.requests] == ["/"]
    assert {shown.store for shown in (await federation.recall(ASK)).hits} == {"base", "mem"}
    removed = await admin.remove_store(RemoveStoreRequest(name="mem"))
    assert (removed.removed, removed.active) == ("mem", 1)
    assert {shown.store for shown in (await federation.recall(ASK)).hits} == {"base"}


async def test_a_store_that_does_not_answer_is_added_and_the_answer_says_so(admin: Administration) -> None:
    async with serving("memory") as gone:
        url = gone.url
    added = await admin.add_store(new(url))
    assert added.added.health is not None
    assert (added.added.health.status, added.added.health.reason) == ("down", "refused")


async def test_a_name_is_taken_once(admin: Administration) -> None:
    with pytest.raises(DuplicateStore, match="name: a store named 'base' exists already"):
        await admin.add_store(new("http://127.0.0.1:9", name="base"))


@pytest.mark.promise("6a")
@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("file:///etc/passwd", "url: must start with http:// or https:// and name a host"),
        ("127.0.0.1:7420", "url: must start with http:// or https:// and name a host"),
        ("http://", "url: must start with http:// or https:// and name a host"),
        ("http://127.0.0.1:0", "url: must start with http:// or https:// and name a host"),
        ("http://127.0.0.1:99999", "url: cannot be read"),
        ("http://127.0.0.1:x", "url: cannot be read"),
        ("http://[::1", "url: cannot be read"),
        ("http://127.0.0.1/a b", "url: must not hold spaces or control characters"),
        ("http://user:secret@127.0.0.1", "url: must not hold a password; use token_env"),
        ("http://169.254.169.254/latest", "url: host '169.254.169.254' is the metadata service of a cloud; only if"),
        ("http://0x7f.1", "url: host '0x7f.1' is an address in an unusual form; write it in full, as 127.0.0.1"),
        ("http://evil.example#@127.0.0.1", "url: host 'evil.example' is neither loopback nor in the setting"),
    ],
)
async def test_a_url_that_leads_elsewhere_is_refused(
    federation: Federation, admin: Administration, url: str, said: str
) -> None:
    before = federation.state
    with pytest.raises(InvalidInput) as refused:
        await admin.add_store(new(url))
    assert str(refused.value).startswith(said)
    assert "secret" not in str(refused.value)
    assert (federation.state, refused.value.field) == (before, "url")


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ({"token_env": "AWS_SECRET"}, "token_env: must match CALLOSUM_\\*, SEREN_\\*"),
        ({"token_env": "CALLOSUM_UNSET"}, "token_env: environment variable CALLOSUM_UNSET is not set"),
        ({"type": "notes"}, "type: a notes store names a folder"),
        ({"type": "seren_memroy"}, "type: 'seren_memroy' is unknown; did you mean 'seren_memory'"),
    ],
)
async def test_a_store_that_may_not_be_is_refused(
    federation: Federation, admin: Administration, request_: dict[str, str], said: str
) -> None:
    before = federation.state
    with pytest.raises(InvalidInput, match=f"^{said}"):
        await admin.add_store(new("http://127.0.0.1:9", **request_))
    assert federation.state == before


async def test_a_token_is_sent_to_its_store_and_shown_nowhere(fake: FakeSeren, admin: Administration) -> None:
    added = await admin.add_store(new(fake.url, token_env="CALLOSUM_TOKEN"))
    listed = await admin.list_stores(ListStoresRequest())
    assert fake.requests[0].headers["authorization"] == "Bearer value of CALLOSUM_TOKEN"
    assert added.added.auth
    assert "value of" not in f"{added.wire()} {listed.wire()}"


async def test_sixty_four_stores_are_the_most(admin: Administration, federation: Federation) -> None:
    stores = federation.state.stores
    for n in range(63):
        stores = stores.with_store(scripted(f"s{n}"))
    federation.state = type(federation.state)(stores=stores, knobs=federation.state.knobs)
    with pytest.raises(InvalidInput, match=r"^name: 64 stores are the most"):
        await admin.add_store(new("http://127.0.0.1:9"))


async def test_an_overlay_that_cannot_be_written_adds_nothing(
    fake: FakeSeren, federation: Federation, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    admin = administration(federation, tmp_path / "file" / "stores.json")
    before = federation.state
    with pytest.raises(SettingsError, match="cannot be written"):
        await admin.add_store(new(fake.url))
    assert federation.state == before


async def test_only_managed_stores_are_removed(federation: Federation) -> None:
    with pytest.raises(ProtectedStore, match="store 'base' is a base store: remove it from the built-in defaults"):
        await administration(federation).remove_store(RemoveStoreRequest(name="base"))
    with pytest.raises(ProtectedStore, match=r"remove it from .*callosum\.yaml"):
        await administration(federation, config_file=Path("callosum.yaml")).remove_store(
            RemoveStoreRequest(name="base")
        )
    with pytest.raises(UnknownStore, match=r"no store named 'bass'; did you mean 'base'\?"):
        await administration(federation).remove_store(RemoveStoreRequest(name="bass"))


async def test_a_removed_store_answers_the_calls_that_are_under_way_and_is_then_closed() -> None:
    arrived, gate = anyio.Event(), anyio.Event()

    class Slow(ScriptedStore):
        async def search(self, query: Any) -> Any:
            arrived.set()
            await gate.wait()
            assert not self.closed
            return await super().search(query)

    spec = StoreSpec(name="slow", type="scripted", managed=True)
    adapter = Slow(spec, [hit("slow", "1", "one", last_seen=1.0)])
    found: list[str] = []
    async with running(Store.of(spec, adapter), scripted("base")) as federation:
        admin = administration(federation)

        async def recall() -> None:
            found.extend(shown.id for shown in (await federation.recall(ASK)).hits)

        with anyio.fail_after(5):
            async with anyio.create_task_group() as group:
                group.start_soon(recall)
                await arrived.wait()
                await admin.remove_store(RemoveStoreRequest(name="slow"))
                assert not adapter.closed
                gate.set()
    assert (found, adapter.closed) == (["slow:1"], True)


KNOBS: list[tuple[str, Any]] = [
    ("fusion_mode", "bogus"),
    ("k", 0),
    ("k", 10_001),
    ("k", "abc"),
    ("k", 1.5),
    ("authority_margin", -0.1),
    ("authority_margin", 1.1),
    ("min_per_store", -1),
    ("min_per_store", 101),
    ("edges_enabled", "maybe"),
    ("edge_budget", -1),
    ("edge_budget", 51),
    ("satellite_budget", -1),
    ("satellite_budget", 51),
    ("n_results", 0),
    ("n_results", 101),
    ("budget_tokens", 199),
    ("budget_tokens", 20_001),
    ("fetch_multiplier", 0),
    ("fetch_multiplier", 51),
    ("per_store_timeout_s", 0),
    ("per_store_timeout_s", 301),
    ("per_store_timeout_s", float("nan")),
    ("deadline_s", 0),
    ("deadline_s", 601),
    ("deadline_s", float("inf")),
    ("half_life_days", 0),
    ("half_life_days", 36_501),
]


@pytest.mark.parametrize(("knob", "value"), KNOBS)
async def test_a_knob_out_of_its_bound_changes_nothing(
    federation: Federation, admin: Administration, knob: str, value: object
) -> None:
    before = federation.state
    with pytest.raises(InvalidInput) as refused:
        await admin.configure({"n_results": 7, "stores": [{"name": "base", "weight": 3}], knob: value})
    assert (refused.value.field, str(refused.value).partition(":")[0]) == (knob, knob)
    assert federation.state == before


@pytest.mark.parametrize("knob", sorted(Knobs.model_fields))
async def test_every_knob_refuses_another_type(admin: Administration, knob: str) -> None:
    values: list[Any] = [[], {"a": 1}, "a text"]
    for value in values:
        with pytest.raises(InvalidInput, match=f"^{knob}: "):
            await admin.configure({knob: value})


@pytest.mark.parametrize("knob", sorted(Knobs.model_fields))
async def test_every_knob_is_told_as_it_is_when_nothing_changes(admin: Administration, knob: str) -> None:
    assert (await admin.configure({knob: getattr(Knobs(deadline_s=10, per_store_timeout_s=10), knob)})).changed == []


@pytest.mark.promise("4f")
@pytest.mark.parametrize(
    ("changes", "error", "said"),
    [
        ({"n_result": 5}, InvalidInput, r"n_result: is unknown; did you mean 'n_results'\?"),
        ({"stores": [{"name": "bose", "weight": 1}]}, UnknownStore, r"no store named 'bose'; did you mean 'base'\?"),
        (
            {"stores": [{"name": "base", "weight": 101}]},
            InvalidInput,
            r"stores\.0\.weight: must be less than or equal to 100",
        ),
        (
            {"stores": [{"name": "base", "flor": 0.1}]},
            InvalidInput,
            r"stores\.0\.flor: is unknown; did you mean 'floor'\?",
        ),
        ({"stores": [{"weight": 1}]}, InvalidInput, r"stores\.0\.name: is required"),
        ({"stores": ["base"]}, InvalidInput, r"stores\.0: must be \{name, weight\?, floor\?, enabled\?\}"),
        ({"stores": "base"}, InvalidInput, "stores: must be a list of"),
    ],
)
async def test_a_change_that_is_wrong_anywhere_changes_nothing(
    federation: Federation, admin: Administration, changes: dict[str, Any], error: type[Exception], said: str
) -> None:
    before = federation.state
    with pytest.raises(error, match=f"^{said}"):
        await admin.configure({"k": 7, **changes})
    assert federation.state == before


async def test_changes_are_told_old_and_new_and_in_force_at_once(federation: Federation, admin: Administration) -> None:
    result = await admin.configure(
        {"k": 7, "edges_enabled": False, "n_results": None, "stores": [{"name": "base", "weight": 2, "enabled": False}]}
    )
    assert result.changed == [
        Change(setting="k", old=60, new=7),
        Change(setting="edges_enabled", old=True, new=False),
        Change(setting="stores.base.weight", old=1.0, new=2.0),
        Change(setting="stores.base.enabled", old=True, new=False),
    ]
    assert (result.active, type(result.changed[0].new)) == (0, int)
    with pytest.raises(InvalidInput, match="stores: all are disabled"):
        await federation.recall(ASK)
    await admin.configure({"stores": [{"name": "base", "enabled": True}]})
    assert [shown.id for shown in (await federation.recall(ASK)).hits] == ["base:1"]


@pytest.mark.promise("4b")
async def test_a_call_keeps_the_settings_it_started_with() -> None:
    arrived, gate = anyio.Event(), anyio.Event()

    class Slow(ScriptedStore):
        async def search(self, query: Any) -> Any:
            arrived.set()
            await gate.wait()
            return await super().search(query)

    spec = StoreSpec(name="slow", type="scripted")
    store = Store.of(spec, Slow(spec, [hit("slow", str(n), f"x{n}", relevance=0.1) for n in range(5)]))
    async with running(store) as federation:
        found: list[str] = []

        async def recall() -> None:
            found.extend(shown.id for shown in (await federation.recall(ASK)).hits)

        with anyio.fail_after(5):
            async with anyio.create_task_group() as group:
                group.start_soon(recall)
                await arrived.wait()
                changes = [{"name": "slow", "floor": 0.5, "weight": 0}]
                await administration(federation).configure({"n_results": 1, "stores": changes})
                gate.set()
        assert len(found) == 5
        assert (await federation.recall(ASK)).answer_kind == "none"


async def test_a_list_shows_every_store_and_probes_when_asked(federation: Federation, admin: Administration) -> None:
    quiet = await admin.list_stores(ListStoresRequest())
    assert (quiet.stores[0].health, quiet.settings, quiet.notes) == (None, federation.state.knobs, None)
    probed = await admin.list_stores(ListStoresRequest(probe=True))
    health = probed.stores[0].health
    assert health is not None and (health.status, health.detail) == ("up", "scripted: 1 hits")
    assert probed.stores[0].entries == 1
    assert {"notes", "scripted", "seren_loci", "seren_memory"} <= set(probed.types)


class Watched(ScriptedStore):
    """Counts the probes that it is answering, of which none ends before the gate opens."""

    def __init__(self, spec: StoreSpec, gate: anyio.Event) -> None:
        super().__init__(spec, [hit("slow", "1", "Hermes")])
        self.opened, self.probes, self.begun = gate, 0, anyio.Event()

    async def probe(self) -> ProbeReport:
        self.probes += 1
        self.begun.set()
        await self.opened.wait()
        return await super().probe()


@pytest.mark.promise("2h")
async def test_fifty_who_watch_a_store_that_hangs_probe_it_once_and_questions_are_answered_meanwhile() -> None:
    spec = StoreSpec(name="slow", type="scripted", concurrency=2)
    store = Watched(spec, anyio.Event())
    federation = Federation(State(stores=StoreSet((Store.of(spec, store),)), knobs=Knobs()))
    admin, seen = administration(federation), list[str]()

    async def watch() -> None:
        listed = await admin.list_stores(ListStoresRequest(probe=True))
        seen.append(str(listed.stores[0].health and listed.stores[0].health.status))

    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            for _ in range(50):
                group.start_soon(watch)
            await store.begun.wait()
            assert (await federation.recall(ASK)).hits
            store.opened.set()
    assert (seen, store.probes) == (["up"] * 50, 1)


async def test_a_list_says_how_each_store_fared(federation: Federation) -> None:
    await federation.recall(ASK)
    admin = administration(federation, config_file=Path("callosum.yaml"), notes=("a note",))
    listed = await admin.list_stores(ListStoresRequest())
    last = listed.stores[0].last
    assert (listed.stores[0].calls, last and last.status, listed.config_file) == (1, "up", "callosum.yaml")
    assert listed.notes == ["a note"]


async def test_closing_closes_every_store(federation: Federation, admin: Administration) -> None:
    async with federation.state.stores.get("base").connection.adapter() as adapter:
        pass
    await admin.aclose()
    assert isinstance(adapter, ScriptedStore) and adapter.closed


@pytest.mark.promise("7a")
@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://user:pw@host:1/a?token=x#y", "http://host:1/a"),
        ("notes", "notes"),
        ("https://host", "https://host"),
    ],
)
def test_a_shown_url_holds_no_secret(url: str, shown: str) -> None:
    assert shown_url(url) == shown
    spec = StoreSpec(name="s", type="seren_memory", url=url, token=SecretStr("hunter2"))
    assert "hunter2" not in str(store_out(Store.of(spec)).wire())
