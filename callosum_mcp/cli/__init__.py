"""The command line: ``callosum-mcp``.

Above: nothing. Below: app, settings, surfaces. Results go to stdout, everything else to stderr. A command's module is
imported when it runs, since an MCP client waits for the first answer of ``serve``.
"""

from __future__ import annotations

import gc
import os
import sys

os.environ.setdefault("PYDANTIC_ERRORS_INCLUDE_URL", "0")

EXIT_OK, EXIT_FAILED, EXIT_USAGE, EXIT_REFUSED = 0, 1, 2, 78


def main(argv: list[str] | None = None) -> None:
    """Run one command and exit with its code."""
    gc.disable()  # nothing of the imports is garbage; a collection while importing costs a tenth of the start
    arguments = sys.argv[1:] if argv is None else argv
    if not arguments and not sys.stdin.isatty():
        arguments = ["serve"]
    from callosum_mcp.cli.arguments import parser

    options = parser().parse_args(arguments)
    from callosum_mcp.cli.commands import run

    sys.exit(run(options))


def started() -> None:
    """Everything is imported: collect garbage again, but never look at what is there now."""
    gc.freeze()
    gc.enable()
