"""A model server of ours on a real socket: it speaks three protocols and lies, hangs, drips and obeys as it is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

Body = dict[str, Any]
Reply = tuple[int, object]


class ModelServer:
    """Ollama, OpenAI's shape and rerankers at once.

    Attributes:
        says: What the model writes, made of the prompt.
        models: What it has.
        script: Replies for the next requests that ask it to write; bytes go out as they are. Then `says` counts again.
        ranks: What a reranker answers; None is 404.
        gate: Cleared, every request that asks it to write hangs.
        drip: It answers one byte after another and never ends.
        tags_gate: Cleared, the list of models hangs.
        asked: Path and body of every request.
        over: Set when the server ends.
    """

    def __init__(self) -> None:
        self.says: Callable[[str], str] = str
        self.models = ["qwen3:8b", "local"]
        self.script: list[Reply] = []
        self.ranks: object = None
        self.gate = threading.Event()
        self.gate.set()
        self.drip = False
        self.asked: list[tuple[str, Body]] = []
        self.tags_gate = threading.Event()
        self.tags_gate.set()
        self.over = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"model": self}))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]

    def close(self) -> None:
        self.over.set()
        self.gate.set()
        self.tags_gate.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, path: str, body: Body) -> Reply:
        if path == "/api/tags":
            self.tags_gate.wait()
            return 200, {"models": [{"name": name} for name in self.models]}
        if path == "/v1/models":
            return 200, {"data": [{"id": name} for name in self.models]}
        self.gate.wait()
        if self.script:
            return self.script.pop(0)
        if path in ("/v1/rerank", "/rerank"):
            return (200, self.ranks) if self.ranks is not None else (404, {"error": "not here"})
        said = self.says("\n".join(message["content"] for message in body["messages"]))
        if path == "/api/chat":
            return 200, {"model": body["model"], "message": {"role": "assistant", "content": said}, "done": True}
        if path == "/v1/chat/completions":
            return 200, {"choices": [{"message": {"role": "assistant", "content": said}}]}
        return 404, {"error": "not found"}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: ClassVar[ModelServer]

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        self._answer(json.loads(raw))

    def _answer(self, body: Body) -> None:
        self.model.asked.append((self.path, body))
        status, reply = self.model.answer(self.path, body)
        data = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
        try:
            self.send_response(status)
            self.send_header("content-type", "application/json")
            if self.model.drip and self.path != "/api/tags":
                self._drip()
                return
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except OSError:  # the caller gave up waiting
            self.close_connection = True

    def _drip(self) -> None:
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        while not self.model.over.wait(0.01):
            self.wfile.write(b"1\r\n{\r\n")
            self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        return


@contextmanager
def model_server() -> Generator[ModelServer]:
    server = ModelServer()
    try:
        yield server
    finally:
        server.close()
