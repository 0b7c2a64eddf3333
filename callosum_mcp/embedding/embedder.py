"""As many texts embedded as a call has time for, and every vector kept for the next call.

Above: the federation, through its seam. Below: a model, and the cache. Everything that takes long runs in threads: a
call waits for its thread until its time is up, then takes what the cache holds by then. The thread stops after the
batch it is in; what that gives is not lost, it is there for the next call. One thread at a time uses the model, so that
many callers do not take more cores than one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress

import anyio
import anyio.to_thread

from callosum_mcp.embedding.cache import VectorCache
from callosum_mcp.embedding.model import MiniLM, Model, ModelError, lacking
from callosum_mcp.federation.embedding import Similar

BATCH = 2
"""Texts between two looks at the clock: on a slow core, at 25 ms a text, 50 ms. Larger ones are hardly faster."""


class CachingEmbedder:
    """The embedder of a process.

    Args:
        load: Makes the model, at its first use and in a thread; raises `ModelError` where it cannot.
        lacking: Says what must be installed for that.
        cache: Where vectors are kept.
    """

    def __init__(
        self,
        load: Callable[[], Model] = MiniLM,
        lacking: Callable[[], str | None] = lacking,
        cache: VectorCache | None = None,
    ) -> None:
        self._load = load
        self._lacking = lacking
        self._cache = VectorCache() if cache is None else cache
        self._model: Model | None = None
        self._refusal = ""
        self._one_at_a_time = threading.Lock()
        self._queue = anyio.CapacityLimiter(1)
        self._preparing: threading.Thread | None = None

    def lacking(self) -> str | None:
        """What must be installed before it can be used."""
        return self._lacking()

    def prepare(self, query: str) -> None:
        """Load the model and embed the question in a thread, unless that is done or a thread is at it."""
        if self._cache.known([query]) or (self._preparing is not None and self._preparing.is_alive()):
            return
        # Not a daemon: a process must not end while a library is being loaded.
        self._preparing = threading.Thread(target=self._prepared, args=(query,), name="callosum-embed")
        self._preparing.start()

    async def similar(self, query: str, texts: Sequence[str], until: float) -> Similar:
        """The cosine of question and text for each text that is known or can be embedded until then."""
        started = anyio.current_time()
        wanted = list(dict.fromkeys((query, *texts)))
        known = self._cache.known(wanted)
        cached = sum(text in known for text in texts)
        status = await self._tried([text for text in wanted if text not in known], until)
        known |= self._cache.known([text for text in wanted if text not in known])
        cosines = {} if status["status"] == "failed" else self._cosines(query, texts, known)
        used = min(cached, len(cosines))
        told = {"embedded": len(cosines) - used, "cached": used, "without": len(texts) - len(cosines)}
        took_ms = round((anyio.current_time() - started) * 1_000, 1)
        return Similar(cosines=cosines, told={**status, **told, "ms": took_ms})

    async def _tried(self, texts: Sequence[str], until: float) -> dict[str, object]:
        """Embed what can be embedded in time; what came of it."""
        if not texts:
            return {"status": "ok"}
        stop = threading.Event()
        try:
            with anyio.CancelScope(deadline=until):
                await anyio.to_thread.run_sync(self._embed, texts, stop, abandon_on_cancel=True, limiter=self._queue)
                return {"status": "ok"}
        except ModelError as fault:
            return {"status": "failed", "reason": str(fault)}
        finally:
            stop.set()
        loading = {} if self._model else {"reason": "the model is still being loaded"}
        return {"status": "out of time", **loading}

    def _prepared(self, query: str) -> None:
        with suppress(ModelError):  # the call that needs it tells
            self._embed([query], threading.Event())

    def _embed(self, texts: Sequence[str], stop: threading.Event) -> None:
        with self._one_at_a_time:
            known = self._cache.known(texts)  # from whoever had the model before
            left = [text for text in texts if text not in known]
            for start in range(0, len(left), BATCH):
                if stop.is_set():
                    return
                batch = left[start : start + BATCH]
                self._cache.put(zip(batch, self._loaded().vectors(batch), strict=True))

    def _loaded(self) -> Model:
        """The model. One that could not be loaded once is not tried again: that costs a second each time."""
        if self._refusal:
            raise ModelError(self._refusal)
        if self._model is None:
            try:
                self._model = self._load()
            except ModelError as fault:
                self._refusal = str(fault)
                raise
        return self._model

    def _cosines(self, query: str, texts: Sequence[str], known: dict[str, bytes]) -> dict[str, float]:
        there = [text for text in texts if text in known]
        if self._model is None or query not in known or not there:
            return {}
        return dict(zip(there, self._model.cosines(known[query], [known[text] for text in there]), strict=True))
