"""A third party's test: the contract that every adapter keeps, and the order of its own answers."""

from pathlib import Path

import anyio
from jsonl_adapter import JsonLines

from callosum_mcp.models.values import StoreSpec
from callosum_mcp.testing import check_adapter

LINES = """{"id": "1", "text": "Hermes listens on port 8443.", "seen": "2026-11-01"}
{"id": "2", "text": "Hermes was moved to the new rack."}
"""


def test_it_keeps_the_contract_and_ranks_by_shared_words(tmp_path: Path) -> None:
    file = tmp_path / "journal.jsonl"
    file.write_text(LINES, encoding="utf-8")
    adapter = JsonLines(StoreSpec(name="journal", type="jsonl", url=str(file)))

    reply = anyio.run(check_adapter, adapter, "port of Hermes")

    assert [hit.id for hit in reply.hits] == ["1", "2"]
