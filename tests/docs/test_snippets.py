"""Code in the docs is a file of docs/examples or a preset's example, word for word, and does what it is shown for."""

from __future__ import annotations

import functools
import importlib
import json
import re
import shlex
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio
import httpx2
import pytest

from callosum_mcp.adapters.http import JsonHttp
from callosum_mcp.adapters.registry import adapter_class
from callosum_mcp.app import Application, build
from callosum_mcp.cli.arguments import parser
from callosum_mcp.errors import StoreError
from callosum_mcp.models.requests import RecallRequest
from callosum_mcp.models.results import RecallResult
from callosum_mcp.models.values import StoreQuery, StoreSpec
from callosum_mcp.settings import load
from callosum_mcp.testing import check_adapter

from . import presets
from .markdown import EXAMPLES, PAGES, ROOT, blocks, page

YAML = sorted(EXAMPLES.glob("*.yaml"))
NOT_SHOWN = {"seren-corpus-callosum.yaml"}
"""Examples that no page prints: the peer's own file, which the docs say is read as it is."""


def _shown(language: str) -> list[tuple[str, str]]:
    return [(name, code) for name in PAGES for code in blocks(name, language)]


def _example_names(files: list[Path]) -> list[str]:
    return [file.name for file in files]


@pytest.fixture
def jsonl_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The example adapter, installed with the entry point that docs/adapters.md prints."""
    (toml,) = blocks("docs/adapters.md", "toml")
    points = tomllib.loads(toml)["project"]["entry-points"]["callosum_mcp.adapters"]
    info = tmp_path / "installed" / "jsonl_adapter-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: jsonl-adapter\nVersion: 1.0\n", encoding="utf-8")
    lines = [f"{name} = {target}" for name, target in points.items()]
    (info / "entry_points.txt").write_text("\n".join(["[callosum_mcp.adapters]", *lines]), encoding="utf-8")
    _prepend(info.parent, monkeypatch)
    return _imported("jsonl_adapter", monkeypatch)


def _prepend(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    importlib.invalidate_caches()


def _imported(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    _prepend(EXAMPLES, monkeypatch)
    for module in (name, "jsonl_adapter"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    return importlib.import_module(name)


def _wired(file: Path, cwd: Path) -> Application:
    """The program that an example file makes, with every variable that it names set."""
    text = file.read_text(encoding="utf-8")
    named = re.findall(r"\$\{(?:env:)?(\w+)", text) + re.findall(r"token_env: (\w+)", text)
    return build(load(file, dict.fromkeys(named, "value"), cwd), keep_overlay=False)


@pytest.mark.parametrize("language", ["python", "yaml"])
def test_every_snippet_is_a_file_of_the_examples(language: str) -> None:
    files = {file.read_text(encoding="utf-8") for file in EXAMPLES.iterdir() if file.is_file()}
    files |= set(presets.examples()) if language == "yaml" else set()
    for name, code in _shown(language):
        assert code in files, f"{name}: this {language} block is no file of docs/examples and no preset's:\n{code}"


def test_every_example_is_shown_somewhere() -> None:
    shown = {code for language in ("python", "yaml") for _, code in _shown(language)}
    files = [file for file in EXAMPLES.iterdir() if file.suffix in (".py", ".yaml") and file.name not in NOT_SHOWN]

    assert [file.name for file in files if file.read_text(encoding="utf-8") not in shown] == []


@pytest.mark.parametrize("file", YAML, ids=_example_names(YAML))
@pytest.mark.usefixtures("jsonl_installed")
def test_an_example_of_settings_is_accepted(file: Path, tmp_path: Path) -> None:
    assert _wired(file, tmp_path).federation.state.stores.active() > 0


def test_the_peers_file_is_found_by_its_own_name(tmp_path: Path) -> None:
    name = "seren-corpus-callosum.yaml"
    (tmp_path / name).write_bytes((EXAMPLES / name).read_bytes())

    assert [store.name for store in load(None, {}, tmp_path).stores] == ["memory", "loci"]


@pytest.mark.usefixtures("jsonl_installed")
def test_the_adapter_of_the_readme_answers_a_recall(tmp_path: Path, jsonl_installed: ModuleType) -> None:
    journal = tmp_path / "journal.jsonl"
    journal.write_text('{"id": "7", "text": "Hermes listens on port 8443.", "seen": "2026-11-01"}\n', encoding="utf-8")
    text = (EXAMPLES / "journal.yaml").read_text(encoding="utf-8").replace("~/journal.jsonl", str(journal))
    config = tmp_path / "callosum.yaml"
    config.write_text(text, encoding="utf-8")

    result = _recall(_wired(config, tmp_path), "port of Hermes")

    assert adapter_class("jsonl") is jsonl_installed.JsonLines
    assert [(hit.id, hit.last_seen) for hit in result.hits] == [("journal:7", "2026-11-01T00:00:00Z")]


def _recall(application: Application, query: str) -> RecallResult:
    async def ask() -> RecallResult:
        async with application.running():
            return await application.federation.recall(RecallRequest(query=query))

    return anyio.run(ask)


def test_the_test_of_the_adapter_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = _imported("test_jsonl_adapter", monkeypatch)
    tests = [value for name, value in vars(module).items() if name.startswith("test_")]

    assert len(tests) == 1
    tests[0](tmp_path)


@pytest.mark.parametrize("content", ["not JSON", "[]", "7", '{"id": "1"}', '{"id": "1", "text": " "}'])
def test_the_adapter_never_shows_a_broken_file_as_empty(
    content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = _imported("jsonl_adapter", monkeypatch)
    file = tmp_path / "journal.jsonl"
    file.write_text(content, encoding="utf-8")
    adapter: Any = module.JsonLines(StoreSpec(name="journal", type="jsonl", url=str(file)))

    with pytest.raises(StoreError):
        anyio.run(adapter.search, StoreQuery(text="hermes"))


def test_the_http_adapter_keeps_the_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    module = _imported("wiki_adapter", monkeypatch)
    transport = httpx2.MockTransport(_wiki)
    monkeypatch.setattr(module, "JsonHttp", functools.partial(JsonHttp, transport=transport))
    spec = StoreSpec(name="wiki", type="wiki", url="http://wiki.example", options={"space": "ops"})

    reply = anyio.run(check_adapter, module.Wiki(spec), "hermes")

    assert [(hit.id, hit.title, hit.topics, hit.last_seen) for hit in reply.hits] == [("p1", "Hermes", ("ops",), 1.0)]
    assert reply.remark == "1 rows could not be read"


def _wiki(request: httpx2.Request) -> httpx2.Response:
    known = {"id": "p1", "title": "Hermes", "body": "Hermes listens on 8443.", "labels": ["Ops"], "updated": 1}
    asked = dict(request.url.params)
    if request.url.path == "/find":
        return httpx2.Response(200, json={"pages": [known, {"id": "p2"}][: int(asked["max"])]})
    return httpx2.Response(200, json=known) if asked["id"] == "p1" else httpx2.Response(404)


def test_every_json_and_toml_snippet_parses() -> None:
    assert [json.loads(code) for _, code in _shown("json")]
    assert [tomllib.loads(code) for _, code in _shown("toml")]


def test_the_answer_in_the_readme_has_only_fields_of_an_answer() -> None:
    (code,) = blocks("README.md", "json")
    shown = json.loads(code)

    assert RecallResult.model_validate({"query": "", **shown, "engines": shown["engines"]}).partial


@pytest.mark.parametrize("name", [".mcp.json", ".vscode/mcp.json", ".vs/mcp.json"])
def test_a_client_file_of_the_repository_is_printed_as_it_is(name: str) -> None:
    assert (ROOT / name).read_text(encoding="utf-8") in blocks("docs/clients.md", "json")


def test_every_command_line_in_the_docs_is_understood() -> None:
    lines = [line for _, code in _shown("bash") for line in code.splitlines()]
    inline = [line for name in PAGES for line in re.findall(r"`(callosum-mcp [^`]+)`", page(name))]
    commands = [line for line in [*lines, *inline] if line.startswith("callosum-mcp ") and "--help" not in line]

    assert len(commands) > 5
    for command in commands:
        parser().parse_args(shlex.split(command)[1:])
