"""Asks people about a call, and writes their decision as the agent reads it."""

from __future__ import annotations

import json
import os
import select
import threading
from argparse import Namespace
from typing import Any

from reviewloop.answers import Answer, read_answer
from reviewloop.asked import complete
from reviewloop.client import Client
from reviewloop.durations import read_seconds
from reviewloop.hooks import credentials, waiting
from reviewloop.hooks.calls import Call, Silence
from reviewloop.hooks.hosts import CLAUDE, Host, allow, deny, describe_changes
from reviewloop.hooks.masks import Masks
from reviewloop.hooks.watcher import Watcher
from reviewloop.types import CreatedRequest
from reviewloop.unique import new_key

ASKING_PATIENCE = 10.0  # seconds: Codex shows no prompt meanwhile
WAITING_PATIENCE = 60.0  # for a restart of the service
TOLD = "description"  # by the model about its shell command: no argument of it
ACTIONS = ["approve", "edit", "reject", "respond"]
STDOUT = 1


def ask_about(host: Host, call: Call, args: Namespace) -> dict[str, Any]:
    """Returns the output of the hook. Raises Silence, ReviewLoopError."""
    url, key = credentials.load(args.credentials)
    masks = Masks(call.input)
    sent, told = split(call)
    shown = sent if args.no_mask else masks.hide(sent)
    words = told if args.no_mask else masks.hide(told)
    actions = [action for action in ACTIONS if action != "edit" or args.edits != "none"]
    fields = build_question(host, call, shown, words, masks, actions)
    fields["timeout_seconds"] = read_seconds(args.timeout)
    if host is CLAUDE:
        with waiting.known_as_waiting(call):
            answer = ask(url, key, args.loop, fields)
    else:
        answer = ask(url, key, args.loop, fields)
    return Decision(host, call, shown, masks, args.edits).tell(answer)


def split(call: Call) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the arguments that people decide about, and the context of the question."""
    told = {"folder": call.folder}
    if call.tool == "Bash" and isinstance(call.input.get(TOLD), str):
        told[TOLD] = call.input[TOLD]
        return {name: value for name, value in call.input.items() if name != TOLD}, told
    return call.input, told


def build_question(
    host: Host,
    call: Call,
    shown: dict[str, Any],
    told: dict[str, Any],
    masks: Masks,
    actions: list[str],
) -> dict[str, Any]:
    """Builds the fields of the request.

    Texts of the agent are only in the proposal and the context, which are no Markdown.
    """
    where = f" in {quote(told['folder'])}" if told["folder"] else ""
    parts = [f"**{host.title}** wants to use {quote(call.tool)}{where}."]
    if masked := masks.describe():
        parts.append(masked)
    if "edit" in actions and not host.takes_edits:
        parts.append(f"{host.title} takes no edits: it is denied, and told what you would run.")
    return {
        "request_text": "\n\n".join(parts),
        "response_type": "approval",
        "response_config": {
            "proposal": {"name": call.tool, "arguments": shown},
            "actions": actions,
        },
        "default_response": {"action": "reject"},
        "priority": "medium",
        "context": {"agent": host.title, **told},
    }


def quote(name: str) -> str:
    """Writes a name as code in one line of Markdown."""
    plain = " ".join(name.split()).replace("`", "'")
    return f"`{plain[:100]}`"


def ask(url: str, key: str, loop: str | None, fields: dict[str, Any]) -> Answer:
    """Asks people and waits for the answer. If this process ends first, so does the question."""
    watcher = Watcher()
    notice_a_lost_agent()
    created = create(url, key, loop, fields, watcher)
    with Client(url, key, patience=WAITING_PATIENCE) as client:
        request = client.requests.wait(created["request_id"])
    watcher.dismiss()
    return read_answer(request, require_human=True)


def create(
    url: str, key: str, loop: str | None, fields: dict[str, Any], watcher: Watcher
) -> CreatedRequest:
    """Creates the request with a key of its own, so that two equal calls are two questions."""
    with Client(url, key, patience=ASKING_PATIENCE) as client:
        loop_id = client.loops.find(loop)["id"]
        name = new_key()
        metadata = {"hook": name}
        watcher.say(url=url, key=key, loop_id=loop_id, metadata=metadata)
        return client.requests.send(loop_id, complete({**fields, "metadata": metadata}), name)


def notice_a_lost_agent() -> None:
    """Ends this process when nobody reads its output any longer: the agent or terminal is gone."""

    def look() -> None:
        poll = select.poll()
        poll.register(STDOUT, 0)  # POLLHUP and POLLERR come unasked
        poll.poll()
        os._exit(0)

    threading.Thread(target=look, daemon=True).start()


class Decision:
    """Writes answers about one call as the agent reads them."""

    def __init__(
        self, host: Host, call: Call, shown: dict[str, Any], masks: Masks, edits: str
    ) -> None:
        self.host = host
        self.call = call
        self.shown = shown
        self.masks = masks
        self.runs_edits = host.takes_edits and edits == "run"

    def tell(self, answer: Answer) -> dict[str, Any]:
        """Returns the output of the hook. Raises Silence."""
        decision = answer.decision
        if decision is None or not answer.by_human:
            raise Silence("this is no decision of a person")
        action, message = decision["action"], decision.get("message") or answer.comment
        if action == "approve":
            self._note(self.call.input, [])
            return allow()
        if action == "edit":
            return self._tell_edit(decision["arguments"])
        if action == "respond":
            return deny(self.host, f"Not run. A person replied: {message}")
        reason = f": {message}" if message else "."
        return deny(self.host, f"A person rejected this call{reason}")

    def _tell_edit(self, arguments: dict[str, Any]) -> dict[str, Any]:
        if arguments.keys() != self.shown.keys():
            raise Silence("the edited call has other arguments than the call")
        changed = {
            name: value
            for name, value in arguments.items()
            if json.dumps(value) != json.dumps(self.shown[name])
        }
        for name, value in changed.items():
            if self.masks.find(value) != self.masks.find(self.shown[name]):
                return deny(
                    self.host,
                    f"Not run. A person edited {name}, but the edit touches a value that was "
                    "masked for them, so it cannot be put back.",
                )
        restored = self.masks.restore(changed)
        if not self.runs_edits:
            return deny(
                self.host,
                "Not run as it is. A person would run it with this instead: "
                + describe_changes(restored),
            )
        edited = {**self.call.input, **restored}
        self._note(edited, list(changed))
        return allow(edited)

    def _note(self, allowed: dict[str, Any], edited: list[str]) -> None:
        if self.host is CLAUDE:
            waiting.note_allowed(self.call, allowed, edited)
