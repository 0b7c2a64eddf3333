"""Our real server over the fault server: settings, the server as a process, and how it is asked.

Above: the tests here, `soak`. Below: `running`, and the surfaces' tests for pipes.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import httpx2
from surface.world import INITIALIZED, Pipe, call, initialize, pipe

from .running import WAIT_S, Faults

LONG_S = 60.0
"""A time that no test waits for: whatever ends earlier was ended by something else."""

Answer = dict[str, Any]


def nonce() -> str:
    """A word that no other question holds."""
    return f"nonce-{secrets.token_hex(6)}"


def settings(folder: Path, faults: Faults, more: Mapping[str, Mapping[str, Any]] | None = None, **sections: Any) -> str:
    """A settings file with every store of the fault server; its path."""
    stores = [faults.store(name, **(more or {}).get(name, {})) for name in faults.ways]
    timing = {"per_store_timeout_s": WAIT_S, "deadline_s": LONG_S}
    path = folder / "callosum.json"
    federation = {**timing, **sections.pop("federation", {})}
    path.write_text(json.dumps({"stores": stores, "federation": federation, **sections}), encoding="utf-8")
    return str(path)


def variables(config: str) -> dict[str, str]:
    """What a server needs of its environment: an overlay of its own."""
    return {"CALLOSUM_RUNTIME_STORES": f"{config}.overlay"}


@dataclass
class OverStdio:
    """A server over stdio."""

    pipe: Pipe
    numbers: count[int] = field(default_factory=lambda: count(2))

    def recall(self, query: str, **more: Any) -> Answer:
        """The result of a call: `isError`, `content`, `structuredContent`."""
        return self.pipe.answer(self.ask(query, **more))["result"]

    def ask(self, query: str, **more: Any) -> int:
        """Send a call; its id."""
        identity = next(self.numbers)
        self.pipe.write(call(identity, "recall", query=query, **more))
        return identity


@contextmanager
def over_stdio(config: str) -> Generator[OverStdio]:
    """Our server as a child of this process, its handshake done."""
    with pipe("serve", "--config", config, **variables(config)) as opened:
        opened.write(initialize(1), INITIALIZED)
        opened.answer(1)
        yield OverStdio(opened)


@dataclass
class OverHttp:
    """A server over HTTP."""

    pipe: Pipe
    url: str
    client: httpx2.Client

    def recall(self, query: str, **more: Any) -> Answer:
        """The body of an answer, in the words of a tool's result."""
        response = self.client.post("/recall", json={"query": query, **more})
        return {"isError": response.status_code != 200, "structuredContent": response.json()}


@contextmanager
def over_http(config: str, headers: Mapping[str, str] | None = None, **environ: str) -> Generator[OverHttp]:
    """Our server on a free port, as a process."""
    arguments = ("serve", "--transport", "http", "--port", "0", "--config", config)
    with pipe(*arguments, **variables(config), **environ) as opened:
        found = re.search(r"http://[\d.]+:\d+", opened.complaint(lambda line: "/mcp" in line))
        assert found is not None
        url = found.group()
        with httpx2.Client(base_url=url, headers=headers, timeout=LONG_S, trust_env=False) as client:
            yield OverHttp(opened, url, client)


def engine(answer: Answer, name: str) -> dict[str, Any]:
    """What an answer says of one store."""
    return next(one for one in answer["structuredContent"]["engines"] if one["engine"] == name)


def texts(answer: Answer) -> list[str]:
    """The texts of an answer's hits."""
    return [hit["text"] for hit in answer["structuredContent"]["hits"]]
