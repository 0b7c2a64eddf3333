"""The command line: ``callosum-mcp``.

Above: nothing. Below: app, settings, surfaces. Results go to stdout, everything else to stderr. A command's module is
imported when it runs, since an MCP client waits for the first answer of ``serve``.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from callosum_mcp.surface.wire import Wire

os.environ.setdefault("PYDANTIC_ERRORS_INCLUDE_URL", "0")

EXIT_OK, EXIT_FAILED, EXIT_USAGE, EXIT_REFUSED = 0, 1, 2, 78
EXIT_INTERRUPTED, EXIT_BROKEN_PIPE = 130, 141  # what a shell gives for SIGINT and SIGPIPE

_ON_STDIO = ("serve", "connect")


def main(argv: list[str] | None = None) -> None:
    """Run one command and exit with its code."""
    gc.disable()  # nothing of the imports is garbage; a collection while importing costs a tenth of the start
    arguments = sys.argv[1:] if argv is None else argv
    from callosum_mcp.cli.arguments import parser

    options = parser().parse_args(arguments)
    if options.command is None and sys.stdin is not None and not sys.stdin.isatty():
        options = parser().parse_args([*arguments, "serve"])
    options.wire = _wire(options) if options.command in _ON_STDIO else None
    from callosum_mcp.cli.commands import run

    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")  # a terminal that lacks a character still gets the rest
    try:
        code = run(options)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads the results wants no more of them
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = EXIT_BROKEN_PIPE
    sys.exit(code)


def _wire(options: argparse.Namespace) -> Wire | None:
    """Stdin and stdout for a command that speaks JSON-RPC there, taken before anything else is imported."""
    if options.command == "serve" and options.transport != "stdio":
        return None
    from callosum_mcp.surface.wire import take

    wire = take()
    if wire is None:
        sys.stderr.write("callosum-mcp: its stdout is closed, so that no client can be answered; serve over a pipe\n")
        sys.exit(EXIT_USAGE)
    return wire


def leave(code: int) -> None:
    """End the process here: a normal exit would wait for the thread that reads stdin, which nothing interrupts."""
    children = sys.modules.get("callosum_mcp.adapters.engine.children")  # only where an engine was started
    if children is not None:
        children.end_all()
    os._exit(code)


_GC = (50_000, 20, 50)
"""Allocations and younger collections between two collections. A recall makes some ten thousand short-lived objects and
no cycles; at Python's defaults looking for some takes a tenth of its time."""


def started() -> None:
    """Everything is imported: collect garbage again, but never look at what is there now."""
    gc.freeze()
    gc.set_threshold(*_GC)
    gc.enable()
