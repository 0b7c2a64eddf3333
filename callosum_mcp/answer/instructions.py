"""Words in a memory that speak to whoever reads it, instead of telling something.

Above: evidence, grounding. Below: text. Pure. Not a proof against injection, which no list of words is: it keeps the
usual ones away from the model and out of the prose; the boundary in the prompt and the check of every sentence stand
behind it. What is taken out is still in hits[], as data.
"""

from __future__ import annotations

import re
import unicodedata

from callosum_mcp.answer.prose import split

_WHAT = r"(?:instruction|prompt|rule|guideline|direction|context|message|polic)\w*"
_ORDERS = re.compile(
    "|".join(
        (
            rf"\b(?:ignore|disregard|forget|override|bypass|skip)\b.{{0,60}}\b{_WHAT}",
            r"\b(?:ignore|disregard|forget)\b.{0,30}\b(?:previous|prior|above|earlier|everything|all of)\b",
            r"\byou (?:are now|must now|will now)\b",
            r"\byou must (?:only |always |never )?(?:answer|reply|respond|say|tell|call|output)\b",
            r"\bfrom now on,? (?:you|act|answer|reply|respond)\b|\b(?:act as|pretend to be|roleplay as)\b",
            r"<\|?/?(?:im_start|im_end|system|assistant|user|tool|instructions?)\b|\[/?inst\]|<</?sys>>",
            r"\b(?:do not|don't|never) (?:tell|mention|reveal|cite|inform|warn|disclose|show)\b",
            r"\b(?:tell|inform|convince|instruct) (?:the )?(?:user|human|reader|agent|model|assistant)\b",
            r"\b(?:call|invoke|use|run|execute) (?:the |this |your )?(?:[\w.-]+ )?(?:tool|function|command)s?\b",
            r"\b(?:new|updated|hidden|secret|important|real) (?:system )?(?:instruction|prompt)s?\b|\bsystem prompt\b",
            r"\b(?:as an ai|language model|ai (?:assistant|agent|model)|dear (?:ai|assistant|model))\b",
            r"\b(?:ignorier\w*|vergiss|vergesst|missacht\w*)\b.{0,50}\b(?:anweisung|instruktion|regel|vorgabe)\w*",
            r"\b(?:ignore[zr]?|oublie[zr]?)\b.{0,50}\b(?:instructions|consignes|règles)\b",
            r"\b(?:ignora|ignore|olvida|esquece|esqueça|dimentica)\b.{0,50}\b(?:instruc|istruzion|reglas|regole|regras)\w*",
            r"\b(?:zignoruj|pomiń|zapomnij)\b.{0,50}\b(?:instrukcj|polece|zasad)\w*",
            r"(?:忽略|无视|無視|忘记|忘れ).{0,20}(?:指令|指示|规则|提示|命令|ルール)|(?:指示|命令|ルール|プロンプト).{0,12}(?:無視|忘れ)",
        )
    ),
    re.IGNORECASE | re.DOTALL,
)
_OPENINGS = re.compile(
    r"\W*(?:system|assistant|developer|user|human|ai)\s*(?:prompt|message|note|override)?\s*[:>\]]"
    r"|\W*(?:please )?(?:reply|respond|answer|output|print|say|repeat|write)\b.{0,20}"
    r"\b(?:only|with|exactly|instead|that|the following|word|verbatim)\b",
    re.IGNORECASE,
)
"""What is an order only at the beginning of a sentence."""

_HIDDEN = re.compile("[\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff\U000e0000-\U000e007f]")


def speaks_to_reader(text: str) -> bool:
    """Whether a sentence gives orders to a model that reads it."""
    plain = _plain(text)
    return _OPENINGS.match(plain) is not None or _ORDERS.search(plain) is not None


def told_only(text: str) -> str:
    """The sentences of a text before the first that gives orders: what comes after an order is part of it."""
    pieces = split(_HIDDEN.sub("", text))
    if _ORDERS.search(_plain(text)) is None:  # one look at the whole: nearly all memories hold none
        orders = (at for at, piece in enumerate(pieces) if _OPENINGS.match(_plain(piece)))
    else:
        pairs = zip(["", *pieces], pieces, strict=False)  # an order may run over the end of a sentence
        orders = (at for at, pair in enumerate(pairs) if speaks_to_reader(pair[1]) or speaks_to_reader(" ".join(pair)))
    return " ".join(pieces[: next(orders, len(pieces))])


def _plain(text: str) -> str:
    """As a model would read it: no invisible characters, compatible forms, one space between words."""
    return " ".join(unicodedata.normalize("NFKC", _HIDDEN.sub("", text)).split())
