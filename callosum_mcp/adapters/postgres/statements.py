"""The statements of a ``postgres`` store: names composed as identifiers, everything else a parameter.

Above: the adapter. Below: `psycopg.sql`. Pure. Each is one SELECT; a question never becomes SQL, nor part of a pattern
that it did not quote. All tables are ``t`` here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from psycopg.sql import SQL, Composable, Composed, Identifier, Literal

from callosum_mcp.adapters.postgres.table import Described, Shape
from callosum_mcp.models.values import StoreQuery
from callosum_mcp.text import content_words

MAX_TERMS = 8
"""Words used of a question that is asked word by word."""

_SEARCH_CHARS, _FETCH_CHARS = 16_000, 400_000
_MIN_SUBSTRING = 2
_COUNT_TO = 100_000
_NOTHING = SQL("NULL")


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """One SELECT and its parameters."""

    text: Composed
    values: tuple[object, ...] = ()


def whole_question(shape: Shape, found: Described, query: StoreQuery) -> Statement:
    """Rows with all the words of a question, in the grammar of web search engines, by cover density.

    ``ts_rank_cd`` computes it [Clarke, Cormack, Tudhope 2000, "Relevance ranking for one to three term queries"]; its
    flag 1 divides by the logarithm of the length, or a long row would win by its length alone.
    """
    asked = SQL("websearch_to_tsquery({}, %s)").format(_language(shape))
    return _matching(shape, found, query, asked, SQL("ts_rank_cd({vector}, {asked}, 1)"), query.text)


def any_word(shape: Shape, found: Described, query: StoreQuery) -> Statement | None:
    """Rows with any word of a question, or a longer word that begins with one; None for a question without words.

    ``ts_rank`` counts another word for more than the same word again, which ``ts_rank_cd`` does not.
    """
    words = content_words(query.text)[:MAX_TERMS]
    if not words:
        return None
    asked = SQL("to_tsquery({}, %s)").format(_language(shape))
    return _matching(shape, found, query, asked, SQL("ts_rank({vector}, {asked}, 1)"), any_word_query(words))


def any_word_query(words: Sequence[str]) -> str:
    """The words in the grammar of ``to_tsquery``: quoted, as prefixes, any of them."""
    quoted = ("'" + word.replace("\\", "\\\\").replace("'", "''") + "':*" for word in words)
    return " | ".join(quoted)


def substrings(shape: Shape, found: Described, query: StoreQuery) -> Statement | None:
    """Rows that hold a word of a question anywhere, those with most of them first; None for one without words."""
    words = [word for word in content_words(query.text) if len(word) >= _MIN_SUBSTRING][:MAX_TERMS]
    if not words:
        return None
    columns = SQL(", ").join(_text(name) for name in _read(shape))
    one = SQL("(concat_ws(' ', {}) ILIKE %s)").format(columns)
    patterns = tuple("%" + like_quoted(word) + "%" for word in words)
    count = SQL(" + ").join([one + SQL("::int")] * len(words))
    times, moments = _in_time(shape, found, query)
    text = SQL("SELECT {fields} FROM {table} AS t WHERE ({any}){times} ORDER BY {count} DESC, {ties} LIMIT %s").format(
        fields=_fields(shape, found, _SEARCH_CHARS),
        table=_table(shape),
        any=SQL(" OR ").join([one] * len(words)),
        times=times,
        count=count,
        ties=_ties(shape),
    )
    return Statement(text=text, values=(*patterns, *moments, *patterns, query.limit))


def like_quoted(word: str) -> str:
    """A word that stands for itself in a LIKE pattern."""
    return word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def one_row(shape: Shape, found: Described, hit_id: str) -> Statement:
    """The row of an id, which is cast to the column's own type, so that its index is used."""
    text = SQL("SELECT {fields} FROM {table} AS t WHERE {id} = CAST(%s AS {kind}) LIMIT 1").format(
        fields=_fields(shape, found, _FETCH_CHARS),
        table=_table(shape),
        id=_column(shape.id),
        kind=SQL(found.type_of(shape.id)),  # pyright: ignore[reportArgumentType]  # the catalog's own words
    )
    return Statement(text=text, values=(hit_id,))


def describe(shape: Shape) -> Statement:
    """Name and type of each column, and the planner's count; no row if there is no such table."""
    text = SQL(
        "SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, "
        "CASE WHEN c.relkind IN ('r', 'm', 'p') THEN c.reltuples::float8 ELSE -1 END AS estimate "
        "FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid "
        "WHERE c.oid = to_regclass(%s) AND a.attnum > 0 AND NOT a.attisdropped"
    ).format()
    return Statement(text=text, values=(Identifier(*shape.table).as_string(None),))


def tables() -> Statement:
    """The names of tables and views that can be read without naming their schema."""
    text = SQL(
        "SELECT relname AS name FROM pg_catalog.pg_class WHERE relkind IN ('r', 'v', 'm', 'p', 'f') "
        "AND pg_table_is_visible(oid) AND relnamespace <> 'pg_catalog'::regnamespace ORDER BY relname LIMIT 500"
    ).format()
    return Statement(text=text)


def readiness(shape: Shape, found: Described, *, small: bool) -> Statement:
    """One row: whether the language is known, a count where nobody counted, the newest time of a small table."""
    bounded = SQL("(SELECT count(*) FROM (SELECT 1 FROM {} AS t LIMIT {}) AS first_rows)").format(
        _table(shape), Literal(_COUNT_TO)
    )
    newest = SQL("(SELECT max({}) FROM {} AS t)").format(_moment(shape, found), _table(shape))
    text = SQL("SELECT to_tsquery({language}, 'probe') AS ready, {count} AS counted, {newest} AS newest").format(
        language=_language(shape),
        count=bounded if found.estimate is None else _NOTHING,
        newest=newest if small and shape.time else _NOTHING,
    )
    return Statement(text=text)


def counted_to_the_end(count: int) -> bool:
    """Whether a bounded count saw every row."""
    return count < _COUNT_TO


def _matching(
    shape: Shape, found: Described, query: StoreQuery, asked: Composed, rank: SQL, question: str
) -> Statement:
    vector = _vector(shape, found)
    times, moments = _in_time(shape, found, query)
    text = SQL(
        "SELECT {fields} FROM {table} AS t CROSS JOIN (SELECT {asked} AS question) AS callosum "
        "WHERE {vector} @@ callosum.question{times} ORDER BY {rank} DESC, {ties} LIMIT %s"
    ).format(
        fields=_fields(shape, found, _SEARCH_CHARS),
        table=_table(shape),
        asked=asked,
        vector=vector,
        times=times,
        rank=rank.format(vector=vector, asked=SQL("callosum.question")),
        ties=_ties(shape),
    )
    return Statement(text=text, values=(question, *moments, query.limit))


def _vector(shape: Shape, found: Described) -> Composable:
    """What is searched. One column of text is taken as it is, as an index over the expression would be written."""
    if shape.vector:
        return _column(shape.vector)
    plain = found.type_of(shape.text) == "text"
    body = _column(shape.text) if plain else _text(shape.text)
    if shape.title:
        body = SQL("concat_ws(' ', {}, {})").format(_text(shape.title), body)
    return SQL("to_tsvector({}, {})").format(_language(shape), body)


def _fields(shape: Shape, found: Described, chars: int) -> Composed:
    said = SQL(", ").join(SQL("nullif(btrim({}), '')").format(_text(name)) for name in _read(shape))
    return SQL("{} AS id, left(coalesce({}), {}) AS text, {} AS title, {} AS path, {} AS seen").format(
        _text(shape.id),
        said,
        Literal(chars),
        _text(shape.title) if shape.title else _NOTHING,
        _text(shape.path) if shape.path else _NOTHING,
        _moment(shape, found),
    )


def _read(shape: Shape) -> list[str]:
    """The columns with words; the first that is not empty in a row is its text."""
    return [name for name in (shape.text, shape.title, shape.path) if name]


def _moment(shape: Shape, found: Described) -> Composable:
    """A time as Unix seconds, since Python has no word for PostgreSQL's infinity; what is no time as text."""
    if not shape.time:
        return _NOTHING
    if found.has_moments(shape.time):
        return SQL("extract(epoch FROM {})::float8").format(_column(shape.time))
    return _text(shape.time)


def _in_time(shape: Shape, found: Described, query: StoreQuery) -> tuple[Composed, tuple[float, ...]]:
    """The time filter, where the column holds times; anything else is filtered above."""
    parts: list[Composed] = []
    moments: list[float] = []
    for moment, bound in (
        (query.since, SQL(" AND {} >= to_timestamp(%s)")),
        (query.until, SQL(" AND {} <= to_timestamp(%s)")),
    ):
        if moment is not None and found.has_moments(shape.time):
            parts.append(bound.format(_column(shape.time)))
            moments.append(float(moment))
    return Composed(parts), tuple(moments)


def _ties(shape: Shape) -> Composable:
    newest = SQL("{} DESC NULLS LAST, ").format(_column(shape.time)) if shape.time else SQL("")
    return newest + _column(shape.id)


def _language(shape: Shape) -> Composed:
    return SQL("{}::regconfig").format(Literal(_no_place(shape.language)))


def _table(shape: Shape) -> Identifier:
    return Identifier(*map(_no_place, shape.table))


def _column(name: str) -> Identifier:
    return Identifier("t", _no_place(name))


def _no_place(name: str) -> str:
    """A name whose percent signs are not taken for places of parameters."""
    return name.replace("%", "%%")


def _text(name: str) -> Composed:
    return SQL("{}::text").format(_column(name))
