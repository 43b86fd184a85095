"""`reviewloop hook mcp`: answers the permission prompt of `claude -p`, as an MCP server.

`claude -p` runs no PermissionRequest hook. It asks the tool of `--permission-prompt-tool` instead.
Each call is handed to a hook in a process of its own, which ends as hooks end.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Any

from reviewloop.hooks.hosts import ASKING
from reviewloop.transport import __version__

VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND = -32700, -32600, -32601
# The command without the folder of the agent's project in sys.path, whose files could be anything.
RUN = """
import sys
sys.path[:] = filter(None, sys.path)
from reviewloop.cli import main
sys.exit(main())
"""
COMPLAINT = "reviewloop: "  # how a line begins that the hook prints for people
TOOL = {
    "name": "approve",
    "description": "Asks people whether a tool may be called.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "tool_name": {"type": "string"},
            "input": {"type": "object"},
            "tool_use_id": {"type": "string"},
        },
        "required": ["tool_name", "input"],
    },
}


def serve(options: Sequence[str]) -> int:
    """Serves one client on stdin and stdout until it closes them, with the options of the hook."""
    server = Server([sys.executable, "-c", RUN, "hook", "claude", *options])
    for line in sys.stdin.buffer:
        server.receive(line)
    server.end_all()
    return 0


class Server:
    """An MCP server with one tool. `hook` is the command that decides about a call."""

    def __init__(self, hook: Sequence[str]) -> None:
        self._hook = hook
        self._running: dict[str | int, subprocess.Popen[str]] = {}
        self._writing = threading.Lock()

    def receive(self, line: bytes) -> None:
        """Handles a line; answers one that is no message with an error."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self._send(None, _fail(PARSE_ERROR, "Parse error"))
            return
        if isinstance(message, dict) and isinstance(message.get("params", {}), dict):
            self.handle(message)
        else:
            self._send(None, _fail(INVALID_REQUEST, "Invalid request"))

    def handle(self, message: dict[str, Any]) -> None:
        params = message.get("params", {})
        if message.get("method") == "notifications/cancelled":
            self._end(params.get("requestId"))
        if "id" not in message or "method" not in message:
            return
        if message["method"] == "tools/call":
            self._ask(message["id"], params.get("arguments") or {})
        else:
            self._send(message["id"], self._answer(message["method"], params))

    def end_all(self) -> None:
        for name in list(self._running):
            self._end(name)

    def _answer(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method == "initialize":
            wanted = params.get("protocolVersion")
            return _succeed(
                protocolVersion=wanted if wanted in VERSIONS else VERSIONS[0],
                capabilities={"tools": {}},
                serverInfo={"name": "review-loop-hook", "version": __version__},
            )
        if method == "tools/list":
            return _succeed(tools=[TOOL])
        if method == "ping":
            return _succeed()
        return _fail(METHOD_NOT_FOUND, f"Method not found: {method}")

    def _ask(self, name: str | int, given: Any) -> None:
        """Starts a hook for the call, and a thread that sends its decision."""
        if not isinstance(given, dict):
            self._send(name, _fail(INVALID_REQUEST, "Invalid request"))
            return
        call = {
            "hook_event_name": ASKING,
            "session_id": str(given.get("tool_use_id")),
            "tool_name": given.get("tool_name"),
            "tool_input": given.get("input"),
            "cwd": os.getcwd(),
        }
        hook = self._running[name] = subprocess.Popen(  # noqa: S603 (ourselves)
            self._hook,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        threading.Thread(target=self._wait, args=[name, hook, call], daemon=True).start()

    def _wait(self, name: str | int, hook: subprocess.Popen[str], call: dict[str, Any]) -> None:
        printed, complaint = hook.communicate(json.dumps(call))
        if self._running.pop(name, None):  # else it was cancelled
            decision = decide(printed, complaint, call["tool_input"])
            text = json.dumps(decision)
            self._send(name, _succeed(content=[{"type": "text", "text": text}]))

    def _end(self, name: Any) -> None:
        if hook := self._running.pop(name, None):
            hook.terminate()

    def _send(self, name: str | int | None, body: dict[str, Any]) -> None:
        with self._writing:
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": name, **body}) + "\n")
            sys.stdout.flush()


def decide(printed: str, complaint: str, given: Any) -> dict[str, Any]:
    """Returns the tool's result. Without a decision it denies: no other prompt follows."""
    if not printed:
        lines = [line for line in complaint.splitlines() if line.startswith(COMPLAINT)]
        reason = lines[-1].removeprefix(COMPLAINT) if lines else ""
        return {"behavior": "deny", "message": f"Nobody decided about this call. {reason}".strip()}
    decision = json.loads(printed)["hookSpecificOutput"]["decision"]
    return {"updatedInput": given, **decision} if decision["behavior"] == "allow" else decision


def _fail(code: int, sentence: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": sentence}}


def _succeed(**result: Any) -> dict[str, Any]:
    return {"result": result}
