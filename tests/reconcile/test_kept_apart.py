"""What is no conflict, whatever the words: other scopes, bounds, events, parts, rules and their exceptions."""

from __future__ import annotations

import pytest

from reconcile.world import conflicts, fact, file, live, memory


@pytest.mark.parametrize(
    ("query", "one", "other"),
    [
        ("is the loom online", "loom: online", "loom-sync is offline, nobody minds."),
        ("log level of the loom", "On preview the loom logs at debug.", "loom-live: log level warning"),
        ("tensioner for the loom", "loom: tensioner 3.28.1", "loom/setup.txt: tensioner minimum 3.20 or newer"),
        ("buffers in the weaver package", "weaver/silk.py: chunk = 4096", "weaver/wool.py: chunk = 8192"),
        ("yarn share", "This winter's yarn share is 14 kg.", "Yarn share last winter: 11 kg"),
        ("uid of the loom", "Inside its container the loom runs as uid 999.", "On the host the loom has uid 100999."),
        (
            "when does the gate close",
            "Gate closes 18:45 daily",
            "Just for the fair, on 3 December, the gate closes at 4.",
        ),
        (
            "pattern software of the loom",
            "loom: patternsoft 2.1",
            "patternsoft 1.9, back in May, was the first on the loom.",
        ),
        ("loom lint catcher", "loom[hall=north] = on", "lint catcher of the loom in hall South is off"),
        ("temperature of the dye bath", "alerts: dye_bath temp > 80", "dye bath: 54 °C"),
        ("loom inspection", "The loom inspection on 3 September failed.", "Loom inspection of 14 November: ok"),
        ("contact person for Brinks", "main contact for Brinks: Ada Roth", "Brinks: deputy contact Bo Lind"),
        ("loom fair", "Loom fair: Thu 10 Dec 18:00 Hamburg time", "Loom fair Thu 10 Dec, noon New York"),
        ("rows of the loom per page", "The loom gives 500 rows per page.", "Loom: ask them for pages of 1000 rows"),
        ("loom timeout", "loom: connect_timeout 5s", "The read timeout of the loom is 60 s."),
        ("Ada and Bo vacation", "Ada: vacation 21 Dec", "Bo is on holiday from 14 December."),
        ("birthday of Ada", "Ada: birthday 8 April", "Ada's sister has her birthday on 18 April."),
        ("which dye does the loom use", "loom: dye: indigo", "The loom used madder until the move."),
        ("model of the loom", "loom: model = qwen3", "We tried llama3 for the loom, it was too slow."),
        ("how many belts does the loom have", "loom: 6 belts", "Two belts of the loom were replaced in spring."),
        ("editor of Ada", "Ada uses Helix.", "Ada helped Bo set up Emacs"),
        ("where does Ada live", "Ada lives in Grenna.", "Ada is in Malmö this week for the fair"),
        ("loom archive", "loom/archive.csv.gz: 3 parts", "Was the loom archive 4 parts?"),
        ("loom encoding", "Markdown of the loom is UTF-8.", "CSV exports of the loom are Latin-1"),
        ("loom fee", "Loom Basic: fee 90 euros per year", "Loom Plus: fee 11 euros per month"),
        ("patterns of the loom", "loom v0.8: keep = 14 patterns", "0.8: keep raised to 14 patterns on the loom"),
        ("ssh port", "ssh on falcon listens on port 2022.", "ssh on heron listens on port 22."),
        ("loom meeting", "loom meeting 9:15", "The loom meeting is at a quarter past nine."),
        ("mapping of the loom", "loom: mapping 8081:3000", "The loom has mapping 3000."),
    ],
)
def test_other_scopes_bounds_events_and_exceptions_do_not_conflict(query: str, one: str, other: str) -> None:
    assert conflicts(query, live(one), memory(other)) == ()


def test_the_text_of_a_keyed_fact_says_in_which_region_its_value_holds() -> None:
    told = fact("loom", "flag.weft", "on", "flag weft of the loom in region north is on")

    assert conflicts("flag weft of the loom", live("loom: region=south weft=off"), told) == ()


def test_all_of_an_audience_is_everybody() -> None:
    found = conflicts(
        "weft flag", live("weft → ON (all customers)"), memory("weft is off for everyone since the outage")
    )

    assert [one.winner for one in found] == ["live:1"]


def test_a_service_and_the_place_it_is_reached_at_are_one_conflict() -> None:
    one = file("The loom's crash reports land on our GlitchTip, crash.loom.example")

    found = conflicts("crash reports of the loom", one, memory("the loom sends crash reports to sentry.io/loom"))

    assert len(found) == 1
