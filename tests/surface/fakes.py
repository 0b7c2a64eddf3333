"""SerenMemory and SerenLoci on real sockets, as much of them as a surface's tests need."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

Row = dict[str, Any]


class FakeStore:
    """A server that answers by rule; `gate` closed makes every request hang, `status` makes it fail."""

    kind: ClassVar[str] = ""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows
        self.status = 200
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Event()
        self.asked: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self.gate.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def reply(self, path: str, params: dict[str, str], body: Row) -> object | None:
        raise NotImplementedError

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        store = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._answer()

            def do_POST(self) -> None:
                self._answer()

            def _answer(self) -> None:
                parts = urlsplit(self.path)
                raw = self.rfile.read(int(self.headers.get("content-length") or 0))
                store.asked.append(parts.path)
                store.entered.set()
                store.gate.wait()
                params = {key: values[0] for key, values in parse_qs(parts.query).items()}
                found = store.reply(parts.path, params, json.loads(raw or b"{}"))
                status = store.status if found is not None else 404
                data = json.dumps({} if found is None else found).encode()
                try:
                    self.send_response(status)
                    self.send_header("content-type", "application/json")
                    self.send_header("content-length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                except OSError:  # the caller gave up waiting
                    self.close_connection = True

            def log_message(self, format: str, *args: Any) -> None:
                return

        return Handler


class FakeMemory(FakeStore):
    """A SerenMemory."""

    kind = "seren_memory"

    def reply(self, path: str, params: dict[str, str], body: Row) -> object | None:
        if path == "/search":
            return {"hits": self.rows[: body["n_results"]]}
        if path == "/":
            return {"tiers": {"short": len(self.rows), "near": 0, "long": 0}}
        if path == "/by_topic":
            return {"hits": []}
        return next((row for row in self.rows if path == f"/memory/{row['id']}"), None)


class FakeLoci(FakeStore):
    """A SerenLoci."""

    kind = "seren_loci"

    def reply(self, path: str, params: dict[str, str], body: Row) -> object | None:
        if path == "/search":
            return {"hits": self.rows[: body["n_results"]]}
        if path == "/counts":
            return {"live": len(self.rows), "projects": 1}
        row = next((row for row in self.rows if row["key"] == params.get("key")), None)
        if row is None:
            return None
        replies: dict[str, object] = {
            "/fact": row,
            "/fact/history": {"history": [row]},
            "/fact/citations": {"rests_on": []},
        }
        return replies.get(path)


def episode(identity: str, text: str, distance: float = 0.4, topic: str = "hermes") -> Row:
    """A row of SerenMemory's replies."""
    meta = {"topic": topic, "pinned": False, "source": "assistant", "ts": 1_795_727_200.0}
    return {
        "id": identity,
        "content": text,
        "tier": "short",
        "topic": topic,
        "score": round(1 / (1 + distance), 6),
        "raw_distance": distance,
        "metadata": meta,
    }


def fact(key: str, value: str, why: str, project: str = "hermes") -> Row:
    """A row of SerenLoci's replies."""
    return {
        "id": f"{len(key):032x}",
        "project": project,
        "key": key,
        "value": value,
        "why": why,
        "live": True,
        "score": 0.7,
        "match_kind": "lexical",
        "source": "user",
        "created_at": 1_795_800_000.0,
        "recheck": [],
    }


def default_memory() -> FakeMemory:
    return FakeMemory(
        [
            episode("s01", "Hermes is active again: Ines redeployed it this morning.", 0.35),
            episode("s02", "Hermes listens on port 8080 in the new chart.", 0.59),
            episode("s03", "NATS held 41,000 messages for Hermes and none were lost.", 0.63),
        ]
    )


def default_loci() -> FakeLoci:
    return FakeLoci(
        [fact("status", "active since 28 November", "Ines redeployed it"), fact("port", "8080", "the new chart")]
    )
