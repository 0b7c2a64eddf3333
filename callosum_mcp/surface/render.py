"""Answers as pages for a person at a terminal.

Above: the command line. Below: models. Pure. The same facts as the JSON, in reading order.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable

from callosum_mcp.models.asking import AskConflict, AskHit, AskReceipt, AskResult
from callosum_mcp.models.results import EngineOut, HitOut, RecallResult, StoreOut, StoresResult
from callosum_mcp.models.values import LEFT_ALONE

_WIDTH = 110


def recall_page(result: RecallResult) -> str:
    """A recall as a page: hits, superseded ones, then the stores."""
    blocks = [f"» {result.query}", _verdict(result)]
    blocks += [_hit(number, hit) for number, hit in enumerate(result.hits, start=1)]
    if result.superseded:
        blocks += ["replaced by newer memories:", *(_hit(n, hit) for n, hit in enumerate(result.superseded, start=1))]
    if result.edges:
        blocks += ["associated:", *(_hit(n, hit) for n, hit in enumerate(result.edges, start=1))]
    blocks += [*_notes(result), _engines(result.engines)]
    if result.trace is not None:
        blocks.append(f"trace:\n{json.dumps(result.trace, ensure_ascii=False, indent=1)}")
    return "\n\n".join(block for block in blocks if block)


def ask_page(query: str, result: AskResult) -> str:
    """An answer as a page: the prose, its receipts, who lost, then hits and stores."""
    blocks = [f"» {query}", textwrap.fill(result.answer, _WIDTH) if result.answer else ""]
    blocks += ["\n".join(_receipt(receipt) for receipt in result.receipts)]
    blocks += [_conflict(conflict) for conflict in result.conflicts]
    blocks += ["\n".join(["hits:", *(_found(hit) for hit in result.hits)]) if result.hits else ""]
    blocks += [_written(result), f"note: {result.note}" if result.note else "", _engines(result.engines)]
    return "\n\n".join(block for block in blocks if block)


def _receipt(receipt: AskReceipt) -> str:
    facts = [receipt.source, receipt.tier, _aged(receipt.last_seen, receipt.age_days), receipt.hit]
    text = textwrap.fill(receipt.snippet, _WIDTH, initial_indent=f"[{receipt.id}] ", subsequent_indent="     ")
    return f"{text}\n     — {' · '.join(fact for fact in facts if fact)}"


def _aged(last_seen: str | None, age_days: int | None) -> str | None:
    if last_seen is None:
        return None
    return f"last seen {last_seen}" if age_days is None else f"last seen {last_seen}, {age_days} d ago"


def _conflict(conflict: AskConflict) -> str:
    pairs = zip(conflict.losers, conflict.loser_receipts, strict=True)
    losers = ", ".join(f"{tier} [{receipt}]" for tier, receipt in pairs)
    winner = f"{conflict.winner} [{conflict.winner_receipt}]"
    return f"conflict: {conflict.claim}: {winner} over {losers} ({conflict.reason})"


def _found(hit: AskHit) -> str:
    facts = [hit.tier, _aged(hit.last_seen, hit.age_days), hit.id]
    text = textwrap.fill(hit.snippet, _WIDTH, initial_indent="  · ", subsequent_indent="    ")
    return f"{text}\n    — {' · '.join(fact for fact in facts if fact)}"


def _written(result: AskResult) -> str:
    made = result.synthesis
    if made is None or made.status == "off":
        return ""
    dropped = f"; {result.dropped_claims} sentences without proof left out" if result.dropped_claims else ""
    return f"written by {made.backend}: {made.status}{f' ({made.reason})' if made.reason else ''}{dropped}"


def _verdict(result: RecallResult) -> str:
    missing = [engine.engine for engine in result.engines if engine.status == "down" or engine.reason in LEFT_ALONE]
    lacking = f" Without {', '.join(missing)}: see below." if missing else ""
    if result.answer_kind == "none":
        return "Nothing known: every store answered and none holds anything."
    if result.answer_kind == "unknown":
        return f"Nothing found, but not every store answered.{lacking}"
    return f"{len(result.hits)} {'memory' if len(result.hits) == 1 else 'memories'}.{lacking}"


def _hit(number: int, hit: HitOut) -> str:
    facts = [hit.store, hit.tier, hit.last_seen and f"last seen {hit.last_seen}", hit.id]
    facts += [f"replaced {hit.superseded_at}" if hit.superseded_at else None, hit.why_changed]
    facts += [f"recheck: {', '.join(hit.recheck)}" if hit.recheck else None]
    facts += [f"{hit.edge} of {hit.edge_of}" if hit.edge else None]
    facts += [f"much like {hit.similar_to}" if hit.similar_to else None]
    facts += [f"also in {', '.join(s.store for s in hit.sources if s.store != hit.store)}" if hit.sources else None]
    mark = f"[{hit.receipt}]" if hit.receipt else f"{number}."
    text = textwrap.fill(hit.text, _WIDTH, initial_indent=f"{mark} ", subsequent_indent="     ")
    return f"{text}\n     — {' · '.join(fact for fact in facts if fact)}"


def _notes(result: RecallResult) -> Iterable[str]:
    for conflict in result.conflicts:
        yield f"conflict: {conflict.claim}: {conflict.winner} over {', '.join(conflict.losers)} ({conflict.reason})"
    if result.note:
        yield f"note: {result.note}"


def _engines(engines: list[EngineOut]) -> str:
    width = max((len(engine.engine) for engine in engines), default=0)
    return "\n".join(["stores:", *(f"  {engine.engine:<{width}}  {_state(engine)}" for engine in engines)])


def _state(engine: EngineOut) -> str:
    parts = [engine.status]
    if engine.ms is not None:
        parts.append(f"{engine.ms:.0f} ms")
    if engine.hits is not None:
        parts.append(f"{engine.hits} hits")
    if engine.reason:
        parts.append(engine.reason)
    said = ", ".join(parts)
    return f"{said}: {engine.detail}" if engine.detail else said


def stores_page(result: StoresResult) -> str:
    """The stores as a page, with the settings in force."""
    knobs = ", ".join(f"{name} {value}" for name, value in result.settings.model_dump(mode="json").items())
    places = [f"config: {result.config_file or 'none'}", f"overlay: {result.overlay_file or 'none'}"]
    lines = [_store(store) for store in result.stores] or ["no stores"]
    return "\n".join([*lines, "", *places, *(f"note: {note}" for note in result.notes or ()), f"settings: {knobs}"])


def _store(store: StoreOut) -> str:
    marks = ["managed" if store.managed else "base", f"weight {store.weight:g}", f"floor {store.floor:g}"]
    marks += [store.tier or "", "" if store.enabled else "off", "token" if store.auth else ""]
    state = f" — {_state(store.health)}" if store.health else ""
    return f"{store.name}: {store.type} {store.url} ({', '.join(mark for mark in marks if mark)}){state}"
