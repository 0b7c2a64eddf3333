"""The store type ``postgres`` against a server that speaks its protocol; the real one is in `tests/peers`."""

from __future__ import annotations

import re
import socket
import sys
from collections.abc import Generator
from typing import Any

import anyio
import anyio.to_thread
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr
from support.fake_postgres import HANG_UP, Answer, FakePostgres, Refusal, serving

from callosum_mcp.adapters import registry
from callosum_mcp.adapters.postgres import Postgres
from callosum_mcp.adapters.postgres import statements as sql
from callosum_mcp.adapters.postgres.table import Described, Shape
from callosum_mcp.errors import (
    StoreAuthFailed,
    StoreError,
    StoreFailed,
    StoreRateLimited,
    StoreRefused,
    StoreTimeout,
)
from callosum_mcp.models.values import Hit, StoreQuery, StoreReply, StoreSpec

OPTIONS: dict[str, object] = {
    "table": "ops.notes",
    "text_column": "body",
    "title_column": "title",
    "time_column": "seen",
}
COLUMNS = {"id": "bigint", "body": "text", "title": "text", "seen": "timestamp with time zone"}
ROW = {"id": "7", "text": "Hermes is stopped", "title": "Hermes", "path": None, "seen": 1_792_490_400.0}
HIT = Hit(store="pg", id="7", text="Hermes is stopped", title="Hermes", path="ops.notes/7", last_seen=1_792_490_400.0)


class Table:
    """Answers as a database with one table would."""

    def __init__(self, columns: dict[str, str] | None = None, estimate: float = 3.0) -> None:
        self.columns = COLUMNS if columns is None else columns
        self.estimate = estimate
        self.found: dict[str, Answer] = {}
        self.ready: Answer = [{"ready": "'probe'", "counted": None, "newest": 1_792_490_400.0}]
        self.tables: list[str] = ["notes", "users"]

    def __call__(self, text: str, values: tuple[str | None, ...]) -> Answer:
        if "pg_attribute" in text:
            return [{"name": n, "type": t, "estimate": self.estimate} for n, t in self.columns.items()]
        if "relnamespace" in text:
            return [{"name": name} for name in self.tables]
        if "'probe'" in text:
            return self.ready
        kinds = ("websearch_to_tsquery", "to_tsquery", "ILIKE", "CAST")
        return self.found.get(next(kind for kind in kinds if kind in text), [])


@pytest.fixture
def fake() -> Generator[FakePostgres]:
    with serving(FakePostgres(answers=Table())) as running:
        yield running


def table(fake: FakePostgres) -> Table:
    assert isinstance(fake.answers, Table)
    return fake.answers


def store(fake: FakePostgres, *, token: str = "", timeout_s: float | None = None, **options: Any) -> Postgres:
    spec = StoreSpec(
        name="pg",
        type="postgres",
        url=fake.url,
        token=SecretStr(token) if token else None,
        timeout_s=timeout_s,
        options={**OPTIONS, **options},
    )
    made = registry.create(spec)
    assert isinstance(made, Postgres)
    return made


def asked(fake: FakePostgres, word: str) -> list[tuple[str | None, ...]]:
    """The parameters of every statement with a word in it."""
    return [values for text, values in fake.statements if word in text]


async def test_a_question_is_asked_as_a_whole_and_its_rows_are_hits(fake: FakePostgres) -> None:
    table(fake).found["websearch_to_tsquery"] = [ROW]
    adapter = store(fake, timeout_s=2.5)
    assert await adapter.search(StoreQuery(text='hermes "is stopped"', limit=5)) == StoreReply(hits=(HIT,))
    assert asked(fake, "websearch_to_tsquery") == [('hermes "is stopped"', "5")]
    (startup,) = fake.startups
    assert startup["options"] == "-c default_transaction_read_only=on -c statement_timeout=2500 -c TimeZone=UTC"
    assert startup["application_name"] == "callosum-mcp"
    assert adapter.usage() == {"requests": 2, "reused": 1}
    await adapter.aclose()


async def test_a_question_that_finds_nothing_is_asked_with_less_each_time(fake: FakePostgres) -> None:
    adapter = store(fake)
    assert await adapter.search(StoreQuery(text="is hermes o'clock?")) == StoreReply(hits=())
    assert asked(fake, "SELECT to_tsquery") == [("'hermes':* | 'o''clock':*", "50")]
    assert asked(fake, "ILIKE") == [("%hermes%", "%o'clock%", "%hermes%", "%o'clock%", "50")]
    table(fake).found["ILIKE"] = [ROW]
    assert (await adapter.search(StoreQuery(text="hermes"))).remark == "asked for parts of words"
    table(fake).found["to_tsquery"] = [ROW]
    assert (await adapter.search(StoreQuery(text="hermes"))).remark == "asked with any of its words"
    await adapter.aclose()


async def test_a_question_without_words_is_asked_once(fake: FakePostgres) -> None:
    adapter = store(fake)
    assert await adapter.search(StoreQuery(text="%%%")) == StoreReply(hits=())
    assert len(fake.statements) == 2
    await adapter.aclose()


async def test_widen_off_asks_once(fake: FakePostgres) -> None:
    adapter = store(fake, widen=False)
    assert await adapter.search(StoreQuery(text="hermes")) == StoreReply(hits=())
    assert len(fake.statements) == 2
    await adapter.aclose()


async def test_a_large_table_is_not_read_from_end_to_end(fake: FakePostgres) -> None:
    table(fake).estimate = 5_000_000.0
    adapter = store(fake)
    reply = await adapter.search(StoreQuery(text="hermes"))
    assert reply.remark == "not searched for parts of words: more than 200,000 rows"
    assert asked(fake, "ILIKE") == []
    await adapter.aclose()


async def test_a_time_filter_is_left_to_the_database_where_it_knows_times(fake: FakePostgres) -> None:
    adapter = store(fake, widen=False)
    await adapter.search(StoreQuery(text="x", since=1.0, until=2.5))
    assert asked(fake, "to_timestamp") == [("x", "1.0", "2.5", "50")]
    table(fake).columns = {**COLUMNS, "seen": "bigint"}
    other = store(fake, widen=False)
    await other.search(StoreQuery(text="x", since=1.0))
    assert len(asked(fake, "to_timestamp")) == 1
    await adapter.aclose()
    await other.aclose()


async def test_rows_without_a_text_are_counted_and_times_that_are_none_left_out(fake: FakePostgres) -> None:
    rows = [{**ROW, "seen": float("inf")}, {**ROW, "id": "8", "text": None}]
    table(fake).found["websearch_to_tsquery"] = rows
    adapter = store(fake)
    reply = await adapter.search(StoreQuery(text="hermes"))
    assert [(hit.id, hit.last_seen) for hit in reply.hits] == [("7", None)]
    assert reply.remark == "1 rows could not be read"
    await adapter.aclose()


async def test_a_row_is_fetched_by_its_id(fake: FakePostgres) -> None:
    adapter = store(fake, path_column="title")
    table(fake).found["CAST"] = [{**ROW, "path": "ops/hermes"}]
    found = await adapter.fetch("7")
    assert found is not None and (found.id, found.path) == ("7", "ops/hermes")
    table(fake).found["CAST"] = []
    assert await adapter.fetch("8") is None
    table(fake).found["CAST"] = Refusal("22P02", "invalid input syntax for type bigint")
    assert await adapter.fetch("no number") is None
    table(fake).found["CAST"] = Refusal("XX000", "internal error")
    with pytest.raises(StoreFailed, match="internal error"):
        await adapter.fetch("7")
    await adapter.aclose()


@pytest.mark.parametrize(
    ("estimate", "counted", "said", "entries"),
    [
        (12_345.0, None, "PostgreSQL: about 12,345 rows in ops.notes", 12_345),
        (-1.0, 7, "PostgreSQL: 7 rows in ops.notes", 7),
        (-1.0, 100_000, "PostgreSQL: at least 100,000 rows in ops.notes", 100_000),
    ],
)
async def test_a_probe_says_how_many_rows_there_are(
    fake: FakePostgres, estimate: float, counted: int | None, said: str, entries: int
) -> None:
    table(fake).estimate = estimate
    table(fake).ready = [{"ready": "'probe'", "counted": counted, "newest": 1_792_490_400.0}]
    adapter = store(fake)
    report = await adapter.probe()
    assert (report.detail, report.entries, report.last_ingest) == (said, entries, 1_792_490_400.0)
    await adapter.aclose()


@pytest.mark.parametrize(
    ("columns", "options", "said"),
    [
        ({}, {"id_column": "id"}, "there is no table ops.notes (option table); did you mean 'notes'?"),
        ({**COLUMNS}, {"text_column": "boddy"}, "no column 'boddy' (option text_column); did you mean 'body'?"),
        ({**COLUMNS}, {"tsvector_column": "body"}, "column 'body' (option tsvector_column) is text, not tsvector"),
    ],
)
async def test_what_the_table_lacks_is_named(
    fake: FakePostgres, columns: dict[str, str], options: dict[str, Any], said: str
) -> None:
    table(fake).columns = columns
    adapter = store(fake, **options)
    with pytest.raises(StoreFailed) as told:
        await adapter.search(StoreQuery(text="x"))
    assert said in str(told.value)
    await adapter.aclose()


async def test_a_role_that_sees_no_table_is_told_so(fake: FakePostgres) -> None:
    table(fake).columns, table(fake).tables = {}, []
    adapter = store(fake)
    with pytest.raises(StoreFailed, match="this role sees none"):
        await adapter.probe()
    await adapter.aclose()


@pytest.mark.parametrize(
    ("code", "said", "kind"),
    [
        ("57014", "canceling statement due to statement timeout", StoreTimeout),
        ("42501", "permission denied for table notes", StoreAuthFailed),
        ("42P01", 'relation "ops.notes" does not exist', StoreFailed),
        ("42703", 'column "body" does not exist', StoreFailed),
        ("42704", 'text search configuration "klingon" does not exist', StoreFailed),
        ("53200", "out of memory", StoreRateLimited),
        ("25006", "cannot execute INSERT in a read-only transaction", StoreFailed),
    ],
)
async def test_each_error_of_the_database_has_its_meaning(
    fake: FakePostgres, code: str, said: str, kind: type[StoreError]
) -> None:
    table(fake).found["websearch_to_tsquery"] = Refusal(code, said)
    adapter = store(fake)
    with pytest.raises(StoreError, match=said.split('"')[0]) as told:
        await adapter.search(StoreQuery(text="x"))
    assert type(told.value) is kind
    table(fake).found["websearch_to_tsquery"] = [ROW]
    assert len((await adapter.search(StoreQuery(text="x"))).hits) == 1
    assert len(asked(fake, "pg_attribute")) == 2  # it looks at the table again, which may have changed
    await adapter.aclose()


@pytest.mark.parametrize(
    ("refusal", "kind", "said"),
    [
        (
            Refusal("28000", 'no pg_hba.conf entry for host "127.0.0.1"'),
            StoreAuthFailed,
            "refused the login: no pg_hba",
        ),
        (Refusal("53300", "sorry, too many clients already"), StoreRateLimited, "too many clients"),
        (Refusal("3D000", 'database "memories" does not exist'), StoreFailed, 'memories: database "memories" does not'),
        (Refusal("57P03", "the database system is starting up"), StoreRefused, "no connection to 127.0.0.1"),
    ],
)
async def test_a_login_that_is_refused_says_why(
    fake: FakePostgres, refusal: Refusal, kind: type[StoreError], said: str
) -> None:
    fake.refusal = refusal
    with pytest.raises(StoreError, match=said) as told:
        await store(fake).probe()
    assert type(told.value) is kind


async def test_the_password_is_the_stores_token_and_never_said(fake: FakePostgres) -> None:
    fake.password = "canary-7d1f"
    good = store(fake, token="canary-7d1f")
    assert (await good.probe()).detail
    await good.aclose()
    with pytest.raises(StoreAuthFailed) as told:
        await store(fake, token="canary-9e2a").probe()
    assert "canary" not in str(told.value)
    with pytest.raises(StoreAuthFailed, match="no password supplied"):
        await store(fake).probe()


async def test_a_port_where_nobody_listens_is_refused() -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        url = f"postgresql://u:canary-7d1f@127.0.0.1:{holder.getsockname()[1]}/db"
        with pytest.raises(StoreRefused, match=r"^no connection to 127\.0\.0\.1:\d+/db: ") as told:
            await registry.create(StoreSpec(name="pg", type="postgres", url=url)).probe()
    assert "canary" not in str(told.value)


async def test_a_server_that_never_says_hello_takes_its_own_time_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"postgresql://u@127.0.0.1:{listener.getsockname()[1]}/db?connect_timeout=1"
        with pytest.raises(StoreTimeout, match="took too long to connect"):
            await registry.create(StoreSpec(name="pg", type="postgres", url=url)).probe()


async def test_a_parameter_that_libpq_does_not_know_is_no_outage(fake: FakePostgres) -> None:
    spec = StoreSpec(name="pg", type="postgres", url=f"{fake.url}?bogus=1")
    with pytest.raises(StoreFailed, match='invalid URI query parameter: "bogus"'):
        await registry.create(spec).probe()


async def test_a_kept_connection_that_broke_is_replaced_unseen(fake: FakePostgres) -> None:
    adapter = store(fake)
    await adapter.probe()
    told: list[Answer] = [HANG_UP]

    def answers(text: str, values: tuple[str | None, ...]) -> Answer:
        return told.pop() if told else Table()(text, values)

    fake.answers = answers
    assert (await adapter.search(StoreQuery(text="x"))).hits == ()
    assert len(fake.startups) == 2
    await adapter.aclose()


async def test_a_server_that_hangs_up_on_a_new_connection_is_refused(fake: FakePostgres) -> None:
    fake.answers = lambda text, values: HANG_UP
    with pytest.raises(StoreRefused, match="closed the connection"):
        await store(fake).search(StoreQuery(text="x"))


async def test_a_call_that_is_given_up_leaves_no_connection_in_use(fake: FakePostgres) -> None:
    adapter = store(fake)
    await adapter.probe()
    fake.gate.clear()
    fake.asked.clear()
    async with anyio.create_task_group() as group:

        async def give_up() -> None:
            await anyio.to_thread.run_sync(fake.asked.wait, 20.0)
            group.cancel_scope.cancel()

        group.start_soon(give_up)
        await adapter.search(StoreQuery(text="x"))
    fake.gate.set()
    assert (await adapter.search(StoreQuery(text="x"))).hits == ()
    assert len(fake.startups) == 2
    await adapter.aclose()


async def test_many_questions_share_a_few_connections(fake: FakePostgres) -> None:
    adapter = store(fake, widen=False)
    async with anyio.create_task_group() as group:
        for _ in range(12):
            group.start_soon(adapter.search, StoreQuery(text="x"))
    assert len(fake.startups) <= 4
    await adapter.aclose()


async def test_without_psycopg_the_store_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("callosum_mcp.adapters.postgres.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    adapter = registry.create(StoreSpec(name="pg", type="postgres", url="postgresql://h/db"))
    with pytest.raises(StoreFailed, match=r"pip install 'callosum-mcp\[postgres\]'"):
        await adapter.probe()
    assert adapter.usage() is None
    await adapter.aclose()


@pytest.mark.parametrize(
    ("url", "options", "said"),
    [
        ("http://h/db", {}, "url: must be postgresql://user@host:port/database"),
        ("postgresql://u:p@ss@h/db", {}, "url: write an @ in the password as %40"),
        ("postgresql://h/db", {"table": ""}, "option table: must not be empty"),
        ("postgresql://h/db", {"table": "a.b.c"}, "option table: must be a name, or schema.name"),
        ("postgresql://h/db", {"table": ".b"}, "option table: must be a name, or schema.name"),
        ("postgresql://h/db", {"id_column": "ü" * 32}, "option id_column: a name has at most 63 bytes"),
        ("postgresql://h/db", {"text_column": 7}, r"option text_column: must be text \(got 7\)"),
        ("postgresql://h/db", {"widen": "no"}, "option widen: must be true or false"),
    ],
)
def test_a_wrong_setting_is_refused_at_start(url: str, options: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        registry.create(StoreSpec(name="pg", type="postgres", url=url, options=options))


NASTY = 'x"; DROP TABLE notes; -- %s'


@given(st.text(min_size=1, max_size=20).filter(lambda name: "\0" not in name and name.strip() == name))
def test_no_name_and_no_question_becomes_sql(name: str) -> None:
    shape = Shape(table=(name, name), text=name, id=name, title=name, path=name, time=name, language=name)
    found = Described(types={name: "timestamp"})
    query = StoreQuery(text=NASTY, since=1.0)
    for made in (
        sql.whole_question(shape, found, query),
        sql.any_word(shape, found, query),
        sql.substrings(shape, found, query),
        sql.one_row(shape, found, NASTY),
        sql.readiness(shape, found, small=True),
        sql.describe(shape),
    ):
        assert made is not None
        text = made.text.as_string(None)
        assert NASTY not in text
        for piece in (sql.Identifier(name.replace("%", "%%")), sql.Literal(name.replace("%", "%%"))):
            text = text.replace(piece.as_string(None), "")
        assert set(re.findall(r"\"[^\"]*\"", text)) <= {'"t"'} and text.count("%") == len(made.values)


def test_the_statement_for_a_plain_column_is_the_one_an_index_is_made_for() -> None:
    shape = Shape(table=("notes",), text="body", id="id", language="english")
    made = sql.whole_question(shape, Described(types={"body": "text", "id": "bigint"}), StoreQuery(text="x", limit=3))
    assert """to_tsvector('english'::regconfig, "t"."body") @@ callosum.question""" in made.text.as_string(None)
    vector = Shape(table=("notes",), text="body", id="id", vector="words")
    made = sql.whole_question(vector, Described(types={"body": "text", "id": "bigint"}), StoreQuery(text="x", limit=3))
    assert """WHERE "t"."words" @@ callosum.question""" in made.text.as_string(None)


@pytest.mark.parametrize(("word", "quoted"), [("50%", r"50\%"), ("a_b", r"a\_b"), ("c\\d", r"c\\d")])
def test_a_word_stands_for_itself_in_a_pattern(word: str, quoted: str) -> None:
    assert sql.like_quoted(word) == quoted
