"""What carries the requests of a test: both transports of a store on this machine, in turn."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from callosum_mcp.adapters import transport

_NO_AIOHTTP = pytest.mark.skipif(find_spec("aiohttp") is None, reason="aiohttp is not installed (extra `fast`)")


@pytest.fixture(params=["httpx2", pytest.param("aiohttp", marks=_NO_AIOHTTP)])
def carrier(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Stores on this machine are asked over the named library from the first request on."""
    if request.param == "aiohttp":
        monkeypatch.setattr(transport, "plain_transport", transport.fast_transport)
    return request.param
