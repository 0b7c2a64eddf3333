"""The REST surface described in OpenAPI 3.1, made of the models that the routes themselves go by.

Above: the REST routes, which serve the shipped ``openapi.json``. Below: models, peer shapes. Pure.
``python -m callosum_mcp.surface.openapi`` writes the file anew, and a test compares it with the models.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from callosum_mcp import __version__
from callosum_mcp.models.asking import AskResult
from callosum_mcp.models.requests import AddStoreRequest, AskRequest, FetchRequest, RecallRequest
from callosum_mcp.models.results import EngineOut, FetchResult, RecallResult, RemoveResult, StoreOut
from callosum_mcp.surface.peer import SearchRequest
from callosum_mcp.surface.tools import ConfigureSchema

Wire = dict[str, Any]

_REF = "#/components/schemas/{model}"
_MODELS: tuple[type[BaseModel], ...] = (
    AddStoreRequest,
    AskRequest,
    AskResult,
    ConfigureSchema,
    EngineOut,
    FetchRequest,
    FetchResult,
    RecallRequest,
    RecallResult,
    RemoveResult,
    SearchRequest,
    StoreOut,
)
_GUARD = {
    "400": "A header stands twice.",
    "401": "The server wants a bearer token.",
    "403": "The Origin is not allowed.",
    "421": "The Host is not allowed.",
}
_BODY = {
    "408": "The body did not come in time.",
    "413": "The body is too large.",
    "415": "The body is not JSON in UTF-8.",
    "422": "A field is wrong; its place and its bound are in detail.",
}
_WRONG = {"422": _BODY["422"]}
_STORES = {
    "404": "No such store or hit.",
    "502": "No store answered, or a required one did not.",
    "503": "Too many calls are in flight.",
}
_TEXT: Wire = {"type": "string"}
_NUMBER: Wire = {"type": "number"}
_COUNT: Wire = {"type": "integer", "minimum": 0}
_FLAG: Wire = {"type": "boolean"}


def made() -> Wire:
    """The document, made of the models."""
    _, definitions = models_json_schema([(model, "validation") for model in _MODELS], ref_template=_REF)
    schemas = cast("dict[str, Wire]", definitions["$defs"])
    schemas["AddStoreRequest"]["properties"].pop("token", None)  # a secret is not taken over HTTP
    schemas["ListedStore"] = _with(schemas["StoreOut"], status={"enum": ["active", "disabled"]})
    schemas["Removed"] = _with(schemas["RemoveResult"], ok=_FLAG)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "callosum-mcp",
            "version": __version__,
            "description": "One question, every memory. The same calls as the MCP tools, and the peer's shapes.",
        },
        "paths": _paths(),
        "components": {
            "schemas": {**schemas, **_written()},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _paths() -> Wire:
    return {
        "/": {"get": _get("What this is.", _object(service=_TEXT))},
        "/health": {"get": _get("Whether each store answers.", _ref("Health"))},
        "/ready": {"get": _get("Whether any store is enabled.", _ref("Ready"), **{"503": "No store is enabled."})},
        "/search": {"post": _post("A recall in the peer's shape.", SearchRequest, _ref("Search"), **_STORES)},
        "/recall": {"post": _post("One ranked list out of every store.", RecallRequest, _of(RecallResult), **_STORES)},
        "/ask": {"post": _post("One answer out of every store.", AskRequest, _of(AskResult), **_STORES)},
        "/fetch": {"post": _post("One hit in full.", FetchRequest, _of(FetchResult), **_STORES)},
        "/stores": {
            "get": {**_get("The stores and the settings in force.", _ref("Stores"), **_WRONG), "parameters": [_PROBE]},
            "post": _post(
                "Add a store.", AddStoreRequest, _ref("Added"), **{"409": "The name is taken.", "502": "Not written."}
            ),
        },
        "/stores/{name}": {"delete": {**_removal(), "parameters": [_NAME]}},
        "/configure": {
            "post": _post(
                "Change settings until the server restarts.",
                ConfigureSchema,
                _ref("Configured"),
                **{"404": "No such store."},
            )
        },
        "/metrics": {"get": _get("Counters of each store for Prometheus.", _TEXT, kind="text/plain")},
        "/openapi.json": {"get": _get("This document.", {"type": "object"})},
    }


_PROBE: Wire = {
    "name": "probe",
    "in": "query",
    "description": "1 or true asks each store now.",
    "schema": {"enum": ["0", "1", "true", "false"]},
}
_NAME: Wire = {"name": "name", "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}


def _get(summary: str, schema: Wire, kind: str = "application/json", **more: str) -> Wire:
    return {"summary": summary, "responses": _responses(schema, kind, {**_GUARD, **more})}


def _post(summary: str, request: type[BaseModel], schema: Wire, **more: str) -> Wire:
    return {
        "summary": summary,
        "requestBody": {"required": True, "content": {"application/json": {"schema": _of(request)}}},
        "responses": _responses(schema, "application/json", {**_GUARD, **_BODY, **more}),
    }


def _removal() -> Wire:
    more = {"404": "No such store.", "409": "It stands in the settings file.", "422": _BODY["422"]}
    return {
        "summary": "Remove a store that was added.",
        "responses": _responses(_ref("Removed"), "application/json", {**_GUARD, **more}),
    }


def _responses(schema: Wire, kind: str, failures: dict[str, str]) -> Wire:
    found: Wire = {"200": {"description": "Done.", "content": {kind: {"schema": schema}}}}
    for status, meaning in sorted(failures.items()):
        found[status] = {"description": meaning, "content": {"application/json": {"schema": _failure(status, schema)}}}
    return found


def _failure(status: str, schema: Wire) -> Wire:
    """The body of a failure; where every store failed, or none is enabled, it is the usual one as well."""
    return {"anyOf": [_ref("Problem"), schema]} if status in ("502", "503") else _ref("Problem")


def _of(model: type[BaseModel]) -> Wire:
    return _ref(model.__name__)


def _ref(name: str) -> Wire:
    return {"$ref": _REF.format(model=name)}


def _object(**properties: Wire) -> Wire:
    """An object that holds at least these."""
    return {"type": "object", "properties": properties, "required": sorted(properties)}


def _with(schema: Wire, **properties: Wire) -> Wire:
    """A model's schema with more members."""
    return {
        **schema,
        "properties": {**schema["properties"], **properties},
        "required": [*schema.get("required", []), *sorted(properties)],
    }


def _list(of: Wire) -> Wire:
    return {"type": "array", "items": of}


def _written() -> Wire:
    """Shapes without a model: the peer's, and our errors."""
    place = _object(type=_TEXT, loc=_list({"type": ["string", "integer"]}), msg=_TEXT)
    failed = _list(_object(name=_TEXT, reason=_TEXT))
    hit = _object(store=_TEXT, id=_TEXT, content=_TEXT, score=_NUMBER, store_rank=_COUNT, hit_id=_TEXT)
    changes = _list(_object(setting=_TEXT))
    return {
        "Problem": _object(detail={"anyOf": [_TEXT, _list(place)]}),
        "Health": _object(ok=_FLAG),
        "Ready": _object(ready=_FLAG),
        "Search": _object(
            query=_TEXT,
            hits=_list(hit),
            tokens=_COUNT,
            stores_searched=_list(_TEXT),
            failed=failed,
            skipped=failed,
            answer_kind={"enum": ["none", "single", "many", "unknown"]},
            partial=_FLAG,
            engines=_list(_of(EngineOut)),
        ),
        "Stores": _object(
            stores=_list(_ref("ListedStore")), active=_COUNT, types=_list(_TEXT), supported_knobs=_list(_TEXT)
        ),
        "Added": _object(ok=_FLAG, added=_TEXT, active=_COUNT, store=_of(StoreOut)),
        "Configured": _object(ok=_FLAG, changed={"type": "object"}, active=_COUNT, changes=changes),
    }


if __name__ == "__main__":
    target = Path(__file__).with_name("openapi.json")
    target.write_text(json.dumps(made(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
