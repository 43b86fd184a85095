"""Cancels the question of a hook that ended without an answer, in a process of its own.

Agents end a hook in ways that it cannot notice: Codex with SIGKILL, Claude Code with SIGTERM and
SIGKILL a second later, and both with all processes that they find below it. The watcher has a
session of its own and no parent. It reads a pipe, which ends with the hook however that ended.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import time
from contextlib import suppress
from typing import Any

from reviewloop.client import Client
from reviewloop.errors import InvalidCall, ReviewLoopError
from reviewloop.types import FINAL

PAUSE = 15.0  # seconds, while a person has the question open: then it cannot be cancelled
LOOKS = (0.0, 2.0, 10.0, 30.0)  # seconds before each look for the question
# The parent ends at once: a process without a living parent is below nobody.
PROGRAM = "import os; os.fork() and os._exit(0); import reviewloop.hooks.watcher as w; w.main()"


class Watcher:
    """A watcher, as its hook uses it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603 (words of our own)
            [sys.executable, "-c", PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",  # Python looks for modules where it starts: not in the agent's project
        )
        self._process.wait()  # for the parent

    def say(self, **facts: Any) -> None:
        """Sends the watcher what it needs to cancel the question."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # without it, the deadline ends the question
            self._process.stdin.write(json.dumps(facts).encode() + b"\n")
            self._process.stdin.flush()

    def dismiss(self) -> None:
        """Ends the watcher, because the question has ended."""
        self.say(ended=True)
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()


def main() -> None:
    logging.disable()
    facts: dict[str, Any] = {}
    for line in sys.stdin.buffer:
        if line.endswith(b"\n"):  # else the hook was killed while it wrote
            facts.update(json.loads(line))
    if "url" in facts and "ended" not in facts:
        # After ten minutes without the service, the deadline ends the question.
        with Client(facts["url"], facts["key"]) as client, suppress(ReviewLoopError):
            withdraw(client, facts)


def withdraw(client: Client, facts: dict[str, Any]) -> None:
    """Cancels the question, if there is one. Its create may still be running."""
    for pause in LOOKS:
        time.sleep(pause)
        request_id = find(client, facts)
        if request_id is not None:
            return cancel(client, request_id)
    return None


def find(client: Client, facts: dict[str, Any]) -> str | None:
    """Finds the question by its metadata: the hook may have ended before it received the id."""
    listed = client.requests.list(loop_id=facts["loop_id"], metadata=facts["metadata"])
    return next((request["id"] for request in listed), None)


def cancel(client: Client, request_id: str) -> None:
    """Cancels a question. Where a person has it open, it waits until they leave or answer it."""
    while True:
        try:
            return client.requests.cancel(request_id)
        except InvalidCall:
            if client.requests.get(request_id)["status"] in FINAL:
                return None
        time.sleep(PAUSE)
