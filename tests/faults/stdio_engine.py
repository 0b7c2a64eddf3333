"""The engine of a store over stdin and stdout: a child that asks the fault server how to behave.

    python -S -E -m faults.stdio_engine CONTROL STORE

Above: whoever starts it. Below: `engine`; the standard library alone.
"""

from __future__ import annotations

import http.client
import json
import os
import sys
import threading
import time
from typing import Any
from urllib.parse import urlsplit

from .engine import Engine
from .modes import Row, Setting, half

_DRIP_S = 0.05
_LINGER_S = 60.0


class Child:
    """One child.

    Args:
        control: URL of the fault server's control port.
        store: The store it is.
    """

    def __init__(self, control: str, store: str) -> None:
        parts = urlsplit(control)
        self._line = http.client.HTTPConnection(parts.hostname or "127.0.0.1", parts.port or 80, timeout=20)
        self._store = store
        self._engine = Engine(store, self.note)
        self._writing = threading.Lock()
        self._asking = threading.Lock()

    def run(self) -> None:
        """Until the end of stdin."""
        self.note("started", pid=os.getpid())
        if self.setting("").mode == "refuse":
            sys.exit(3)
        for line in sys.stdin:
            self._take(json.loads(line))
        if self.setting("").mode == "no-exit-on-eof":
            time.sleep(_LINGER_S)

    def note(self, what: str, **more: Any) -> None:
        """Tell the fault server what happened."""
        self._control("/note", {"store": self._store, "what": what, **more})

    def setting(self, method: str) -> Setting:
        """How to behave now."""
        return Setting(**self._control("/setting", {"store": self._store})).of(method)

    def _control(self, path: str, body: Row) -> Row:
        with self._asking:
            self._line.request("POST", path, json.dumps(body), {"content-type": "application/json"})
            return json.loads(self._line.getresponse().read())

    def _take(self, message: Row) -> None:
        setting = self.setting(str(message.get("method", "")))
        reply = self._engine.reply(message, setting, {}, says=True)
        if reply is None or setting.mode == "hang":
            return
        if setting.mode == "drip":
            threading.Thread(target=self._drip, daemon=True).start()
        elif setting.mode == "slow":
            threading.Timer(setting.ms / 1_000, self._say, (reply, setting)).start()
        else:
            self._say(reply, setting)

    def _drip(self) -> None:
        told = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "busy"}}
        while True:
            self._write(json.dumps(told).encode() + b"\n")
            time.sleep(_DRIP_S)

    def _say(self, reply: Row, setting: Setting) -> None:
        line = json.dumps(reply).encode()
        if setting.mode == "garbage-stdout":
            self._write(b"INFO loading the model ...\n\xff\xfe{half\n")
        if setting.mode in ("bad-json", "die-mid-stream"):
            line = half(line)
        self._write(line + (b"" if setting.mode == "die-mid-stream" else b"\n"))
        if setting.mode == "die-mid-stream":
            os._exit(4)

    def _write(self, data: bytes) -> None:
        with self._writing:
            try:
                sys.stdout.buffer.write(data)
                sys.stdout.buffer.flush()
            except OSError:
                os._exit(0)  # nobody listens any more


if __name__ == "__main__":
    Child(sys.argv[1], sys.argv[2]).run()
