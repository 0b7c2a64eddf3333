"""How the word lists are written: ``name: word word_of_a_phrase …``.

Above: the word lists. Below: nothing. A longer entry goes on, indented, on the next lines, and may break after ``=``.
"""

from __future__ import annotations


def table(text: str) -> dict[str, str]:
    """A word list as name -> words."""
    found: dict[str, str] = {}
    name = ""
    for line in text.strip("\n").split("\n"):
        if line.startswith(" "):
            found[name] += ("" if found[name].endswith("=") else " ") + line.strip()
        else:
            name, _, words = line.partition(":")
            found[name] = words.strip()
    return found
