"""Attributes and values that no list knows: what is asked for is read off the query, what is said off the sentences."""

from __future__ import annotations

import pytest

from callosum_mcp.reconcile.question import understand
from callosum_mcp.reconcile.wording import alike
from reconcile.world import conflicts, fact, file, hit, live, memory


@pytest.mark.parametrize(
    ("query", "heads"),
    [
        ("warp tension of the loom", {"tension"}),
        ("Farbe vom Webstuhl", {"farb"}),
        ("couleur du métier", {"couleur"}),
        ("loom's shuttle brand", {"brand"}),
        ("織機の色", {"色"}),
        ("which yarn does the loom take", {"yarn"}),
        ("who dyes the wool", {"dyes"}),
        ("how many looms do we have", {"loom"}),
        ("loom tension", {"loom", "tension"}),
        ("is the loom greased", set[str]()),
        ("loom", set[str]()),
    ],
)
def test_word_order_tells_which_word_names_the_attribute(query: str, heads: set[str]) -> None:
    assert understand(query).focus.heads == {word.removesuffix("s") if word == "looms" else word for word in heads}


@pytest.mark.parametrize(
    ("query", "one", "other"),
    [
        ("reed type of the loom", "loom: reed type: stainless", "(loom)-[REED_TYPE]->(bamboo)"),
        ("reedType of the loom", 'loom/settings.toml: reed_type = "stainless"', "The reed type of the loom is bamboo."),
        ("shed cfg of the loom", "loom: shed cfg: rising", "loom: shed config: sinking"),
        ("spindle oil of the loom", "The loom takes spindle oil QX-22.", "loom, spindle oil: QX-32"),
        ("which wax does the loom need", "loom: wax: Brantol", "The loom needs wax from Kestor, a whole block."),
        ("where is the loom key", "The loom key is with Hedda.", "loom key: with the Brinks next door"),
        ("織機の色", "織機の色: 青磁", "織機の色は茜です。"),
    ],
)
def test_assigned_values_of_an_unknown_attribute_conflict_with_each_other_and_with_phrases(
    query: str, one: str, other: str
) -> None:
    (found,) = conflicts(query, file(one), memory(other))

    assert (found.winner, found.losers) == ("files:1", ("memory:1",))


@pytest.mark.parametrize(
    ("query", "one", "other"),
    [
        ("reed type of the loom", "loom: reed type: stainless", "loom: reed type: stainless steel"),
        ("reed type of the loom", "loom: reed type: stainless", "The reed type of the loom is easy to clean."),
        ("reed type of the loom", "loom: reed type: stainless", "loom: heddle type: bamboo"),
        ("reed type of the loom", "loom: reed type: stainless", "The spare loom-frame has reed type bamboo."),
        ("reed type of the loom", "loom: reed type: stainless", "Maybe reed type bamboo for the loom?"),
        ("tools of the loom", "loom: tools: shuttle", "loom: tools: bobbin"),
        ("loom", "loom: reed type: stainless", "loom: delivery by: Brinks"),
        ("mail relay of the loom", "loom: relay = relay.weave.example", "loom: relay = relay.example.com"),
    ],
)
def test_refinements_other_attributes_other_things_lists_and_samples_do_not(query: str, one: str, other: str) -> None:
    assert conflicts(query, file(one), memory(other)) == ()


def test_a_query_without_an_attribute_compares_what_has_one_label() -> None:
    (found,) = conflicts("loom", file("loom: reed type: stainless"), fact("loom", "reed.type", "bamboo"))

    assert found.losers == ("facts:1",)


@pytest.mark.parametrize(
    "change",
    [
        "The loom was moved over from Tarvin to Hestil yarn.",
        "The loom no longer takes Tarvin yarn, it is fed Hestil now.",
    ],
)
def test_a_hit_that_says_goodbye_to_a_value_contradicts_who_still_asserts_it(change: str) -> None:
    (found,) = conflicts("what is the loom fed with", file(change), memory("loom: Tarvin, two cones a day"))

    assert (found.winner, found.kind) == ("files:1", "temporal_update")


@pytest.mark.parametrize(
    ("query", "one", "other"),
    [
        ("pick density of the looms", "The loom-01 has pick density 18.", "loom-02: pick density 22"),
        ("phone of Ada", "Ada Brink has the extension 4401.", "Ada Brinks: extension 4410"),
        ("phone of Ada", "Ada Brink has the extension 4401.", "Brinks, Ada: extension 4410"),
        ("birthday of Ada", "Ada (weaver): birthday 3 May", "Ada from the bank has her birthday on 9 June."),
        ("memory of the loom", "loom: 64 GB RAM", "The JVM on the loom gets 8 GB of memory."),
        ("warp insurance fee", "Warp insurance: fee 90 euros", "Weft insurance: fee 70 euros"),
        ("loom tax", "Loom tax for 2026: EUR 90", "Loom tax 2025: 80 euros"),
        ("loom picks", "loom: 400 picks by day", "At night the loom makes 300 picks."),
        (
            "how many swatches does the loom keep",
            "Weekly swatches of the loom: 8",
            "The loom keeps 24 hourly swatches.",
        ),
        ("loom heddles", "loom: 12 heddles", "The loom has 9 treadles."),
        ("when does the loom sync run", "loom sync: 02:30 UTC", "The loom sync runs at 03:30."),
        (
            "loom opening hours",
            "Loom hours: Saturdays 9:00",
            "The loom opens on weekdays at 8:00, opening hours as ever.",
        ),
    ],
)
def test_other_things_people_years_hours_and_measures_are_kept_apart(query: str, one: str, other: str) -> None:
    assert conflicts(query, file(one), memory(other)) == ()


@pytest.mark.parametrize(
    ("query", "one", "other"),
    [
        ("loom drum speed", "loom: drum speed 1 400", "The drum speed of the loom is 1600."),
        ("loom temperature", "loom: setpoint = 19.5", "The loom is kept at 17 degrees."),
        ("what is on the loom", "loom is on 6.2", "loom: image loom:7.0.3"),
    ],
)
def test_spaced_thousands_units_in_words_and_bare_releases_are_read(query: str, one: str, other: str) -> None:
    (found,) = conflicts(query, file(one), memory(other))

    assert found.losers == ("memory:1",)


def test_a_table_gives_each_cell_the_head_of_its_row_and_column() -> None:
    table = "| loom | picks | reed |\n|---|---|---|\n| anna | 400 | fine |\n| bert | 250 | wide |"

    (found,) = conflicts("picks of anna", file(table), memory("anna weaves 320 picks"))

    assert found.losers == ("memory:1",)


def test_the_end_of_a_period_and_an_entry_of_a_log_are_the_past() -> None:
    now = live("loom: 14 spare bobbins")

    assert conflicts("spare bobbins of the loom", now, memory("Until May the loom had 7 spare bobbins, now 14.")) == ()
    assert conflicts("is the loom up", live("loom: up"), memory("3 May: loom down, belt torn")) == ()


def test_a_version_and_a_count_in_one_pair_are_two_conflicts() -> None:
    found = conflicts(
        "what is deployed for the loom",
        live('{"service": "loom", "image": "loom:7.0.3", "replicas": 5}'),
        memory("The loom is on 6.2 with three replicas."),
    )

    assert [one.claim.split()[-1] for one in found] == ["version", "deploy"]


def test_what_is_known_of_one_store_only_is_no_conflict() -> None:
    one = hit("notes", "loom: reed type: stainless")

    assert conflicts("reed type of the loom", one, hit("notes", "loom: reed type: bamboo", age_days=9.0)) == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [("cfg", "config"), ("temp", "temperatur"), ("muehl", "muhl"), ("insur", "insuranc"), ("fsync", "appendfsync")],
)
def test_abbreviations_spellings_and_parts_are_the_same_word(one: str, other: str) -> None:
    assert alike(one, other)
    assert not alike(one, "kiln")
