"""A tree of notes to measure with: Markdown files of real paragraphs in a new order, always the same for a machine.

Above: `notes`. Below: nothing. The paragraphs are the SciFact abstracts of `data/scifact`, and what every Python
carries: its documentation, the doc strings and comments of its standard library, its licence; and some sentences of
Chinese, Japanese and Korean. Every file has a number of its own in it, so that it can be asked for.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import sysconfig
from collections.abc import Iterator
from pathlib import Path

FILE_BYTES = 10_000
_FOLDER_FILES = 100
_SECTION_PARAGRAPHS = 4
_LEAST, _MOST = 80, 1_400  # characters of a paragraph
_STRINGS = re.compile(r'"""(.+?)"""', re.DOTALL)
_HERE = Path(__file__).resolve().parent
_CJK = (
    "备份每天凌晨三点运行,保存在异地服务器上,保留三十天。",
    "数据库迁移之前必须先检查磁盘空间,否则会中断。",
    "バックアップは毎晩三時に実行され、別のサーバーに保存されます。",
    "設定ファイルを変更した後は、必ずサービスを再起動してください。",
    "백업은 매일 새벽 세 시에 실행되며 다른 서버에 보관됩니다.",
    "설정을 바꾼 뒤에는 반드시 서비스를 다시 시작해야 합니다.",
)


def paragraphs() -> list[str]:
    """Real paragraphs, each once, in a fixed order."""
    pieces = (piece for text in _texts() for piece in re.split(r"\n\s*\n", text))
    tidy = (re.sub(r"\s*\n\s*", "\n", piece.strip())[:_MOST] for piece in pieces)
    return list(dict.fromkeys(piece for piece in tidy if len(piece) >= _LEAST))


def _texts() -> Iterator[str]:
    for file in sorted((_HERE / "data" / "scifact").glob("*.json.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as opened:
            yield from _long_strings(json.load(opened))
    for file in sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py")):
        if "site-packages" not in file.parts and "test" not in file.parts:
            text = file.read_text(encoding="utf-8", errors="replace")
            yield from _STRINGS.findall(text)
            if file.parent.name == "pydoc_data":
                yield text.replace("\\n", "\n").replace("'\n", "\n")


def _long_strings(value: object) -> Iterator[str]:
    if isinstance(value, str) and len(value) >= _LEAST:
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
            yield from _long_strings(inner)  # pyright: ignore[reportUnknownArgumentType]


def grow(folder: Path, files: int) -> int:
    """Write that many files of some 10,000 bytes into a folder; the bytes in all."""
    source, chance, size = paragraphs(), random.Random(20_000), 0
    for number in range(files):
        place = folder / f"area-{number // _FOLDER_FILES:03d}" / f"note-{number:05d}.md"
        place.parent.mkdir(exist_ok=True)
        text = _note(number, source, chance)
        size += place.write_bytes(text.encode())
    return size


def _note(number: int, source: list[str], chance: random.Random) -> str:
    parts = [f"---\ntags: [area{number % 40}, notes]\n---\n# Note {number}\n\nTicket QX-{number:05d}.\n"]
    size = 0
    while size < FILE_BYTES:
        chosen = chance.choices(source, k=_SECTION_PARAGRAPHS)
        if chance.random() < 0.05:
            chosen.append(chance.choice(_CJK))
        heading = " ".join(chosen[0].split()[:5])
        parts.append(f"\n## {heading}\n\n" + "\n\n".join(chosen) + "\n")
        size += len(parts[-1].encode())
    return "".join(parts)
