"""A program that asks for approval of calls, and people who allow them for a while."""

import json
from typing import Any

from accounts.models import User
from loops.models import Loop
from reviews import services
from reviews.grants import Terms
from reviews.models import Grant, Request
from tests.conftest import Api, key_of

ARGUMENTS: dict[str, Any] = {"order": "é-1042", "amount": 40, "lines": [{"a": 1, "b": 2}]}
EIGHT = Terms(hours=8, uses=3)
PATH = "/v1/api/loops/{}/requests"


class Agent:
    """A program with a key, which asks for approval of a call."""

    def __init__(self, owner: User, loop: Loop) -> None:
        self.loop = loop
        self.key = key_of(owner, hourly_limit=100_000)

    def copy(self) -> "Agent":
        """The same program in another thread."""
        other = Agent.__new__(Agent)
        other.loop, other.key = self.loop, self.key
        return other

    def ask(self, arguments: Any = None, *, raw: str = "", **changes: Any) -> Request:
        proposal = {"name": "refund", "arguments": ARGUMENTS if arguments is None else arguments}
        proposal |= changes.pop("proposal", {})
        body: Any = {
            "processing_type": "time-sensitive",
            "type": "markdown",
            "priority": "high",
            "request_text": "Refund?",
            "timeout_seconds": 600,
            "response_type": "approval",
            "response_config": {"proposal": proposal, **changes.pop("config", {})},
            "default_response": {"action": "reject"},
            "platform": "api",
            **changes,
        }
        if raw:
            text = json.dumps({**body, "response_config": {"proposal": "RAW"}})
            body = text.replace('"RAW"', f'{{"name": "refund", "arguments": {raw}}}').encode()
        response = Api(self.key).post(PATH.format(self.loop.pk), body)
        assert response.status_code == 201, response.content
        self.created: dict[str, Any] = response.json()["data"]
        return services.read_request(self.created["request_id"])


def allow(request: Request, person: User, terms: Terms = EIGHT, **answer: Any) -> Grant:
    services.answer_request(
        request=request,
        reviewer_id=person.pk,
        answer={"action": "approve", **answer},
        terms=terms,
    )
    grant: Grant = Grant.objects.get(request_id=request.pk)
    return grant


def is_covered(request: Request) -> bool:
    assert (request.status == "completed") == (request.grant_id is not None)
    return request.grant_id is not None
