"""What a caller may ask: every refusal names the field and its bound."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from callosum_mcp.errors import InvalidInput
from callosum_mcp.models.requests import (
    AddStoreRequest,
    FetchRequest,
    RecallRequest,
    StoreChange,
    nearest,
    parse,
)


@pytest.mark.promise("P30")
@pytest.mark.parametrize(
    ("model", "values", "said"),
    [
        (RecallRequest, {}, "query: is required"),
        (RecallRequest, {"query": ""}, "query: string should have at least 1 character (got '')"),
        (RecallRequest, {"query": " \n"}, "query: must hold 1 to 8000 characters that are not blank"),
        (RecallRequest, {"query": "a\x00b"}, "query: control character U+0000 at position 1 is not allowed"),
        (RecallRequest, {"query": 7}, "query: must be a valid string (got 7); allowed: 1 to 8000"),
        (RecallRequest, {"query": "x", "n_results": 0}, "n_results: must be greater than or equal to 1 (got 0)"),
        (RecallRequest, {"query": "x", "n_results": 101}, "n_results: must be less than or equal to 100 (got 101)"),
        (RecallRequest, {"query": "x", "n_results": "ten"}, "n_results: must be a valid integer"),
        (RecallRequest, {"query": "x", "limit": 3}, "limit: is unknown; known are query"),
        (RecallRequest, {"query": "x", "n_result": 3}, "n_result: is unknown; did you mean 'n_results'?"),
        (RecallRequest, {"query": "x", "since": "soon"}, "since: must be ISO 8601"),
        (RecallRequest, {"query": "x", "until": True}, "until: must be ISO 8601"),
        (RecallRequest, {"query": "x", "detail": "all"}, "detail: must be 'concise' or 'detailed' (got 'all')"),
        (RecallRequest, {"query": "x", "budget_tokens": 199}, "budget_tokens: must be greater than or equal to 200"),
        (RecallRequest, {"query": "x", "stores": ["a"] * 65}, "stores: list should have at most 64 items"),
        (FetchRequest, {"id": "a"}, "id: string should have at least 3 characters (got 'a')"),
        (StoreChange, {"name": "a", "weight": float("nan")}, "weight: must be a finite number"),
        (StoreChange, {"name": "../a"}, "name: string should match pattern"),
        (AddStoreRequest, {"name": "a", "type": "t", "url": "u", "token_env": "A B"}, "token_env: string should match"),
    ],
)
def test_a_wrong_value_is_refused_with_its_bound(model: type[BaseModel], values: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse(model, values)
    assert str(refused.value).startswith(said)
    assert refused.value.field == said.partition(":")[0]


def test_a_megabyte_is_refused_without_being_repeated() -> None:
    with pytest.raises(InvalidInput) as refused:
        parse(RecallRequest, {"query": "x" * 2**20})
    assert "8000" in str(refused.value)
    assert len(str(refused.value)) < 200


def test_every_fault_is_told_up_to_five() -> None:
    with pytest.raises(InvalidInput) as refused:
        parse(RecallRequest, {f"field{n}": n for n in range(9)})
    assert str(refused.value).count("is unknown") == 4
    assert str(refused.value).endswith("; and 5 more")


def test_a_query_is_stripped_and_safe_to_send() -> None:
    request = parse(RecallRequest, {"query": " half an emoji: \ud83d ", "since": "2026-11-29", "until": None})
    assert (request.query, request.since, request.until) == ("half an emoji: ?", 1_795_910_400.0, None)


def test_the_nearest_name_is_offered_or_all() -> None:
    assert nearest("Wieght", ["weight", "floor"]) == "did you mean 'weight'?"
    assert nearest("zzz", ["weight", "floor"]) == "known are weight, floor"
    assert nearest("zzz", []) == "nothing is allowed here"
