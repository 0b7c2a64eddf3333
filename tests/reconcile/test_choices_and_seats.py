"""Choices of many fields, things on hosts, scanned letters and shares: what conflicts, and its tempting twin."""

from __future__ import annotations

import pytest

from reconcile.world import conflicts, live, memory


@pytest.mark.parametrize(
    ("query", "one", "other"),
    [
        ("template engine of the loom", "loom: template engine Twig", "The loom uses Mustache as its template engine."),
        ("bug tracker of the weavers", "weavers: bug tracker Redmine", "The weavers use Jira as their bug tracker."),
        ("line endings of the loom repo", "loom: line endings CRLF", "Line endings in the loom repo are LF."),
        ("paper size of the loom labels", "loom labels: paper size A5", "The paper size of the loom labels is A4."),
        ("which host is the loom on", "loom: host = larch", "The loom is on alder."),
        ("version of the loom database", "loom: PostgreSQL 15", "The loom runs on PostgreSQL 14."),
        ("commute of Ada", "Ada: commute by bike", "Ada commutes by train."),
        ("loom share", r"loom share: \\larch\patterns", "The loom share is smb://alder/patterns"),
    ],
)
def test_two_choices_of_one_thing_conflict(query: str, one: str, other: str) -> None:
    assert len(conflicts(query, live(one), memory(other))) == 1


@pytest.mark.parametrize(
    ("query", "one", "other"),
    [
        ("which host is the loom on", "loom: host = larch", "The loom is on hold."),
        ("which host is the loom on", "loom: host = larch", "The loom is on larch."),
        ("loom share", r"loom share: \\larch\patterns", "The loom share is smb://larch/patterns"),
        ("loom share", r"loom share: \\larch\patterns", "The loom share is mounted at /mnt/patterns"),
        ("where does Ada live", "Ada lives in Grenna.", "Ada spent her holidays in Malmö."),
        ("line endings of the loom repo", "loom: *.bat files have CRLF", "Shell scripts of the loom repo have LF."),
        ("commit style of the loom", "loom: conventional commits", "The loom takes Angular style commits."),
        ("replicas of the loom", "loom: 3 replicas", "Two replicas of the loom stay alive, at a minimum."),
        ("status of the loom", "loom: closed", "Loom support: open a case by mail."),
    ],
)
def test_idioms_bounds_and_other_spellings_do_not_conflict(query: str, one: str, other: str) -> None:
    assert conflicts(query, live(one), memory(other)) == ()
