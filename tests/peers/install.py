"""Install what the peer tests run against, and say where it is.

    python -m tests.peers.install [peers] [mcp1] [npm] [engines] [postgres]      (nothing named: all)

Each part has a folder of its own, because none may share our environment (the peers need mcp 1.x):

    peers   CALLOSUM_PEERS_VENV   the real SerenMemory, SerenLoci and SerenCorpusCallosum
    mcp1    CALLOSUM_PEERS_MCP1   an mcp 1.x client, for interoperability tests
    npm     CALLOSUM_PEERS_NPM    MCP Inspector, Claude Code, the MCP conformance suite, a memory server, their Node.js
    engines CALLOSUM_PEERS_ENGINES  basic-memory and Serena, on a Python of 3.12 or newer

Unset, they live below `.peers` of this repository. `postgres` is the system's package: Debian's is installed if that is
allowed. A part that is already there at its pinned version is left alone; what is not there is installed side by side.
The exit code is 1 if any part could not be installed.
Standard library only, and cheap to import: `conftest.py` takes the places from here.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

_HOME = Path(__file__).resolve().parents[2] / ".peers"

PEER_PINS: Mapping[str, str] = {"seren-memory": "5.4.0", "seren-loci": "5.5.0", "seren-corpus-callosum": "5.3.0"}
MCP1_PINS: Mapping[str, str] = {"mcp": "1.30.0"}
NPM_PINS: Mapping[str, str] = {
    "node": "22.23.3",  # Inspector and conformance want Node 22; what runs npm may be older
    "@modelcontextprotocol/inspector": "2.12.0",
    "@modelcontextprotocol/conformance": "0.2.0-alpha.12",
    "@anthropic-ai/claude-code": "2.1.332",
    "@modelcontextprotocol/server-memory": "2026.8.31",
}
ENGINE_PINS: Mapping[str, str] = {"basic-memory": "0.24.1", "serena-agent": "2.1.0", "jedi-language-server": "0.47.0"}
_ENGINE_PYTHON = (3, 12)  # basic-memory wants it

COMMAND = "python -m tests.peers.install"


class InstallError(Exception):
    """A part could not be installed; the message says what refused and why."""


def peers_venv() -> Path:
    return Path(os.environ.get("CALLOSUM_PEERS_VENV") or _HOME / "venv")


def mcp1_venv() -> Path:
    return Path(os.environ.get("CALLOSUM_PEERS_MCP1") or _HOME / "mcp1")


def npm_folder() -> Path:
    return Path(os.environ.get("CALLOSUM_PEERS_NPM") or _HOME / "npm")


def engines_venv() -> Path:
    return Path(os.environ.get("CALLOSUM_PEERS_ENGINES") or _HOME / "engines")


def postgres_bin() -> Path | None:
    """The folder of `initdb` and `postgres`, the newest if there are several."""
    on_path = shutil.which("initdb")
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    places = [Path(on_path).resolve()] if on_path else found[-1:]
    return places[0].parent if places else None


def python_of(venv: Path) -> Path:
    return venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def npm_command(name: str) -> Path:
    """Where npm puts the command of an installed package (`claude`, `mcp-inspector`, `conformance`, `node`)."""
    return npm_folder() / "node_modules" / ".bin" / (f"{name}.cmd" if os.name == "nt" else name)


def npm_path() -> str:
    """A PATH whose `node` is the installed one, which the commands' first line asks for."""
    return os.pathsep.join([str(npm_folder() / "node_modules" / ".bin"), os.environ.get("PATH", "")])


def missing_dists(venv: Path, pins: Mapping[str, str]) -> list[str]:
    """The pins that `venv` does not hold, as `name==version`; read from its folders, no process started."""
    if not python_of(venv).exists():
        return [f"{name}=={version}" for name, version in pins.items()]
    sites = [*venv.glob("lib/python3*/site-packages"), *venv.glob("Lib/site-packages")]

    def there(name: str, version: str) -> bool:
        return any((site / f"{name.replace('-', '_')}-{version}.dist-info").is_dir() for site in sites)

    return [f"{name}=={version}" for name, version in pins.items() if not there(name, version)]


def missing_peers() -> list[str]:
    return missing_dists(peers_venv(), PEER_PINS)


def missing_mcp1() -> list[str]:
    return missing_dists(mcp1_venv(), MCP1_PINS)


def missing_engines() -> list[str]:
    return missing_dists(engines_venv(), ENGINE_PINS)


def missing_postgres() -> list[str]:
    return [] if postgres_bin() else ["postgresql"]


def missing_npm() -> list[str]:
    """The npm pins that are not there, as `name@version`."""

    def there(name: str, version: str) -> bool:
        manifest = npm_folder() / "node_modules" / name / "package.json"
        return manifest.is_file() and f'"version": "{version}"' in manifest.read_text(encoding="utf-8")

    return [f"{name}@{version}" for name, version in NPM_PINS.items() if not there(name, version)]


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - this module is a command; its output is the product


def _run(what: str, argv: Sequence[str | Path], *, cwd: Path | None = None) -> str:
    """What the command printed. Raises InstallError with the command's own complaint."""
    try:
        done = subprocess.run(argv, cwd=cwd, capture_output=True, text=True, encoding="utf-8", errors="replace")
    except OSError as error:
        raise InstallError(f"{what}: cannot run {Path(argv[0]).name}: {error.strerror}") from error
    if done.returncode != 0:
        raise InstallError(f"{what}: exit code {done.returncode}: {_complaint(done.stderr or done.stdout)}")
    return done.stdout


def _complaint(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return " | ".join(errors[:3] or lines[-3:] or ["it said nothing"])


def _install_venv(venv: Path, requirements: Sequence[str], python: str | Path = sys.executable) -> None:
    if not python_of(venv).exists():
        _run("making the virtual environment", [python, "-m", "venv", venv])
    pip = [python_of(venv), "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]
    _run(f"pip install {' '.join(requirements)}", [*pip, *requirements])


def _install_npm(wanted: Sequence[str]) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise InstallError("npm is not on PATH; install Node.js 18 or newer")
    npm_folder().mkdir(parents=True, exist_ok=True)
    argv = [npm, "install", "--prefix", npm_folder(), "--save-exact", "--no-audit", "--no-fund", "--loglevel=error"]
    _run(f"npm install {' '.join(wanted)}", [*argv, "--engine-strict=false", *wanted])


def _check_command(name: str, package: str, script: str) -> str:
    """The version a command reports. Its binary is put in place by the package's install script, which some npm
    settings do not run; then we run it ourselves."""
    try:
        return _version_of(name)
    except InstallError:
        _run(f"{name}'s install script", ["node", script], cwd=npm_folder() / "node_modules" / package)
        return _version_of(name)


def _version_of(name: str) -> str:
    """What `--version` says under an empty home."""
    with tempfile.TemporaryDirectory() as home:
        environ = {"HOME": home, "PATH": npm_path(), "DISABLE_AUTOUPDATER": "1"}
        argv = [npm_command(name), "--version"]
        try:
            done = subprocess.run(argv, env=environ, capture_output=True, text=True, timeout=60)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise InstallError(f"{name} --version: {error}") from error
    if done.returncode != 0:
        raise InstallError(f"{name} --version: exit code {done.returncode}: {_complaint(done.stderr or done.stdout)}")
    return done.stdout.strip()


def _report(label: str, pins: Mapping[str, str], seconds: float | None) -> None:
    how = "already there" if seconds is None else f"installed in {seconds:.0f} s"
    for name, version in pins.items():
        _say(f"{label}: {name} {version} ({how})")


def _ensure(label: str, pins: Mapping[str, str], missing: Sequence[str], install: Callable[[], None]) -> None:
    started = time.monotonic()
    if missing:
        install()
    _report(label, pins, time.monotonic() - started if missing else None)


def ensure_peers() -> None:
    wanted = [f"{name}[mcp]=={version}" for name, version in PEER_PINS.items()]
    _ensure("peers", PEER_PINS, missing_peers(), lambda: _install_venv(peers_venv(), wanted))


def ensure_mcp1() -> None:
    missing = missing_mcp1()
    _ensure("mcp1", MCP1_PINS, missing, lambda: _install_venv(mcp1_venv(), missing))


def ensure_npm() -> None:
    missing = missing_npm()
    _ensure("npm", NPM_PINS, missing, lambda: _install_npm(missing))
    _say(f"npm: node runs ({_check_command('node', 'node', 'installArchSpecificPackage')})")
    _say(f"npm: claude runs ({_check_command('claude', '@anthropic-ai/claude-code', 'install.cjs')})")


def ensure_engines() -> None:
    missing = missing_engines()
    _ensure("engines", ENGINE_PINS, missing, lambda: _install_venv(engines_venv(), missing, _engine_python()))


def _engine_python() -> str | Path:
    """An interpreter that is new enough: this one, one on PATH, or one that pyenv keeps."""
    if sys.version_info >= _ENGINE_PYTHON:
        return sys.executable
    on_path = (shutil.which(f"python3.{minor}") for minor in (14, 13, 12))
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    for python in (*filter(None, on_path), *sorted(pyenv.glob("3.1[2-9].*/bin/python"), reverse=True)):
        if subprocess.run([python, "-c", "import venv"], capture_output=True).returncode == 0:
            return python
    raise InstallError("no Python 3.12 or newer is on PATH or below ~/.pyenv, and basic-memory wants one")


def ensure_postgres() -> None:
    started = time.monotonic()
    here = postgres_bin() is not None
    if not here:
        apt = shutil.which("apt-get")
        if apt is None or os.geteuid() != 0:
            raise InstallError("PostgreSQL's initdb is not here; install the package postgresql")
        _run("apt-get update", [apt, "update", "-qq"])
        _run(
            "apt-get install",
            [
                "env",
                "DEBIAN_FRONTEND=noninteractive",
                apt,
                "install",
                "-y",
                "-qq",
                "--no-install-recommends",
                "postgresql",
            ],
        )
    found = postgres_bin()
    if found is None:
        raise InstallError("the package postgresql brought no initdb")
    _report("postgres", {"postgresql": found.parent.name}, None if here else time.monotonic() - started)


PARTS: Mapping[str, Callable[[], None]] = {
    "engines": ensure_engines,  # the slowest first: they run side by side
    "peers": ensure_peers,
    "npm": ensure_npm,
    "mcp1": ensure_mcp1,
    "postgres": ensure_postgres,
}


def _keep_out_of_git() -> None:
    """A folder of ours ignores itself; a folder that the environment named is its owner's business."""
    _HOME.mkdir(exist_ok=True)
    (_HOME / ".gitignore").write_text("*\n", encoding="utf-8")


def main(argv: Sequence[str]) -> int:
    unknown = [name for name in argv if name not in PARTS]
    if unknown:
        _say(f"unknown part {', '.join(unknown)}; choose from {', '.join(PARTS)}")
        return 2
    if any(place.parent == _HOME for place in (peers_venv(), mcp1_venv(), npm_folder(), engines_venv())):
        _keep_out_of_git()
    with ThreadPoolExecutor() as pool:  # each mostly waits for the network
        done = list(pool.map(_ensured, argv or PARTS))
    return int(not all(done))


def _ensured(name: str) -> bool:
    try:
        PARTS[name]()
    except InstallError as error:
        _say(f"{name}: FAILED: {error}")
        return False
    return True


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
