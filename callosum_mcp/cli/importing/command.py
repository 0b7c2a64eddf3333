"""The command itself: read, ask the servers, show, ask the person, write.

Above: the commands. Below: the other modules here, the settings' writer.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from callosum_mcp.adapters.engine import catalog
from callosum_mcp.app import build
from callosum_mcp.cli import EXIT_FAILED, EXIT_OK
from callosum_mcp.cli.importing import clients
from callosum_mcp.cli.importing.deciding import Verdict, decided, is_this_program, place_of
from callosum_mcp.cli.importing.entries import Entry, entry_of, store_name
from callosum_mcp.cli.importing.looking import look_at
from callosum_mcp.cli.importing.places import Place, named, places
from callosum_mcp.cli.importing.variables import Variables
from callosum_mcp.errors import SettingsError
from callosum_mcp.models.values import StoreSpec
from callosum_mcp.settings import load
from callosum_mcp.settings.appending import NewStore, blocks
from callosum_mcp.settings.load import find_file
from callosum_mcp.settings.writing import replace_settings, text_with_stores
from callosum_mcp.text import one_line

LOOK_S = 30.0
"""Seconds one server may take to start and to say what it offers; npx may have to fetch it first."""

_HOW = "nothing was written: run it with --yes to append them, or with --dry-run to see them"


@dataclass(frozen=True, kw_only=True)
class Console:
    """Where it happens.

    Attributes:
        cwd: The current folder.
        home: The user's.
        environ: The environment.
        show: Writes a result.
        say: Writes anything else.
        ask: Puts a question that a person answers with yes or no; None where nobody is there.
    """

    cwd: Path
    home: Path
    environ: Mapping[str, str] = field(repr=False)
    show: Callable[[str], None]
    say: Callable[[str], None]
    ask: Callable[[str], bool] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    """What the command line says."""

    files: tuple[Path, ...] = ()
    config: Path | None = None
    to: Path | None = None
    dry_run: bool = False
    yes: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class _Target:
    """The settings file to append to.

    Attributes:
        file: Its path; it need not exist.
        specs: The stores in force with it.
        ports: Where this program listens with it.
    """

    file: Path
    specs: tuple[StoreSpec, ...] = ()
    ports: frozenset[int] = frozenset()


@dataclass(kw_only=True, slots=True)
class _Found:
    """One server of one file, and what becomes of it."""

    place: Place
    entry: Entry
    verdict: Verdict | None = None


def import_stores(order: Order, console: Console) -> int:
    """Carry it out; the exit code.

    Raises:
        SettingsError: If a file that was named cannot be read, or the settings cannot be used or written.
    """
    target = _target(order, console)
    tell = console.say if order.dry_run else console.show
    found = list(_read(order, console, target, tell))
    _leave_out(found, target)
    _consent([one for one in found if one.verdict is None and not one.place.trusted], order, console)
    _ask_servers(found, target)
    for one in found:
        tell(_line(one))
    if not found:
        tell("no MCP server is set up in any file that was looked at")
    return _finish(order, console, target, found)


def _target(order: Order, console: Console) -> _Target:
    chosen = order.to or order.config or find_file(None, console.environ, console.cwd) or Path("callosum.yaml")
    file = Path(console.cwd, chosen.expanduser())
    if not file.exists():
        return _Target(file=file)
    loaded = load(file, console.environ, console.cwd)
    server = loaded.settings.server
    specs = tuple(store.spec for store in build(loaded).federation.state.stores.stores)
    return _Target(file=file, specs=specs, ports=frozenset(server.ports or [server.port]))


def _read(order: Order, console: Console, target: _Target, tell: Callable[[str], None]) -> Iterator[_Found]:
    given = [named(Path(console.cwd, file.expanduser())) for file in order.files]
    values: dict[str, str] = {}
    for place in given or places(console.cwd, console.home, sys.platform, console.environ):
        listed = _listed(place, console.cwd, tell)
        for name, why in listed.left_out:
            yield _Found(place=place, entry=Entry(server=clients.Server(name=name, kind=None), lacking=why))
        for server in listed.servers:
            variables = Variables(folder=place.folder, home=console.home, environ=console.environ, values=values)
            here = place.project is not None and place.project == target.file.parent
            yield _Found(place=place, entry=entry_of(server, variables, here=here))


def _listed(place: Place, cwd: Path, tell: Callable[[str], None]) -> clients.Listed:
    """The servers of a file; none, and a word about it, where a file that nobody named is of no use."""
    try:
        return clients.read(place.path.read_text(encoding="utf-8-sig"), place.project or cwd)
    except FileNotFoundError:
        problem = "does not exist" if place.named else ""
    except OSError as fault:
        problem = f"cannot be read: {fault.strerror or fault}"
    except clients.NoServersError as fault:
        problem = str(fault) if place.named else ""
    except ValueError as fault:
        problem = str(fault) if not isinstance(fault, UnicodeDecodeError) else "is not UTF-8"
    if place.named:
        raise SettingsError(problem, source=str(place.path))
    if problem:
        tell(f"{place.path}: {problem}")
    return clients.Listed()


def _leave_out(found: Sequence[_Found], target: _Target) -> None:
    """Verdicts on what need not be asked."""
    seen = {place_of(spec): f"is store {spec.name} already" for spec in target.specs}
    for one in found:
        server, spec = one.entry.server, one.entry.spec
        if one.entry.lacking or spec is None:
            one.verdict = Verdict(name=server.name, state="left out", said=one.entry.lacking)
        elif is_this_program(server, target.file):
            one.verdict = Verdict(name=server.name, state="left out", said="is callosum-mcp itself")
        elif (same := seen.get(place_of(spec))) is not None:
            one.verdict = Verdict(name=server.name, state="left out", said=same)
        else:
            seen[place_of(spec)] = f"is the same server as {server.name} of {one.place.path}"


def _consent(strangers: Sequence[_Found], order: Order, console: Console) -> None:
    """A program that a project's file names is started only if somebody wants it: who wrote the file is not known."""
    programs = [one for one in strangers if one.entry.server.kind == "stdio"]
    if not programs or order.yes:
        return
    for one in programs:
        command = " ".join([one.entry.server.command, *map(str, one.entry.entry["transport"].get("args", ()))])
        console.say(f"{one.place.path}: {one.entry.server.name}: would start {one_line(command, 160)}")
    if console.ask is not None and console.ask("Start these programs to see what they offer?"):
        return
    for one in programs:
        said = "its program was not started; --yes starts it, and so does naming the file on the command line"
        one.verdict = Verdict(name=one.entry.server.name, state="left out", said=said)


def _ask_servers(found: Sequence[_Found], target: _Target) -> None:
    asked = [one for one in found if one.verdict is None]
    specs = [one.entry.spec for one in asked if one.entry.spec is not None]
    if not specs:
        return
    presets = [catalog.load(name) for name in catalog.names()]
    for one, look in zip(asked, anyio.run(look_at, specs, LOOK_S), strict=True):
        one.verdict = decided(one.entry, look, presets, target.ports)


def _line(one: _Found) -> str:
    verdict = one.verdict or Verdict(name=one.entry.server.name, state="failed", said="")
    what = f"{verdict.state} {verdict.type}" if verdict.type else verdict.state
    remarks = "".join(f"; {remark}" for remark in one.entry.server.remarks)
    return f"{one.place.path}: {verdict.name}: {what} — {one_line(verdict.said, 300)}{remarks}"


def _finish(order: Order, console: Console, target: _Target, found: Sequence[_Found]) -> int:
    taken = {spec.name for spec in target.specs} or {"notes"}
    stores = _stores(found, "new", taken)
    partly = _stores(found, "fill in", taken)
    if partly:
        console.say(f"to be filled in and written by hand, under stores of {target.file}:\n{blocks(partly, 2)}")
    needed = {name: why for one in found if _is(one, "new") for name, why in one.entry.needed.items()}
    if order.dry_run and stores:
        console.show("stores:\n" + blocks(stores, 2).rstrip("\n"))
    elif stores:
        return _write(order, console, target, stores, needed)
    else:
        console.say(f"nothing to append to {target.file}")
    _tell_needed(console, needed)
    return EXIT_OK


def _stores(found: Sequence[_Found], state: str, taken: set[str]) -> list[NewStore]:
    made: list[NewStore] = []
    for one in found:
        if one.verdict is not None and _is(one, state):
            name = store_name(one.verdict.name, taken)
            taken.add(name)
            made.append(one.verdict.store(name, one.place.path))
    return made


def _is(one: _Found, state: str) -> bool:
    return one.verdict is not None and one.verdict.state == state


def _write(
    order: Order, console: Console, target: _Target, stores: Sequence[NewStore], needed: Mapping[str, str]
) -> int:
    text = text_with_stores(target.file, stores)
    if not order.yes:
        if console.ask is None:
            console.say(_HOW)
            return EXIT_FAILED
        names = ", ".join(str(store.entry["name"]) for store in stores)
        if not console.ask(f"Append {names} to {target.file}?"):
            console.say("nothing was written")
            return EXIT_OK
    environ = {**dict.fromkeys(needed, "not-set-yet"), **console.environ}

    def check(file: Path) -> None:
        build(load(file, environ, console.cwd), keep_overlay=False)

    kept = replace_settings(target.file, text, check)
    console.show(f"{target.file}: {len(stores)} appended" + (f"; the file as it was: {kept}" if kept else ""))
    _tell_needed(console, needed)
    return EXIT_OK


def _tell_needed(console: Console, needed: Mapping[str, str]) -> None:
    if needed:
        console.say("set these variables before callosum-mcp starts; it refuses to start without them:")
    for name, why in needed.items():
        console.say(f"  {name}  ({why})")
