"""From text to chunks: headings, front matter, sizes and line numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callosum_mcp.adapters.notes.chunk import read_document
from callosum_mcp.adapters.notes.frontmatter import FrontMatter
from callosum_mcp.text import clean


def outline(text: str, suffix: str = ".md") -> list[tuple[int, int, str, str]]:
    """Each chunk as (first line, last line, title, text)."""
    chunks = read_document(text, suffix).chunks
    return [(chunk.line, chunk.last_line, chunk.title, chunk.text) for chunk in chunks]


def test_markdown_is_cut_at_its_headings() -> None:
    text = "intro\n\n# Ops #\n\n## Backups\nat night\n\n### Deep\n\ndown\n\nTitle\n=====\nbody\n\nSub\n---\nmore\n"
    assert outline(text) == [
        (1, 1, "", "intro"),
        (5, 6, "Ops > Backups", "at night"),
        (8, 10, "Ops > Backups > Deep", "down"),
        (12, 14, "Title", "body"),
        (16, 18, "Title > Sub", "more"),
    ]


def test_a_heading_with_nothing_below_is_a_chunk_of_its_own_only_if_it_is_a_leaf() -> None:
    assert outline("# Parent\n## Leaf\n# Next\n") == [(2, 2, "Parent > Leaf", "Leaf"), (3, 3, "Next", "Next")]
    assert outline("#\n\n# ##\n") == []


@pytest.mark.parametrize(
    "text",
    [
        "```\n# no\n```\ntext",
        "~~~ sh\n# no\n```\n# no\n~~~\ntext",
        "````\n```\n# no\n````\ntext",
        "```\n# no, and never closed",
        "  - item\n\n        ```\n# no\n        ```\ntext",
        "    # no",
        "#no",
        "####### no",
        "a paragraph\nof two lines\n---\ntext",
        "- a list\n---\ntext",
        "> a quote\n---\ntext",
        "| a | table |\n---\ntext",
        "text\n\n---\n\ntext",
    ],
)
def test_what_only_looks_like_a_heading_is_text(text: str) -> None:
    assert [(line, title) for line, _, title, _ in outline(text)] == [(1, "")]


def test_inline_code_of_three_backticks_opens_no_fence() -> None:
    assert [title for _, _, title, _ in outline("``` x ``` y\n# Yes\ntext")] == ["", "Yes"]


def test_other_markups_have_their_own_headings() -> None:
    assert outline("* Ops\n** Backups\nat night\n", ".org") == [(2, 3, "Ops > Backups", "at night")]
    assert outline("= Ops\n\n== Backups\nat night\n", ".adoc") == [(3, 4, "Ops > Backups", "at night")]
    rst = "Ops\n===\n\nBackups\n-------\nat night\n\nToo long for it\n---\n\nLast\n====\nend\n"
    assert [(line, title) for line, _, title, _ in outline(rst, ".rst")] == [(4, "Ops > Backups"), (11, "Last")]
    assert outline("# no heading\n\ntext", ".txt") == [(1, 3, "", "# no heading\n\ntext")]


def test_a_long_section_is_cut_between_paragraphs_and_lines_stay_whole() -> None:
    paragraph = "word " * 100
    chunks = outline("# Long\n\n" + "\n\n".join([paragraph.strip()] * 10))
    assert [(line, last) for line, last, _, _ in chunks] == [(1, 5), (7, 9), (11, 13), (15, 17), (19, 21)]
    assert {title for _, _, title, _ in chunks} == {"Long"}
    lines = outline("\n".join(["x" * 700] * 6))
    assert [(line, last) for line, last, _, _ in lines] == [(1, 2), (3, 4), (5, 6)]
    assert [len(text) for _, _, _, text in outline("x" * 5000 + "\n\nshort")] == [5000, 5]
    assert [len(text) for _, _, _, text in outline("x" * 5000)] == [5000]


def test_front_matter_is_read_and_is_no_text() -> None:
    text = (
        "---\ntitle: 'Run book'\ntags:\n  - Ops\n  - '#db'\nkeywords: [a b, Ops]\ndescription: >\n  folded\n  text\n"
        "created: 2026-01-02\nupdated:\nempty: |\n---\n# Backups\nat night\n"
    )
    document = read_document(text, ".md")
    assert document.front == FrontMatter(
        end=text.index("# Backups"),
        title="Run book",
        topics=("ops", "db", "a b"),
        about="folded text",
        dates=(("created", "2026-01-02"),),
    )
    assert outline(text) == [(14, 15, "Run book > Backups", "at night")]


def test_a_title_that_the_first_heading_repeats_stands_once() -> None:
    assert [title for _, _, title, _ in outline('+++\ntitle = "Ops"\n+++\n# Ops\ntext')] == ["Ops"]


@pytest.mark.parametrize("text", ["---\nno field\n---\n", "---\ntitle: open", "---\n", "--- x\na: b\n---\n"])
def test_a_ruler_at_the_top_is_no_front_matter(text: str) -> None:
    assert read_document(text, ".md").front == FrontMatter()


def test_a_file_of_front_matter_alone_is_one_chunk() -> None:
    assert outline("---\nname: x\ndescription: y\n---\n") == [(1, 4, "", "---\nname: x\ndescription: y\n---")]


LINES = st.sampled_from(
    [
        "",
        "  ",
        "text",
        "# A",
        "## B",
        "####",
        "===",
        "---",
        "```",
        "~~~",
        "- item",
        "> quote",
        "a: b",
        "x" * 900,
        "* o",
        "= a",
    ]
)


@given(
    lines=st.lists(LINES | st.text(alphabet=st.characters(exclude_characters="\r\n"), max_size=9), max_size=40),
    data=st.data(),
)
def test_every_line_is_in_one_chunk_or_is_heading_front_matter_or_blank(lines: list[str], data: st.DataObject) -> None:
    suffix = data.draw(st.sampled_from([".md", ".txt", ".rst", ".org", ".adoc"]))
    text = "\n".join(lines)
    document = read_document(text, suffix)
    covered: list[int] = []
    for chunk in document.chunks:
        span = range(chunk.line, chunk.last_line + 1)
        covered += span
        inside = "\n".join(lines[number - 1] for number in span)
        assert chunk.text in inside or chunk.text == " ".join(clean(inside.strip("#*= ")).split())
    assert covered == sorted(set(covered))
    first = text.count("\n", 0, document.front.end)
    loose = {number for number, line in enumerate(lines, 1) if number > first and line.strip()} - set(covered)
    assert all(_may_be_a_heading(lines, number) for number in loose)


def _may_be_a_heading(lines: list[str], number: int) -> bool:
    """Only a heading above deeper headings is in no chunk: its mark, or its text above an underline."""
    line = lines[number - 1].strip()
    below = lines[number].strip() if number < len(lines) else ""
    return line[0] in "#*=-~^\"'+:._`" or below[:1] in tuple("=-~^\"'*+#:._`")
