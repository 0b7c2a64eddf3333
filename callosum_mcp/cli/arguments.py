"""The grammar of the command line.

Above: `main`. Below: argparse. Help texts name defaults and bounds.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from callosum_mcp import __version__

_EPILOG = """With no command and no terminal on its input, callosum-mcp serves MCP over stdio.

exit codes: 0 answered · 1 every store failed · 2 wrong usage or settings · 78 refused to listen without a token
doctor:     0 all well · 10 some stores down · 11 none answers · 12 settings broken"""

_CONFIG_HELP = "settings file (default: ./callosum.yaml, …)"


def parser() -> argparse.ArgumentParser:
    """The whole grammar; numbers stay text here, since the request models say what is wrong with one and its bound."""
    root = argparse.ArgumentParser(
        prog="callosum-mcp",
        description="One question, every memory: one MCP server in front of all your memory stores.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    root.add_argument("--version", action="version", version=f"callosum-mcp {__version__}")
    root.add_argument("--config", "-c", type=Path, metavar="FILE", help=_CONFIG_HELP)
    common = argparse.ArgumentParser(add_help=False)  # suppressed: what stood before the command must outlive it
    common.add_argument("--config", "-c", type=Path, metavar="FILE", help=_CONFIG_HELP, default=argparse.SUPPRESS)
    commands = root.add_subparsers(dest="command", metavar="COMMAND")
    _serve(commands.add_parser("serve", parents=[common], help="serve MCP over stdio, HTTP or SSE"))
    _recall(commands.add_parser("recall", parents=[common], help="ask every store one question"))
    _ask(commands.add_parser("ask", parents=[common], help="one answer with receipts, out of every store"))
    _stores(commands.add_parser("stores", help="list, add, remove or probe stores"), common)
    commands.add_parser("doctor", parents=[common], help="check settings and stores, with a cure for each finding")
    commands.add_parser("demo", help="a small sample world: no server, no network, no settings")
    commands.add_parser("schema", help="print the JSON Schema of the settings file")
    connect = commands.add_parser("connect", help="stdio on this side, a remote callosum on the other")
    connect.add_argument("url", help="URL of the remote /mcp or /sse")
    connect.add_argument("--token-env", metavar="VAR", default="", help="variable that holds the remote's bearer token")
    return root


def _serve(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--transport",
        choices=("stdio", "http", "sse"),
        default="stdio",
        help="stdio (default); http and sse both serve /mcp, /sse and REST on one port",
    )
    command.add_argument("--host", help="address to listen on (default: server.host, 127.0.0.1)")
    command.add_argument(
        "--port", type=_port, help="port to listen on, 0 for any free one (default: server.port, 7423)"
    )


def _recall(command: argparse.ArgumentParser) -> None:
    command.add_argument("query", help="the question")
    command.add_argument("--json", action="store_true", help="print the result object instead of a page")
    command.add_argument("-n", "--n-results", metavar="N", help="hits, 1–100 (default: n_results, 10)")
    command.add_argument("--stores", action="append", metavar="NAME", help="ask only this store; may be given again")
    command.add_argument("--budget-tokens", metavar="N", help="size of the answer, 200–20000 tokens")
    command.add_argument("--detail", choices=("concise", "detailed"), help="which fields (default: concise)")
    command.add_argument("--since", metavar="TIME", help="only memories seen at or after this ISO 8601 time")
    command.add_argument("--until", metavar="TIME", help="only memories seen at or before this ISO 8601 time")
    command.add_argument("--types", action="append", metavar="TYPE", help="only this kind of hit; may be given again")
    command.add_argument("--topics", action="append", metavar="TOPIC", help="only this topic; may be given again")
    command.add_argument("--include-superseded", action="store_true", default=None, help="also what was replaced")
    command.add_argument(
        "--explain", dest="trace", action="store_true", default=None, help="also how each hit got its place (trace)"
    )
    command.add_argument("--timeout-ms", metavar="MS", help="milliseconds the call may take")


def _ask(command: argparse.ArgumentParser) -> None:
    command.add_argument("query", help="the question")
    command.add_argument("--json", action="store_true", help="print the result object instead of a page")
    command.add_argument("--mode", choices=("both", "chat", "search"), help="answer, hits or both (default: both)")
    command.add_argument("--scope", action="append", metavar="NAME", help="ask only this store; may be given again")
    command.add_argument("-k", metavar="N", help="most hits of one store, 1–100 (default: 12)")
    command.add_argument(
        "--no-synthesize",
        dest="synthesize",
        action="store_false",
        default=None,
        help="let no model write, even if one is configured",
    )
    command.add_argument("--timeout-ms", metavar="MS", help="milliseconds the call may take, with the model's part")


def _stores(command: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    actions = command.add_subparsers(dest="action", metavar="ACTION", required=True)
    listed = actions.add_parser("list", parents=[common], help="the configured stores")
    listed.add_argument("--json", action="store_true", help="print the result object instead of a page")
    _probe(actions.add_parser("probe", parents=[common], help="ask every store whether it answers, or look into one"))
    _import(actions.add_parser("import", parents=[common], help="MCP servers that your clients use, as stores"))
    add = actions.add_parser("add", parents=[common], help="add a store and keep it in the overlay")
    add.add_argument("name")
    add.add_argument("type")
    add.add_argument("url")
    add.add_argument("--weight", help="0–100 (default: 1)")
    add.add_argument("--floor", help="0–1 (default: 0)")
    add.add_argument("--tier", choices=("live-infra", "recent-file", "agent-memory", "older-note"))
    add.add_argument("--token-env", metavar="VAR", help="variable that holds the store's bearer token")
    remove = actions.add_parser("remove", parents=[common], help="remove a store that was added")
    remove.add_argument("name")


def _probe(probe: argparse.ArgumentParser) -> None:
    probe.add_argument("name", nargs="?", metavar="NAME", help="look into this store: raw replies beside hits")
    probe.add_argument("--json", action="store_true", help="print the result object instead of a page")
    probe.add_argument("--query", metavar="Q", help="what to ask it (default: a question that proves little)")
    probe.add_argument("--type", metavar="TYPE", help="look into a store of this type that no settings file names")
    probe.add_argument("--url", default="", help="its URL")
    probe.add_argument("--command", metavar="CMD", dest="program", default="", help="or the command that starts it")
    probe.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="one of its options, the value as YAML; may be given again",
    )
    probe.add_argument("--token-env", metavar="VAR", default="", help="variable that holds its bearer token")
    probe.add_argument(
        "--chars", type=int, default=2_000, metavar="N", help="characters of a raw reply (default: 2000)"
    )


def _import(command: argparse.ArgumentParser) -> None:
    command.add_argument("files", nargs="*", type=Path, metavar="FILE", help="clients' files (default: all known ones)")
    command.add_argument("--dry-run", action="store_true", help="print what would be appended, and write nothing")
    command.add_argument("--yes", action="store_true", help="append without asking, and start what the files name")
    command.add_argument(
        "--to", type=Path, metavar="FILE", help="settings file to append to (default: the one in force)"
    )


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text[:6]) <= 65_535):
        raise argparse.ArgumentTypeError(f"must be a number from 0 to 65535 (got {text[:20]!r})")
    return int(text)
