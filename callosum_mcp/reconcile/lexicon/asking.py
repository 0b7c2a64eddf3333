"""Words that ask, and the slots an answer to them may fill.

Above: `question`, `tokens`. Below: nothing.
"""

from __future__ import annotations

from callosum_mcp.reconcile.lexicon.tables import table

_ASKS = table("""
person: who whose wer qui quién quien chi kto quem 誰
-: 何
when: when wann quand cuándo quando kiedy いつ
host path fqdn url room ip mail street open choice: where wo où dónde dove gdzie onde どこ
number: many viele combien cuántos cuántas quanti quante ile quantos quantas いくつ much
""")

ASKS = {word: tuple(slots.replace("-", "").split()) for slots, words in _ASKS.items() for word in words.split()}
"""Question word -> slots."""

LONE = frozenset("up on off down".split())
"""Words that are states or prepositions."""
