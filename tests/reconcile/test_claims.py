"""Claims out of texts: values typed and normalised, and what a text does not assert."""

from __future__ import annotations

import pytest

from callosum_mcp.reconcile.extract import extracted
from callosum_mcp.reconcile.question import understand
from callosum_mcp.reconcile.sentences import sentences
from callosum_mcp.reconcile.stems import stem
from callosum_mcp.reconcile.values import Moment, Quantity, Value, relation


def values(text: str, kind: str) -> list[tuple[object, ...]]:
    """The data of the values of one kind in a text."""
    return [
        found.value.data
        for sentence in sentences(text)
        for found in extracted(sentence)
        if found.value.slot == kind or found.value.slot.startswith(kind + ":")
    ]


def moments(text: str) -> list[Moment]:
    return [data[0] for data in values(text, "when") if isinstance(data[0], Moment)]


def quantities(text: str) -> list[tuple[float, float]]:
    return [(data[0].low, data[0].high) for data in values(text, "number") if isinstance(data[0], Quantity)]


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("the oven is up", ("on", True)),
        ("the oven is down", ("on", False)),
        ("Sealed: false", ("seal", False)),
        ('{"autosave": 1}', ("on", True)),
        ("Der Ofen ist nicht eingeschaltet.", ("on", False)),
        ("The shop is in maintenance mode.", ("on", True)),
        ("The build is red.", ("health", False)),
        ("build: green", ("health", True)),
    ],
)
def test_states_are_words_of_an_axis(text: str, state: tuple[object, ...]) -> None:
    assert values(text, "state")[-1] == state


@pytest.mark.parametrize("text", ["the oven stands on the floor", "30 active users", "the running gag of the day"])
def test_prepositions_and_attributes_are_no_states(text: str) -> None:
    assert values(text, "state") == []


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("due 2026-12-14", Moment(2026, 12, 14)),
        ("seen 2026-12-14T08:30Z", Moment(2026, 12, 14, 510, 0)),
        ("am 4. Dezember", Moment(None, 12, 4)),
        ("the 3rd of March 2027", Moment(2027, 3, 3)),
        ("14.05.2027", Moment(2027, 5, 14)),
        ("am 14.05. im Saal", Moment(None, 5, 14)),
        ("12月3日", Moment(None, 12, 3)),
        ("2027年1月3日", Moment(2027, 1, 3)),
        ("毎週月曜日 15時半", Moment(minute=930, weekdays=frozenset({0}), rhythm="weekly")),
        ("Tuesdays at 3 pm", Moment(minute=900, weekdays=frozenset({1}))),
        ("half past nine", Moment(minute=570)),
        ("alle 10", Moment(minute=600)),
        ("às 14h", Moment(minute=840)),
        ("at noon", Moment(minute=720)),
        ("10:00 UTC", Moment(minute=600, zone=0)),
        ("cron 30 4 * * 0", Moment(minute=270, weekdays=frozenset({6}), rhythm="weekly")),
        ("cron 0 2 * * *", Moment(minute=120, rhythm="daily")),
        ("cron 0 2 1 * *", Moment(minute=120, rhythm="monthly")),
        ("cron 5 * * * *", Moment(rhythm="hourly")),
        ("once a week", Moment(rhythm="weekly")),
    ],
)
def test_dates_times_weekdays_and_rhythms(text: str, moment: Moment) -> None:
    assert moments(text) == [moment]


@pytest.mark.parametrize(
    "text", ["in October", "the Friday slot was dropped", "five people", "and not nightly", "at 30"]
)
def test_what_only_dates_a_sentence_or_is_taken_back_is_no_moment(text: str) -> None:
    assert moments(text) == []


@pytest.mark.parametrize(
    ("text", "low"),
    [
        ("1,000 rows", 1000.0),
        ("EUR 55,000", 55_000.0),
        ("21 k€", 21_000.0),
        ("memory 4 × 16 GB", 64e9),
        ("MAX_UPLOAD_BYTES = 2 * 1024 * 1024", 2.0 * 1024**2),
        ("timeout_ms = 500", 0.5),
        ("timedelta(hours=2)", 7200.0),
        ("an interval of 7-9 min", 420.0),
        ("half an hour", 1800.0),
        ("two hours and a half", 9000.0),
        ("90 requests per minute", 1.5),
        ("three quarters", 75.0),
        ("fail_under = 80 coverage", 80.0),
        ("mem_limit: 2g", 2.0 * 1024**3),
        ("six of six", 6.0),
        ("3/4 nodes", 3.0),
    ],
)
def test_numbers_come_in_the_base_unit_of_their_dimension(text: str, low: float) -> None:
    assert quantities(text)[0][0] == pytest.approx(low)


@pytest.mark.parametrize("text", ["Ryzen 7950X", "the 9th hole", "one of us", "nine tenths"])
def test_numbers_in_names_and_fractions_are_not_counted(text: str) -> None:
    assert quantities(text) == []


def test_about_stands_for_a_range() -> None:
    [(low, high)] = quantities("about 200 users")

    assert low < 190 < 210 < high


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("v1.30.4", ("", (1, 30, 4), "")),
        ('requires-python = ">=3.11"', (">=", (3, 11), "python")),
        ("node:22", ("", (22,), "node")),
        ("the 6.6 kernel", ("", (6, 6), "")),
        ("TLSv1.3", ("", (1, 3), "")),
        ("Postgres 16", ("", (16,), "postgres")),
    ],
)
def test_versions_know_their_product_and_operator(text: str, version: tuple[object, ...]) -> None:
    assert values(text, "version") == [version]


@pytest.mark.parametrize(
    ("text", "kind", "data"),
    [
        ("http://localhost:8089/x", "url", ("localhost", "8089", "/x")),
        ("ports: 8081:3000", "port", (8081,)),
        ("fd00:0:0:7::21", "ip6", ("fd00:0:0:7::21",)),
        ("10.0.0.5:9300", "port", (9300,)),
        ("docs.lab.example", "fqdn", ("docs.lab.example",)),
        ("C:\\Exports\\a.csv", "path", ("/mnt/c/exports/a.csv",)),
        ("/".join(("", "home", "ann", "x")), "path", ("~/x",)),
        ("git@github.com:a/b.git", "choice:forge", ("github", True)),
        ("room 4.12", "room", ("4.12",)),
        ("log in as user ops", "open", ("ops",)),
        ('wifi is called "Gull"', "open", ("gull",)),
    ],
)
def test_addresses_paths_rooms_and_names(text: str, kind: str, data: tuple[object, ...]) -> None:
    assert data in values(text, kind)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("replace Jest with Vitest", "vitest"),
        ("switched from Jest to Vitest", "vitest"),
        ("Vitest runs the tests, the old Jest setup is in the attic", "vitest"),
        ("Vitest runs the tests; Jest was removed", "vitest"),
    ],
)
def test_a_value_that_a_text_says_goodbye_to_is_left_out(text: str, left: str) -> None:
    assert values(text, "choice:test_runner") == [(left, True)]


def test_words_that_are_also_names_count_only_as_names() -> None:
    assert values("The slides go to the board in spring.", "choice") == []
    assert ("golang", True) in values("The relay is written in Go.", "choice")
    assert ("german", True) in values('ui_language: "de"', "choice")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Is it up?", "question"),
        ("Wir sollten umziehen.", "plan"),
        ("When it is down, call Ada.", "condition"),
        ("Example: port 1", "example"),
        ("On 2 December only, it starts at 11.", "exception"),
        ("It will be removed.", "will"),
        ("It is up, approx. 3 days.", "asserted"),
        ("wiki.example is up", "asserted"),
    ],
)
def test_how_a_sentence_is_meant(text: str, meant: str) -> None:
    assert sentences(text)[0].meant == meant


def test_a_passive_of_change_tells_of_the_present() -> None:
    assert sentences("It was moved to basil.")[0].past == frozenset()
    assert sentences("It was slow, and now it is fast.")[0].past == {0}


def test_a_query_knows_its_subject_and_the_slots_of_its_answer() -> None:
    question = understand("which node version does anvil-rack use")

    assert [anchor.joined for anchor in question.anchors] == ["anvilrack"]
    assert (question.slots, question.topics) == ({"version"}, {"a:version", "c:node"})
    assert question.admits("version") and not question.admits("port")
    assert understand("open ports on basil").many


def test_a_moment_in_two_zones_is_the_same() -> None:
    assert relation(when(Moment(minute=960, zone=60)), when(Moment(minute=900, zone=0))) == "agree"


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        (Moment(2027, 3), Moment(2027, 6), "differ"),
        (Moment(weekdays=frozenset({0})), Moment(weekdays=frozenset({0, 2})), "agree"),
        (Moment(rhythm="daily"), Moment(weekdays=frozenset({0})), "differ"),
        (Moment(rhythm="daily"), Moment(weekdays=frozenset(range(5))), "agree"),
        (Moment(year=2027), Moment(minute=3), "unsure"),
    ],
)
def test_moments_are_compared_by_what_both_say(a: Moment, b: Moment, verdict: str) -> None:
    assert relation(when(a), when(b)) == verdict


def when(moment: Moment) -> Value:
    return Value("when", (moment,))


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        (("", (16,), ""), ("", (16, 4), ""), "agree"),
        ((">=", (18,), ""), ("", (20,), ""), "agree"),
        (("", (16,), ""), (">=", (18,), ""), "differ"),
        ((">=", (18,), ""), (">=", (20,), ""), "unsure"),
        (("^", (5, 1), ""), ("", (5, 9), ""), "agree"),
        (("<", (5,), ""), ("", (4,), ""), "unsure"),
        (("", (5,), "node"), ("", (6,), "npm"), "unsure"),
    ],
)
def test_versions_refine_and_ranges_hold(a: tuple[object, ...], b: tuple[object, ...], verdict: str) -> None:
    assert relation(Value("version", a), Value("version", b)) == verdict


@pytest.mark.parametrize(
    ("kind", "a", "b", "verdict"),
    [
        ("choice:auth", ("oauth2", True), ("oauth2>oidc", True), "agree"),
        ("choice:auth", ("saml", False), ("saml", True), "differ"),
        ("choice:auth", ("saml", False), ("ldap", True), "agree"),
        ("choice:auth", ("saml", False), ("ldap", False), "unsure"),
        ("path", ("/etc/a",), ("/etc/a/b",), "agree"),
        ("path", ("./a/b.toml",), ("/srv/b.toml",), "agree"),
        ("url", ("a.example", "", ""), ("", "80", ""), "unsure"),
        ("url", ("a.example", "80", ""), ("a.example", "81", ""), "differ"),
        ("person", ("edda",), ("edda", "roth"), "agree"),
        ("host", (), ("basil",), "unsure"),
        ("port", (80,), (81,), "differ"),
        ("number:money:EUR", (Quantity(1, 1, frozenset({"time"})),), (Quantity(2, 2),), "unsure"),
    ],
)
def test_values_relate_by_their_kind(kind: str, a: tuple[object, ...], b: tuple[object, ...], verdict: str) -> None:
    assert relation(Value(kind, a), Value(kind, b)) == verdict


@pytest.mark.parametrize(
    ("one", "other"), [("agenta", "agent"), ("cameras", "camera"), ("pedidos", "pedido"), ("policies", "policy")]
)
def test_forms_of_a_word_have_one_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)
