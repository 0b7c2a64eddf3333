"""``callosum-mcp doctor``: what is wrong, store by store, with a cure for each finding.

Above: the commands. Below: administration and federation. It probes each store and asks it one question, since a store
can be healthy by its own account and find nothing.
"""

from __future__ import annotations

import sys

from callosum_mcp.app import Application
from callosum_mcp.errors import CallosumError
from callosum_mcp.models.requests import ListStoresRequest, RecallRequest
from callosum_mcp.models.results import EngineOut, StoreOut

EXIT_WELL, EXIT_SOME_DOWN, EXIT_NONE, EXIT_SETTINGS = 0, 10, 11, 12
_CANARY = "status of the current project"

CURES = {
    "timeout": "is it busy or hanging? restart it, or give it more time with timeout_s",
    "refused": "start it, correct its url, or remove it",
    "auth_failed": "put its token into an environment variable and name that in token_env",
    "bad_reply": "is the type right, and is the url that of the store itself? look at the store's own log",
    "rate_limited": "ask less often, or raise the store's limit",
    "error": "look at the store's own log",
}

_NO_STORE = "declare one under `stores` in the settings file, or `callosum-mcp stores add NAME TYPE URL`"


async def examine(application: Application) -> int:
    """Print a line per store and per finding; the exit code says how bad it is."""
    canary = await _canary(application)
    listed = await application.administration.list_stores(ListStoresRequest(probe=True))
    place = listed.config_file or "none found: notes of this folder, SerenMemory and SerenLoci if they run"
    lines = [f"settings  {place}", *(f"NOTE      {note}" for note in listed.notes or ())]
    down = 0
    enabled = [store for store in listed.stores if store.enabled]
    for store in enabled:
        verdict = _worse(store.health, canary.get(store.name))
        down += verdict is not None and verdict.status == "down"
        lines += _lines(store, verdict)
    lines += [f"off       {store.name}" for store in listed.stores if not store.enabled]
    if not enabled:
        lines += ["NONE      no store is enabled", f"          cure: {_NO_STORE}"]
    sys.stdout.write("\n".join(lines) + "\n")
    answering = sum(1 for s in enabled if s.health is not None and s.health.status == "up") - _only_canary(
        enabled, canary
    )
    if not answering:
        return EXIT_NONE
    return EXIT_SOME_DOWN if down else EXIT_WELL


async def _canary(application: Application) -> dict[str, EngineOut]:
    """What each store makes of a real question, which a mere probe does not tell."""
    try:
        gathered = await application.federation.gather(RecallRequest(query=_CANARY, n_results=1))
    except CallosumError:
        return {}
    return {status.engine: EngineOut.of(status) for status in gathered.statuses}


def _worse(health: EngineOut | None, canary: EngineOut | None) -> EngineOut | None:
    return (
        canary
        if canary is not None and canary.status == "down" and (health is None or health.status == "up")
        else health
    )


def _only_canary(stores: list[StoreOut], canary: dict[str, EngineOut]) -> int:
    """Stores whose probe is well and whose answer is not."""
    well = [store.name for store in stores if store.health is not None and store.health.status == "up"]
    return sum(1 for name in well if name in canary and canary[name].status == "down")


def _lines(store: StoreOut, verdict: EngineOut | None) -> list[str]:
    if verdict is None or verdict.status == "up":
        detail = verdict.detail if verdict else "not asked"
        return [f"ok        {store.name} ({store.type} {store.url}): {detail}"]
    if verdict.status == "skipped":
        return [f"absent    {store.name} ({store.type} {store.url}): {verdict.detail}"]
    cure = CURES.get(verdict.reason or "error", CURES["error"])
    return [
        f"DOWN      {store.name} ({store.type} {store.url}): {verdict.reason} — {verdict.detail}",
        f"          cure: {cure}",
    ]
