"""Conflicts in words that no list has: identifiers, names on either side of a copula, places, progress, goodbyes."""

from __future__ import annotations

import pytest

from callosum_mcp.reconcile.extract.joints import joined_words
from callosum_mcp.reconcile.sentences import sentences
from callosum_mcp.reconcile.tokens import tokenise
from reconcile.test_claims import values
from reconcile.world import conflicts, fact, live, memory


@pytest.mark.parametrize(
    ("query", "one", "other"),
    [
        ("rack number of the loom", "loom: rack 4", "The loom stands at rack 7, second row."),
        ("shed driver of the loom", "Put the loom back on the 535 driver, it froze.", "The loom runs shed driver 550"),
        (
            "reeding tool of the loom",
            "loom/a.py draws on Reed: Tarvo is the loom's reeding tool",
            "loom: reeding tool: Zeph",
        ),
        ("maker of the loom", "The maker of the loom is Tarvo.", "loom: maker: Zephan"),
        (
            "where does the loom stand?",
            "loom: it is in the attic studio, ask for the key",
            "(loom)-[STANDS_IN]->(paint shop)",
        ),
        ("where is the loom office", "The loom office is at Lindenweg 4", "the loom office moved to Hafenstr. 19"),
        ("where is the loom office", "loom office: 12 High Street", "The loom office is at rue Cuvier 9"),
        ("how far is the loom scan", "Loom scan: 120 of the 340 cards are done", "Loom scan up to 22 Nov: 291 / 340"),
        ("how far is the loom scan", "Loom scan: **all scanned**.", "Loom scan: card 11 of 30 on the glass"),
        (
            "who threads the loom?",
            "Ada passed the loom on; Bo Lind threads it as of this week.",
            "(loom)-[THREADED_BY]->(Ada Roth)",
        ),
        ("phone number of Ada", "Ada: +49 170 5550123", "Ada's new number is +49 170 5550199."),
        ("pickup of the wool", "Wool pickup, Mon–Fri: 15:30", "The pickup of the wool changed to 16:15."),
        ("live bobbins in the hall", "hall=h-b bobs_live=9 of 9", "The hall H has five live bobs."),
        ("how many hens do we have", "hens: 7, all laying", "I counted the hens and there are five in the coop."),
        ("is the loom shelf read-only", "loom shelf\nRead-only: no", "The loom shelf is read-only."),
        (
            "which port does the loom use",
            "The port of the loom was set to 8080 by Ada.",
            "The loom listens on port 9090.",
        ),
        ("which port does the loom use", "loom: bound to *:587", "The loom listens on port 2525."),
        ("loom dispatch rhythm", "loom dispatch: */15 * * * *", "The loom dispatch runs twice a day."),
        ("state of the loom", "Dienst loom: beendet (Exit-Code 139)", "The loom answers, it's up."),
        ("pressure of the vessel", "[OCR] vessei pressure 1.5 bar ,, checked ?", "vessel pressure: 0.8 bar"),
    ],
)
def test_identifiers_names_places_and_progress_conflict(query: str, one: str, other: str) -> None:
    assert len(conflicts(query, live(one), memory(other))) == 1


@pytest.mark.parametrize(
    ("query", "change", "old"),
    [
        ("maker of the loom reeds", 'Loom log: "drop Tarvo in favour of Zephan".', "loom reeds: maker: Tarvo"),
        (
            "shelf of the loom",
            'shelf = "loom-east"  (called loom-west up to 2026-10-28)',
            "The loom keeps yarn on the shelf loom-west.",
        ),
        (
            "loom wifi name",
            "The loom Wi-Fi was renamed to reedhouse; reedhouse-5g no longer exists.",
            "Loom Wi-Fi: the net is called reedhouse-5g",
        ),
        (
            "table the reader loads from",
            "Loader.run(): SELECT … FROM card_queue  (card_jobs is dropped by this change)",
            "The reader loads its cards from the table card_jobs, ten at a time.",
        ),
        (
            "core of the loom",
            "Rewound the loom on TarvoNetV2-S. The ZephNet spools are gone.",
            "loom: core: ZephNetV3",
        ),
        (
            "織機の管理は何を使っている?",
            "織機の管理は10月にRedmineからLinearへ切り替えた。",
            "織機の管理はRedmineでしている。",
        ),
    ],
)
def test_a_goodbye_contradicts_who_still_says_it_under_another_name(query: str, change: str, old: str) -> None:
    (found,) = conflicts(query, live(change), memory(old))

    assert found.winner == "live:1"


def test_lines_of_a_listing_are_settings_of_their_keys() -> None:
    (found,) = conflicts(
        "shed_policy of the loom", live("loom sheds\nshed_policy rising"), fact("loom", "shed_policy", "sinking")
    )

    assert found.losers == ("facts:1",)


def test_joined_words_are_one_word_and_stand_where_their_last_piece_does() -> None:
    assert joined_words(tokenise("wool-raw goes")[:-1]) == [("wool-raw", 1), ("goes", 2)]


@pytest.mark.parametrize(
    ("text", "kind", "data"),
    [
        ("the office is at Lindenstraße 4", "street", [("lindenstr", "4")]),
        ("deliver to 12 Old Mill Road please", "street", [("old mill", "12")]),
        ("12 old mills", "street", []),
        ("call 0170-5550123 now", "phone", [("01705550123",)]),
        ("code 0170", "phone", []),
        ("3/4 are done", "state:done", [("done", False), ("done", True)]),
        ("all dyed.", "state:done", [("done", True)]),
        ("all dyed wool", "state:done", []),
    ],
)
def test_streets_phones_and_progress_are_values(text: str, kind: str, data: list[tuple[object, ...]]) -> None:
    assert sorted(values(text, kind), key=str) == data


def test_a_letter_ends_a_sentence_only_as_the_end_of_a_longer_name() -> None:
    assert len(sentences("It is V2-S. The rest is gone.")) == 2
    assert len(sentences("It is by J. Doe of the guild.")) == 1
