"""The answer of a request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from reviewloop.errors import Cancelled, DefaultUsed
from reviewloop.types import Decision, Request, Value


@dataclass(frozen=True)
class Answer:
    """The end of a request.

    `by_human` is False if nobody's answer decided and `value` is the default. With
    `request["answered_by"]` "grant", a person has allowed equal calls for a while.
    """

    value: Value
    by_human: bool
    comment: str | None
    request: Request

    @property
    def decision(self) -> Decision | None:
        """What was decided about a proposed call; None for a question of another type."""
        if self.request["response_type"] != "approval" or not isinstance(self.value, dict):
            return None
        return cast("Decision", self.value)

    @property
    def arguments(self) -> dict[str, Any] | None:
        """The arguments that a person approved, exactly as they may run.

        None if nobody did, and once the texts of the request are removed.
        """
        decision = self.decision
        if not self.by_human or decision is None or decision["action"] not in ("approve", "edit"):
            return None
        return decision.get("arguments")

    @property
    def default_reason(self) -> str:
        """Why several people's answers did not decide: the outcome; '' if nobody answered."""
        outcome = self.request.get("outcome") or ""
        is_silence = outcome == "default" and not self.request.get("answers_received")
        return "" if self.by_human or is_silence else outcome

    @property
    def request_id(self) -> str:
        return self.request["id"]


def read_answer(request: Request, *, require_human: bool) -> Answer:
    """Reads the answer of a request that has ended. Raises Cancelled, DefaultUsed."""
    value = request["response_data"]
    if request["status"] == "cancelled" or value is None:
        raise Cancelled(request["id"], request.get("superseded_by"))
    by_human = request["answered_by"] in ("human", "grant")
    answer = Answer(value, by_human, request.get("response_comment"), request)
    if require_human and not by_human:
        raise DefaultUsed(answer)
    return answer
