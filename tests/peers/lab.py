"""The real Seren family on loopback, in a folder of its own: SerenMemory, SerenLoci and SerenCorpusCallosum.

Above: the fixtures in `conftest.py`. Below: `server.py` (one process). The servers run in the peers' own environment,
with a private home, on ports the OS gave out; nothing is written outside the lab's folder and everything has ended
when the lab is closed. They are AGPL programs that we run and talk to; none of their code is here.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from .install import peers_venv, python_of
from .seed import Seeded, seed
from .server import Port, Server

_OFF: Mapping[str, Any] = {"enabled": False}
_LAUNCH_MEMORY = Path(__file__).with_name("launch_memory.py")


@dataclass(frozen=True, kw_only=True)
class Seren:
    """A SerenMemory and a SerenLoci that belong together, as one agent would have them."""

    memory: Server
    loci: Server
    seeded: Seeded | None
    """What the corpus left in them; None for a pair that was started empty."""


class Lab:
    """Starts servers in `folder` (made if missing) and ends all of them on leaving the `with` block."""

    def __init__(self, folder: Path) -> None:
        self.servers: list[Server] = []
        self._folder = folder
        self._home = folder / "home"
        self._home.mkdir(parents=True)
        self._python = python_of(peers_venv())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        with ExitStack() as all_of_them:  # one that will not end must not keep the others alive
            for server in self.servers:
                all_of_them.callback(server.close)

    def seren(self, *, memory_token: str = "", loci_token: str = "", empty: bool = False) -> Seren:
        """A new pair, filled with the corpus unless `empty`."""
        memory, loci = self._memory(memory_token), self._loci(loci_token)
        _start(memory, loci)
        return Seren(memory=memory, loci=loci, seeded=None if empty else seed(memory, loci))

    def copy_of(self, source: Seren, *, memory_token: str = "", loci_token: str = "", embedder: bool = True) -> Seren:
        """A new pair that holds what `source` holds now; faster than seeding, and independent of it afterwards.

        Without `embedder`, its memory starts as one whose model is gone.
        """
        memory, loci = self._memory(memory_token, embedder=embedder), self._loci(loci_token)
        for original, copy in ((source.memory, memory), (source.loci, loci)):
            with original.paused():  # nobody writes while the files are copied
                shutil.copytree(original.folder / "data", copy.folder / "data", dirs_exist_ok=True)
        _start(memory, loci)
        return Seren(memory=memory, loci=loci, seeded=source.seeded)

    def peer(
        self,
        seren: Seren,
        *,
        federation: Mapping[str, Any] | None = None,
        memory: Mapping[str, Any] | None = None,
        loci: Mapping[str, Any] | None = None,
        token: str = "",
    ) -> Server:
        """The peer in front of `seren`, its stores named `memory` and `loci`.

        `federation` holds its own options (k, fusion_mode, min_per_store, ...); `memory` and `loci` are more keys of
        that store's entry (weight, floor, enabled, options).
        """
        stores = [_store("memory", seren.memory, memory), _store("loci", seren.loci, loci)]
        config = {"updates": _OFF, "federation": {**(federation or {}), "stores": stores}}
        peer = self._server("callosum", ["-m", "seren_corpus_callosum", "--config"], config, token=token)
        peer.start()
        return peer

    def _memory(self, token: str, *, embedder: bool = True) -> Server:
        config = {"storage": {"persist_dir": "data/chroma"}, "updates": _OFF, "backup": _OFF, "eidetic": _OFF}
        argv = [_LAUNCH_MEMORY, *([] if embedder else ["--no-model"])]
        return self._server("memory", argv, config, token=token)

    def _loci(self, token: str) -> Server:
        config = {"storage": {"db_path": "data/loci.db"}, "updates": _OFF, "backup": _OFF, "figures": _OFF}
        return self._server("loci", ["-m", "seren_loci", "--config"], config, token=token)

    def _server(self, kind: str, command: Sequence[str | Path], config: Mapping[str, Any], *, token: str) -> Server:
        """A server that is set up but not started. Its paths are relative: it runs in its own folder."""
        name = f"{kind}-{len(self.servers)}"
        folder = self._folder / name
        (folder / "data").mkdir(parents=True)
        port = Port()
        listen: dict[str, Any] = {"host": "127.0.0.1", "port": port.number}
        if token:
            listen["bearer_token"] = token
        settings = folder / "config.yaml"  # JSON is YAML
        settings.write_text(json.dumps({"server": listen, **config}, indent=1), encoding="utf-8")
        argv = [self._python, *command, settings]
        server = Server(name=name, argv=argv, folder=folder, home=self._home, port=port, token=token)
        self.servers.append(server)
        return server


def _store(name: str, server: Server, extra: Mapping[str, Any] | None) -> dict[str, Any]:
    entry = {"name": name, "type": f"seren_{name}", "url": server.url, **(extra or {})}
    return entry | ({"token": server.token} if server.token else {})


def _start(*servers: Server) -> None:
    """Start them side by side: most of a start is importing."""
    for server in servers:
        server.launch()
    for server in servers:
        server.wait_ready()
