"""The section `answer`: defaults filled in, secrets resolved, and what may cost money is never guessed to be free."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from callosum_mcp.models.asking import AnswerPolicy, BackendSpec, RerankSpec
from callosum_mcp.settings.answering import nearby

from .desk import Desk


def test_nothing_writes_without_a_backend(desk: Desk) -> None:
    assert desk.load().answering == AnswerPolicy()


def test_ollama_needs_nothing_but_its_type(desk: Desk) -> None:
    desk.write("answer: {backends: [{type: ollama}]}")
    [spec] = desk.load().answering.backends
    assert spec == BackendSpec(name="ollama", type="ollama", url="http://127.0.0.1:11434", model="qwen3:8b")


def test_a_backend_is_read_with_its_key(desk: Desk) -> None:
    desk.write(
        "answer:\n  allow_paid: true\n  backends:\n"
        "    - {type: anthropic, model: m, size: large, timeout_s: 9, token_env: KEY}\n"
        "    - {name: b, type: openai, model: n, token: t, paid: false, url: 'https://api.example.org/v1/'}\n"
    )
    policy = desk.load(environ={"KEY": "secret-key"}).answering
    assert policy.allow_paid
    assert policy.backends == (
        BackendSpec(
            name="anthropic",
            type="anthropic",
            model="m",
            size="large",
            timeout_s=9,
            token=SecretStr("secret-key"),
            paid=True,
        ),
        BackendSpec(name="b", type="openai", url="https://api.example.org/v1", model="n", token=SecretStr("t")),
    )
    assert "secret-key" not in repr(policy) and "api.example.org" not in repr(policy)


def test_synthesize_false_leaves_the_backends_unused(desk: Desk) -> None:
    desk.write("answer: {backends: [{type: ollama}], synthesize: false}")
    assert desk.load().answering.backends == ()


@pytest.mark.parametrize(
    ("url", "near"),
    [
        ("http://127.0.0.1:1234", True),
        ("http://[::1]:1234", True),
        ("http://192.168.1.7", True),
        ("http://gpu:11434", True),
        ("http://gpu.lan", True),
        ("http://gpu.local.", True),
        ("https://api.openai.com/v1", False),
        ("https://8.8.8.8", False),
        ("http://[", False),
        ("", False),
    ],
)
def test_only_machines_nearby_are_taken_to_be_free(url: str, near: bool) -> None:
    assert nearby(url) is near


def test_a_public_endpoint_may_cost_money_unless_the_file_says_otherwise(desk: Desk) -> None:
    desk.write("answer: {backends: [{type: openai, model: m, url: 'https://api.example.org'}]}")
    assert desk.load().answering.backends[0].paid


def test_a_reranker_is_read(desk: Desk) -> None:
    desk.write(
        "answer: {rerank: endpoint, rerank_url: 'http://a:1/', rerank_model: m, rerank_token_env: KEY, rerank_top: 5}"
    )
    wanted = RerankSpec(type="endpoint", url="http://a:1", model="m", token=SecretStr("t"), top=5)
    assert desk.load(environ={"KEY": "t"}).answering.rerank == wanted


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("answer: {backends: [{type: openai}]}", "answer.backends.0.model: is required"),
        ("answer: {backends: [{type: olama}]}", "answer.backends.0.type: must be 'ollama', 'openai' or 'anthropic'"),
        ("answer: {backends: [{type: ollama}, {type: ollama}]}", "answer.backends.1.name: 'ollama' stands twice"),
        ("answer: {backends: [{type: ollama, modl: x}]}", "did you mean 'model'?"),
        (
            "answer: {backends: [{type: ollama, token_env: NOT_SET}]}",
            "answer.backends.0.token_env: names the environment",
        ),
        ("answer: {rerank: endpoint}", "answer.rerank: endpoint needs rerank_url"),
        ("answer: {rerank: judge}", "answer.rerank: judge needs a backend"),
        ("answer: {rerank: endpoint, rerank_url: x, rerank_token_env: NOT_SET}", "answer.rerank_token_env: names the"),
        ("surface: {aliases: [darwin]}", "must be 'darwin_ask'"),
        ("server: {ports: [70000]}", "65535"),
    ],
)
def test_what_cannot_be_used_is_one_error_with_its_place(desk: Desk, text: str, said: str) -> None:
    desk.write(text)
    assert said in str(desk.error())
