"""The commands: each loads the settings, does one thing and gives an exit code.

Above: `main`. Below: app and the surfaces. Errors of ours are one line on stderr; anything else is a bug and keeps its
trace.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from callosum_mcp.adapters.engine.children import end_all_on_sigterm
from callosum_mcp.app import Application, build
from callosum_mcp.cli import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE
from callosum_mcp.cli.wiring import loaded, wired
from callosum_mcp.errors import AllStoresFailed, CallosumError, InvalidInput, SettingsError
from callosum_mcp.federation.select import choose
from callosum_mcp.models.asking import AskResult
from callosum_mcp.models.requests import (
    AddStoreRequest,
    AskRequest,
    ListStoresRequest,
    RecallRequest,
    RemoveStoreRequest,
    parse,
)
from callosum_mcp.models.results import RecallResult, StoresResult
from callosum_mcp.models.values import StoreSpec, StoreStatus, TransportSpec
from callosum_mcp.settings import Settings, token_from
from callosum_mcp.surface.render import ask_page, recall_page, stores_page
from callosum_mcp.text import clean_json

Action = Callable[[Application], Awaitable[int]]


def run(options: argparse.Namespace) -> int:
    """Carry out the parsed command; the exit code."""
    try:
        return _COMMANDS[options.command or "help"](options)
    except CallosumError as error:
        say(f"callosum-mcp: {error}")
        return EXIT_FAILED if isinstance(error, AllStoresFailed) else EXIT_USAGE
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


def show(text: str) -> None:
    """Write a result to stdout."""
    sys.stdout.write(text.encode("utf-8", "replace").decode("utf-8") + "\n")


def say(text: str) -> None:
    """Write anything but a result to stderr."""
    sys.stderr.write(text.encode("utf-8", "replace").decode("utf-8") + "\n")


def with_application(options: argparse.Namespace, action: Action) -> int:
    """Run an action on a wired program and close it."""
    application = wired(options)
    end_all_on_sigterm()

    async def all_of_it() -> int:
        async with application.running():
            return await action(application)

    return anyio.run(all_of_it)


def _help(options: argparse.Namespace) -> int:
    from callosum_mcp.cli.arguments import parser

    parser().print_help()
    return EXIT_OK


def _serve(options: argparse.Namespace) -> int:
    from callosum_mcp.cli.serve import serve

    return serve(options, wired(options))


def _recall(options: argparse.Namespace) -> int:
    names = [name for name in RecallRequest.model_fields if getattr(options, name, None) is not None]
    request = parse(RecallRequest, {name: getattr(options, name) for name in names})
    return with_application(options, partial(_recall_with, request=request, as_json=options.json))


async def _recall_with(application: Application, *, request: RecallRequest, as_json: bool) -> int:
    from callosum_mcp.cli.progress import wait_for_indexes

    await wait_for_indexes(choose(application.federation.state.stores, request.stores)[0], sys.stderr)
    try:
        result, code = await application.federation.recall(request), EXIT_OK
    except AllStoresFailed as failed:
        if not isinstance(failed.answer, RecallResult):
            raise
        say(f"callosum-mcp: {failed}")
        result, code = failed.answer, EXIT_FAILED
    show(_json(result.wire()) if as_json else recall_page(result))
    return code


def _ask(options: argparse.Namespace) -> int:
    names = [name for name in AskRequest.model_fields if getattr(options, name, None) is not None]
    request = parse(AskRequest, {name: getattr(options, name) for name in names})
    return with_application(options, partial(_ask_with, request=request, as_json=options.json))


async def _ask_with(application: Application, *, request: AskRequest, as_json: bool) -> int:
    try:
        result, code = await application.answers.ask(request, _told), EXIT_OK
    except AllStoresFailed as failed:
        if not isinstance(failed.answer, AskResult):
            raise
        say(f"callosum-mcp: {failed}")
        result, code = failed.answer, EXIT_FAILED
    show(_json(result.wire()) if as_json else ask_page(request.query, result))
    return code


async def _told(status: StoreStatus) -> None:
    """Progress, for a person who waits at a terminal."""
    if sys.stderr.isatty():
        say(f"{status.engine}: {status.status}")


def _stores(options: argparse.Namespace) -> int:
    if options.action == "import":
        return _import(options)
    if options.action == "probe" and (options.name or options.type):
        return _look_into(options)
    actions: Mapping[str, Action] = {
        "list": partial(_list, as_json=getattr(options, "json", False), probe=False),
        "probe": partial(_list, as_json=getattr(options, "json", False), probe=True),
        "add": partial(_add, options=options),
        "remove": partial(_remove, options=options),
    }
    return with_application(options, actions[options.action])


def _look_into(options: argparse.Namespace) -> int:
    from callosum_mcp.cli.probing import QUERY, probe_page, report

    spec = _unlisted(options) if options.type else _listed(options)
    try:
        seen = anyio.run(report, spec, options.query or QUERY, max(0, options.chars))
    except ValueError as fault:
        raise InvalidInput(str(fault)) from fault
    show(_json(seen) if options.json else probe_page(seen))
    return EXIT_OK if seen["error"] is None else EXIT_FAILED


def _listed(options: argparse.Namespace) -> StoreSpec:
    """The store of that name in the settings."""
    return build(loaded(options)).federation.state.stores.get(options.name).spec


def _unlisted(options: argparse.Namespace) -> StoreSpec:
    """A store that stands on the command line alone."""
    from callosum_mcp.settings.source import parse_source

    given: dict[str, object] = {}
    for option in options.option:
        name, equals, value = option.partition("=")
        if not equals:
            raise InvalidInput(f"--option {option}: must be KEY=VALUE")
        given[name.strip()] = parse_source(f"value: {value}", f"--option {name}").data.get("value")
    command, *arguments = shlex.split(options.program) or [""]
    return StoreSpec(
        name=options.name or options.type,
        type=options.type,
        url=options.url.rstrip("/"),
        options=given,
        token=token_from(os.environ, options.token_env, ""),
        transport=TransportSpec(type="stdio", command=command, args=tuple(arguments)) if command else None,
    )


def _import(options: argparse.Namespace) -> int:
    from callosum_mcp.cli.importing.command import Console, Order, import_stores

    order = Order(
        files=tuple(options.files),
        config=getattr(options, "config", None),
        to=options.to,
        dry_run=options.dry_run,
        yes=options.yes,
    )
    console = Console(
        cwd=Path.cwd(),
        home=Path.home(),
        environ=os.environ,
        show=show,
        say=say,
        ask=_answered if _is_terminal() else None,
    )
    return import_stores(order, console)


def _is_terminal() -> bool:
    """Whether a person can be asked."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def _answered(question: str) -> bool:
    """A person's yes; anything else is no."""
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


async def _list(application: Application, *, as_json: bool, probe: bool) -> int:
    result: StoresResult = await application.administration.list_stores(ListStoresRequest(probe=probe))
    show(_json(result.wire()) if as_json else stores_page(result))
    return EXIT_OK


async def _add(application: Application, *, options: argparse.Namespace) -> int:
    names = [name for name in AddStoreRequest.model_fields if getattr(options, name, None) is not None]
    request = parse(AddStoreRequest, {name: getattr(options, name) for name in names})
    result = await application.administration.add_store(request)
    health = result.added.health
    show(f"added {result.added.name}: {health.status if health else 'unknown'} — {health.detail if health else ''}")
    return EXIT_OK


async def _remove(application: Application, *, options: argparse.Namespace) -> int:
    result = await application.administration.remove_store(parse(RemoveStoreRequest, {"name": options.name}))
    show(f"removed {result.removed}")
    return EXIT_OK


def _doctor(options: argparse.Namespace) -> int:
    from callosum_mcp.cli.doctor import EXIT_SETTINGS, examine

    try:
        return with_application(options, examine)
    except SettingsError as error:
        show(
            f"BROKEN  settings: {error}\n        cure: mend that line; `callosum-mcp schema` shows what may stand there"
        )
        return EXIT_SETTINGS


def _demo(options: argparse.Namespace) -> int:
    from callosum_mcp.cli.demo import demo

    return demo()


def _schema(options: argparse.Namespace) -> int:
    schema = Settings.model_json_schema(mode="validation")
    show(_json({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}))
    return EXIT_OK


def _connect(options: argparse.Namespace) -> int:
    from callosum_mcp.cli.connect import connect

    return connect(options.url, options.token_env, os.environ, options.wire)


def _json(value: Any) -> str:
    unicode = "utf" in (sys.stdout.encoding or "").lower()
    return json.dumps(clean_json(value), ensure_ascii=not unicode, indent=2)


_COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "help": _help,
    "serve": _serve,
    "recall": _recall,
    "ask": _ask,
    "stores": _stores,
    "doctor": _doctor,
    "demo": _demo,
    "schema": _schema,
    "connect": _connect,
}
