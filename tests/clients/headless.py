"""Asks `reviewloop hook mcp` about calls, all at once, with the official client of MCP.

Arguments: the command and its words. Standard input: a JSON list of inputs of the shell. It prints
what the tool answers, in their order.
"""

import asyncio
import json
import os
import sys

from mcp import Client
from mcp.client.stdio import StdioServerParameters


async def main(command: str, *words: str) -> None:
    server = StdioServerParameters(command=command, args=list(words), env=dict(os.environ))
    async with Client(server) as client:
        (tool,) = (await client.list_tools()).tools
        calls = [
            client.call_tool(
                tool.name, {"tool_name": "Bash", "input": each, "tool_use_id": f"toolu_{number}"}
            )
            for number, each in enumerate(json.load(sys.stdin))
        ]
        results = await asyncio.gather(*calls)
    texts = [part.text for each in results for part in each.content if part.type == "text"]
    print(json.dumps([json.loads(text) for text in texts]))


asyncio.run(main(*sys.argv[1:]))
