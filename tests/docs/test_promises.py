"""The page of promises and the tests that hold them agree, both ways."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from .promises import Row, marked, named, promises

TROUBLES = (
    "1 2 4 5 6 7 8 9 10 11 12 13 15 16 17 19 20 21 22 23 25 27 28 29 30 32 33 34 35 37 38 39 40 41 42 43 45 46 47 48 "
    "51 52"
).split()
"""The troubles of others that we collected, by their numbers."""

SUBJECTS = "123456789"
"""What promises are about: time, sick stores, load, settings, callers, places, words, processes, supplies."""


def test_every_test_that_the_page_names_carries_its_mark() -> None:
    assert sorted(named(promises()) - marked()) == []


def test_every_test_that_is_marked_stands_on_the_page() -> None:
    assert sorted(marked() - named(promises())) == []


def test_a_promise_has_one_row_a_sentence_and_a_test() -> None:
    rows = promises()

    assert [identity for identity, times in Counter(row.id for row in rows).items() if times > 1] == []
    assert [row.id for row in rows if not row.tests or not row.promise.endswith(".")] == []


def test_every_trouble_and_every_subject_has_a_promise() -> None:
    ids = [row.id for row in promises()]

    assert [identity for identity in ids if identity.startswith("P")] == [f"P{number}" for number in TROUBLES]
    assert {identity[0] for identity in ids if not identity.startswith("P")} == set(SUBJECTS)


def test_a_row_and_a_mark_are_read_as_they_are_written(tmp_path: Path) -> None:
    row = "| 1a | It holds. | `a/test_x.py::test_y`<br>`a/test_x.py::test_z` |"
    text = f"| id | promise | held by |\n|---|---|---|\n{row}\n"
    marks = '@pytest.mark.promise("1a", "P2")\n@other\nasync def test_y() -> None: ...\n'
    source = f"{marks}\n@pytest.mark.skip\ndef test_z() -> None: ...\n"
    (tmp_path / "test_x.py").write_text(source, encoding="utf-8")

    assert promises(text) == [Row(id="1a", promise="It holds.", tests=("a/test_x.py::test_y", "a/test_x.py::test_z"))]
    assert marked(tmp_path) == {("test_x.py::test_y", "1a"), ("test_x.py::test_y", "P2")}
