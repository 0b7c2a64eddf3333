"""What a search over notes finds, and in what order and shape."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from callosum_mcp.adapters.notes import NotesAdapter
from callosum_mcp.models.values import Hit, StoreQuery, StoreReply

from .notes_world import DAY_S, Notes, ids

pytestmark = pytest.mark.anyio

NASTY = [
    "don't", "a-b", "GB/s", '"', "'", "*", "NEAR", "NEAR(a b)", "AND", "OR NOT", "a AND", "(", ")", "^start", "title:",
    "-x", "+", "a*", '"unclosed', "{title} : x", "\x00", "x\x00y", "\ud800", "%s", "; DROP TABLE words", "\\", "a:b:c",
    "''", "🙂", "\ue000", " ", "\n", "C++", "10.0.0.5", "foo_bar", "x" * 5000, "word " * 3000,
]  # fmt: skip


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    (tmp_path / "notes").mkdir()
    return Notes(folder=tmp_path / "notes", cache=tmp_path / "cache")


async def test_a_hit_says_where_it_stands_and_how_old_it_is(notes: Notes) -> None:
    front = "---\ntitle: Runbook\ntags: [Ops, db]\ndate: 2026-01-02\n---\n"
    file = notes.write("ops/run book.md", f"{front}# Ops\n\n## Backups\n\nThey run at night.\n")
    async with notes.store() as store:
        reply = await store.search(StoreQuery(text="when do backups run?"))
    hit = Hit(
        store="notes",
        id="ops/run book.md#L8",
        text="They run at night.",
        title="Runbook > Ops > Backups",
        path="ops/run book.md#L8",
        uri=f"{file.as_uri()}#L8",
        type="note",
        topics=("ops", "db"),
        tier="recent-file",
        last_seen=file.stat().st_mtime_ns / 1e9,
        metadata={"lines": [8, 10], "date": "2026-01-02"},
    )
    assert reply == StoreReply(hits=(hit,))


async def test_a_note_older_than_thirty_days_is_an_older_note(notes: Notes) -> None:
    notes.write("old.md", "zebra", age_days=31)
    async with notes.store() as store:
        (hit,) = (await store.search(StoreQuery(text="zebra"))).hits
    assert (hit.tier, hit.title) == ("older-note", "old.md")


async def test_a_configured_tier_is_left_to_the_federation(notes: Notes) -> None:
    notes.write("a.md", "zebra")
    async with notes.store(tier="live-infra") as store:
        (hit,) = (await store.search(StoreQuery(text="zebra"))).hits
    assert hit.tier is None


@pytest.mark.promise("P28")
@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("适者生存", "达尔文说适者生存。"),
        ("生存", "达尔文说适者生存。"),
        ("止损", "先止损，再分析"),
        ("テスト", "単体テストを書く"),
        ("ﾃｽﾄ", "単体テストを書く"),
        ("猫", "我家有一只猫。"),
        ("백업", "매일 밤 데이터베이스 백업을 한다"),
        ("数据库什么时候备份", "每天凌晨备份数据库"),
        ("v2版本", "升级到v2版本"),
        ("backup", "Backups run at night"),
        ("backups running", "the backup has run"),
        ("cafe", "Café au lait"),
        ("don't", "we don't deploy on Friday"),
        ("GB/s", "it reads 3 GB/s"),
        ("a-b", "the a-b test"),
        ("to be or not to be", "To be, or not to be"),
        ("10.0.0.5", "host 10.0.0.5 is the gateway"),
    ],
)
async def test_a_query_finds_its_note_in_any_script(notes: Notes, query: str, text: str) -> None:
    notes.write("wanted.md", text)
    notes.write("other.md", "Unrelated lines of another kind: 鱼 かな 한글")
    assert (await notes.ids(query))[:1] == ["wanted.md#L1"]


async def test_a_single_character_does_not_match_another(notes: Notes) -> None:
    notes.write("a.md", "适者生存")
    assert await notes.ids("猫") == []


@pytest.mark.promise("P29")
@pytest.mark.parametrize("query", NASTY)
async def test_punctuation_never_breaks_a_query(notes: Notes, query: str) -> None:
    notes.write("a.md", "nothing of the kind")
    async with notes.store() as store:
        assert (await store.search(StoreQuery(text=query))).remark is None


@pytest.mark.parametrize("query", ["*", "", '"', "…", " \n"])
async def test_a_query_without_a_word_finds_nothing(notes: Notes, query: str) -> None:
    notes.write("a.md", "text")
    assert await notes.ids(query) == []


@pytest.mark.promise("P29")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(max_size=80))
async def test_no_query_string_ever_raises(notes: Notes, query: str) -> None:
    notes.write("a.md", "text 猫 text")
    async with notes.store() as store:
        await store.search(StoreQuery(text=query))


async def test_a_heading_weighs_more_than_text_and_all_words_more_than_one(notes: Notes) -> None:
    filler = "plain words about nothing in particular, line after line. " * 5
    notes.write("text.md", f"{filler} gateway {filler}")
    notes.write("heading.md", f"# Gateway\n{filler}{filler}")
    notes.write("both.md", f"{filler} gateway firewall {filler}")
    for number in range(12):
        notes.write(f"filler{number}.md", filler)
    assert await notes.ids("gateway") == ["heading.md#L1", "text.md#L1", "both.md#L1"]
    assert (await notes.ids("firewall gateway"))[0] == "both.md#L1"


async def test_the_exact_spelling_of_joined_words_comes_first(notes: Notes) -> None:
    notes.write("a.md", "ports 5 and 10, 0 errors, 0 warnings")
    notes.write("b.md", "gateway is at 10.0.0.5 and answers, with 0 errors")
    assert await notes.ids("10.0.0.5") == ["b.md#L1", "a.md#L1"]


async def test_equal_hits_are_ordered_by_path_and_line(notes: Notes) -> None:
    for name in ("c", "a", "b"):
        notes.write(f"{name}.md", "# same\n\nzebra\n\n# same\n\nzebra\n")
    expected = ["a.md#L1", "a.md#L5", "b.md#L1", "b.md#L5", "c.md#L1", "c.md#L5"]
    async with notes.store() as store:
        assert await ids(store, "zebra") == expected
        assert await ids(store, "zebra", limit=3) == expected[:3]


async def test_a_file_is_found_by_its_name_tags_and_description(notes: Notes) -> None:
    notes.write("postgres-upgrade.md", "---\nname: pg\ndescription: how we moved\ntags: [migration]\n---\nSteps.\n")
    for query in ("upgrade", "migration", "moved"):
        assert await notes.ids(query) == ["postgres-upgrade.md#L6"]


async def test_a_word_of_every_section_of_a_large_store_hides_no_other(notes: Notes) -> None:
    sections = "".join(f"# h{number}\n\nzebra\n" for number in range(5000))
    notes.write("many.md", f"{sections}# odd\n\nzebra giraffe\n")
    async with notes.store() as store:
        assert await ids(store, "giraffe zebra") == ["many.md#L15001"]
        assert len(await ids(store, "zebra many")) == 50


async def test_common_words_alone_ask_for_the_sections_that_hold_two_of_them(notes: Notes) -> None:
    sections = "".join(f"# h{number}\n\n{('zebra', 'giraffe', 'lion')[number % 3]}\n" for number in range(6000))
    notes.write("many.md", f"{sections}# odd\n\nzebra giraffe\n")
    async with notes.store() as store:
        question = "zebra giraffe lion many " + " ".join(f"x{number}" for number in range(60))
        assert await ids(store, question) == ["many.md#L18001"]


async def test_a_limit_above_the_adapters_most_is_cut_to_it(notes: Notes) -> None:
    notes.write("many.md", "".join(f"# h{number}\n\nzebra\n" for number in range(600)))
    async with notes.store() as store:
        assert len(await ids(store, "zebra", limit=10_000)) == NotesAdapter.max_results


async def test_time_and_topic_filters_are_applied_before_the_limit(notes: Notes) -> None:
    for number in range(20):
        notes.write(f"new{number}.md", "zebra zebra")
    old = notes.write("old.md", "---\ntags: Archive\n---\nA zebra, once, long ago.", age_days=100)
    seen = old.stat().st_mtime_ns / 1e9
    async with notes.store() as store:

        async def found(**filters: object) -> list[str]:
            reply = await store.search(StoreQuery(text="zebra", limit=1, **filters))  # pyright: ignore[reportArgumentType]
            return [hit.id for hit in reply.hits]

        assert await found(until=seen) == ["old.md#L4"]
        assert await found(since=seen, until=seen + DAY_S) == ["old.md#L4"]
        assert await found(until=seen - 1) == []
        assert await found(topics=frozenset({"ARCHIVE", "other"})) == ["old.md#L4"]
        assert await found(topics=frozenset({"arch"})) == []
        assert await found(types=frozenset({"fact"})) == []
        assert len(await found(types=frozenset({"fact", "note"}))) == 1


def test_importing_the_adapter_loads_neither_sqlite_nor_pathspec() -> None:
    heavy = "{'sqlite3', 'pathspec', 'platformdirs'} & set(sys.modules)"
    code = f"import sys; b = {heavy}; import callosum_mcp.adapters.notes; n = {heavy} - b; sys.exit(str(n) if n else 0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
