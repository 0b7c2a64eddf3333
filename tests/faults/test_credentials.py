"""Each store is sent its own token and nobody else's; the caller's stays with us; none of them follows a redirect."""

from __future__ import annotations

from collections.abc import Generator

import pytest
from surface.world import connected, http_target, sse_target

from .house import OverHttp, engine, nonce, over_http, settings
from .running import Faults, running

INBOUND = "inbound-5f0c"
BEARER = {"authorization": f"Bearer {INBOUND}"}
OVER_HTTP = ("memory", "loci", "http", "sse")
OWN = {way: f"token-of-{way}" for way in OVER_HTTP}
NAMES = [f"{way}-echo" for way in OVER_HTTP]


@pytest.fixture(scope="module")
def faults() -> Generator[Faults]:
    ways = {f"{way}-{what}": way for way in OVER_HTTP for what in ("echo", "away")}
    with running({**ways, "trap": "memory", "trap-engine": "http"}) as opened:
        for way in OVER_HTTP:
            opened.set(f"{way}-echo", "echo-headers")
            trap = "trap-engine" if way in ("http", "sse") else "trap"
            opened.set(f"{way}-away", "redirect", url=opened.urls[trap])
        yield opened


@pytest.fixture(scope="module")
def http(faults: Faults, tmp_path_factory: pytest.TempPathFactory) -> Generator[OverHttp]:
    more = {f"{way}-{what}": {"token": OWN[way]} for way in OVER_HTTP for what in ("echo", "away")}
    more |= {"trap": {"enabled": False}, "trap-engine": {"enabled": False}}
    config = settings(tmp_path_factory.mktemp("credentials"), faults, more, server={"bearer_token_env": "DOOR"})
    with over_http(config, BEARER, DOOR=INBOUND) as opened:
        yield opened


def check(faults: Faults, since: int) -> None:
    """What the stores were sent, by their own account: an answer would hide a token."""
    for way in OVER_HTTP:
        headers = [event["headers"] for event in faults.events(f"{way}-echo", "asked", since)]
        assert headers and all(one["authorization"] == f"Bearer {OWN[way]}" for one in headers)
        assert INBOUND not in str(headers)


ASKED = {"stores": NAMES, "n_results": 100, "budget_tokens": 20_000}


@pytest.mark.promise("5h")
def test_over_rest_each_store_gets_its_own_token_and_nobody_the_callers(http: OverHttp, faults: Faults) -> None:
    since = faults.now()
    assert not http.recall(nonce(), **ASKED)["isError"]
    check(faults, since)


@pytest.mark.promise("5h")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("over", ["http", "sse"])
async def test_over_mcp_each_store_gets_its_own_token_and_nobody_the_callers(
    http: OverHttp, faults: Faults, over: str, mode: str
) -> None:
    since = faults.now()
    target = http_target(http.url, BEARER) if over == "http" else sse_target(http.url, BEARER)
    async with connected(target, mode) as client:
        assert not (await client.call_tool("recall", {"query": nonce(), **ASKED})).is_error
    check(faults, since)


@pytest.mark.promise("5i")
@pytest.mark.parametrize("way", OVER_HTTP)
def test_a_redirect_to_another_origin_is_told_and_not_followed(http: OverHttp, faults: Faults, way: str) -> None:
    answer = http.recall(nonce(), stores=[f"{way}-away", f"{way}-echo"])
    told = engine(answer, f"{way}-away")
    assert (told["status"], told["reason"]) == ("down", "bad_reply") and "redirects" in told["detail"]
    counts = faults.counts()
    assert [key for key in counts if key.startswith("trap")] == []
    assert any(key.startswith(f"{way}-away") for key in counts), "it was asked, and counted"


@pytest.mark.promise("7a", "P45")
def test_no_token_is_in_what_the_server_says_or_logs(http: OverHttp) -> None:
    texts = [http.client.get(path).text for path in ("/", "/stores", "/health", "/metrics")]
    texts.append(http.client.post("/search", json={"query": "x", "stores": ["memory-away"]}).text)
    texts += [line.decode() for line in http.pipe.complaints]
    assert [text for text in texts if any(token in text for token in (INBOUND, *OWN.values()))] == []
