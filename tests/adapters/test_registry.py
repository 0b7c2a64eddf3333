"""Store types and their options: known ones are made, unknown ones are refused with the nearest name."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import EntryPoint, EntryPoints

import pytest

from callosum_mcp.adapters import registry
from callosum_mcp.adapters.base import Adapter
from callosum_mcp.adapters.engine import catalog
from callosum_mcp.adapters.options import flag, path, string
from callosum_mcp.adapters.seren_loci import SerenLoci
from callosum_mcp.adapters.seren_memory import SerenMemory
from callosum_mcp.models.values import StoreSpec, TransportSpec
from callosum_mcp.testing import ScriptedStore, hit


@pytest.fixture
def third_party(monkeypatch: pytest.MonkeyPatch) -> None:
    points = EntryPoints(
        EntryPoint(name=name, value=value, group="callosum_mcp.adapters")
        for name, value in (
            ("scripted", "callosum_mcp.testing:ScriptedStore"),
            ("broken", "no_such_package_of_ours:Adapter"),
            ("hollow", "callosum_mcp.testing:NoSuchName"),
            ("no_adapter", "callosum_mcp.testing:hit"),
        )
    )

    def entry_points(*, group: str) -> EntryPoints:
        return points.select(group=group)

    monkeypatch.setattr("importlib.metadata.entry_points", entry_points)


@pytest.mark.parametrize(("name", "cls"), [("seren_memory", SerenMemory), ("seren_loci", SerenLoci)])
def test_a_built_in_type_is_made(name: str, cls: type[Adapter]) -> None:
    assert isinstance(registry.create(StoreSpec(name="s", type=name, url="http://127.0.0.1:9")), cls)


@pytest.mark.usefixtures("third_party")
def test_a_third_partys_type_is_found_by_its_entry_point() -> None:
    assert [name for name in registry.type_names() if name not in catalog.names()] == [
        "broken",
        "hollow",
        "no_adapter",
        "notes",
        "postgres",
        "scripted",
        "seren_loci",
        "seren_memory",
    ]
    assert isinstance(registry.create(StoreSpec(name="s", type="scripted")), ScriptedStore)


@pytest.mark.usefixtures("third_party")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("broken", "type 'broken' cannot be loaded: No module named"),
        ("hollow", "type 'hollow' cannot be loaded: .*NoSuchName"),
        ("no_adapter", "type 'no_adapter' is unknown; did you mean 'no_adapter'"),
        ("seren_memori", r"type 'seren_memori' is unknown; did you mean 'seren_memory'\?"),
    ],
)
def test_a_type_that_cannot_be_made_is_refused_with_the_reason(name: str, said: str) -> None:
    with pytest.raises(ValueError, match=f"^{said}"):
        registry.create(StoreSpec(name="s", type=name))


@pytest.mark.parametrize(
    ("kind", "options", "said"),
    [
        ("seren_memory", {"serch_path": "/s"}, "option 'serch_path' is unknown for type seren_memory; did you mean"),
        ("seren_memory", {"search_path": "http://evil/s"}, "option search_path: must be a path"),
        ("seren_memory", {"search_path": "//evil/s"}, "option search_path: must be a path"),
        ("seren_memory", {"topic_search_path": "/a?b"}, "option topic_search_path: must be a path"),
        ("seren_memory", {"include_long": "yes"}, r"option include_long: must be true or false \(got 'yes'\)"),
        ("seren_loci", {"project": 7}, r"option project: must be text \(got 7\)"),
        ("seren_loci", {"widen": 1}, "option widen: must be true or false"),
    ],
)
def test_a_wrong_option_is_refused_with_its_bound(kind: str, options: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=f"^{said}"):
        registry.create(StoreSpec(name="s", type=kind, options=options))


async def test_an_adapter_without_connections_has_nothing_to_close_or_complete() -> None:
    class Plain(ScriptedStore):
        aclose = Adapter.aclose

    plain, found = Plain(StoreSpec(name="s", type="scripted")), hit("s", "1", "x")
    await plain.aclose()
    assert (await plain.complete([found]), plain.closed) == ([found], False)


def test_options_left_out_have_their_defaults() -> None:
    assert (flag({}, "a", True), string({}, "a", "x"), path({}, "a", "/p")) == (True, "x", "/p")
    assert (flag({"a": False}, "a", True), string({"a": "y"}, "a", "x"), path({"a": "/q"}, "a", "/p")) == (
        False,
        "y",
        "/q",
    )


def test_every_preset_is_a_type_with_its_own_options_and_side_effects() -> None:
    assert set(catalog.names()) <= set(registry.type_names())
    cbm, memory = registry.adapter_class("codebase-memory-mcp"), registry.adapter_class("brain.http")
    assert "project" in cbm.options and "project" not in memory.options
    assert (cbm.side_effects, memory.side_effects, cbm.changes) == ("none", "access_stats", "")
    assert memory.changes.startswith("Brain counts accesses")


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (StoreSpec(name="s", type="server-memorie"), "type 'server-memorie' is unknown; did you mean 'server-memory'?"),
        (StoreSpec(name="s", type="chroma"), "option collection: missing for type chroma"),
        (
            StoreSpec(name="s", type="chroma", options={"colection": "x"}),
            "option 'colection' is unknown for type chroma; did you mean 'collection'?",
        ),
        (StoreSpec(name="s", type="notes", transport=TransportSpec()), "transport: means nothing for type notes"),
    ],
)
def test_an_engine_that_cannot_be_is_refused_with_the_reason(spec: StoreSpec, said: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(said)}"):
        registry.create(spec)


def test_presets_are_not_loaded_for_a_type_that_is_built_in() -> None:
    script = (
        "import sys; from callosum_mcp.adapters import registry; registry.adapter_class('seren_loci');"
        "assert not [m for m in sys.modules if m.startswith('callosum_mcp.adapters.engine')]"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
