"""What is a conflict and what is none, one phenomenon a test; who wins, of which kind, and why."""

from __future__ import annotations

import pytest

from reconcile.world import conflicts, fact, file, hit, live, memory

HOME = "/".join(("", "home", "ann"))  # a path of the example, not of a machine


def test_antonyms_of_a_state_conflict() -> None:
    (found,) = conflicts("is the press running", live("press.service: failed"), memory("The press is up and running."))

    assert (found.winner, found.losers, found.kind) == ("live:1", ("memory:1",), "temporal_update")


def test_a_negation_that_agrees_is_no_conflict() -> None:
    assert conflicts("is the press running", live("press: stopped"), memory("The press is not running.")) == ()


def test_an_ordinary_word_and_a_boolean_mean_the_same_state() -> None:
    assert (
        conflicts("autosave in pinboard", fact("pinboard", "autosave", "true"), file("pinboard: autosave is enabled"))
        == ()
    )


@pytest.mark.parametrize(
    ("query", "one", "other"),
    [
        ("port of the loom", "loom listens on port 8080", "(loom)-[LISTENS_ON]->(8080/tcp)"),
        ("loom memory limit", "loom: mem_limit: 1024m", "The memory limit of the loom is 1 GiB."),
        ("loom session length", "Loom sessions last two hours.", "A session in loom lasts 120 minutes."),
        ("loom database", "loom stores its data in Postgres", "(loom)-[STORES_IN]->(PostgreSQL 16.2)"),
        ("loom config path", "config of loom: ~/.loom/conf", f"loom reads its config from {HOME}/.loom/conf"),
        ("call with Varno", "Varno call Tue 8 Dec, 09:00 UTC", "We call Varno on 8 December at 10:00 Berlin time."),
        ("price of Penny", "Penny costs $10 per month", "Penny: 120 USD a year"),
        ("orchestrator of the lab", "The lab runs on k8s", "The lab is scheduled by Kubernetes (k3s)."),
    ],
)
def test_the_same_value_in_another_spelling_unit_or_zone_is_no_conflict(query: str, one: str, other: str) -> None:
    assert conflicts(query, file(one), memory(other)) == ()


@pytest.mark.parametrize(
    ("query", "one", "other"),
    [
        ("loom version", "loom 2.4.1", "loom is on version 2.3."),
        ("port of the loom", "loom listens on port 8080", "loom listens on port 9090"),
        ("loom memory limit", "loom: mem_limit: 512m", "The memory limit of the loom is 1 GiB."),
        ("loom database", "loom stores its data in MySQL", "(loom)-[STORES_IN]->(PostgreSQL 16.2)"),
        ("loom config path", "config of loom: ~/.loom/conf", "loom reads its config from /etc/loom/conf"),
        (
            "when is the loom review",
            "loom review meeting: Tuesday 10:00",
            "The loom review meeting is on Friday at 10:00",
        ),
        ("price of Penny", "Penny costs $12 per month", "Penny: 120 USD a year"),
        ("who owns the loom", "(loom)-[OWNED_BY]->(Ada Brink)", "Odd Farrow owns the loom."),
        ("where does the loom run", "(loom)-[RUNS_ON]->(basil)", "The loom runs on thyme."),
        ("mail address of Varno", "Varno: desk@varno.example", "Mail goes to hello@varno.example at Varno."),
        ("address of the loom", "loom has 10.0.0.7", "The address of the loom is 10.0.0.8."),
        ("room of Ada Brink", "Ada Brink sits in room 2.17", "Ada Brink: room 4.01"),
    ],
)
def test_values_of_one_type_that_cannot_both_hold_conflict(query: str, one: str, other: str) -> None:
    (found,) = conflicts(query, file(one), memory(other))

    assert (found.winner, found.losers) == ("files:1", ("memory:1",))


@pytest.mark.parametrize(
    "other",
    [
        "Should we move the loom to port 9090?",
        "TODO: move the loom to port 9090",
        "Proposal: the loom on port 9090",
        "If the loom listens on port 9090, the proxy breaks.",
        "The loom used to listen on port 9090.",
        "Example configuration for the loom: port 9090",
        "On staging the loom listens on port 9090.",
        "The loom-ui listens on port 9090.",
        "loom 2.4.1",
    ],
)
def test_questions_plans_conditions_the_past_examples_other_scopes_and_names_are_left_out(other: str) -> None:
    assert conflicts("port of the loom", live("loom listens on port 8080"), memory(other)) == ()


def test_a_one_off_exception_to_a_rule_is_no_conflict() -> None:
    rule, exception = (
        fact("team", "lunch", "Wednesday 12:30", "team lunch"),
        memory("This week only, the team lunch is on Friday."),
    )

    assert conflicts("when is the team lunch", rule, exception) == ()


def test_a_default_and_its_override_are_no_conflict() -> None:
    default = file("DEFAULT_TIMEOUT = 30  # seconds")
    override = fact("feeds", "timeout", "90 s", "The feeds job overrides the default timeout and waits 90 s.")

    assert conflicts("timeout", default, override) == ()


def test_live_facts_of_different_tenants_are_scopes() -> None:
    assert (
        conflicts(
            "fast_pay",
            fact("tenant-elm", "fast_pay", "off", "tenant elm has fast_pay off"),
            live("fast_pay[tenant=oak] = on"),
        )
        == ()
    )


def test_two_hits_of_one_store_do_not_conflict() -> None:
    one = hit("memory", "loom listens on port 8080")
    other = hit("memory", "loom listens on port 9090", age_days=3.0)

    assert conflicts("port of the loom", one, other) == ()


def test_a_superseded_hit_asserts_nothing() -> None:
    from dataclasses import replace

    gone = replace(memory("loom listens on port 9090"), live=False)

    assert conflicts("port of the loom", live("loom listens on port 8080"), gone) == ()


@pytest.mark.promise("P27")
def test_supporters_of_the_winner_are_members_and_the_loser_is_kept() -> None:
    probe, support, loser = live("loom 2.4.1"), file("loom: release 2.4"), memory("loom is on version 2.3")

    (found,) = conflicts("loom version", loser, probe, support)

    assert (found.winner, found.losers) == ("live:1", ("memory:1",))
    assert found.members == ("live:1", "files:1", "memory:1")


def test_a_pair_that_disagrees_on_two_attributes_gives_two_conflicts() -> None:
    found = conflicts("loom", live("loom.service: inactive (dead); loom 2.4.1"), memory("loom 2.3 is running."))

    assert [one.claim for one in found] == ["loom status", "loom version"]


@pytest.mark.parametrize(
    ("query", "one", "other"),
    [
        ("Läuft das Förderband?", "foerderband: gestoppt", "Das Förderband läuft stabil."),
        ("état de la pompe", "pompe : arrêtée", "La pompe est en marche."),
        ("estado de la bomba", "bomba: apagada", "La bomba está encendida."),
        ("stato della pompa", "pompa: spenta", "La pompa è accesa."),
        ("stan pompy", "pompa: wyłączona", "Pompa jest włączona."),
        ("estado da bomba", "bomba: desligada", "A bomba está ligada."),
        ("ポンプの状態", "ポンプ: 停止中", "ポンプは稼働中です。"),
    ],
)
def test_states_conflict_in_other_languages_too(query: str, one: str, other: str) -> None:
    (found,) = conflicts(query, live(one.replace("foerderband", "förderband")), memory(other))

    assert found.winner == "live:1"


class TestKinds:
    def test_without_a_date_it_is_genuine(self) -> None:
        undated = hit("notes", "loom is on version 2.3", tier="older-note", age_days=None)

        (found,) = conflicts("loom version", live("loom 2.4.1"), undated)

        assert (found.kind, found.reason) == (
            "genuine_conflict",
            "age of the note unknown, live infra beats older note",
        )

    def test_a_winner_that_is_the_older_is_genuine(self) -> None:
        (found,) = conflicts(
            "loom version",
            hit("live", "loom 2.4.1", tier="live-infra", age_days=3.0),
            hit("memory", "loom is on version 2.3", age_days=2.0),
        )

        assert (found.kind, found.reason) == ("genuine_conflict", "live infra beats agent memory")

    def test_a_word_of_change_in_the_winner_makes_it_an_update(self) -> None:
        (found,) = conflicts(
            "port of the loom", file("The loom was moved to port 9090."), memory("loom listens on port 8080")
        )

        assert found.kind == "temporal_update"

    def test_readings_hours_apart_are_genuine(self) -> None:
        (found,) = conflicts(
            "is the press running", live("press: stopped"), hit("memory", "The press is running.", age_days=0.6)
        )

        assert (found.kind, found.reason) == ("genuine_conflict", "older by 12 h, live infra beats agent memory")

    def test_a_choice_without_a_word_of_change_is_genuine(self) -> None:
        (found,) = conflicts(
            "loom database", file("loom stores its data in MySQL"), memory("loom database: Postgres", 10.0)
        )

        assert (found.kind, found.reason) == ("genuine_conflict", "older by 7 d, recent file beats agent memory")

    def test_what_is_counted_runs_by_itself(self) -> None:
        (found,) = conflicts(
            "how many nodes has the loom cluster",
            live("loom cluster: 7 nodes"),
            memory("The loom cluster has five nodes."),
        )

        assert found.kind == "temporal_update"

    def test_the_surer_of_two_equals_wins_by_its_confidence(self) -> None:
        sure = hit("a", "loom database: MySQL", confidence=0.9)
        unsure = hit("b", "loom database: Postgres", confidence=0.4)

        (found,) = conflicts("loom database", unsure, sure)

        assert (found.winner, found.reason) == ("a:1", "confidence 0.9 against 0.4")

    def test_without_any_other_reason_it_says_higher_authority(self) -> None:
        one = hit("a", "loom database: MySQL", tier="recent-file", age_days=9.0)
        other = hit("b", "loom database: Postgres", tier="recent-file", age_days=1.0, confidence=0.2)

        (found,) = conflicts("loom database", one, other)

        assert found.reason == "confidence 1 against 0.2"


def test_an_array_that_is_said_to_be_in_sync_conflicts_with_a_degraded_one() -> None:
    told = memory("md3 on heron is in sync, all disks fine.")

    assert len(conflicts("raid md3 on heron", live("md3 on heron: raid1, state: degraded"), told)) == 1
    assert conflicts("raid md3 on heron", live("md3 on heron: raid1, state: clean"), told) == ()


def test_who_eats_everything_is_no_vegetarian() -> None:
    one = file("Odd Farrow eats everything.")

    assert len(conflicts("what does Odd eat", one, memory("Odd Farrow is vegetarian."))) == 1
    assert conflicts("what does Odd eat", one, memory("Odd Farrow eats meat.")) == ()


def test_a_date_pattern_and_the_name_of_another_one_conflict() -> None:
    named = file("Dates in loom's CSV exports are written as ISO 8601.")

    assert len(conflicts("date format in loom exports", named, memory("CSV exports of loom date as DD.MM.YYYY."))) == 1
    assert conflicts("date format in loom exports", named, memory("CSV exports of loom date as YYYY-MM-DD.")) == ()


def test_the_value_in_the_clause_about_the_subject_is_the_answer() -> None:
    told = memory("The loom demo is on Fridays at 11:00 now; Wednesday clashed with the calls.")

    assert len(conflicts("when is the demo", file("Loom demo: Wed 14:00, big screen"), told)) == 1
