"""A server of mcp 1.x over SSE: `python mcp1_server.py PORT FILE`, run by the interpreter that holds it.

It keeps notes in a file of JSON lines: `add_note` writes one, `find_notes` finds those that share a word with a query.
"""

# mcp 1.x lives in an environment of its own while ours holds mcp 2.x, so there are no types to check against:
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportCallIssue=false
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUntypedFunctionDecorator=false

import json
import sys
from pathlib import Path
from typing import Any

from mcp.server.fastmcp import FastMCP
from starlette.requests import Request
from starlette.responses import PlainTextResponse

PORT, FILE = int(sys.argv[1]), Path(sys.argv[2])
server = FastMCP("old notes", host="127.0.0.1", port=PORT, log_level="WARNING")


@server.tool()
def add_note(note_id: str, text: str, written: str) -> str:
    """Keep a note."""
    with FILE.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"note_id": note_id, "text": text, "written": written}) + "\n")
    return "kept"


@server.tool()
def find_notes(query: str, top: int = 5) -> dict[str, Any]:
    """Notes that share a word with the query."""
    notes = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()] if FILE.exists() else []
    words = set(query.lower().split())
    found = [note for note in notes if words & set(note["text"].lower().replace(".", "").split())]
    return {"notes": found[:top]}


@server.custom_route("/health", methods=["GET"])
async def health(request: Request) -> PlainTextResponse:
    return PlainTextResponse("ok")


if __name__ == "__main__":
    server.run("sse")
