"""callosum-mcp as its users run it: a command, a process over stdio, a server for HTTP and SSE.

Above: the live tests. Below: `server.py` (one process) and the installed `callosum-mcp` command; nothing of the package
is imported here. Every process runs under a private home, so settings, overlay and caches are the test's own.
"""

import json
import os
import shutil
import subprocess
import sysconfig
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from mcp.client import Client
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters

from .lab import Lab, Seren
from .server import LabError, Port, Server

Transport = Literal["stdio", "http", "sse"]
TRANSPORTS: tuple[Transport, ...] = get_args(Transport)

NOTES: Mapping[str, str] = {
    "ops/hermes.md": "# Hermes\n\n## Status page\n\nThe Hermes status page is generated from the health check.\n\n"
    "## Ports\n\nHermes exposes its metrics on 9464, not on the port of the API.\n",
    "ops/atlas.md": "# Atlas\n\nThe Atlas database is restored from the nightly backup as a monthly drill.\n",
    "homelab.md": "---\ntags: [nas, homelab]\n---\n# Homelab\n\nThe NAS stands in the cupboard under the stairs.\n",
    "people.txt": "Lighthouse release day moved; tell Meridian Freight a week ahead.\n",
}
"""What the folder of the `notes` store holds: each file shares words with the corpus of the servers."""


@dataclass(frozen=True, kw_only=True)
class Callosum:
    """callosum-mcp with one settings file. Its command and its stdio side can be used at once; `http` has to run."""

    config: Path
    home: Path
    http: Server
    environ: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def argv(self) -> list[str]:
        """The command that serves over stdio."""
        return [str(command()), "serve", "--config", str(self.config)]

    def url(self, transport: Transport) -> str:
        """Where a client of HTTP or SSE connects."""
        return f"{self.http.url}/{'sse' if transport == 'sse' else 'mcp'}"

    def run(
        self, verb: str, *arguments: str, environ: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """The finished process of a command such as ``recall``, with this settings file."""
        argv = [str(command()), verb, "--config", str(self.config), *arguments]
        return subprocess.run(
            argv, cwd=self.home, env={**self._environ(), **(environ or {})}, capture_output=True, text=True, timeout=60
        )

    @asynccontextmanager
    async def client(self, transport: Transport) -> AsyncGenerator[Client]:
        """An mcp 2.x client that has said hello over a transport."""
        async with Client(self._target(transport)) as client:
            yield client

    def _target(self, transport: Transport) -> Any:
        if transport == "stdio":
            command_, *arguments = self.argv
            return StdioServerParameters(command=command_, args=arguments, env=self._environ(), cwd=self.home)
        return sse_client(self.url("sse")) if transport == "sse" else self.url("http")

    def _environ(self) -> dict[str, str]:
        return {"HOME": str(self.home), "PATH": os.environ.get("PATH", ""), **self.environ}


def command() -> Path:
    """The installed ``callosum-mcp`` of this interpreter."""
    found = shutil.which("callosum-mcp", path=sysconfig.get_path("scripts"))
    if found is None:
        raise LabError("callosum-mcp is not installed for this interpreter: pip install -e .")
    return Path(found)


def make_callosum(
    lab: Lab,
    folder: Path,
    seren: Seren,
    *,
    federation: Mapping[str, Any] | None = None,
    memory: Mapping[str, Any] | None = None,
    loci: Mapping[str, Any] | None = None,
    notes: bool = True,
    environ: Mapping[str, str] | None = None,
) -> Callosum:
    """callosum-mcp over a pair of servers and a folder of notes; its HTTP side is set up but not started.

    Args:
        lab: Ends the HTTP side when it is closed.
        folder: Holds settings, notes and home; made here.
        seren: The real servers.
        federation: Knobs.
        memory: More keys of that store's entry.
        loci: More keys of that store's entry.
        notes: Whether there is a folder of notes as third store.
        environ: More variables of every process.
    """
    home = folder / "home"
    home.mkdir(parents=True)
    stores: list[dict[str, Any]] = [
        {"name": "memory", "type": "seren_memory", "url": seren.memory.url, **(memory or {})},
        {"name": "loci", "type": "seren_loci", "url": seren.loci.url, **(loci or {})},
    ]
    if notes:
        stores.append({"name": "notes", "type": "notes", "url": str(_write_notes(folder / "notes"))})
    config, port = folder / "callosum.yaml", Port()
    settings = {"federation": dict(federation or {}), "stores": stores}
    config.write_text(json.dumps(settings, indent=1), encoding="utf-8")  # JSON is YAML
    argv: Sequence[str | Path] = [
        command(),
        "serve",
        "--transport",
        "http",
        "--port",
        str(port.number),
        "--config",
        config,
    ]
    http = Server(name="callosum-mcp", argv=argv, folder=folder, home=home, port=port, environ=environ or {})
    lab.servers.append(http)
    return Callosum(config=config, home=home, http=http, environ=environ or {})


def _write_notes(folder: Path) -> Path:
    for name, text in NOTES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder
