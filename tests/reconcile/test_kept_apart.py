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


@pytest.mark.parametrize(
    ("query", "one", "other"),
    [
        ("Harbour season 2 start", "Harbour season 2 starts on 8 March 2027.", "Harbour season 1 started on 9 May."),
        ("budget of phase 2", "phase 2: budget 40,000 EUR", "Phase 1 has a budget of 25,000 EUR"),
    ],
)
def test_another_one_of_a_numbered_series_does_not_conflict(query: str, one: str, other: str) -> None:
    assert conflicts(query, file(one), memory(other)) == ()


def test_the_same_one_of_a_numbered_series_conflicts() -> None:
    one, other = file("phase 2: budget 40,000 EUR"), memory("Phase 2 has a budget of 25,000 EUR")

    assert len(conflicts("budget of phase 2", one, other)) == 1


def test_what_a_note_first_got_wrong_and_then_corrects_does_not_conflict() -> None:
    note = memory("I first noted VLAN 12 for the printers, but it is 21.")

    assert conflicts("VLAN of the printers", note, live("(printers)-[IN_VLAN]->(21)")) == ()


def test_the_diets_of_two_people_do_not_conflict() -> None:
    assert conflicts("who eats what", file("Odd Farrow: vegan"), memory("Ada Brink eats meat.")) == ()


def test_an_upper_limit_and_a_count_do_not_conflict_where_no_number_is_asked_for() -> None:
    limit = fact("loom", "belts.max", "12", "The loom never takes more than 12 belts.")

    assert conflicts("loom belt drive", limit, memory("Three loom belts run even on Sundays.")) == ()


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [
        ("The filters are cleaned every three weeks.", "filters: cleaned weekly", 1),
        ("The filters are cleaned every 10 days.", "The filters are cleaned once a month.", 1),
        ("The filters are cleaned every seven days.", "filters: cleaned weekly", 0),
        ("The filters are cleaned every 3 months.", "filters: cleaned quarterly", 0),
    ],
)
def test_a_counted_rhythm_is_compared_with_one_that_has_a_name(one: str, other: str, count: int) -> None:
    assert len(conflicts("how often are the filters cleaned", file(one), memory(other))) == count
