"""An agent with the official Python client. It asks one question and prints what comes.

Environment: SITE, KEY, LOOP, MODE (auto or legacy), NAME (its idempotency_key), and TASKS if it
declares the extension. It prints a line of JSON for each thing that it learns.
"""

import asyncio
import json
import os
from typing import Any, Literal

import httpx2
from mcp import Client
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, Request, RequestParams, Result
from pydantic import Field

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


class Task(Result):
    result_type: Literal["task"] = Field(alias="resultType")
    task_id: str = Field(alias="taskId")
    poll_interval_ms: int = Field(alias="pollIntervalMs")


class TaskState(Result):
    status: str
    result: dict[str, Any] | None = None


class GetTaskParams(RequestParams):
    taskId: str  # noqa: N815 (its name on the wire)


class GetTask(Request[GetTaskParams, Literal["tasks/get"]]):
    method: Literal["tasks/get"] = "tasks/get"
    params: GetTaskParams
    name_param = "taskId"


async def poll(task: Task, context: ClaimContext) -> CallToolResult:
    say(task=task.task_id, interval=task.poll_interval_ms)
    while True:
        request = GetTask(params=GetTaskParams(taskId=task.task_id))
        state = await context.session.send_request(request, TaskState)
        if state.status != "working":
            say(ended=state.status)
            return CallToolResult.model_validate(state.result)
        await asyncio.sleep(0.1)  # a test has no time for the interval that is named


class Tasks(ClientExtension):
    identifier = "io.modelcontextprotocol/tasks"

    def claims(self) -> list[ResultClaim[Any]]:
        return [ResultClaim(result_type="task", model=Task, resolve=poll)]


async def main() -> None:
    headers = {"Authorization": f"Bearer {os.environ['KEY']}"}
    extensions = [Tasks()] if "TASKS" in os.environ else []
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(f"{os.environ['SITE']}/mcp", http_client=http)
        mode: Any = os.environ["MODE"]
        async with Client(transport, mode=mode, extensions=extensions) as client:
            tools = await client.list_tools()
            say(version=client.protocol_version, tools=[tool.name for tool in tools.tools])
            answer = await client.call_tool("ask_human", QUESTION)
            say(answer=answer.structured_content, error=answer.is_error)


if __name__ == "__main__":
    asyncio.run(main())
