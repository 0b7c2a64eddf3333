"""Nothing that other people write does more than fail as promised: every entry point under hypothesis, bounded."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from . import run
from .targets import TARGETS, tried

KEYS = st.sampled_from(
    "hits id content text key value project metadata ts topic score stores name type url weight floor enabled tier "
    "query n_results since types jsonrpc method params result error server federation k port options tool extract "
    "mode items fields pattern snippet errors token_env".split()
) | st.text(max_size=6)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=30)
    | st.text(st.characters(categories=["Cs", "Cc", "Cf", "Zl", "Lo"]), max_size=12)
    | st.sampled_from(
        ["a", "seren_memory", "http://127.0.0.1:1", "${HOME}", "${", "regex", "$.hits[*]", "(?P<text>a+)+", "{query}"]
    )
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5), max_leaves=25
)
MARKS = [
    *(sign.encode() for sign in "{ } [ ] ' \" | # $ . * a 0 \\".split()),
    *(b"\n", b"\r\n", b" ", b"- ", b": ", b"&a ", b"*a", b"<<: ", b"---\n", b"!!python/object:a"),
    *(b"\xff", b"\x00", b"\xef\xbb\xbf", b"\xc2\x85", b"\\u", b"\\ud800", b"1e999", b"${A:-", b"data: ", b"1. a\n"),
    b'{"jsonrpc":"2.0","id":1,"result":{}}\n',
]


def document(value: Any, ascii_only: bool, indent: int | None) -> bytes:
    return json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode("utf-8", "surrogatepass")


DOCUMENTS = st.builds(
    document,
    st.dictionaries(KEYS, VALUES, max_size=6) | st.lists(VALUES, max_size=4),
    st.booleans(),
    st.sampled_from([None, 1]),
)
MARKED = st.lists(st.sampled_from(MARKS), max_size=60).map(b"".join)
BYTES = st.binary(max_size=200) | MARKED | DOCUMENTS


@pytest.mark.promise("9c")
@pytest.mark.parametrize("name", TARGETS)
def test_nothing_does_more_than_fail_as_promised(name: str) -> None:
    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(BYTES)
    @example(b"")
    def survives(data: bytes) -> None:
        tried(TARGETS[name], data)

    survives()


HOSTILE: dict[str, bytes] = {
    "brackets": b"[" * 50_000,
    "objects in objects": b'{"a":' * 50_000,
    "a YAML list in lists": b"- " * 20_000,
    "anchors of anchors": b"a: &a [x,x,x,x,x,x,x,x,x]\n"
    + b"".join(f"{chr(98 + n)}: &{chr(98 + n)} [{','.join([f'*{chr(97 + n)}'] * 9)}]\n".encode() for n in range(9)),
    "an anchor in itself": b"a: &a\n  b: *a\n",
    "a merge of itself": b"a: &a\n  <<: *a\n",
    "a long number": b'{"hits":[{"id":' + b"9" * 20_000 + b"}]}",
    "a long exponent": b'{"hits":[{"id":"a","content":"b","score":1e' + b"9" * 20_000 + b"}]}",
    "one long line": b"a" * 60_000,
    "blanks": b" " * 60_000,
    "line ends": b"\n" * 60_000,
    "open variables": b"a: " + b"${" * 20_000,
    "numbers of a list": b"1. a\n" * 10_000,
    "alternatives": b"|".join([b"a"] * 20_000),
    "dots": b"." * 60_000,
    "half emojis": b"\\ud800" * 10_000,
    "half an escape": b"\\" * 60_001,
    "front matter of blanks": b"---\na" + b" " * 50_000 + b"\n---\n",
    "a heading of blanks": b"# a" + b" " * 50_000 + b"x\n",
    "a field of blanks": b"a" + b" " * 50_000 + b"b\n",
    "letters": b"a" * 50_000 + b"-",
    "hyphens": b"-" * 50_000 + b"a",
    "words and hyphens": b"ab-" * 20_000,
    "an advert cut off": b"Error: " + b"\n" * 50_000 + b"For further",
    "a key a thousand times": b"".join(b"k%d: 1\n" % n for n in range(1_000)) + b"k0: 2\n",
}


@pytest.mark.promise("9c")
@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("name", TARGETS)
def test_no_text_takes_much_time_or_the_stack(name: str, data: bytes) -> None:
    tried(TARGETS[name], data)


def test_the_seeds_of_the_fuzzer_are_no_findings() -> None:
    for name in TARGETS:
        for data in run.seeds(name):
            tried(TARGETS[name], data)


def test_the_fuzzer_runs_where_atheris_is_and_says_so_where_it_is_not() -> None:
    tests = Path(run.__file__).parent.parent
    line: list[Any] = [sys.executable, "-m", "fuzz.run", "--seconds", "1", "mapping"]
    ended = subprocess.run(line, cwd=tests, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip() in (run.NOT_THERE, "fuzz: mapping: nothing found in 1 s")
