"""The real SerenMemory with our embedder: `python launch_memory.py [--no-model] CONFIG`, run by the peers' own Python.

The stock entry point downloads a model at first use and offers no other; the application factory behind it takes an
embedding function. With `--no-model` that function fails, as the stock one does where the model cannot be downloaded.
Everything else (settings, auth, routes, MCP) is the server as published.
"""

# These packages live in the peers' environment, never in ours, so there are no types to check against:
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUntypedBaseClass=false, reportUntypedClassDecorator=false, reportUnknownArgumentType=false

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import uvicorn
from chromadb.api.types import EmbeddingFunction
from chromadb.utils.embedding_functions import register_embedding_function
from hashembed import embed
from seren_memory.app import create_app
from seren_memory.config import load_config

NO_MODEL = "--no-model" in sys.argv


@register_embedding_function
class HashEmbedding(EmbeddingFunction):
    def __init__(self) -> None:
        """Nothing to set up; chromadb warns when a subclass has no __init__."""

    def __call__(self, input: Sequence[str]) -> list[list[float]]:
        if NO_MODEL:
            raise RuntimeError("the model is not there and cannot be downloaded")
        return [embed(text) for text in input]

    @staticmethod
    def name() -> str:
        return "callosum_test_hash"

    def get_config(self) -> dict[str, Any]:
        return {}

    @staticmethod
    def build_from_config(config: Mapping[str, Any]) -> "HashEmbedding":
        return HashEmbedding()

    def default_space(self) -> str:
        return "cosine"


def main() -> None:
    path = sys.argv[-1]
    config = load_config(path)
    app = create_app(config, embedding_function=HashEmbedding(), config_path=path)
    uvicorn.run(app, host=config.server.host, port=config.server.port, log_level="info")


if __name__ == "__main__":
    main()
