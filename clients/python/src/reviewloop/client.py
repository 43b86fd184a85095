"""The client: one service, one key."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, cast

from reviewloop import asking
from reviewloop.answers import Answer, read_answer
from reviewloop.asked import Requests
from reviewloop.durations import read_seconds
from reviewloop.endpoints import WebhookEndpoints
from reviewloop.events import EventStream
from reviewloop.loops import Loops
from reviewloop.transport import Transport
from reviewloop.types import KeyInfo

PATIENCE = 600.0  # seconds


class Client:
    """Calls the service at `url`, which ends in /v1, with an API key.

    By default it reads REVIEW_LOOP_URL and REVIEW_LOOP_KEY from the environment. `patience` is the
    number of seconds for which a call is repeated after temporary failures. Threads may share a
    client.
    """

    def __init__(
        self, url: str | None = None, key: str | None = None, *, patience: float = PATIENCE
    ) -> None:
        """Raises ConfigurationError."""
        self._transport = Transport(url, key, patience)
        self.loops = Loops(self._transport)
        self.requests = Requests(self._transport)
        self.webhook_endpoints = WebhookEndpoints(self._transport)

    @property
    def url(self) -> str:
        return self._transport.url

    def check(self) -> KeyInfo:
        """Returns what the service knows about the key."""
        return cast("KeyInfo", self._transport.call("GET", "/test").data)

    def ask(
        self,
        question: str,
        *,
        default: Any,
        options: Sequence[str | Mapping[str, str]] | None = None,
        response_type: str | None = None,
        response_config: Mapping[str, Any] | None = None,
        timeout: str | float | timedelta = "1h",
        loop: str | None = None,
        resume: str | os.PathLike[str] | None = None,
        require_human: bool = False,
        priority: str = "medium",
        context: Mapping[str, Any] | None = None,
        image_url: str | None = None,
        callback_url: str | None = None,
        metadata: Mapping[str, str] | None = None,
        replaces: str | None = None,
        policy: Mapping[str, Any] | None = None,
        traceparent: str | None = None,
    ) -> Answer:
        """Asks people a question and waits for their answer.

        `options` make it a choice; otherwise the answer is text, unless `response_type` and
        `response_config` say something else. `timeout` is 60 seconds to 24 hours ("90s", "10m"),
        or "30d"; then `default` is the answer. `loop` is a name or an id; without it, the only
        loop of the account is asked.

        With `resume` the question outlives this process: a later call with the same name (or path
        of a file) finds it again, and its answer, instead of asking a second time. A name stands
        for one question: "deploy-4711", not "deploy".

        `replaces` is the id of the request that this question is the next version of. That one is
        cancelled if it is open, and reviewers see what has changed.

        With a `policy` several people answer: {"rule": "majority", "answers": 3}. `answer.request`
        then has `outcome` and `answers`.

        Raises Cancelled, and with `require_human` DefaultUsed; ResumeConflict, LoopNotChosen,
        ApiError, ConnectionFailed, and ValueError for a time-out.
        """
        fields = {
            "request_text": question,
            **describe_answers(options, response_type, response_config),
            "default_response": default,
            "timeout_seconds": read_seconds(timeout),
            "priority": priority,
            "context": None if context is None else dict(context),
            "image_url": image_url,
            "callback_url": callback_url,
            "metadata": None if metadata is None else dict(metadata),
            "replaces": replaces,
            "policy": None if policy is None else dict(policy),
        }
        if resume is None:
            request = asking.ask_once(self, fields, loop, traceparent)
        else:
            request = asking.ask_resumably(self, fields, loop, traceparent, resume)
        return read_answer(request, require_human=require_human)

    def events(self, after: str | None = None) -> EventStream:
        """Returns the events of the account's requests from now on.

        The stream continues after a broken connection. `after` is the `last_id` of an earlier
        stream, at most three days old. Raises ApiError, ConnectionFailed.
        """
        return EventStream(self._transport, after)

    def close(self) -> None:
        """Closes the connections."""
        self._transport.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def describe_answers(
    options: Sequence[str | Mapping[str, str]] | None,
    response_type: str | None,
    response_config: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Returns the fields of the API that say what an answer is: its type, and its settings."""
    chosen = {} if options is None else {"options": list(options)}
    return {
        "response_type": response_type or ("text" if options is None else "single_select"),
        "response_config": {**chosen, **(response_config or {})},
    }
