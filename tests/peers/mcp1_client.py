"""A client of mcp 1.x: `python mcp1_client.py stdio|http|sse QUERY TARGET...`, run by the interpreter that holds it.

It says hello, lists everything, calls `recall`, and prints what it got as one JSON object.
"""

# mcp 1.x lives in an environment of its own while ours holds mcp 2.x, so there are no types to check against:
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportCallIssue=false
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client


@asynccontextmanager
async def streams(transport: str, target: Sequence[str]) -> AsyncGenerator[tuple[Any, Any]]:
    if transport == "stdio":
        command, *arguments = target
        parameters = StdioServerParameters(command=command, args=arguments, env=dict(os.environ))
        async with stdio_client(parameters) as (inbound, outbound):
            yield inbound, outbound
    elif transport == "sse":
        async with sse_client(target[0]) as (inbound, outbound):
            yield inbound, outbound
    else:
        async with streamablehttp_client(target[0]) as (inbound, outbound, _):
            yield inbound, outbound


async def report(transport: str, query: str, target: Sequence[str]) -> dict[str, Any]:
    told: list[list[float | None]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.append([progress, total])

    async with streams(transport, target) as (inbound, outbound), ClientSession(inbound, outbound) as session:
        hello = await session.initialize()
        tools = await session.list_tools()
        resources = await session.list_resources()
        prompts = await session.list_prompts()
        called = await session.call_tool("recall", {"query": query}, progress_callback=on_progress)
        refused = await session.call_tool("recall", {"query": query, "n_results": 101})
        return {
            "client": version("mcp"),
            "protocol": hello.protocolVersion,
            "server": hello.serverInfo.name,
            "instructions": hello.instructions,
            "tools": [tool.name for tool in tools.tools],
            "resources": [str(resource.uri) for resource in resources.resources],
            "prompts": [prompt.name for prompt in prompts.prompts],
            "is_error": called.isError,
            "structured": called.structuredContent,
            "text": [block.text for block in called.content],
            "progress": told,
            "refusal": [refused.isError, *(block.text for block in refused.content)],
        }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(report(sys.argv[1], sys.argv[2], sys.argv[3:]))))  # noqa: T201 - its output
