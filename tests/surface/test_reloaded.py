"""Real servers whose settings change under them: tokens rotate, stores come and go, nothing is restarted."""

from __future__ import annotations

import json
import re
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from .world import (
    INITIALIZED,
    Pipe,
    World,
    call,
    connected,
    eventually,
    http_target,
    initialize,
    pipe,
    sse_target,
    world_in,
    write_config,
)

OLD, NEW = "alpha-7d1f", "beta-93ce"
LONGEST_S = 20
"""Until a change of a file is in force, on a busy machine."""


@pytest.fixture
def one(tmp_path: Path) -> Generator[World]:
    (tmp_path / "tokens").write_text(f"{OLD}\n", encoding="utf-8")
    with world_in(tmp_path, server={"bearer_token_file": "tokens", "port": 0}) as found:
        yield found


def announced(opened: Pipe) -> str:
    found = re.search(r"http://\S+:\d+", opened.complaint(lambda text: "/mcp" in text))
    assert found is not None
    return found.group()


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def code(url: str, token: str, path: str = "/stores") -> int:
    return httpx2.get(url + path, headers=bearer(token), trust_env=False).status_code


def names_at(url: str) -> set[str]:
    return {store["name"] for store in httpx2.get(f"{url}/stores", trust_env=False).json()["stores"]}


def replaced(path: Path, text: str) -> None:
    new = path.with_name(f"{path.name}.new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


@pytest.mark.promise("5c")
async def test_tokens_rotate_on_every_surface_without_a_restart(one: World) -> None:
    tokens = one.folder / "tokens"
    with pipe("serve", "--transport", "http", "--config", str(one.config)) as opened:
        url = announced(opened)
        assert (code(url, OLD), code(url, NEW)) == (200, 401)
        replaced(tokens, f"# both for a while\n{OLD}\n{NEW}\n")
        eventually(lambda: code(url, NEW) == 200, "the new token lets in")
        assert code(url, OLD) == 200
        replaced(tokens, f"{NEW}\n")
        eventually(lambda: code(url, OLD) == 401, "the old token does not let in any more")
        for target in (http_target(url, bearer(NEW)), sse_target(url, bearer(NEW))):
            async with connected(target, "auto") as client:
                assert not (await client.call_tool("recall", {"query": "Hermes"})).is_error
        assert httpx2.post(f"{url}/mcp", json=initialize(), headers=bearer(OLD), trust_env=False).status_code == 401
        replaced(tokens, "")
        said = opened.complaint(lambda line: "not in force" in line)
        assert "holds no token" in said and OLD not in said and NEW not in said
        assert (code(url, NEW), code(url, "wrong")) == (200, 401)
        health = httpx2.get(f"{url}/health", headers=bearer(NEW), trust_env=False).json()
        assert health["ok"] and "holds no token" in health["notes"][0]
        assert httpx2.get(f"{url}/health", trust_env=False).json() == {"ok": True}
        assert httpx2.get(f"{url}/ready", trust_env=False).json() == {"ready": True}


@pytest.mark.promise("5k")
async def test_an_open_stream_ends_with_its_token_and_those_of_other_tokens_go_on(one: World) -> None:
    tokens = one.folder / "tokens"
    replaced(tokens, f"{OLD}\n{NEW}\n")
    with pipe("serve", "--transport", "http", "--config", str(one.config)) as opened:
        url = announced(opened)
        async with httpx2.AsyncClient(trust_env=False, timeout=None) as http:
            async with (
                http.stream("GET", f"{url}/sse", headers=bearer(OLD)) as old,
                http.stream("GET", f"{url}/sse", headers=bearer(NEW)) as new,
            ):
                going, ending = new.aiter_text(), old.aiter_text()
                assert "endpoint" in await anext(going) and "endpoint" in await anext(ending)
                replaced(tokens, f"{NEW}\n")
                with anyio.fail_after(LONGEST_S):
                    assert [part async for part in ending if not part.startswith(":")] == []
                with anyio.move_on_after(0.1):
                    pytest.fail(f"the other stream went on with {await anext(going)!r}")
        assert (code(url, NEW), code(url, OLD)) == (200, 401)
        assert not [line for line in opened.complaints if b"ASGI" in line or b"Traceback" in line]


def edited(world: World, **server: Any) -> None:
    sections = json.loads(world.config.read_text(encoding="utf-8"))
    stores = [store for store in sections["stores"] if store["name"] != "loci"]
    replaced(world.config, json.dumps({**sections, "stores": stores, "server": {**sections["server"], **server}}))


@pytest.mark.promise("4a")
def test_an_http_server_goes_by_a_file_that_was_put_in_its_files_place_and_says_what_takes_a_restart(
    one: World,
) -> None:
    with pipe("serve", "--transport", "http", "--config", str(one.config)) as opened:
        url = announced(opened)
        edited(one, host="localhost", port=1)

        def listed() -> dict[str, Any]:
            return httpx2.get(f"{url}/health", headers=bearer(OLD), trust_env=False).json()

        eventually(lambda: len(listed()["engines"]) == 2, "the store that was taken out is gone")
        assert listed()["notes"] == [
            f"settings: server.{name} changed, which takes a restart" for name in ("host", "port")
        ]


@pytest.mark.promise("4a")
def test_a_stdio_server_goes_by_a_changed_file_and_keeps_answering_by_the_last_good_one(tmp_path: Path) -> None:
    with world_in(tmp_path) as world, pipe("serve", "--config", str(world.config)) as opened:
        opened.write(initialize(1), INITIALIZED)
        opened.answer(1)
        numbers = iter(range(2, 1_000))

        def names() -> list[str]:
            identity = next(numbers)
            opened.write(call(identity, "list_stores"))
            return [store["name"] for store in opened.answer(identity)["result"]["structuredContent"]["stores"]]

        assert names() == ["notes", "memory", "loci"]
        good = json.loads(world.config.read_text(encoding="utf-8"))
        replaced(world.config, json.dumps({"stores": good["stores"][1:]}))
        eventually(lambda: names() == ["memory", "loci"], "the changed file is in force")
        world.config.write_text('{"stores": [', encoding="utf-8")
        opened.complaint(lambda line: "not in force" in line and str(world.config) in line and "not valid JSON" in line)
        assert names() == ["memory", "loci"]
        replaced(world.config, json.dumps(good))
        eventually(lambda: names() == ["notes", "memory", "loci"], "the mended file is in force")
        assert opened.end() == 0
        assert len([line for line in opened.complaints if b"not in force" in line]) == 1


def test_stores_added_to_one_overlay_by_two_servers_and_a_command_at_once_are_all_there_and_seen_by_both(
    tmp_path: Path,
) -> None:
    config = str(write_config(tmp_path, [], server={"port": 0}))
    serve = ("serve", "--transport", "http", "--config", config)
    with pipe(*serve) as first, pipe(*serve) as second:
        urls = {"a": announced(first), "b": announced(second)}

        def add(prefix: str) -> None:
            for number in range(8):
                store = {"name": f"{prefix}{number}", "type": "seren_memory", "url": "http://127.0.0.1:9"}
                assert httpx2.post(f"{urls[prefix]}/stores", json=store, trust_env=False, timeout=30).status_code == 200

        with ThreadPoolExecutor(2) as pool:
            adding = [pool.submit(add, prefix) for prefix in urls]
            with pipe("stores", "add", "c0", "seren_memory", "http://127.0.0.1:9", "--config", config) as command:
                assert command.wait() == 0
            for one in adding:
                one.result()
        wanted = {f"{prefix}{number}" for prefix in urls for number in range(8)} | {"c0"}
        kept = json.loads((tmp_path / "runtime-stores.json").read_text(encoding="utf-8"))
        assert {store["name"] for store in kept} == wanted
        for url in urls.values():
            eventually(lambda url=url: names_at(url) == wanted, "each server has every store")


@pytest.mark.promise("5d")
@pytest.mark.parametrize("slip", ["bearer_tokn", "bearer_token_env", "bearer_token_file"])
def test_a_slip_that_would_leave_the_door_open_is_a_refusal_to_start(tmp_path: Path, slip: str) -> None:
    (tmp_path / "empty").touch()
    config = write_config(tmp_path, [], server={slip: str(tmp_path / "empty") if slip.endswith("file") else "EMPTY"})
    with pipe("serve", "--transport", "http", "--port", "0", "--config", str(config), EMPTY="") as opened:
        assert opened.wait() == 2
    (line,) = opened.complaints
    assert f"server.{slip}" in line.decode()
