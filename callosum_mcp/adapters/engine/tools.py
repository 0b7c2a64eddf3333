"""Engines behind MCP: the tool calls of a preset, and no others.

Above: the adapter. Below: `session`. Which tool is called and with which pinned arguments stands in the preset or in
the settings file; nothing a caller sends, and nothing the server says of itself, changes that. What a server calls
itself, its tools and their arguments speaks to whoever reads it, so it is told to the log alone, never to a caller.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from callosum_mcp.adapters.engine.asking import calls, discover_call, left_out
from callosum_mcp.adapters.engine.engine import Answered, Heard, Params, Purpose
from callosum_mcp.adapters.engine.overhearing import overheard
from callosum_mcp.adapters.engine.preset import Preset
from callosum_mcp.adapters.engine.reach import reach_of
from callosum_mcp.adapters.engine.replies import ToolReply
from callosum_mcp.adapters.engine.seconds import Which, discovered, second_call
from callosum_mcp.adapters.engine.together import together
from callosum_mcp.errors import StoreBadReply, StoreFailed, StoreRefused
from callosum_mcp.models.values import Hit, StoreQuery, StoreSpec
from callosum_mcp.text import one_line

if TYPE_CHECKING:
    from mcp_types import CallToolResult

    from callosum_mcp.adapters.engine.advertised import Advertised, Tool
    from callosum_mcp.adapters.engine.session import Session

MAX_FOUND = 3
"""Values of a param the user left out that are asked, one after the other's call."""

_SESSION = "callosum_mcp.adapters.engine.session"  # imports the SDK, half a second that no start should pay
_NAMED = 8
_log = logging.getLogger(__name__)


class ToolEngine:
    """One engine behind MCP.

    Args:
        spec: Its store.
        preset: How it is asked, the store's options in it.
        params: Values of the preset's params.

    Raises:
        ValueError: If the settings give no way to it.
    """

    def __init__(self, spec: StoreSpec, preset: Preset, params: Params) -> None:
        self._preset = preset
        self._params = params
        self._reach = reach_of(spec, preset)
        self._store = spec.name
        self._made: Session | None = None
        self._closed = False
        self._found: tuple[int, list[Params]] | None = None
        self._digests: dict[str, str] = {}
        self._said: set[str] = set()
        self.heard: Heard | None = None

    async def search(self, query: StoreQuery, now: float) -> Sequence[Answered]:
        """The answers to all calls of one search."""
        session = await self._session()
        advertised = await session.advertised()
        tool = self._tool(advertised, self._preset.tool)
        known = self._known(advertised, tool)
        asked = [
            (params, arguments)
            for params in await self._param_sets(session, advertised)
            for arguments in calls(self._preset, params, query, now, known)
        ]
        return await together([partial(self._answered, session, advertised, tool, *one) for one in asked])

    async def second(
        self, which: Which, hit: Hit, params: Params | None, now: float, question: str | None = None
    ) -> ToolReply:
        """The answer to the further call for one hit."""
        session = await self._session()
        advertised = await session.advertised()
        wanted = self._preset.enrich if which == "enrich" else self._preset.fetch
        tool = self._tool(advertised, [wanted.tool] if wanted is not None and wanted.tool else self._preset.tool)
        if params is None:
            params = (await self._param_sets(session, advertised))[0]
        known = self._known(advertised, tool)
        arguments = second_call(self._preset, which, params, hit, now, known, question)
        return await self._call(session, advertised, which, tool, arguments)

    async def describe(self, now: float) -> str:
        """Who it is and what it would be asked; no tool is called, except the one that finds a missing param."""
        session = await self._session()
        advertised = await session.advertised()
        name = self._tool(advertised, self._preset.tool)
        known = self._known(advertised, name)
        sets = await self._param_sets(session, advertised)
        asked = calls(self._preset, sets[0], StoreQuery(text="callosum", limit=1), now, known)
        tool = advertised.tools.get(name)
        self._check_required(tool, asked[0] if asked else {})
        said = [f"MCP {advertised.protocol} over {self._reach.type}, {_tools(len(advertised.tools))}"]
        said.append(f"asks {name}({', '.join(asked[0]) if asked else ''})")
        return "; ".join([*said, *self._noticed(session, known)])

    def remark(self) -> str | None:
        """What was noticed since the last time."""
        noise = self._made.noise() if self._made is not None else None
        new = [text for text in ([noise] if noise else []) if "noise" not in self._said]
        if noise:
            self._said.add("noise")
        for tool, text in self._drifted().items():
            if tool not in self._said:
                self._said.add(tool)
                new.append(text)
        return "; ".join(new) or None

    def warm(self) -> None:
        """Start connecting."""
        if not self._closed:
            self._with(import_module(_SESSION)).warm()

    def waiting(self) -> str | None:
        """Whether it is still being connected."""
        return self._made.waiting() if self._made is not None else None

    def usage(self) -> dict[str, int]:
        """Calls of tools, and connections they went over."""
        made = self._made
        return {"requests": made.requests if made else 0, "connections": made.connections if made else 0}

    async def aclose(self) -> None:
        """End the connection for good."""
        self._closed = True
        if self._made is not None:
            await self._made.aclose()

    async def _session(self) -> Session:
        if self._made is None and _SESSION not in sys.modules:
            await anyio.to_thread.run_sync(import_module, _SESSION)  # not here: other stores are being asked
        if self._closed:
            raise StoreRefused("its connection was closed")
        return self._with(sys.modules.get(_SESSION) or import_module(_SESSION))

    def _with(self, module: Any) -> Session:
        if self._made is None:
            self._made = module.Session(self._reach, self._preset.concurrency)
        assert self._made is not None
        return self._made

    def _tool(self, advertised: Advertised, names: Sequence[str]) -> str:
        """The tool to call: the first that is there."""
        found = advertised.first(names)
        if found is None and self._preset.allow_unlisted and names:
            return names[0]
        if found is None:
            self._log_once("the tools of its server are %s", sorted(advertised.tools)[:_NAMED])
            raise StoreBadReply(
                f"its server has no tool {' or '.join(names)} among its {_tools(len(advertised.tools))}; is type "
                f"{self._preset.name} right? The log has their names"
            )
        return found

    def _known(self, advertised: Advertised, name: str) -> frozenset[str] | None:
        tool = advertised.tools.get(name)
        if tool is None:
            return None
        first = self._digests.setdefault(name, tool.digest)
        if first != tool.digest:
            self._digests[f"{name}*"] = tool.digest
        return tool.names

    def _drifted(self) -> dict[str, str]:
        """Tools whose schema is no longer what it was when this process first saw it."""
        names = [name.removesuffix("*") for name in self._digests if name.endswith("*")]
        return {name: f"the arguments of its tool {name} changed while it was in use" for name in names}

    def _noticed(self, session: Session, known: frozenset[str] | None) -> list[str]:
        unsent = left_out(self._preset, known) if known is not None else ()
        noticed = [f"without {', '.join(unsent)}, which its tool does not take"] if unsent else []
        noise = session.noise()
        return [*noticed, *([noise] if noise else []), *self._drifted().values()]

    def _check_required(self, tool: Tool | None, arguments: Params) -> None:
        lacking = sorted(tool.required - set(arguments)) if tool is not None else []
        if lacking:
            self._log_once("its tool wants %s", lacking)
            raise StoreBadReply(
                f"its tool wants arguments that the preset does not give ({len(lacking)}); set args in options. "
                "The log has their names"
            )

    def _log_once(self, text: str, names: Sequence[str]) -> None:
        if text not in self._said:
            self._said.add(text)
            said = text % one_line(", ".join(names) or "none", 240)
            _log.warning("store %s (type %s): %s", self._store, self._preset.name, said)

    async def _param_sets(self, session: Session, advertised: Advertised) -> list[Params]:
        """The params to ask with: one set, or one for each value that the engine lists of a param left out."""
        finding = self._preset.discover
        if finding is None or self._params.get(finding.param) not in (None, ""):
            return [self._params]
        if self._found is None or self._found[0] != session.connections:
            arguments = discover_call(self._preset, self._params, self._known(advertised, finding.tool))
            tool = self._tool(advertised, [finding.tool])
            reply = await self._call(session, advertised, "discover", tool, arguments)
            values = discovered(self._preset, reply)
            if not values:
                raise StoreFailed(f"{finding.tool} lists nothing to search; set option {finding.param}")
            sets: list[Params] = [{**self._params, finding.param: value} for value in values[:MAX_FOUND]]
            self._found = (session.connections, sets)
        return self._found[1]

    async def _answered(
        self, session: Session, seen: Advertised, tool: str, params: Params, arguments: dict[str, Any]
    ) -> Answered:
        return Answered(reply=await self._call(session, seen, "search", tool, arguments), params=params)

    async def _call(
        self, session: Session, seen: Advertised, purpose: Purpose, tool: str, arguments: dict[str, Any]
    ) -> ToolReply:
        async def ask() -> ToolReply:
            return _reply(await session.call(tool, arguments, seen))

        return await overheard(self.heard, purpose, tool, arguments, ask)


def _reply(result: CallToolResult) -> ToolReply:
    """What the SDK read, as the mapping takes it: text blocks and embedded texts, structured content."""
    texts: list[str] = []
    for block in result.content:
        if block.type == "text":
            texts.append(block.text)
        elif block.type == "resource" and isinstance(text := getattr(block.resource, "text", None), str):
            texts.append(text)
    return ToolReply(texts=tuple(texts), structured=result.structured_content, is_error=bool(result.is_error))


def _tools(count: int) -> str:
    return "1 tool" if count == 1 else f"{count} tools"
