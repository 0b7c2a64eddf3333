"""Fixtures over the real servers. Where the peers are not installed, tests that need them are skipped; on CI they fail.

Every import beyond pytest waits until a fixture is asked for, so collecting these tests costs nothing.
"""

import contextlib
import json
import os
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from . import install

if TYPE_CHECKING:
    from .lab import Lab, Seren
    from .ours import Callosum
    from .server import Server

_OPEN_LABS = pytest.StashKey["list[Lab]"]()


class PeerFactory(Protocol):
    def __call__(
        self,
        *,
        federation: Mapping[str, Any] | None = None,
        memory: Mapping[str, Any] | None = None,
        loci: Mapping[str, Any] | None = None,
        token: str = "",
    ) -> "Server":
        """The peer with these options over the shared servers; the same options give the same running peer."""
        ...


class SerenFactory(Protocol):
    def __call__(
        self, *, memory_token: str = "", loci_token: str = "", empty: bool = False, embedder: bool = True
    ) -> "Seren":
        """A pair of this test's own: a copy of the shared one, or an empty one."""
        ...


class CallosumFactory(Protocol):
    def __call__(
        self,
        seren: "Seren",
        *,
        federation: Mapping[str, Any] | None = None,
        memory: Mapping[str, Any] | None = None,
        loci: Mapping[str, Any] | None = None,
        notes: bool = True,
        environ: Mapping[str, str] | None = None,
    ) -> "Callosum":
        """callosum-mcp over a pair of servers and a folder of notes; start its `http` side if you need it."""
        ...


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """What is tested here runs in other processes; one event loop is enough to talk to them."""
    return "asyncio"


@pytest.fixture(scope="session")
def peers() -> None:
    """Skips, or on CI fails, where the real servers cannot run."""
    if sys.platform == "win32":
        pytest.skip("the lab hangs and revives servers with POSIX signals")
    _require(install.missing_peers(), "peers")


@pytest.fixture(scope="session")
def mcp1_python() -> Path:
    """An interpreter that can import mcp 1.x, for clients of the older handshake."""
    _require(install.missing_mcp1(), "mcp1")
    return install.python_of(install.mcp1_venv())


@pytest.fixture(scope="session")
def claude() -> Path:
    """The `claude` command; its PATH is `install.npm_path()`."""
    _require(install.missing_npm(), "npm")
    return install.npm_command("claude")


@pytest.fixture(scope="session")
def inspector() -> Path:
    """The `mcp-inspector` command (`--cli` for use without a browser); its PATH is `install.npm_path()`."""
    _require(install.missing_npm(), "npm")
    return install.npm_command("mcp-inspector")


@pytest.fixture(scope="session")
def conformance() -> Path:
    """The `conformance` command; its PATH is `install.npm_path()`."""
    _require(install.missing_npm(), "npm")
    return install.npm_command("conformance")


@pytest.fixture(scope="session")
def shared_lab(peers: None, tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator["Lab"]:
    with _open_lab(tmp_path_factory.mktemp("shared") / "lab", pytestconfig) as lab:
        yield lab


@pytest.fixture(scope="session")
def seren(shared_lab: "Lab") -> "Seren":
    """The real SerenMemory and SerenLoci, seeded once per session. Shared: read only, never stop or hang them."""
    return shared_lab.seren()


@pytest.fixture(scope="session")
def peer(shared_lab: "Lab", seren: "Seren") -> PeerFactory:
    """Call it for the real SerenCorpusCallosum over the shared servers: `peer()`, `peer(federation={"k": 10})`."""
    running: dict[str, Server] = {}

    def start(**options: Any) -> "Server":
        key = json.dumps({name: value for name, value in options.items() if value}, sort_keys=True)
        if key not in running:
            running[key] = shared_lab.peer(seren, **options)
        return running[key]

    return start


@pytest.fixture
def make_seren(seren: "Seren", tmp_path: Path, pytestconfig: pytest.Config) -> Iterator[SerenFactory]:
    """Call it for pairs of this test's own, with bearer tokens if wanted. They end with the test."""

    def make(*, memory_token: str = "", loci_token: str = "", empty: bool = False, embedder: bool = True) -> "Seren":
        if empty:
            return lab.seren(memory_token=memory_token, loci_token=loci_token, empty=True)
        return lab.copy_of(seren, memory_token=memory_token, loci_token=loci_token, embedder=embedder)

    with _open_lab(tmp_path / "lab", pytestconfig) as lab:
        yield make


@pytest.fixture
def private_seren(make_seren: SerenFactory) -> "Seren":
    """A seeded pair of this test's own, which it may stop, hang, restart and write to."""
    return make_seren()


@pytest.fixture(scope="session")
def breakable_pair(
    seren: "Seren", tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> Iterator["Seren"]:
    with _open_lab(tmp_path_factory.mktemp("breakable") / "lab", pytestconfig) as lab:
        yield lab.copy_of(seren)


@pytest.fixture
def breakable_seren(breakable_pair: "Seren") -> Iterator["Seren"]:
    """A seeded pair for tests that hang or stop it and write nothing; afterwards it runs again for the next of them."""
    yield breakable_pair
    for server in (breakable_pair.memory, breakable_pair.loci):
        server.resume()
        if server.pid is None:
            server.start()


@pytest.fixture
def make_callosum(peers: None, tmp_path: Path, pytestconfig: pytest.Config) -> Iterator[CallosumFactory]:
    """Call it for callosum-mcp over a pair of servers. Its HTTP side ends with the test."""
    from .ours import make_callosum

    def make(seren: "Seren", **options: Any) -> "Callosum":
        return make_callosum(lab, tmp_path / f"callosum-{len(lab.servers)}", seren, **options)

    with _open_lab(tmp_path / "callosum-lab", pytestconfig) as lab:
        yield make


@pytest.fixture(scope="session")
def callosum(shared_lab: "Lab", seren: "Seren", tmp_path_factory: pytest.TempPathFactory) -> "Callosum":
    """callosum-mcp over the shared servers and a folder of notes, all its sides in use. Shared: change nothing."""
    from .ours import make_callosum

    running = make_callosum(shared_lab, tmp_path_factory.mktemp("callosum") / "own", seren)
    running.http.start()
    return running


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failed test shows the end of the log of every server that ran meanwhile."""
    report = yield
    if report.failed:
        servers = [server for lab in item.config.stash.setdefault(_OPEN_LABS, []) for server in lab.servers]
        report.sections.extend((f"log of {server.name}: {server.log_path}", server.log_tail()) for server in servers)
    return report


@contextlib.contextmanager
def _open_lab(folder: Path, config: pytest.Config) -> Generator["Lab"]:
    from .lab import Lab

    open_labs = config.stash.setdefault(_OPEN_LABS, [])
    with Lab(folder) as lab:
        open_labs.append(lab)
        yield lab
        open_labs.remove(lab)


def _require(missing: Sequence[str], part: str) -> None:
    if not missing:
        return
    reason = f"not installed: {', '.join(missing)}; run `{install.COMMAND} {part}`"
    if os.environ.get("CI") == "true":  # there the peers are part of the job, and a skip would hide that they are gone
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)
