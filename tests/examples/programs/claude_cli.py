"""Stands for the program `claude`, which the Claude Agent SDK starts: it wants to use a tool, asks
for permission as the program does, and says what came of it. Its model and its tools are left out.

The messages are those that the real SDK and the real program exchange.
"""

import json
import os
import sys
from typing import Any

TOOL = {"tool_name": "Bash", "tool_use_id": "toolu_1"}
INPUT: dict[str, Any] = json.loads(os.environ.get("INPUT", '{"command": "make deploy"}'))


def send(**message: Any) -> None:
    print(json.dumps({**message, "session_id": "1", "uuid": "1"}), flush=True)


def receive(kind: str) -> Any:
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == kind:
            return message
    sys.exit("the SDK has left")


def ask(number: int, **request: Any) -> Any:
    send(type="control_request", request_id=str(number), request=request)
    return receive("control_response")["response"]["response"]


def run_tool(hooks: list[str]) -> str:
    decision = ask(1, subtype="can_use_tool", input=INPUT, permission_suggestions=[], **TOOL)
    if decision["behavior"] == "deny":
        return f"denied: {decision['message']}"
    result = f"ran {json.dumps(decision['updatedInput'])}"
    event = {"hook_event_name": "PostToolUse", "tool_input": decision["updatedInput"], **TOOL}
    for number, hook in enumerate(hooks, start=2):
        call = {"callback_id": hook, "input": event, "tool_use_id": TOOL["tool_use_id"]}
        told = ask(number, subtype="hook_callback", **call)
        result += f" | {told.get('hookSpecificOutput', {}).get('additionalContext', '')}"
    return result


if "-v" in sys.argv or "--version" in sys.argv:
    sys.exit(print("2.1.0 (Claude Code)"))
hello = receive("control_request")
hooks = [
    name
    for each in (hello["request"].get("hooks") or {}).get("PostToolUse", [])
    for name in each["hookCallbackIds"]
]
answer = {"subtype": "success", "request_id": hello["request_id"], "response": {}}
send(type="control_response", response=answer)
receive("user")
send(
    type="result",
    subtype="success",
    result=run_tool(hooks),
    is_error=False,
    num_turns=1,
    duration_ms=1,
    duration_api_ms=1,
)
