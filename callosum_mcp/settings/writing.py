"""A settings file replaced as a whole, never left half written: the only writer of one.

Above: ``stores import``. Below: `appending`. The new text is written beside the old, checked as if it were in force,
and takes its place in one step; the old file is kept.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from callosum_mcp.errors import SettingsError
from callosum_mcp.settings.appending import NewStore, with_stores

NEW_FILE = """\
# Settings of callosum-mcp; docs/settings.md has all of them.
stores:
  - name: notes
    type: notes
    url: .
  # Without a settings file these two are looked for as well:
  # - { name: memory, type: seren_memory, url: "http://127.0.0.1:7420" }
  # - { name: loci, type: seren_loci, url: "http://127.0.0.1:7422" }
"""
"""What a new file begins with: a file takes the place of the default stores, which must not be lost by that."""

_NEW_JSON = '{\n  "stores": [\n    { "name": "notes", "type": "notes", "url": "." }\n  ]\n}\n'
_BOM = "\ufeff"


def text_with_stores(file: Path, stores: Sequence[NewStore]) -> str:
    """What a settings file would hold with stores appended; the file need not exist yet.

    Raises:
        SettingsError: If it cannot be read or appended to.
    """
    try:
        text = file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        text = _NEW_JSON if file.suffix.lower() == ".json" else NEW_FILE
    except UnicodeDecodeError as fault:
        raise SettingsError(f"is not UTF-8 (byte {fault.start})", source=str(file)) from fault
    except OSError as fault:
        raise SettingsError(f"cannot be read: {fault.strerror or fault}", source=str(file)) from fault
    bare = text.removeprefix(_BOM)
    return text[: len(text) - len(bare)] + with_stores(bare, str(file), stores)


def replace_settings(file: Path, text: str, check: Callable[[Path], None]) -> Path | None:
    """Put a text in place of a settings file, which is kept under another name.

    Args:
        file: The settings file; a link is followed, and stays one.
        text: What it is to hold.
        check: Refuses, by a `SettingsError`, the file it is given.

    Returns:
        Where the old file is kept; None if there was none.

    Raises:
        SettingsError: If the text is refused or cannot be written; nothing has changed then.
    """
    target = Path(os.path.realpath(file))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        written = _written(target, text)
    except OSError as fault:
        raise SettingsError(
            f"cannot be written: {fault.strerror or fault}; nothing was changed", source=str(file)
        ) from fault
    try:
        check(written)
        kept = _kept(target)
        written.replace(target)
    except SettingsError as fault:
        raise SettingsError(f"{fault.problem}; nothing was changed", source=str(file), line=fault.line) from fault
    except OSError as fault:
        raise SettingsError(
            f"cannot be written: {fault.strerror or fault}; nothing was changed", source=str(file)
        ) from fault
    finally:
        with suppress(FileNotFoundError):
            written.unlink()
    return kept


def _written(target: Path, text: str) -> Path:
    """The text in a file of its own beside the target, with the target's mode; a new one is the user's alone."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.stem}.", suffix=target.suffix)
    with os.fdopen(handle, "wb") as file:
        file.write(text.encode("utf-8"))
        file.flush()
        os.fsync(file.fileno())
    if target.exists():
        shutil.copymode(target, name)
    return Path(name)


def _kept(target: Path) -> Path | None:
    if not target.exists():
        return None
    kept, count = target.with_name(f"{target.name}.bak"), 1
    while kept.exists():
        count += 1
        kept = target.with_name(f"{target.name}.bak-{count}")
    shutil.copy2(target, kept)
    return kept
