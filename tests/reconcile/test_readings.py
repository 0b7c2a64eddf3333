"""Wordings that were read wrongly once: what each says now, through the conflicts it makes or does not make."""

from __future__ import annotations

import pytest

from callosum_mcp.reconcile.reading import readings
from reconcile.world import conflicts, file, live, memory


@pytest.mark.parametrize(
    ("query", "one", "other"),
    [
        (
            "console port of the loom",
            "compose.yaml: loom: command: serve --console-port :9443",
            "(loom)-[CONSOLE_PORT]->(9001)",
        ),
        (
            "currency of the loom invoices",
            "Loom invoices: we bill them in francs, CHF.",
            "(Loom invoices)-[BILLED_IN]->(EUR)",
        ),
        ("is the loom up", "loom.service: failed (Result: exit-code)", "The loom is up and healthy after the restart."),
        ("helpdesk version", "(helpdesk)-[RUNS]->(Zammad 6.4.1)", "The helpdesk runs Zammad 6.2."),
        (
            "number of the loom card",
            "loom card number: 276098102447713",
            "The number of the loom card is 276098102447731.",
        ),
        ("maximum heap of the loom", "The loom's maximum heap is 6 GiB.", "loom: max heap = 4g"),
        ("rollout of wide_warp", "wide_warp rollout: percentage=50", "wide_warp rollout: 10 %"),
        (
            "blood group of Ada Roth",
            "Donor card — Ada Roth: B negative",
            "(Ada Roth)-[BLOOD_GROUP]->(O+)",
        ),
        (
            "in which channel are the dyers' alarms",
            "The dyers' alarms go to #vat-alarms.",
            "(dyers)-[ALARM_CHANNEL]->(#dye-house)",
        ),
        (
            "login shell of weaver on the loom",
            "weaver:x:1004:1004::/srv/weaver:/usr/bin/fish",
            "The login shell of weaver on the loom is bash.",
        ),
        ("subnet of the mill", "(mill)-[SUBNET]->(10.8.4.0/22)", "The mill's subnet is 10.8.4.0/24."),
        ("is there a dye freeze", "There is no dye freeze.", "dye freeze: active"),
        (
            "when is the sweep",
            "Wed 9 Dec 10:15 chimney sweep, clear the hall",
            "The chimney sweep comes on 9 December at 8:30.",
        ),
        (
            "does the mill require a second factor",
            "mill: two-factor = optional (not enforced)",
            "The mill enforces a second factor.",
        ),
        (
            "session cookie of the mill",
            "The mill's session cookie has SameSite=Lax, otherwise the redirect would lose it.",
            'mill/settings.py: SESSION_COOKIE_SAMESITE = "Strict"',
        ),
        ("brand colour of the mill", "(mill)-[BRAND_COLOUR]->(#1F6F5C)", "mill brand colour: #0B5FA5"),
        ("Ada's shirt size", "team shirts: Ada L, Bo M", "Ada's shirt size is XL."),
        (
            "where is the spare key of the mill",
            "The mill's spare key hangs behind the oven.",
            "The spare key of the mill is under the blue pot.",
        ),
        ("currency of the wool quotes", "Wool quotes are issued in NOK.", "The wool quotes come in euros."),
        ("swap on the loom", "The loom has 8 GB of swap, if I remember right.", "loom: swap 2 GB"),
    ],
)
def test_what_contradicts_is_found(query: str, one: str, other: str) -> None:
    (found,) = conflicts(query, live(one), memory(other))

    assert (found.winner, found.losers) == ("live:1", ("memory:1",))


@pytest.mark.parametrize(
    ("query", "one", "other"),
    [
        (
            "object store of the loom",
            "Status: rejected.\nReplace MinIO by Ceph as the loom's object store.",
            "The object store of the loom is MinIO.",
        ),
        (
            "log level of the loom",
            "Log levels of the loom are debug, info, warning and error; set LOOM_LOG.",
            "(loom)-[LOG_LEVEL]->(warning)",
        ),
        ("is the loom on", "Loom rota: Y. Brink", "The loom is off."),
        (
            "who leads the dyers",
            "Ada Roth leads the dyers.",
            "Bo Lind stands in for Ada Roth as leader of the dyers, just this week.",
        ),
    ],
)
def test_what_only_looks_like_a_contradiction_is_not(query: str, one: str, other: str) -> None:
    assert not conflicts(query, file(one), memory(other))


SAID = {
    "java -Xms1g -Xmx6g -jar loom.jar": ("number:bytes", "6g"),
    "WARP_THREADS = 640  # was 480 until May": ("number:count", "640"),
    "team guest: we are 6, Bo eats no eggs": ("number:count", "6"),
    "lunch Sat: we are 6 in the hall": ("number:count", "6"),
    "loom@mill state=streaming lag=0.4s": ("number:time", "0.4s"),
    "repo = git@forge.mill.example:tools/loom": ("fqdn", "forge.mill.example"),
    "If it rains it falls back to plan B.": None,
    "The loom falls back to port 8081.": ("port", "8081"),
    "A single approval suffices.": ("number:count", "single"),
    "tram ticket 49.50 a month": ("number:count", "49.50 a month"),
    "New plan for the fair: it has been moved to 28 January.": ("when", "28 January"),
    "Wed 9 Dec 10:15 sweep": ("when", "Wed 9 Dec 10:15"),
}


@pytest.mark.parametrize("text", SAID)
def test_a_text_says_what_a_person_reads_in_it(text: str) -> None:
    said = {(one.value.slot, one.value.text) for reading in readings(text) for one in reading.said}
    wanted = SAID[text]

    assert wanted in said if wanted else not said


def test_a_product_of_numbers_is_no_rhythm() -> None:
    said = {one.value.slot for reading in readings("max_age = 12 * 60 * 60 * 1000") for one in reading.said}

    assert "when" not in said
