"""Asks people about one call of a tool. Its functions block; the proxy runs them in threads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from reviewloop.answers import Answer, read_answer
from reviewloop.client import Client
from reviewloop.durations import read_seconds
from reviewloop.errors import Cancelled, InvalidCall
from reviewloop.hooks.masks import Masks
from reviewloop.mcp_gate.rules import Rules

MAX_NAME = 80  # characters of a server's name in the question
MAX_TITLE = 200
MAX_DESCRIPTION = 2000
UNDECIDED = {
    "no_agreement": "People did not agree",
    "unreachable": "Too few people were left to decide",
    "default": "Too few people decided in time",
}

Tool = Mapping[str, Any]
"""What a server lists about a tool."""


@dataclass(frozen=True)
class ToolCall:
    """A call that an agent wants to make: a tool of a server, with arguments.

    People see those in `shown`, which has masks for values that look like secrets.
    """

    server: str
    name: str
    arguments: dict[str, Any]
    shown: dict[str, Any]
    masks: Masks
    tool: Tool


@dataclass(frozen=True)
class Approved:
    """What may run now, once. `notice` tells the agent what a person changed.

    `shown` are the arguments as people approved them: with masks.
    """

    arguments: dict[str, Any]
    shown: dict[str, Any]
    notice: str | None


@dataclass(frozen=True)
class Declined:
    """Why nothing runs. A `reply` is what a person wrote back in place of the tool."""

    sentence: str
    is_reply: bool = False


class Questions:
    """Asks one loop about calls."""

    def __init__(self, client: Client, rules: Rules) -> None:
        self._client = client
        self._rules = rules

    def prepare(self, server: str, params: Mapping[str, Any], tool: Tool) -> ToolCall:
        """Prepares the call of a tool for people to see."""
        arguments = params.get("arguments") or {}
        masks = Masks(arguments)
        shown = masks.hide(arguments) if self._rules.mask else arguments
        return ToolCall(server, params["name"], arguments, shown, masks, tool)

    def ask(self, call: ToolCall) -> str:
        """Asks about a call and returns the request's id. Raises ReviewLoopError, ValueError."""
        question = f"**May an agent call this tool{name_server(call.server)}?**"
        created = self._client.requests.create(
            self._client.loops.find(self._rules.loop)["id"],
            request_text="\n\n".join(filter(None, [question, call.masks.describe()]))[:2000],
            response_type="approval",
            response_config={"proposal": propose(call), "actions": self._offer(call)},
            default_response={"action": "reject"},
            timeout_seconds=read_seconds(self._rules.timeout),
            priority=self._rules.priority,
            context=describe(call),
        )
        return created["request_id"]

    def _offer(self, call: ToolCall) -> list[str]:
        """Returns the actions that people may choose. A call without arguments cannot be edited."""
        if any(value is not None for value in call.arguments.values()):
            return self._rules.actions
        return [each for each in self._rules.actions if each != "edit"] or ["approve", "reject"]

    def decide(self, request_id: str, call: ToolCall) -> Approved | Declined:
        """Waits for the decision. Raises ReviewLoopError."""
        try:
            answer = read_answer(self._client.requests.wait(request_id), require_human=False)
        except Cancelled:
            return Declined("The question was taken back, so the call was not made.")
        decision = answer.decision or {}
        message = decision.get("message")
        if answer.arguments is not None:
            return read_approval(answer, call)
        if decision.get("action") == "respond" and message:
            return Declined(message, is_reply=True)
        if not answer.by_human:
            why = UNDECIDED.get(answer.default_reason, "Nobody decided in time")
            return Declined(f"{why}, so the call was not made.")
        reason = f": {message}" if message else "."
        return Declined(f"A person rejected this call, so it was not made{reason}")

    def redeem(self, request_id: str, name: str, arguments: Mapping[str, Any]) -> None:
        """Redeems the approval for exactly this call. Raises ReviewLoopError."""
        self._client.requests.redeem(request_id, arguments, name=name)

    def withdraw(self, request_id: str) -> None:
        """Cancels the question, unless it has ended. Raises ReviewLoopError."""
        # It has ended, or somebody is answering it: nothing runs, whatever they say.
        with suppress(InvalidCall):
            self._client.requests.cancel(request_id)


def read_approval(answer: Answer, call: ToolCall) -> Approved | Declined:
    decision, approved = answer.decision or {}, answer.arguments or {}
    changed = decision.get("edited")
    if not changed:
        # They are equal, and those of the agent have their own order and spelling of numbers.
        return Approved(call.arguments, call.shown, None)
    for name in changed:
        if call.masks.find(approved.get(name)) != call.masks.find(call.shown.get(name)):
            return Declined(
                f"A person edited {name}, but the edit touches a value that was masked for them, "
                "so it cannot be put back. The call was not made."
            )
    arguments = call.masks.restore(approved)
    lines = [
        f"- {name}: {write(call.arguments, name)} became {write(arguments, name)}"
        for name in changed
    ]
    notice = (
        "A person changed the arguments of this call before it ran:\n"
        + "\n".join(lines)
        + "\nIt ran once, with the arguments of the person. The result follows. "
        "Do not call it again with your own arguments."
    )
    return Approved(arguments, approved, notice)


def write(arguments: Mapping[str, Any], name: str) -> str:
    return json.dumps(arguments[name], ensure_ascii=False) if name in arguments else "nothing"


def propose(call: ToolCall) -> dict[str, Any]:
    annotations = call.tool.get("annotations") or {}
    title = call.tool.get("title") or annotations.get("title")
    proposal: dict[str, Any] = {"name": call.name, "arguments": call.shown}
    if title:
        proposal["title"] = str(title)[:MAX_TITLE]
    if annotations.get("destructiveHint") is True:
        proposal["risk"] = "high"
    return proposal


def describe(call: ToolCall) -> dict[str, Any]:
    """Returns the context of the question: the server, and its description of the tool."""
    description = str(call.tool.get("description") or "")[:MAX_DESCRIPTION]
    found = {"server": call.server, "description": description}
    return {name: text for name, text in found.items() if text}


def name_server(name: str) -> str:
    """Writes the server's name as a code span, so that it is no Markdown; '' without a name."""
    return f" of `{' '.join(name.replace('`', ' ').split())[:MAX_NAME]}`" if name.strip() else ""
