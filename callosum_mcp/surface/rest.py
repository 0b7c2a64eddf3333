"""The REST routes: thin, over the same federation and administration as the MCP tools.

Above: the HTTP application. Below: peer shapes, federation. Wrong input is 422 with the field and the bound, an
unknown store or hit 404, a taken name or a base store 409, all stores failed 502, too many calls 503; a refused request
changes nothing.
"""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable
from importlib.resources import files
from math import nan
from typing import Any, cast

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from callosum_mcp.errors import (
    AllStoresFailed,
    CallosumError,
    DuplicateStore,
    InvalidInput,
    Overloaded,
    ProtectedStore,
    StoreError,
    UnknownHit,
    UnknownStore,
)
from callosum_mcp.models.asking import AskResult
from callosum_mcp.models.requests import (
    AddStoreRequest,
    AskRequest,
    FetchRequest,
    ListStoresRequest,
    RecallRequest,
    RemoveStoreRequest,
    parse,
)
from callosum_mcp.models.results import RecallResult, StoreOut, StoresResult
from callosum_mcp.surface import peer
from callosum_mcp.surface.tools import Services
from callosum_mcp.text import clean_compact_json, epoch_seconds

Endpoint = Callable[[Request], Awaitable[Response]]


class CompactJson(JSONResponse):
    """JSON that every client can decode: no NaN, no lone surrogates."""

    def render(self, content: Any) -> bytes:
        """The body's bytes."""
        return clean_compact_json(content).encode()


def rest_routes(services: Services) -> list[Route]:
    """All REST routes."""
    rest = _Rest(services)
    return [
        Route("/", guarded(rest.root), methods=["GET"]),
        Route("/health", guarded(rest.health), methods=["GET"]),
        Route("/ready", guarded(rest.ready), methods=["GET"]),
        Route("/search", guarded(rest.search), methods=["POST"]),
        Route("/recall", guarded(rest.recall), methods=["POST"]),
        Route("/ask", guarded(rest.ask), methods=["POST"]),
        Route("/fetch", guarded(rest.fetch), methods=["POST"]),
        Route("/stores", guarded(rest.list_stores), methods=["GET"]),
        Route("/stores", guarded(rest.add_store), methods=["POST"]),
        Route("/stores/{name}", guarded(rest.remove_store), methods=["DELETE"]),
        Route("/configure", guarded(rest.configure), methods=["POST"]),
        Route("/metrics", guarded(rest.metrics), methods=["GET"]),
        Route("/openapi.json", guarded(rest.openapi), methods=["GET"]),
    ]


def guarded(endpoint: Endpoint) -> Endpoint:
    """The endpoint with every error of ours as the HTTP answer it is due."""

    async def answered(request: Request) -> Response:
        try:
            return await endpoint(request)
        except AllStoresFailed as failed:
            body = failed.answer.wire() if isinstance(failed.answer, RecallResult | AskResult) else {}
            return CompactJson({"detail": str(failed), **body}, status_code=502)
        except InvalidInput as error:
            detail = [{"type": error.kind, "loc": ["body", *error.field.split(".")], "msg": str(error)}]
            return CompactJson({"detail": detail}, status_code=422)
        except Overloaded as error:
            return CompactJson({"detail": str(error)}, status_code=503, headers={"retry-after": "1"})
        except CallosumError as error:
            return CompactJson({"detail": str(error)}, status_code=_status(error))

    return answered


def _status(error: CallosumError) -> int:
    if isinstance(error, UnknownStore | UnknownHit):
        return 404
    if isinstance(error, DuplicateStore | ProtectedStore):
        return 409
    return 502 if isinstance(error, StoreError) else 500


async def body_of(request: Request) -> dict[str, Any]:
    """A request's JSON object.

    Raises:
        InvalidInput: If it is not a JSON object.
    """
    raw = await request.body()
    try:
        value: object = json.loads(raw or b"{}")
    except (ValueError, RecursionError):
        raise InvalidInput("body: must be a JSON object; this is not JSON", kind="json_invalid") from None
    if not isinstance(value, dict):
        raise InvalidInput("body: must be a JSON object", kind="dict_type")
    return cast("dict[str, Any]", value)


class _Rest:
    """The endpoints."""

    def __init__(self, services: Services) -> None:
        self._federation = services.federation
        self._administration = services.administration
        self._answers = services.answers

    async def root(self, request: Request) -> Response:
        if "text/html" in request.headers.get("accept", ""):
            page = (files("callosum_mcp.surface") / "bridge.html").read_text(encoding="utf-8")
            return HTMLResponse(
                page, headers={"content-security-policy": _PAGE_POLICY, "referrer-policy": "no-referrer"}
            )
        if not request.scope["callosum.trusted"]:
            return CompactJson({"service": "callosum-mcp"})
        return CompactJson(peer.root_answer(await self._listed(probe=False)))

    async def health(self, request: Request) -> Response:
        if not request.scope["callosum.trusted"]:
            return CompactJson({"ok": True})
        return CompactJson(health_answer(await self._listed(probe=True), time.time()))

    async def ready(self, request: Request) -> Response:
        active = self._federation.state.stores.active()
        return CompactJson({"ready": active > 0}, status_code=200 if active else 503)

    async def search(self, request: Request) -> Response:
        wanted = parse(peer.SearchRequest, await body_of(request))
        n_results = wanted.n_results or (100 if wanted.budget_tokens else None)
        recall = RecallRequest(query=wanted.query, n_results=n_results, stores=wanted.stores)
        gathered = await self._federation.gather(recall)
        answered = any(status.status == "up" for status in gathered.statuses)
        return CompactJson(peer.search_answer(gathered, wanted.budget_tokens), status_code=200 if answered else 502)

    async def recall(self, request: Request) -> Response:
        return CompactJson((await self._federation.recall(parse(RecallRequest, await body_of(request)))).wire())

    async def ask(self, request: Request) -> Response:
        return CompactJson((await self._answers.ask(parse(AskRequest, await body_of(request)))).wire())

    async def fetch(self, request: Request) -> Response:
        return CompactJson((await self._federation.fetch(parse(FetchRequest, await body_of(request)))).wire())

    async def list_stores(self, request: Request) -> Response:
        probe = request.query_params.get("probe", "0")
        if probe not in _FLAGS:
            raise InvalidInput(f"probe: must be one of {', '.join(_FLAGS)}", field="probe", kind="enum")
        return CompactJson(peer.stores_answer(await self._listed(probe=_FLAGS[probe])))

    async def add_store(self, request: Request) -> Response:
        body = await body_of(request)
        if body.get("token"):
            problem = "token: is not taken over HTTP; put it into an environment variable and name that in token_env"
            raise InvalidInput(problem, field="token", kind="extra_forbidden")
        body.pop("token", None)
        result = await self._administration.add_store(parse(AddStoreRequest, body))
        return CompactJson(
            {"ok": True, "added": result.added.name, "active": result.active, "store": result.added.wire()}
        )

    async def remove_store(self, request: Request) -> Response:
        wanted = parse(RemoveStoreRequest, {"name": request.path_params["name"]})
        return CompactJson({"ok": True, **(await self._administration.remove_store(wanted)).wire()})

    async def configure(self, request: Request) -> Response:
        asked = await body_of(request)
        result = await self._administration.configure(asked)
        return CompactJson(peer.configure_answer(result, asked, await self._listed(probe=False)))

    async def metrics(self, request: Request) -> Response:
        return PlainTextResponse(metrics_text(await self._listed(probe=False)), media_type="text/plain; version=0.0.4")

    async def openapi(self, request: Request) -> Response:
        shipped = (files("callosum_mcp.surface") / "openapi.json").read_bytes()
        return Response(shipped, media_type="application/json")

    async def _listed(self, *, probe: bool) -> StoresResult:
        return await self._administration.list_stores(ListStoresRequest(probe=probe))


_FLAGS = {"0": False, "1": True, "false": False, "true": True}
_PAGE_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'"
)


def health_answer(result: StoresResult, now: float) -> dict[str, Any]:
    """Body of ``GET /health``: each enabled store's state, and how old its newest entry is where it can tell."""
    engines: list[dict[str, Any]] = []
    for store in result.stores:
        if not store.enabled or store.health is None:
            continue
        ingest = epoch_seconds(store.last_ingest)
        engines.append(
            {
                "engine": store.name,
                "status": store.health.status,
                "last_ingest": store.last_ingest,
                "staleness_h": None if ingest is None else round(max(now - ingest, 0) / 3_600, 1),
                "detail": store.health.detail,
            }
        )
    notes = {"notes": result.notes} if result.notes else {}  # settings or an overlay that cannot be used as they stand
    return {"engines": engines, "ok": all(e["status"] != "down" for e in engines), "ts": now, **notes}


def _last_ms(store: StoreOut) -> float:
    return store.last.ms if store.last and store.last.ms is not None else nan


_METRICS: dict[str, tuple[str, Callable[[StoreOut], float]]] = {
    "callosum_store_calls_total": ("counter", lambda store: store.calls),
    "callosum_store_failures_total": ("counter", lambda store: store.failures),
    "callosum_store_last_ms": ("gauge", _last_ms),
}


def metrics_text(result: StoresResult) -> str:
    """Counters of each store in the Prometheus text format."""
    lines: list[str] = []
    for name, (kind, value) in _METRICS.items():
        lines.append(f"# TYPE {name} {kind}")
        lines.extend(f'{name}{{store="{store.name}",type="{store.type}"}} {value(store)}' for store in result.stores)
    return "\n".join(lines) + "\n"
