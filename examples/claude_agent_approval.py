"""Has people decide about the tool calls of the Claude Agent SDK that need permission.

An approval is redeemed right before the call runs. What a person changed is told to the agent when
the tool has run; otherwise it would repeat its own call.
"""

import asyncio
import json
from typing import Any

from claude_agent_sdk import (
    HookContext,
    HookMatcher,
    PermissionResultAllow,
    PermissionResultDeny,
    ToolPermissionContext,
)
from reviewloop import Answer, Client, ReviewLoopError


class People:
    """Give `can_use_tool` and `hooks` to ClaudeAgentOptions. `settings` are those of `Client.ask`:
    `loop`, `timeout`."""

    def __init__(self, client: Client, **settings: Any) -> None:
        self.client, self.settings = client, settings
        self.edits: dict[str, Answer] = {}
        self.hooks = {"PostToolUse": [HookMatcher(hooks=[self.tell_edit])]}

    async def can_use_tool(
        self, tool: str, arguments: dict[str, Any], context: ToolPermissionContext
    ) -> PermissionResultAllow | PermissionResultDeny:
        """Asks people. Silence and failures deny the call."""
        try:
            answer = await asyncio.to_thread(self.ask, tool, arguments, context.title or "")
        except (ReviewLoopError, ValueError) as error:
            return PermissionResultDeny(message=f"Nobody could be asked: {error}")
        decision = answer.decision or {}
        if answer.arguments is None:
            nobody = "Rejected." if answer.by_human else "Nobody answered in time."
            return PermissionResultDeny(message=decision.get("message") or nobody)
        if decision.get("edited"):
            self.edits[context.tool_use_id or ""] = answer
        return PermissionResultAllow(updated_input=answer.arguments)

    def ask(self, tool: str, arguments: dict[str, Any], title: str) -> Answer:
        given = any(value is not None for value in arguments.values())
        answer = self.client.ask(
            f"**May the agent use {tool}?**\n\n{title}".strip(),
            response_type="approval",
            response_config={
                "proposal": {"name": tool, "arguments": arguments},
                "actions": ["approve", *(["edit"] if given else []), "reject", "respond"],
            },
            default={"action": "reject"},
            **self.settings,
        )
        if answer.arguments is not None:
            self.client.requests.redeem(answer.request_id, answer.arguments, name=tool)
        return answer

    async def tell_edit(self, data: Any, tool_use_id: str | None, _: HookContext) -> Any:
        answer = self.edits.pop(tool_use_id or "", None)
        if answer is None:
            return {}
        note = f"A person changed the input of this call to {json.dumps(answer.arguments)}."
        told = {"hookEventName": "PostToolUse", "additionalContext": f"{note} Do not repeat yours."}
        return {"hookSpecificOutput": told}
