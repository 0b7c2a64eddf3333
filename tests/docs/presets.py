"""The section of docs/stores.md on the presets, made of the presets themselves.

Above: the tests here; `python -m tests.docs.presets` writes it into the page. Below: the catalogue. What is written by
hand on the page stays as it is.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from callosum_mcp.adapters.engine import catalog
from callosum_mcp.adapters.engine.preset import HttpCall, Param, Preset, Second

from .markdown import ROOT, page

PAGE = "docs/stores.md"
BEGIN = "<!-- presets: written by `python -m tests.docs.presets` -->"
END = "<!-- presets: end -->"

_EVIDENCE = {
    "recorded": "recorded replies of the product",
    "documented": "sample replies made after its documentation; no server of it has been asked",
    "template": "nothing: fill it in",
}
_MODES = {
    "verbatim": "the question as it was asked",
    "terms": "its content words",
    "identifiers": "what looks like a name in code, else its content words",
    "longest_term": "its longest content word",
}
_ORDERS = {
    "engine": "the engine's own order",
    "score_desc": "by score, highest first",
    "score_asc": "by score, lowest first",
    "last_seen_desc": "latest first",
}


def generated() -> str:
    """The whole section, with its marks."""
    presets = [catalog.load(name) for name in catalog.names()]
    return "\n".join([BEGIN, "", *_overview(presets), *(line for preset in presets for line in _about(preset)), END])


def written() -> str:
    """The page as it should be."""
    return re.sub(f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: generated(), page(PAGE), flags=re.DOTALL)


def examples() -> list[str]:
    """The settings that the section shows."""
    return [_settings(catalog.load(name)) for name in catalog.names()]


def _overview(presets: list[Preset]) -> Iterator[str]:
    yield "| type | product | over | reading changes | tested on |"
    yield "|---|---|---|---|---|"
    for preset in presets:
        effect = {"none": "nothing"}.get(preset.side_effects, f"`{preset.side_effects}`")
        effect = "unknown" if preset.evidence == "template" else effect
        over = "MCP" if preset.kind == "mcp" else "HTTP"
        evidence = "–" if preset.evidence == "template" else preset.evidence
        link = f"[`{preset.name}`](#{_anchor(preset.name)})"
        yield f"| {link} | {preset.title} | {over} | {effect} | {evidence} |"
    yield ""


def _anchor(name: str) -> str:
    return re.sub(r"[^\w-]", "", name)


def _about(preset: Preset) -> Iterator[str]:
    yield from (f"### {preset.name}", "", _wrapped(f"{preset.title}. {preset.about}"), "")
    yield from ("```yaml", _settings(preset).rstrip("\n"), "```", "")
    if preset.params:
        yield from ("| option | default | meaning |", "|---|---|---|")
        yield from (_row(name, param, preset) for name, param in preset.params.items())
        yield ""
    yield _wrapped(f"- **Calls** {'; '.join(_calls(preset))}.", "  ")
    yield _wrapped(f"- **Asks** {_asks(preset)}.", "  ")
    yield _wrapped(f"- **Reading changes** {preset.changes}.", "  ")
    yield _wrapped(f"- **Hits**: {_hits(preset)}.", "  ")
    yield _wrapped(f"- **Tested on** {_EVIDENCE[preset.evidence]}.", "  ")
    yield ""


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(text, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _settings(preset: Preset) -> str:
    return "stores:\n" + "".join(f"  {line}\n" for line in preset.example.strip("\n").split("\n"))


def _row(name: str, param: Param, preset: Preset) -> str:
    found_out = preset.discover is not None and preset.discover.param == name
    default = "found out" if found_out else "required" if param.required else "none"
    if param.default not in (None, ""):
        default = f"`{param.default}`"
    return f"| `{name}` | {default} | {param.description} |".replace("*;", r"\*;")


def _calls(preset: Preset) -> Iterator[str]:
    if preset.http is not None:
        yield _request(preset.http)
    elif preset.tool:
        hidden = ", which the server does not list" if preset.allow_unlisted else ""
        yield f"{' or '.join(f'`{tool}`' for tool in preset.tool)}{_arguments(preset)}{hidden}"
    else:
        yield "what `tool` names" if preset.kind == "mcp" else "what `http` says"
    if preset.enrich is not None:
        yield f"{_second(preset.enrich)} for each of the first {preset.enrich.max} hits that are shown"
    if preset.fetch is not None:
        yield f"{_second(preset.fetch)} for `fetch`"
    if preset.discover is not None:
        yield f"`{preset.discover.tool}` where `{preset.discover.param}` is left out"


def _arguments(preset: Preset) -> str:
    names = [name.removesuffix("!").split("|")[0] for name in preset.args]
    return f" with {', '.join(f'`{name}`' for name in names)}" if names else ""


def _request(call: HttpCall) -> str:
    return f"`{call.method} {call.path}`"


def _second(second: Second) -> str:
    return _request(second.http) if second.http is not None else f"`{second.tool}`"


def _asks(preset: Preset) -> str:
    said = _MODES[preset.query.mode]
    if preset.query.mode == "verbatim" or preset.query.mode == "longest_term":
        return said
    if preset.query.one_filter is not None:
        return f"{said}, at most {preset.query.max_terms}, in one filter"
    return f"{said}, one call each, at most {preset.query.max_calls}"


def _hits(preset: Preset) -> str:
    order = "ranked here, by BM25" if preset.client_rerank == "bm25" else _ORDERS[preset.order]
    trust = "by a file's age" if preset.tier_from_file else f"`{preset.tier}`" if preset.tier else "as configured"
    unit = "; its score is 0 to 1 and can be held against a `floor`" if preset.score.meaning == "unit" else ""
    return f"{order}, at most {preset.max_results}{unit}. Trust: {trust}"


if __name__ == "__main__":
    (ROOT / PAGE).write_text(written(), encoding="utf-8")
