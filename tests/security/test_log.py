"""The log at its most talkative: shapes, no questions, no memories, no secrets, unless the settings say so."""

from __future__ import annotations

import json
import logging
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from support.data import running, scripted

from callosum_mcp.cli import logs
from callosum_mcp.federation.federation import QUERIES, Federation
from callosum_mcp.models.requests import RecallRequest
from callosum_mcp.models.secrets import Mask
from callosum_mcp.settings import Loaded, load
from callosum_mcp.testing import ScriptedStore, hit

QUESTION, MEMORY, SECRET = "where is the treasure buried", "under the old oak", "canary-7f3a9c"


class Stream:
    """What goes to stderr."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def getvalue(self) -> str:
        return self._capsys.readouterr().err


@pytest.fixture
def stream(capsys: pytest.CaptureFixture[str]) -> Generator[Stream]:
    """What goes to stderr; the loggers are put back as they were."""
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    yield Stream(capsys)
    root.handlers[:] = before
    root.setLevel(level)
    logging.getLogger(QUERIES).setLevel(logging.CRITICAL)


def settings(folder: Path, *, log_queries: bool = False) -> Loaded:
    stores = [{"name": "s", "type": "seren_memory", "url": "http://127.0.0.1:9", "token": SECRET}]
    said: dict[str, Any] = {"stores": stores, "logging": {"level": "debug", "log_queries": log_queries}}
    said["server"] = {"bearer_token": "canary-bearer-7f3a9c"}
    said["answer"] = {
        "backends": [{"type": "ollama", "model": "m", "token": "canary-backend-7f3a9c"}],
        "rerank": "endpoint",
        "rerank_url": "http://u:canary-rerank-7f3a9c@127.0.0.1",
        "rerank_token_env": "T",
    }
    path = folder / "callosum.json"
    path.write_text(json.dumps(said), encoding="utf-8")
    return load(path, {"T": "canary-rerank-token-7f3a9c"}, folder)


def set_up(folder: Path, **logging_section: bool) -> None:
    """As at the start of a process, where nobody listens to the log yet."""
    logging.getLogger().handlers.clear()
    logs.set_up(settings(folder, **logging_section))


class Broken(ScriptedStore):
    """An adapter with a bug that quotes what it was working on."""

    async def search(self, query: Any) -> Any:
        try:
            raise KeyError(f"{query.text} {MEMORY} {SECRET}")
        except KeyError as fault:
            raise ExceptionGroup("several", [ValueError(f"{query.text} {MEMORY} {SECRET}")]) from fault


async def asked(*stores: Any) -> Federation:
    async with running(*stores) as federation:
        await federation.recall(RecallRequest(query=QUESTION))
    return federation


def broken() -> Any:
    store = scripted("broken", more={"token": SecretStr(SECRET)})
    store.connection._adapter = Broken(store.spec)  # pyright: ignore[reportPrivateUsage]
    return store


@pytest.mark.promise("7e")
async def test_a_call_is_logged_by_its_shape(tmp_path: Path, stream: Stream) -> None:
    set_up(tmp_path)
    await asked(scripted("s", hit("s", "1", MEMORY)), broken())
    said = stream.getvalue()
    assert f"asked with {len(QUESTION)} characters: 1 hits in " in said
    assert "s up, broken down (error)" in said
    assert "store broken: its adapter failed" in said
    kinds = ["KeyError", "and then:", "ExceptionGroup", "in it:", "ValueError"]
    assert [line for line in said.splitlines() if line in kinds] == kinds
    assert not any(text in said for text in (QUESTION, MEMORY, SECRET, "7f3a9c"))


@pytest.mark.promise("7e")
async def test_questions_are_logged_where_the_settings_say_so_and_secrets_even_then_not(
    tmp_path: Path, stream: Stream
) -> None:
    set_up(tmp_path, log_queries=True)
    await asked(scripted("s", hit("s", "1", MEMORY)), broken())
    said = stream.getvalue()
    assert f"INFO {QUERIES}: asked: {QUESTION}" in said
    assert "KeyError" in said and MEMORY in said
    assert "7f3a9c" not in said


@pytest.mark.parametrize("name", ["mcp.server", "httpx2", "httpcore2.http11", "aiohttp.client", "psycopg"])
def test_libraries_that_carry_questions_are_heard_without_their_words(
    tmp_path: Path, stream: Stream, name: str
) -> None:
    set_up(tmp_path)
    logger = logging.getLogger(name)
    for level in (logging.DEBUG, logging.INFO, logging.WARNING):
        logger.log(level, "sending %s to %s", QUESTION, "http://127.0.0.1/search?q=treasure")
    lines = stream.getvalue().splitlines()
    assert len(lines) == 1 and lines[0].startswith(f"WARNING {name}: (its words are not logged")


@pytest.mark.promise("7e")
@pytest.mark.parametrize(
    "text",
    [
        SECRET,
        "canary-bearer-7f3a9c",
        "canary-backend-7f3a9c",
        "canary-rerank-7f3a9c",
        "canary-rerank-token-7f3a9c",
        "authorization: Bearer some-7f3a9c-token",
        "http://user:7f3a9c@host",
    ],
)
def test_every_secret_of_the_settings_is_masked_in_the_log(tmp_path: Path, stream: Stream, text: str) -> None:
    set_up(tmp_path)
    logging.getLogger("callosum_mcp.x").error("it said: %s", text)
    said = stream.getvalue()
    assert "it said: " in said and "7f3a9c" not in said


def test_the_token_of_a_store_that_was_added_later_is_masked_too(tmp_path: Path, stream: Stream) -> None:
    set_up(tmp_path)
    logs.watch(lambda: [Mask(["added-later-token"])])
    logging.getLogger("callosum_mcp.x").error("it said: added-later-token")
    assert stream.getvalue() == "ERROR callosum_mcp.x: it said: ***\n"


def test_an_exception_without_a_trace_is_logged_as_it_was(tmp_path: Path, stream: Stream) -> None:
    set_up(tmp_path)
    logging.getLogger("callosum_mcp.x").exception("nothing was raised")
    assert stream.getvalue() == "ERROR callosum_mcp.x: nothing was raised\nNoneType: None\n"
