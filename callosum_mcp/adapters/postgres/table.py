"""What a ``postgres`` store was told of its table, and what the table turned out to be.

Above: the adapter and its statements. Below: nothing. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from callosum_mcp.adapters import options as opt
from callosum_mcp.errors import StoreFailed
from callosum_mcp.models.requests import nearest

DEFAULTS: Mapping[str, str] = {
    "table": "memories",
    "text_column": "text",
    "id_column": "id",
    "title_column": "",
    "path_column": "",
    "time_column": "",
    "tsvector_column": "",
    "language": "simple",
}
"""Options that are text, and their defaults; "" means that there is no such column."""

_MOMENTS = ("timestamp", "date")
_NEEDED = ("table", "text_column", "id_column", "language")
_NAME_BYTES = 63  # longer names PostgreSQL cuts off, and would then look for another one


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """The table and its columns, as the options name them.

    Attributes:
        table: Its name, with its schema before it if one was given.
        text: Column with the memory.
        id: Column that tells rows apart.
        title: Column with a heading; "" means none, as in all that follow.
        path: Column that says where a person finds the row.
        time: Column that says when it was last known to hold.
        vector: Column of type tsvector, for tables with an index on one.
        language: Text search configuration.
    """

    table: tuple[str, ...]
    text: str
    id: str
    title: str = ""
    path: str = ""
    time: str = ""
    vector: str = ""
    language: str = "simple"

    @classmethod
    def of(cls, options: Mapping[str, object]) -> Shape:
        """The shape that options describe.

        Raises:
            ValueError: If one is no text, empty where it must not be, or longer than a name may be.
        """
        given = {name: opt.string(options, name, default).strip() for name, default in DEFAULTS.items()}
        for name, value in given.items():
            _check_name(name, value)
        return cls(
            table=tuple(given["table"].split(".")),
            text=given["text_column"],
            id=given["id_column"],
            title=given["title_column"],
            path=given["path_column"],
            time=given["time_column"],
            vector=given["tsvector_column"],
            language=given["language"],
        )

    @property
    def name(self) -> str:
        """The table's name for a person."""
        return ".".join(self.table)

    def columns(self) -> dict[str, str]:
        """Column by the option that names it, those that are there."""
        named = {
            "text_column": self.text,
            "id_column": self.id,
            "title_column": self.title,
            "path_column": self.path,
            "time_column": self.time,
            "tsvector_column": self.vector,
        }
        return {option: column for option, column in named.items() if column}


@dataclass(frozen=True, kw_only=True, slots=True)
class Described:
    """The table as the database has it.

    Attributes:
        types: Type by name of column, as PostgreSQL writes it (``timestamp with time zone``).
        estimate: Its rows as the planner believes; None where nobody counted (a view, a table not analysed yet).
    """

    types: Mapping[str, str]
    estimate: int | None = None

    def type_of(self, column: str) -> str:
        """The type of a column that `check` has seen."""
        return self.types[column]

    def has_moments(self, column: str) -> bool:
        """Whether a column holds dates or times, rather than numbers or text that stand for some."""
        return bool(column) and self.types[column].startswith(_MOMENTS)


def check(shape: Shape, found: Described) -> None:
    """Every column that the options name is there.

    Raises:
        StoreFailed: With the option, the column that is missing and the nearest one.
    """
    for option, column in shape.columns().items():
        if column not in found.types:
            near = nearest(column, sorted(found.types))
            raise StoreFailed(f"table {shape.name} has no column {column!r} (option {option}); {near}")
    if shape.vector and found.types[shape.vector] != "tsvector":
        kind = found.types[shape.vector]
        raise StoreFailed(f"column {shape.vector!r} (option tsvector_column) is {kind}, not tsvector")


def _check_name(option: str, value: str) -> None:
    if not value and option in _NEEDED:
        raise ValueError(f"option {option}: must not be empty")
    parts = value.split(".") if option == "table" else [value]
    if len(parts) > 2 or (len(parts) == 2 and not all(parts)):
        raise ValueError("option table: must be a name, or schema.name")
    if any(len(part.encode()) > _NAME_BYTES or "\0" in part for part in parts):
        raise ValueError(f"option {option}: a name has at most {_NAME_BYTES} bytes")
