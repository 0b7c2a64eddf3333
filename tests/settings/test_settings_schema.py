"""The JSON Schema of the settings: every setting documented, and the full sample files valid by it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import jsonschema
import pytest
import yaml

from callosum_mcp.cli import main
from callosum_mcp.settings import Settings

PEER_FILE = Path(__file__).with_name("seren-corpus-callosum.yaml")

FULL = """
server:
  {host: 127.0.0.1, port: 7423, ports: [7423], bearer_token: x, bearer_tokens: [y], bearer_token_env: '',
   bearer_token_keyring: '', bearer_token_file: '', allow_open_lan: false, allowed_hosts: [a],
   allowed_origins: ['http://a']}
federation:
  {fusion_mode: rrf, k: 60, pool_weight: 0.5, embed_enabled: false, embed_budget_ms: 150, temporal_weight: 0.5,
   authority_margin: 0, min_per_store: 0, edges_enabled: true, edge_budget: 3, satellite_budget: 3,
   conflicts_enabled: true, n_results: 10, budget_tokens: 1800, fetch_multiplier: 5, per_store_timeout_s: 4,
   deadline_s: 5, soft_deadline_s: 0, max_in_flight: 64, max_queued: 256, cache_s: 0, half_life_days: 30}
stores:
- {name: notes, type: notes, url: ., urls: ['http://a'], weight: 1, floor: 0, enabled: true, tier: older-note,
   timeout_s: 2, concurrency: 8, required: false, options: {include: ['*.md']}, headers: {X-A: b}, token: t,
   token_env: T, token_file: f, token_keyring: s/u}
- {name: code, type: mcp, transport: {type: stdio, command: server, args: [-x], env: {A: b}, cwd: /srv,
   protocol: legacy, connect_timeout_s: 30}}
answer:
  {synthesize: true, allow_paid: false, available_s: 1, rerank: judge, rerank_url: '', rerank_model: '',
   rerank_token_env: '', rerank_top: 20, rerank_filter: false, rerank_timeout_s: 3, backends: [
   {name: a, type: ollama, url: 'http://a', model: m, size: small,
    timeout_s: 9, paid: false,
    token: t, token_env: '', token_keyring: ''}]}
surface: {aliases: [darwin_ask]}
security: {allow_hosts: [nas], allow_token_env: ['X_*']}
logging: {level: info, log_queries: false}
"""


@pytest.fixture
def schema(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """What ``callosum-mcp schema`` prints."""
    with pytest.raises(SystemExit) as ended:
        main(["schema"])
    assert ended.value.code == 0
    return cast("dict[str, Any]", json.loads(capsys.readouterr().out))


def test_the_schema_is_a_schema(schema: dict[str, Any]) -> None:
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(schema)


def test_every_setting_is_documented(schema: dict[str, Any]) -> None:
    def described(node: dict[str, Any]) -> bool:
        target = node.get("$ref", "").rpartition("/")[2]
        return bool(node.get("description") or (target and schema["$defs"][target].get("description")))

    models = {"Settings": schema, **schema["$defs"]}
    silent = [
        f"{model}.{name}"
        for model, node in models.items()
        for name, setting in node.get("properties", {}).items()
        if not described(setting)
    ]
    assert silent == []


@pytest.mark.parametrize("text", [FULL, PEER_FILE.read_text(encoding="utf-8"), "{}"])
def test_a_full_file_is_valid_by_the_schema(schema: dict[str, Any], text: str) -> None:
    document: object = yaml.safe_load(text)
    jsonschema.validate(document, schema)


def test_the_full_sample_holds_every_setting_of_ours() -> None:
    given = cast("dict[str, Any]", yaml.safe_load(FULL))
    settings = Settings.model_validate(given)
    assert set(given["server"]) == set(type(settings.server).model_fields)
    assert set(given["security"]) == set(type(settings.security).model_fields)
    assert set(given["answer"]) == set(type(settings.answer).model_fields)
    assert set(given["answer"]["backends"][0]) == set(type(settings.answer.backends[0]).model_fields)
    assert set(given["surface"]) == set(type(settings.surface).model_fields)
    assert set(given["logging"]) == set(type(settings.logging).model_fields)
    assert set(given["federation"]) == set(settings.federation.knobs().model_dump())
    assert set(given["stores"][0]) == set(type(settings.stores[0]).model_fields) - {"managed", "transport"}
    assert set(given["stores"][1]["transport"]) == set(type(settings.stores[1].transport).model_fields)  # pyright: ignore[reportOptionalMemberAccess, reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType]


@pytest.mark.parametrize("text", ["serfer: {}", "server: {port: 70000}", "stores: [{name: a}]", "federation: {k: 0}"])
def test_the_schema_refuses_what_the_program_refuses(schema: dict[str, Any], text: str) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(yaml.safe_load(text), schema)
