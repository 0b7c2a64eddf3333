"""Promises about the repository's own files: links, lengths, versions, client files, nothing of one machine."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from typing import Any
from urllib.parse import urlsplit

import pytest

import callosum_mcp
from callosum_mcp import testing

from .markdown import EXAMPLES, PAGES, ROOT, anchors, blocks, links, page, section, without_blocks

MACHINE = re.compile(
    r"/root/|/work/|/opt/py|/tmp/dev|/home/\w+/|pythonhosted|npmjs|pypi\.org|--(extra-)?index-url|--find-links|--registry"
)
QUOTED = ("tests/docs/test_pages.py", "/seren-corpus-callosum.yaml")
"""Ends of the names of files that may hold such words: this one, and the peer's own settings with its defaults."""


@pytest.mark.parametrize("name", PAGES)
def test_every_link_of_a_page_leads_somewhere(name: str) -> None:
    here = (ROOT / name).parent
    for target in links(name):
        parts = urlsplit(target)
        if parts.scheme:
            assert parts.scheme == "https" and parts.netloc, f"{name}: {target}"
            continue
        file = (here / parts.path).resolve() if parts.path else ROOT / name
        assert file.exists(), f"{name}: {target} does not exist"
        if parts.fragment:
            assert parts.fragment in anchors(str(file.relative_to(ROOT))), f"{name}: {target} has no such heading"


def test_the_readme_links_every_page_of_the_docs() -> None:
    targets = {target.partition("#")[0] for target in links("README.md")}

    assert {name for name in PAGES if name.startswith("docs/")} <= targets


def test_the_readme_is_short() -> None:
    assert len(page("README.md").splitlines()) <= 150


def test_the_readme_says_once_which_httpx_is_meant() -> None:
    assert without_blocks("README.md").count('"httpx"') == 1


@pytest.mark.parametrize("mark", ["demo", "tests"])
def test_a_command_that_ci_runs_is_one_line_in_its_own_block(mark: str) -> None:
    found = re.findall(rf"^<!-- ci: {mark} -->\n```bash\n([^\n]+)\n```$", page("README.md"), re.MULTILINE)

    assert len(found) == 1 and found[0] + "\n" in blocks("README.md", "bash")


def test_the_adapter_has_as_many_lines_as_its_heading_says() -> None:
    lines = (EXAMPLES / "jsonl_adapter.py").read_text(encoding="utf-8").splitlines()

    assert f"## An adapter in {len(lines)} lines\n" in page("README.md")


def test_the_changelog_has_the_version() -> None:
    assert f"\n## [{callosum_mcp.__version__}] - " in page("CHANGELOG.md")


def _json_file(name: str) -> dict[str, Any]:
    return json.loads((ROOT / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        (".mcp.json", {"mcpServers"}),
        (".vscode/mcp.json", {"servers"}),
        (".vs/mcp.json", {"servers"}),
        ("mcp.json.example", {"servers", "inputs"}),
    ],
)
def test_a_client_file_has_the_root_keys_its_client_reads(name: str, keys: set[str]) -> None:
    content = _json_file(name)
    servers: dict[str, Any] = content.get("servers") or content["mcpServers"]

    assert set(content) == keys
    assert all("command" in server or "url" in server for server in servers.values())
    assert {server["type"] for server in servers.values()} <= {"stdio", "http", "sse"}


def test_every_input_a_client_file_asks_for_is_declared() -> None:
    text = (ROOT / "mcp.json.example").read_text(encoding="utf-8")

    assert set(re.findall(r"\$\{input:([\w-]+)\}", text)) == {i["id"] for i in _json_file("mcp.json.example")["inputs"]}


def test_every_public_name_for_testing_is_documented() -> None:
    own = {
        name
        for name, value in vars(testing).items()
        if not name.startswith("_") and (name.isupper() or getattr(value, "__module__", "") == testing.__name__)
    }
    text = section("docs/adapters.md", "## Testing it")

    assert own >= {"NASTY_QUERIES", "ScriptedStore", "check_adapter", "hit"}
    assert {name for name in own if not re.search(rf"`{name}[`(]", text)} == set()


def test_coverage_leaves_out_nothing() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["coverage"]

    assert "omit" not in settings["run"] and "omit" not in settings["report"]
    assert settings["report"]["fail_under"] >= 95


def _repository_files() -> list[str]:
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(listed, cwd=ROOT, capture_output=True, check=False)
    if done.returncode:
        pytest.skip("not a git checkout")
    return [name for name in done.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


def test_no_file_names_a_machine_or_a_package_registry() -> None:
    found: list[str] = []
    for name in _repository_files():
        if name.endswith(QUOTED):
            continue
        text = (ROOT / name).read_text(encoding="utf-8", errors="replace")
        found += [f"{name}: {match.group()}" for match in MACHINE.finditer(text)]

    assert found == []
