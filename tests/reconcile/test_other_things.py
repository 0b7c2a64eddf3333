"""Hits that name the words of a query and speak of another thing, and what names the right thing all the same."""

from __future__ import annotations

import pytest

from reconcile.world import conflicts, fact, file, live, memory


@pytest.mark.parametrize(
    ("query", "one", "other"),
    [
        ("redis version", "heron: redis 7.2.4", "deps.txt: redis-rs==0.25"),
        ("size of the barn", "barn: floor area 300 m²", "the shed (old barn) has 40 m² of floor"),
        ("dye quota", "Dye quota for H1: 90 litres.", "H2 dye quota 70 litres"),
        ("rent of the loom", "The rent of the loom is 40 euros.", "Loom: pay 60 euros of rent next winter"),
        ("languages of the loom", "The loom prints labels in German", "The loom shows English menus."),
        ("node version of the loom", "node -v: node 22.3.1 (loom)", "The bundler of the loom is at 4.1.2"),
    ],
)
def test_what_belongs_to_another_thing_contradicts_nothing(query: str, one: str, other: str) -> None:
    assert conflicts(query, live(one), memory(other)) == ()


def test_a_default_that_may_be_overridden_is_not_contradicted_by_an_override() -> None:
    default = file("CHUNK_SIZE = 20  # rows; each loom may override it")
    override = fact("loom", "chunk.size", "900 rows", "For the loom the default is overridden: 900 rows a chunk.")

    assert conflicts("chunk size", default, override) == ()


def test_a_key_of_another_thing_is_not_the_one_that_is_asked_for() -> None:
    other = fact(
        "loom", "clients.path", r"D:\Weavers", r"The client sheet (mind: not the dye sheet) sits in D:\Weavers"
    )
    asked = live(r"On the loom PC the dye sheet is D:\Dyes\a.xlsx.")

    assert conflicts("path of the dye sheet on the loom PC", asked, other) == ()


@pytest.mark.parametrize(
    ("query", "one", "other"),
    [
        ("keycloak version", "(keycloak)-[VERSION]->(26.1.2)", "Keycloak 23.0 is installed."),
        ("nginx on heron", "nginx on heron: stopped", "nginx is running on heron."),
        (
            "folder of the loom",
            "Loom: /srv/new (this deletes the /srv/old folder)",
            "The folder of the loom is /srv/old.",
        ),
    ],
)
def test_what_is_said_of_the_thing_itself_contradicts(query: str, one: str, other: str) -> None:
    assert [conflict.winner for conflict in conflicts(query, live(one), memory(other))] == ["live:1"]
