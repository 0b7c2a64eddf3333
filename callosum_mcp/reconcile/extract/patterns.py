"""Values that are told by how they are written: blood groups, heaps, colours, sizes of clothes, chat channels.

Above: `extract`. Below: `base`, `sentences`. Pure.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from callosum_mcp.reconcile.extract.base import Found
from callosum_mcp.reconcile.extract.measure import SUFFIX
from callosum_mcp.reconcile.sentences import Sentence
from callosum_mcp.reconcile.values import Quantity, Value

_WRITTEN = re.compile(
    r"""
    (?<![\w+-])(?P<group>AB|A|B|O|0)\s?(?:[Rr]h(?:esus)?\s?)?
      (?P<sign>[+\u2212-](?![\w+-])|(?:pos|neg)(?:iti[vf]\w?|ati[vf]\w?)?\b)
  | (?<=-Xmx)(?P<heap>\d+)(?P<unit>[kmgtKMGT])\b
  | \#(?P<colour>[0-9a-fA-F]{6})\b
  | (?<=[\s=:"(])(?P<size>XXS|XS|S|M|L|XL|XXL|3XL)(?![\w'.-])
  | (?<![\w/&\#])\#(?P<channel>(?![0-9a-f]{3}(?:[0-9a-f]{3})?\b)[a-z][\w-]{2,})
    """,
    re.VERBOSE,
)
_CLOTHES = re.compile(
    r"shirt|hoodie|jacket|jersey|trousers|glove|größe|jacke|taille|maillot|talla|camiset|taglia|magliet|rozmiar|koszul|"
    r"tamanho|サイズ|シャツ",
    re.IGNORECASE,
)


def patterns(sentence: Sentence) -> Iterator[Found]:
    """Every such value of a sentence."""
    text, starts = "", list[int]()
    for token in sentence.tokens:
        text += token.gap
        starts.append(len(text))
        text += token.text
    for match in _WRITTEN.finditer(text + sentence.tail):
        at = max(0, bisect_right(starts, match.end() - 1) - 1)
        if match["group"]:
            sign = "-" if match["sign"][0] in "-\u2212n" else "+"
            name = match["group"].replace("0", "O") + sign
            yield Found(Value("choice:blood_group", (name, True), match.group()), at)
        elif match["heap"]:
            size = float(match["heap"]) * SUFFIX[match["unit"].lower()]
            yield Found(Value("number:bytes", (Quantity(size, size),), match.group()), at)
        elif match["colour"]:
            yield Found(Value("choice:hex_colour", (match["colour"].lower(), True), match.group()), at)
        elif match["size"] and _CLOTHES.search(text):
            yield Found(Value("choice:clothing_size", (match["size"], True), match.group()), at)
        elif match["channel"]:
            yield Found(Value("choice:chat_channel", (match["channel"], True), match.group()), at)
