"""Which product a server is, by the tools it advertises.

Above: the command. Below: the presets. Pure. A preset fits a server that has its tool and takes the question by it,
and that wants no argument the preset lacks; ``recognise`` names further tools where others have one of the same name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from callosum_mcp.adapters.engine.advertised import Advertised
from callosum_mcp.adapters.engine.plan import plan
from callosum_mcp.adapters.engine.preset import Preset


@dataclass(frozen=True, kw_only=True, slots=True)
class Recognised:
    """What a server is.

    Attributes:
        type: The store type; "" if no preset fits.
        others: Presets that fit too.
        missing: Options that the type needs and that nothing can find out.
    """

    type: str = ""
    others: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def recognised(advertised: Advertised, presets: Iterable[Preset]) -> Recognised:
    """The preset that fits a server best.

    Args:
        advertised: What the server said of itself.
        presets: Those to choose from.
    """
    scored = [(fit, preset) for preset in presets if (fit := _fit(advertised, preset))]
    ranked = [preset for _, preset in sorted(scored, key=lambda pair: (-pair[0], pair[1].name))]
    if not ranked:
        return Recognised()
    best = ranked[0]
    return Recognised(type=best.name, others=tuple(preset.name for preset in ranked[1:]), missing=needed(best))


def needed(preset: Preset) -> tuple[str, ...]:
    """The params a user has to fill in: required, without a default, and found by no tool."""
    found = preset.discover.param if preset.discover is not None else None
    return tuple(
        name for name, param in preset.params.items() if param.required and param.default is None and name != found
    )


def _fit(advertised: Advertised, preset: Preset) -> int:
    """How much speaks for a preset; 0 if it does not fit."""
    if preset.kind != "mcp" or not preset.tool or not _all(advertised, preset.recognise):
        return 0
    name = advertised.first(preset.tool)
    if name is None:
        return 10 * len(preset.recognise) if preset.allow_unlisted else 0
    tool = advertised.tools[name]
    sent = plan(preset).args
    certain = 10 * len(preset.recognise) + 1
    if tool.names is None:
        return certain
    known = [one for one in sent if tool.names.intersection(one.names)]
    filled_in = {name for name, param in preset.params.items() if param.required}
    unsaid = [one for one in sent if one not in known and (one.required or one.template.names & filled_in)]
    if unsaid or tool.required.difference(*(one.names for one in sent)):
        return 0
    return certain + len(known)


def _all(advertised: Advertised, names: Sequence[str]) -> bool:
    return all(name in advertised.tools for name in names)
