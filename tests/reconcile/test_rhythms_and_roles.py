"""Rhythms in days, roles that no list has, readings of scanners, things of the same kind: conflicts and twins."""

from __future__ import annotations

import pytest

from reconcile.world import conflicts, live, memory


@pytest.mark.parametrize(
    ("query", "one", "other"),
    [
        ("how often is the loom oiled", "The loom is oiled every 90 days.", "The loom is oiled once a year."),
        ("who is the dyer", "Dyer: Bo Lind", "Ada Roth is the dyer."),
        ("is the loom working", "The loom is broken.", "The loom works again."),
        ("ssh port of the loom", "loom ssh port: 2200", "Log in to the loom with ssh -p 2022"),
        ("phone of the weavery", "weavery: phone 4455-6671", "The telephone of the weavery is 4455-8080."),
        ("default branch of the loom", "loom git.default = main", "The loom's default branch is trunk."),
        ("how many shuttles may the loom drive", "loom: 12 shuttles", "The loom drives at most 4 shuttles."),
        ("load of the loom", "[OCR] l0om max load 90 kg", "The loom takes a load of 40 kg."),
        ("where do the patterns go", "Patterns go to the card index.", "All patterns are sent to the drawer."),
        ("helpdesk tool", "The helpdesk is Zammad.", "The helpdesk moved to Freshdesk."),
        ("formatter of the loom", "(loom)-[FORMATTED_WITH]->(Ruff)", "The loom is formatted with Black."),
        ("debian version of the loom", "The loom is planned and built with Debian 12.1.", "The loom runs Debian 11.9."),
    ],
)
def test_two_values_of_one_attribute_conflict(query: str, one: str, other: str) -> None:
    assert len(conflicts(query, live(one), memory(other))) == 1


@pytest.mark.parametrize(
    ("query", "one", "other"),
    [
        ("how often is the loom oiled", "The loom is oiled every 7 days.", "The loom is oiled weekly."),
        ("how often is the loom oiled", "The loom is oiled every 6 months.", "The loom is oiled twice a year."),
        (
            "backup schedule of the loom",
            "The loom is backed up daily.",
            "The backup of the loom is tested every 30 days.",
        ),
        ("is the loom working", "The loom works.", "The spare loom is broken."),
        ("status of the loom", "loom: stopped", "The loom works with wool."),
        ("which host has the loom", "The loom is on larch.", "The loom is on Debian 12."),
        ("formatter of the loom", "(loom)-[FORMATTED_WITH]->(Black)", "The loom is linted with Ruff."),
        ("template engine of the loom", "The loom uses Jinja2 templates.", "The old loom used Mako."),
        ("address of the weavery", "weavery: open a case at help@weave.lab", "weavery orders: orders@weave.lab"),
        ("accounting software", "Accounting runs on DATEV.", "The choir keeps its books in Lexware."),
        ("fair with Ada", "Ada fair: 9 Dec, 09:30 UTC", "The fair with Ada starts on 9 December at 10:30 Berlin time."),
        ("where is the reel", "In the attic the reel is in the way.", "The reel is in the cellar."),
        ("loom flag", "loom flag is on for tenant elm", "loom flag: off (default variant)"),
    ],
)
def test_the_same_rhythm_and_other_things_do_not_conflict(query: str, one: str, other: str) -> None:
    assert conflicts(query, live(one), memory(other)) == ()
