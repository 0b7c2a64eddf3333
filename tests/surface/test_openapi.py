"""``GET /openapi.json`` describes the REST surface, and schemathesis finds nothing that the routes do otherwise."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument, Unsatisfiable
from pydantic import SecretStr
from schemathesis import GenerationMode
from schemathesis.specs.openapi import checks

from callosum_mcp.surface import openapi
from callosum_mcp.surface.guard import Policy
from callosum_mcp.surface.rest import rest_routes

from .world import Served, World, served, world_in

EXAMPLES = 15
CHECKS: list[Any] = [
    getattr(checks, name)
    for name in (
        "content_type_conformance",
        "negative_data_rejection",
        "response_schema_conformance",
        "status_code_conformance",
    )
]


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    """A server of its own: its stores and settings are added, changed and removed at random."""
    knobs = {"per_store_timeout_s": 30, "deadline_s": 30}
    with world_in(tmp_path_factory.mktemp("fuzzed"), federation=knobs) as world, served(world.application()) as running:
        yield running


OPERATIONS = [(path, method) for path, methods in openapi.made()["paths"].items() for method in methods]


@pytest.mark.promise("9b")
@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.name.lower())
@pytest.mark.parametrize(("path", "method"), OPERATIONS, ids=[f"{method} {path}" for path, method in OPERATIONS])
def test_the_routes_do_what_the_document_says(target: Served, path: str, method: str, mode: GenerationMode) -> None:
    document: Any = schemathesis.openapi.from_dict(openapi.made())
    cases: st.SearchStrategy[Any] = document[path][method].as_strategy(generation_mode=mode)

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    )
    @given(case=cases)
    def conforms(case: Any) -> None:
        response = case.call(base_url=target.url, timeout=60)
        assert response.status_code < 500 or response.status_code in (502, 503), response.text[:400]
        case.validate_response(response, checks=CHECKS)

    try:
        conforms()
    except (Unsatisfiable, InvalidArgument):
        assert mode is GenerationMode.NEGATIVE and method != "post", "there is nothing that a caller could say wrongly"


@pytest.mark.promise("9b")
def test_the_shipped_document_is_the_one_of_the_models() -> None:
    shipped = Path(openapi.__file__).with_name("openapi.json").read_text(encoding="utf-8")
    assert json.loads(shipped) == openapi.made(), "run python -m callosum_mcp.surface.openapi"


def test_the_document_holds_every_route(world: World) -> None:
    routes = rest_routes(world.application().services())
    found = {(route.path, method.lower()) for route in routes for method in route.methods or () if method != "HEAD"}
    paths: dict[str, dict[str, Any]] = openapi.made()["paths"]
    assert found == {(path, method) for path, methods in paths.items() for method in methods}


def test_the_document_is_behind_the_guard(world: World) -> None:
    with served(world.application(), Policy(tokens=(SecretStr("s3cret-token"),))) as locked, locked.client() as client:
        assert client.get("/openapi.json").status_code == 401
        bearer = {"authorization": "Bearer s3cret-token"}
        assert client.get("/openapi.json", headers=bearer).json()["info"]["title"] == "callosum-mcp"
        assert client.get("/openapi.json", headers={**bearer, "host": "evil.example"}).status_code == 421
