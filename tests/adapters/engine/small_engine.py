"""A small MCP server on stdin and stdout, written out, that misbehaves as told.

    python small_engine.py [--SWITCH …]

Its tool ``find`` answers two hits; the words in ``query`` make it die, hang, answer 5 MB and so on. It starts in 30
ms, a server of the SDK in 700.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from typing import Any

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
    "required": ["query"],
}


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--log", default="")
    parser.add_argument("--noisy", action="store_true", help="log lines on stdout")
    parser.add_argument("--die-on-probe", action="store_true", help="end at the first unknown method")
    parser.add_argument("--hang-in-initialize", action="store_true")
    parser.add_argument("--initialize-s", type=float, default=0.0, help="seconds that the handshake takes")
    parser.add_argument("--exit", type=int, default=None, help="end at once with this code")
    parser.add_argument("--stderr", default="", help="what to say on stderr first")
    parser.add_argument("--no-newline", action="store_true", help="at the end of stderr")
    parser.add_argument("--ignore-eof", action="store_true", help="go on when stdin ends")
    parser.add_argument("--ignore-sigterm", action="store_true")
    parser.add_argument("--grandchild", action="store_true", help="start something that never ends by itself")
    parser.add_argument("--extra", default="", help="one more argument in the tool's schema")
    parser.add_argument("--tool", default="find")
    parser.add_argument("--drift", default="", help="a file; once it is there the tool takes one argument more")
    return parser.parse_args()


GIVEN = options()


def extra() -> dict[str, Any]:
    name = "added" if GIVEN.drift and os.path.exists(GIVEN.drift) else GIVEN.extra
    return {name: {}} if name else {}


def note(entry: object) -> None:
    if GIVEN.log:
        with open(GIVEN.log, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")


def send(message: dict[str, Any]) -> None:
    if GIVEN.noisy:
        sys.stdout.write("INFO loading the model ...\n")
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(value: object, **more: Any) -> dict[str, Any]:
    words = value if isinstance(value, str) else json.dumps(value)
    return {"content": [{"type": "text", "text": words}], **more}


def found(query: str) -> dict[str, Any]:
    rows = [{"id": "a", "text": f"a says {query}", "at": "2026-11-01"}, {"id": "b", "text": f"b says {query}"}]
    return text({"hits": rows})


def misbehave(query: str) -> None:
    if query == "die":
        os._exit(3)
    if query == "close":
        os.close(1)
    if query in ("close", "block"):
        time.sleep(3600)


def call(arguments: dict[str, Any], identity: object) -> None:
    query = str(arguments.get("query", ""))
    misbehave(query)
    if query == "hang":
        return
    if query == "announce":
        send({"method": "notifications/tools/list_changed"})
    if query.startswith("files "):
        send({"id": identity, "result": text({"files": [{"path": path} for path in json.loads(query[6:])]})})
        return
    if query == "rpc error":
        send({"id": identity, "error": {"code": -32602, "message": "limit: must be\n  positive"}})
        return
    answers = {
        "huge": text("x" * 5_000_000),
        "far too large": text("x" * 17_000_000),
        "is error": text("database is locked", isError=True),
        "off": {"content": "no list"},
        "environment": text(dict(os.environ)),
        "folder": text({"folder": os.getcwd()}),
        "locked": text("database is locked", isError=True),
        "verdict": text({"kind": "single", "hits": [{"id": "v", "text": "the one"}]}),
        "a": text({"id": "a", "whole": "the whole of a", "at": "2026-11-03"}),
        "b": text({"id": "b", "whole": "the whole of b", "at": "2026-11-02"}),
        "none": text({}),
        "missing": text("Memory not found", isError=True),
        "half": text("cut \ud83d emoji"),
    }
    send({"id": identity, "result": answers.get(query) or found(query)})


def answer(message: dict[str, Any]) -> None:
    method, identity = message.get("method"), message.get("id")
    params: dict[str, Any] = message.get("params") or {}
    note(
        {
            "method": method,
            "name": params.get("name"),
            "requestId": params.get("requestId"),
            "arguments": params.get("arguments"),
        }
    )
    if method == "initialize":
        if GIVEN.hang_in_initialize:
            return
        time.sleep(GIVEN.initialize_s)
        info = {"name": "small", "version": "1.2"}
        send(
            {
                "id": identity,
                "result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info},
            }
        )
    elif method == "tools/list":
        schema: dict[str, Any] = {**SCHEMA, "properties": {**SCHEMA["properties"], **extra()}}
        tools: list[dict[str, Any]] = [
            {"name": GIVEN.tool, "inputSchema": schema},
            {"name": "list_places", "inputSchema": {"type": "object"}},
        ]
        send({"id": identity, "result": {"tools": tools}})
    elif method == "tools/call" and params.get("name") == "list_places":
        send({"id": identity, "result": text({"places": ["one", "two", "three", "four"]})})
    elif method == "tools/call":
        call(params.get("arguments") or {}, identity)
    elif identity is not None:
        if GIVEN.die_on_probe:
            os._exit(4)
        send({"id": identity, "error": {"code": -32601, "message": "Method not found"}})


def main() -> None:
    note({"started": os.getpid()})
    if GIVEN.stderr:
        sys.stderr.write(GIVEN.stderr + ("" if GIVEN.no_newline else "\n"))
        sys.stderr.flush()
    if GIVEN.exit is not None:
        sys.exit(GIVEN.exit)
    if GIVEN.ignore_sigterm:
        import signal

        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if GIVEN.grandchild:
        child = subprocess.Popen(["sleep", "3600"], stdin=subprocess.DEVNULL)
        note({"grandchild": child.pid})
    for line in sys.stdin:
        answer(json.loads(line))
    while GIVEN.ignore_eof:
        time.sleep(1)


if __name__ == "__main__":
    main()
