"""Half surrogate pairs are mended, whole ones and everything else pass, however the stream is cut."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callosum_mcp.adapters.engine.escapes import Mender, mended

PIECES = st.sampled_from(
    ["\\ud83d", "\\ude00", "\\uD83D\\uDE00", "\\\\", "\\n", "\\u00e9", "a", "d83d", "\\\\ud83d", "ü"]
)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (rb'"cut \ud83d"', rb'"cut \ufffd"'),
        (rb'"\ud83d\ude00"', rb'"\ud83d\ude00"'),
        (rb'"\ude00\ud83d"', rb'"\ufffd\ufffd"'),
        (rb'"\ud83d\ud83d\ude00"', rb'"\ufffd\ud83d\ude00"'),
        (rb'"C:\\ud83d"', rb'"C:\\ud83d"'),
        (rb'"\\\ud83d"', rb'"\\\ufffd"'),
        (rb'"plain"', rb'"plain"'),
    ],
)
def test_only_half_a_pair_is_replaced(given: bytes, wanted: bytes) -> None:
    assert mended(given) == wanted


@given(st.lists(PIECES, max_size=20), st.lists(st.integers(1, 7), min_size=1, max_size=40))
def test_a_stream_is_mended_as_its_whole_is_wherever_it_is_cut(pieces: list[str], sizes: list[int]) -> None:
    whole = ('"' + "".join(pieces) + '"').encode()
    mender, out, at, turn = Mender(), b"", 0, 0
    while at < len(whole):
        size = sizes[turn % len(sizes)]
        out += mender.fed(whole[at : at + size])
        at, turn = at + size, turn + 1
    out += mender.rest()
    assert out == mended(whole)
    json.loads(out).encode()  # text that can be written
