"""Says what a receipt states about an approval, or why a request has none (docs/contract.md)."""

import hashlib
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings

from accounts.models import User
from db.times import iso
from reviews import canonical, policy
from reviews.lifecycle import states
from reviews.models import Request
from reviews.response_types import get_response_type
from reviews.response_types.approval.kind import VALID_FOR, VALID_SECONDS
from reviews.response_types.approval.names import APPROVAL, REJECT, RESPOND

FIRST: Final = policy.Policy().store()

_NO_OUTCOME: Final[Mapping[str | None, str]] = {
    policy.NO_AGREEMENT: "the answers did not agree",
    policy.UNREACHABLE: "too few people could still answer",
    policy.VETOED: "the request was vetoed",
}
_NOT_ENDED: Final[Mapping[str, str]] = {
    states.PENDING: "the request is still open",
    states.CLAIMED: "the request is still open",
    states.TIMEOUT: "nobody approved it in time",
    states.CANCELLED: "the request was cancelled",
}
_NOT_APPROVING: Final[Mapping[str, str]] = {
    REJECT: "the request was rejected",
    RESPOND: "the request was answered with a message",
}


def find_obstacle(request: Request) -> str | None:
    """Says why the request has no receipt; None if a person approved it."""
    if request.response_type != APPROVAL:
        return f"response_type must be {APPROVAL}"
    if request.outcome == policy.DEFAULT and request.answers_received:
        return "too few people answered in time"
    if request.outcome in _NO_OUTCOME:
        return _NO_OUTCOME[request.outcome]
    if request.status != states.COMPLETED:
        return _NOT_ENDED[request.status]
    return _NOT_APPROVING.get(request.response_data["action"])


def compute_expiry(request: Request) -> datetime:
    """Computes when the receipt of an approved request expires, in whole seconds."""
    answered_at = request.response_at
    assert answered_at is not None
    seconds = request.response_config.get(VALID_FOR, VALID_SECONDS)
    return answered_at.replace(microsecond=0) + timedelta(seconds=seconds)


def build_claims(request: Request) -> dict[str, Any]:
    """Builds the claims of an approved request's receipt. `request` has the clock."""
    assert request.response_at is not None
    return {
        "iss": settings.SITE_URL,
        "sub": request.pk,
        "jti": request.pk,  # a request has one receipt
        "iat": int(request.now.timestamp()),
        "exp": int(compute_expiry(request).timestamp()),
        "loop_id": request.loop_id,
        "name": request.response_config["proposal"]["name"],
        "action": request.response_data["action"],
        "arguments_sha256": canonical.compute_digest(request.response_data["arguments"]),
        "question_sha256": hashlib.sha256(request.request_text.encode()).hexdigest(),
        "answered_by": [
            {"id": person.pk, "name": person.name} for person in list_approvers(request)
        ],
        "answered_at": iso(request.response_at),
        "policy": request.policy or FIRST,
    }


def list_approvers(request: Request) -> list[User]:
    """Returns the people whose answers say what may run, the oldest answer first."""
    get_key = get_response_type(request.response_type).get_key
    approved = get_key(request.response_data)
    return [a.person for a in request.answers.in_order() if get_key(a.data) == approved]
