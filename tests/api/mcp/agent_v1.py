"""An agent with the first major version of the official Python client.

Environment: SITE, KEY, LOOP and NAME (its idempotency_key). It prints a line of JSON for each thing
that it learns, as agent.py does.
"""

import asyncio
import json
import os
from typing import Any

from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client

QUESTION = {
    "loop_id": os.environ["LOOP"],
    "request_text": "Deploy **version 7** now?",
    "response_type": "single_select",
    "response_config": {"options": ["yes", "no"]},
    "default_response": "no",
    "timeout_seconds": 3600,
    "idempotency_key": os.environ["NAME"],
}


def say(**what: Any) -> None:
    print(json.dumps(what), flush=True)


async def main() -> None:
    headers = {"Authorization": f"Bearer {os.environ['KEY']}"}
    async with (
        streamablehttp_client(f"{os.environ['SITE']}/mcp", headers=headers) as (read, write, _),
        ClientSession(read, write) as session,
    ):
        begun = await session.initialize()
        tools = await session.list_tools()
        say(version=begun.protocolVersion, tools=[tool.name for tool in tools.tools])
        answer = await session.call_tool("ask_human", QUESTION)
        say(answer=answer.structuredContent, error=answer.isError)


if __name__ == "__main__":
    asyncio.run(main())
