"""Approvals of a refund that people have decided about, as their events arrive."""

from typing import Any

from reviewloop import Client

from accounts.models import User
from reviews.models import Request
from reviews.services import answer_request
from tests.webhooks.conftest import deliver_here
from tests.webhooks.receivers import Received, receiving

ARGUMENTS = {"order": "1042", "amount": 80}
PROPOSAL = {
    "response_type": "approval",
    "response_config": {
        "proposal": {"name": "issue_refund", "arguments": ARGUMENTS},
        "actions": ["approve", "edit", "reject", "respond"],
    },
    "default_response": {"action": "reject"},
}


def decide(client: Client, loop_id: str, person: User, decision: Any, **changes: Any) -> Received:
    """Asks, has a person decide, and delivers the event."""
    with receiving() as receiver:
        fields = {"request_text": "Refund order 1042?", **PROPOSAL, **changes}
        created = client.requests.create(loop_id, callback_url=receiver.url, **fields)
        request = Request.objects.get(pk=created["request_id"])
        answer_request(request=request, reviewer_id=person.pk, answer=decision)
        assert deliver_here() == 1
        (received,) = receiver.got
    return received
